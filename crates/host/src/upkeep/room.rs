//! Whether the file system takes writes to a data folder. Nothing is written to find out: the
//! question comes often, and from anybody.

use std::path::Path;

use rustix::fs::{Access, access, statvfs};

/// The least room for a commit, with the log that it goes to.
const LEAST: u64 = 1024 * 1024;

/// Whether a file is there, may be written, and has room to grow.
pub(crate) fn takes_writes(file: &Path) -> bool {
    // A file system that is read-only refuses the access, too.
    access(file, Access::WRITE_OK).is_ok()
        && statvfs(file).is_ok_and(|found| has_room(found.f_blocks, found.f_bavail, found.f_frsize))
}

/// Whether that many free blocks are enough. Some file systems do not count blocks.
fn has_room(blocks: u64, free: u64, size: u64) -> bool {
    blocks == 0 || free.saturating_mul(size) >= LEAST
}

#[cfg(test)]
mod tests {
    use super::{has_room, takes_writes};

    #[test]
    fn a_file_that_is_there_takes_writes() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("accord.db");
        assert!(!takes_writes(&file));
        std::fs::write(&file, "").unwrap();
        assert!(takes_writes(&file));
    }

    #[test]
    fn a_commit_needs_a_megabyte() {
        assert!(!has_room(1_000, 0, 4_096));
        assert!(!has_room(1_000, 255, 4_096));
        assert!(has_room(1_000, 256, 4_096));
        assert!(has_room(u64::MAX, u64::MAX, 4_096));
        assert!(has_room(0, 0, 4_096));
    }
}
