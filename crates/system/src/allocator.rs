//! The memory allocator of the programs.

/// The allocator of the `accord` command and of the benchmarks. Much is allocated in one thread and
/// freed in another. For that, the C library takes a lock of the first thread, which cost a quarter
/// of the CPU time of a change of a task with 16 callers.
pub use mimalloc::MiMalloc as Allocator;
