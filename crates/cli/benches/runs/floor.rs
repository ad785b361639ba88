//! The floor: the same writes, straight to the disk.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use accord_trees::{Disk, Result, Root};
use tempfile::TempDir;

/// One thing that was done to a disk.
#[derive(Clone, Debug)]
pub(crate) enum ManualResult {
    MakeFolder(String),
    Create(String, Vec<u8>),
    Append(String, Vec<u8>),
    Rename(String, String),
    Remove(String),
    Sync(String),
    SyncFolder(String),
}

/// A disk that notes what is done to it.
pub(crate) struct Noting {
    disk: Root,
    deeds: Arc<Mutex<Vec<ManualResult>>>,
}

impl Noting {
    pub(crate) fn new(disk: Root) -> (Self, Arc<Mutex<Vec<ManualResult>>>) {
        let deeds = Arc::default();
        let noting = Self { disk, deeds: Arc::clone(&deeds) };
        (noting, deeds)
    }

    fn note(&self, deed: ManualResult) {
        self.deeds.lock().expect("nobody panicked").push(deed);
    }
}

impl Disk for Noting {
    accord_trees::forward! { disk:
        root_path, stat, list, open, truncate, move_to, sync_tree, guard
    }

    fn make_folder(&self, path: &str) -> Result<bool> {
        self.note(ManualResult::MakeFolder(path.into()));
        self.disk.make_folder(path)
    }

    fn create(&self, path: &str, bytes: &[u8]) -> Result<bool> {
        self.note(ManualResult::Create(path.into(), bytes.to_vec()));
        self.disk.create(path, bytes)
    }

    fn append(&self, path: &str, bytes: &[u8]) -> Result<()> {
        self.note(ManualResult::Append(path.into(), bytes.to_vec()));
        self.disk.append(path, bytes)
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        self.note(ManualResult::Rename(from.into(), to.into()));
        self.disk.rename(from, to)
    }

    fn publish(&self, from: &str, to: &str) -> Result<bool> {
        self.note(ManualResult::Rename(from.into(), to.into()));
        self.disk.publish(from, to)
    }

    fn remove_file(&self, path: &str) -> Result<bool> {
        self.note(ManualResult::Remove(path.into()));
        self.disk.remove_file(path)
    }

    fn remove_tree(&self, path: &str) -> Result<()> {
        self.note(ManualResult::Remove(path.into()));
        self.disk.remove_tree(path)
    }

    fn sync(&self, path: &str) -> Result<()> {
        self.note(ManualResult::Sync(path.into()));
        self.disk.sync(path)
    }

    fn sync_folder(&self, path: &str) -> Result<()> {
        self.note(ManualResult::SyncFolder(path.into()));
        self.disk.sync_folder(path)
    }
}

/// Deeds that are carried out again and again, in a folder of their own.
pub(crate) struct Floor {
    folder: TempDir,
    deeds: Vec<ManualResult>,
}

impl Floor {
    pub(crate) fn new(deeds: Vec<ManualResult>) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        Self { folder, deeds }
    }

    /// How much it is.
    pub(crate) fn told(&self) -> String {
        let syncs = self.deeds.iter();
        let syncs = syncs
            .filter(|deed| matches!(deed, ManualResult::Sync(_) | ManualResult::SyncFolder(_)));
        let bytes: usize = self.deeds.iter().map(ManualResult::bytes).sum();
        format!("{} syncs, {bytes} bytes", syncs.count())
    }

    pub(crate) fn carry_out(&mut self) -> Duration {
        self.prepare();
        let root = self.folder.path();
        let began = Instant::now();
        for deed in &self.deeds {
            deed.carry_out(root);
        }
        began.elapsed()
    }

    /// What the deeds take for given: folders, and something to remove.
    fn prepare(&self) {
        for deed in &self.deeds {
            let path = self.folder.path().join(deed.path());
            let folder = match deed {
                ManualResult::SyncFolder(_) => path.as_path(),
                _ => path.parent().expect("a folder"),
            };
            fs::create_dir_all(folder).expect("a folder");
            let is_made = |named: &str| {
                self.deeds
                    .iter()
                    .any(|deed| matches!(deed, ManualResult::Rename(_, to) if to == named))
            };
            if let ManualResult::Remove(named) = deed
                && !is_made(named)
            {
                fs::write(&path, "{}").expect("a file");
            }
        }
    }
}

impl ManualResult {
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

    fn carry_out(&self, root: &Path) {
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
