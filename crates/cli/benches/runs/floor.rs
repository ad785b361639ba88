//! The floor: the same writes, straight to the disk.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use accord_trees::{Disk, Result, Root};
use tempfile::TempDir;

/// An operation on a disk.
#[derive(Clone, Debug)]
pub(crate) enum DiskOperation {
    MakeFolder(String),
    Create(String, Vec<u8>),
    Append(String, Vec<u8>),
    Rename(String, String),
    Remove(String),
    Sync(String),
    SyncFolder(String),
}

/// A disk that records what is done to it.
pub(crate) struct RecordingDisk {
    disk: Root,
    operations: Arc<Mutex<Vec<DiskOperation>>>,
}

impl RecordingDisk {
    pub(crate) fn new(disk: Root) -> (Self, Arc<Mutex<Vec<DiskOperation>>>) {
        let operations = Arc::default();
        let recording = Self { disk, operations: Arc::clone(&operations) };
        (recording, operations)
    }

    fn record(&self, operation: DiskOperation) {
        self.operations.lock().expect("no panic").push(operation);
    }
}

impl Disk for RecordingDisk {
    accord_trees::forward! { disk:
        root_path, stat, list, open, truncate, move_to, sync_tree, guard, try_guard
    }

    fn make_folder(&self, path: &str) -> Result<bool> {
        self.record(DiskOperation::MakeFolder(path.into()));
        self.disk.make_folder(path)
    }

    fn create(&self, path: &str, bytes: &[u8]) -> Result<bool> {
        self.record(DiskOperation::Create(path.into(), bytes.to_vec()));
        self.disk.create(path, bytes)
    }

    fn append(&self, path: &str, bytes: &[u8]) -> Result<()> {
        self.record(DiskOperation::Append(path.into(), bytes.to_vec()));
        self.disk.append(path, bytes)
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        self.record(DiskOperation::Rename(from.into(), to.into()));
        self.disk.rename(from, to)
    }

    fn publish(&self, from: &str, to: &str) -> Result<bool> {
        self.record(DiskOperation::Rename(from.into(), to.into()));
        self.disk.publish(from, to)
    }

    fn remove_file(&self, path: &str) -> Result<bool> {
        self.record(DiskOperation::Remove(path.into()));
        self.disk.remove_file(path)
    }

    fn remove_tree(&self, path: &str) -> Result<()> {
        self.record(DiskOperation::Remove(path.into()));
        self.disk.remove_tree(path)
    }

    fn sync(&self, path: &str) -> Result<()> {
        self.record(DiskOperation::Sync(path.into()));
        self.disk.sync(path)
    }

    fn sync_folder(&self, path: &str) -> Result<()> {
        self.record(DiskOperation::SyncFolder(path.into()));
        self.disk.sync_folder(path)
    }
}

/// Operations that are repeated, in a folder of their own.
pub(crate) struct Floor {
    folder: TempDir,
    operations: Vec<DiskOperation>,
}

impl Floor {
    pub(crate) fn new(operations: Vec<DiskOperation>) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        Self { folder, operations }
    }

    /// The number of syncs and bytes.
    pub(crate) fn size(&self) -> String {
        let syncs = self.operations.iter();
        let syncs = syncs.filter(|operation| {
            matches!(operation, DiskOperation::Sync(_) | DiskOperation::SyncFolder(_))
        });
        let bytes: usize = self.operations.iter().map(DiskOperation::bytes).sum();
        format!("{} syncs, {bytes} bytes", syncs.count())
    }

    pub(crate) fn replay(&mut self) -> Duration {
        self.prepare();
        let root = self.folder.path();
        let began = Instant::now();
        for operation in &self.operations {
            operation.replay(root);
        }
        began.elapsed()
    }

    /// What the operations need: folders, and something to remove.
    fn prepare(&self) {
        for operation in &self.operations {
            let path = self.folder.path().join(operation.path());
            let folder = match operation {
                DiskOperation::SyncFolder(_) => path.as_path(),
                _ => path.parent().expect("a folder"),
            };
            fs::create_dir_all(folder).expect("a folder");
            let is_made = |named: &str| {
                self.operations.iter().any(
                    |operation| matches!(operation, DiskOperation::Rename(_, to) if to == named),
                )
            };
            if let DiskOperation::Remove(named) = operation
                && !is_made(named)
            {
                fs::write(&path, "{}").expect("a file");
            }
        }
    }
}

impl DiskOperation {
    fn path(&self) -> &str {
        match self {
            Self::MakeFolder(path)
            | Self::Create(path, _)
            | Self::Append(path, _)
            | Self::Rename(path, _)
            | Self::Remove(path)
            | Self::Sync(path)
            | Self::SyncFolder(path) => path,
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Create(_, bytes) | Self::Append(_, bytes) => bytes.len(),
            _ => 0,
        }
    }

    fn replay(&self, root: &Path) {
        let at = root.join(self.path());
        let done = match self {
            Self::MakeFolder(_) => fs::create_dir_all(at),
            Self::Create(_, bytes) => File::create(at).and_then(|mut file| file.write_all(bytes)),
            Self::Append(_, bytes) => OpenOptions::new()
                .create(true)
                .append(true)
                .open(at)
                .and_then(|mut file| file.write_all(bytes)),
            Self::Rename(_, to) => fs::rename(at, root.join(to)),
            Self::Remove(_) => fs::remove_file(at),
            Self::Sync(_) => File::open(at).and_then(|file| file.sync_all()),
            Self::SyncFolder(_) => File::open(at).and_then(|folder| folder.sync_all()),
        };
        done.unwrap_or_else(|error| panic!("{self:?}: {error}"));
    }
}
