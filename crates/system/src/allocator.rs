//! The memory allocator of the programs.

/// The allocator of the `accord` command and of the benchmarks.
///
/// A commit of tasks and an action of a live session are allocated in one thread and freed in
/// another. The allocator of the C library takes a lock of the first thread for that: with 16
/// callers, a quarter of the CPU time of a change of a task went into it.
pub use mimalloc::MiMalloc as Allocator;
