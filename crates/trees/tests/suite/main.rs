//! A tree of a small protocol of its own, on real folders and on a simulated disk.

#![expect(clippy::unwrap_used, reason = "a helper of a test is part of the test")]
#![expect(clippy::disallowed_methods, reason = "the owner of a lock is a process")]

mod commits;
mod counter;
mod folders;
mod fuzz;
mod repair;
mod wal;
mod worker_pool;
