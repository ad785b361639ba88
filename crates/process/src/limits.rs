//! Resource limits of this process.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// How many files this process may have open at the same time; `None` if unlimited.
pub fn open_file_limit() -> Option<u64> {
    getrlimit(Resource::Nofile).current
}

/// Raises the number of files that this process may have open at the same time as far as it may be
/// raised without a privilege. Every connection is an open file.
pub fn raise_open_file_limit() {
    let now = getrlimit(Resource::Nofile);
    // Where it cannot be raised, fewer connections are possible.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: now.maximum, maximum: now.maximum });
}

/// Limits the size of files that this process, and those that it starts from now on, can write. A
/// lower limit stays. A process that writes more gets a signal that ends most programs.
pub fn limit_file_size(bytes: u64) {
    let now = getrlimit(Resource::Fsize);
    let lower = |limit: Option<u64>| Some(limit.map_or(bytes, |limit| limit.min(bytes)));
    // The maximum too: otherwise a child could raise its own limit again.
    let limits = Rlimit { current: lower(now.current), maximum: lower(now.maximum) };
    // Lowering one's own limit needs no privilege.
    let _ = setrlimit(Resource::Fsize, limits);
}
