//! What the system allows this process.

use rustix::process::{Resource, getrlimit};

/// How many files this process may have open at the same time; `None` where there is no such limit.
pub fn open_file_limit() -> Option<u64> {
    getrlimit(Resource::Nofile).current
}
