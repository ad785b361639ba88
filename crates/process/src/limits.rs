//! What the system allows this process.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// How many files this process may have open at the same time; `None` where there is no such limit.
pub fn open_file_limit() -> Option<u64> {
    getrlimit(Resource::Nofile).current
}

/// Keeps this process, and those that it starts from now on, from files that are larger; a lower
/// limit stays. Who writes past it gets a signal that ends most programs.
pub fn limit_file_size(bytes: u64) {
    let now = getrlimit(Resource::Fsize);
    let lower = |limit: Option<u64>| Some(limit.map_or(bytes, |limit| limit.min(bytes)));
    let limits = Rlimit {
        current: lower(now.current),
        maximum: lower(now.maximum),
    };
    // To lower one's own limits needs no right.
    let _ = setrlimit(Resource::Fsize, limits);
}
