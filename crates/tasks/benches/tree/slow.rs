//! A disk whose syncs take longer.

use std::time::Duration;

use accord_trees::{Disk, Result, Root};

pub(crate) struct Slow {
    disk: Root,
    added: Duration,
}

impl Slow {
    pub(crate) fn new(disk: Root, added: Duration) -> Self {
        Self { disk, added }
    }

    fn wait(&self) {
        if !self.added.is_zero() {
            std::thread::sleep(self.added);
        }
    }
}

impl Disk for Slow {
    accord_trees::forward! { disk: root_path, stat, list, open, make_folder, create, append,
    truncate, rename, move_to, move_if_free, publish, remove_file, remove_tree, guard, try_guard,
    keep_folders, lanes }

    fn sync(&self, path: &str) -> Result<()> {
        self.wait();
        self.disk.sync(path)
    }

    fn sync_folder(&self, path: &str) -> Result<()> {
        self.wait();
        self.disk.sync_folder(path)
    }

    fn sync_tree(&self) -> Result<()> {
        self.wait();
        self.disk.sync_tree()
    }
}
