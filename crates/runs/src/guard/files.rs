//! The guarded files of a repository: reading, comparing, copying and restoring them.

use std::collections::BTreeMap;

use accord_contract::Object;
use accord_runs_core::HOME;
use accord_runs_core::accept::Record;
use accord_trees::record::RecordLines;
use accord_trees::{Content, Disk, Kind, Root, atomic, read_file, record};

use super::digest::{Compared, RecordDigest, identity};
use super::document::{PendingCommit, Snapshot};
use crate::Git;
use crate::repository::{Repository, Result, limits};

const CHUNK: u64 = 1024 * 1024;

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum GuardedFile {
    Config,
    State,
    History,
    Ledger,
    Events,
}

pub(super) const RECORDS: [GuardedFile; 3] =
    [GuardedFile::History, GuardedFile::Ledger, GuardedFile::Events];

impl GuardedFile {
    pub(super) const ALL: [Self; 5] =
        [Self::Config, Self::State, Self::History, Self::Ledger, Self::Events];

    pub(super) fn path(self) -> String {
        match self {
            Self::Config => "agentxchain.json".to_owned(),
            Self::State => format!("{HOME}/state.json"),
            Self::History => Record::History.path(),
            Self::Ledger => Record::Ledger.path(),
            Self::Events => Record::Events.path(),
        }
    }

    pub(super) fn copy_name(self) -> &'static str {
        match self {
            Self::Config => "agentxchain.json",
            Self::State => "state.json",
            Self::History => "history.jsonl",
            Self::Ledger => "decision-ledger.jsonl",
            Self::Events => "events.jsonl",
        }
    }

    pub(super) fn of_path(path: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|file| file.path() == path)
    }
}

#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Differences {
    /// Each file that differs, in the order of [`GuardedFile::ALL`].
    pub(super) files: Vec<(GuardedFile, Compared)>,
}

impl Differences {
    pub(super) fn has(&self, file: GuardedFile) -> bool {
        self.files.iter().any(|(found, _)| *found == file)
    }

    pub(super) fn in_records(&self) -> bool {
        self.files.iter().any(|(file, _)| *file != GuardedFile::Config)
    }

    /// Whether the state and every record that had content are gone.
    pub(super) fn is_lost(&self, snapshot: &Snapshot) -> bool {
        let missing = |file| self.files.contains(&(file, Compared::Missing));
        let records = RECORDS.into_iter().zip(&snapshot.records);
        missing(GuardedFile::State)
            && records.filter(|(_, digest)| digest.length > 0).all(|(file, _)| missing(file))
    }

    pub(super) fn names(&self) -> String {
        let names: Vec<String> = self.files.iter().map(|(file, _)| file.path()).collect();
        names.join(", ")
    }
}

impl Snapshot {
    /// The guarded files as they are now. Records that did not change since `known` are not read.
    pub(super) fn take(repository: &Repository, known: Option<&Self>) -> Result<Self> {
        let disk = repository.disk();
        let mut records: [RecordDigest; RECORDS.len()] = Default::default();
        for (place, file) in RECORDS.into_iter().enumerate() {
            // A torn line would otherwise be part of the copy, and is cut by the next commit.
            record::tidy(disk, &file.path())?;
            records[place] = digest(disk, file, known.map(|known| &known.records[place]))?;
        }
        let state = repository.state_bytes()?.unwrap_or_default();
        let user_git = user_git(repository);
        Ok(Self { config: repository.config_bytes()?, state, records, user_git })
    }

    pub(super) fn compare(&self, repository: &Repository) -> Result<Differences> {
        let disk = repository.disk();
        let mut files = Vec::new();
        let documents = [(GuardedFile::Config, &self.config), (GuardedFile::State, &self.state)];
        for (file, kept) in documents {
            match read_file(disk, &file.path(), limits::DOCUMENT) {
                Ok(Some(bytes)) if bytes == *kept => {}
                Ok(None) => files.push((file, Compared::Missing)),
                // A file that cannot be read any more has changed.
                _ => files.push((file, Compared::Changed)),
            }
        }
        for (file, digest) in RECORDS.into_iter().zip(&self.records) {
            match digest.compare(disk, &file.path())? {
                Compared::Same => {}
                other => files.push((file, other)),
            }
        }
        Ok(Differences { files })
    }

    /// Notes which files the records are now, so that they need not be read again.
    pub(super) fn note_identities(&mut self, repository: &Repository) {
        for (file, digest) in RECORDS.into_iter().zip(&mut self.records) {
            let path = file.path();
            let stat = repository.disk().stat(&path).ok().flatten();
            let same = stat.is_some_and(|stat| stat.length == digest.length);
            digest.identity = identity(repository.disk(), &path).filter(|_| same);
        }
    }

    /// Brings the copies of the records to this snapshot: only what was added is copied.
    pub(super) fn copy_records(&self, repository: &Repository, root: &Root) -> Result<()> {
        for (file, digest) in RECORDS.into_iter().zip(&self.records) {
            copy_record(repository.disk(), root, file, digest.length)?;
        }
        Ok(())
    }

    /// Appends the lines of a commit to the copies, before it is applied to this snapshot. They
    /// come from the commit, not from the files, which a worker can write.
    pub(super) fn copy_commit(&self, root: &Root, pending: &PendingCommit) -> Result<()> {
        for (place, file) in RECORDS.into_iter().enumerate() {
            let (name, appended) = (file.copy_name(), pending.appended[place].as_bytes());
            let length = self.records[place].length;
            remove_unless_file(root, name)?;
            let present = root.stat(name)?.map_or(0, |stat| stat.length);
            // A copy that is too short is noticed when it is read; the next worker gets a new one.
            if appended.is_empty() || present < length {
                continue;
            }
            if present > length {
                root.truncate(name, length)?;
            }
            root.append(name, appended)?;
            root.sync(name)?;
        }
        Ok(root.sync_folder("")?)
    }

    /// Puts a file of the repository back. False if neither the copy nor the file itself has the
    /// bytes any more.
    pub(super) fn restore(
        &self,
        repository: &Repository,
        root: &Root,
        (file, compared): (GuardedFile, Compared),
    ) -> Result<bool> {
        let (disk, path) = (repository.disk(), file.path());
        let bytes = match file {
            GuardedFile::Config => self.config.clone(),
            GuardedFile::State => self.state.clone(),
            GuardedFile::History | GuardedFile::Ledger | GuardedFile::Events => {
                let digest = self.record(file);
                if compared == Compared::Grown {
                    disk.truncate(&path, digest.length)?;
                    disk.sync(&path)?;
                    return Ok(true);
                }
                let copy = root.open(file.copy_name()).ok().flatten();
                let bytes = copy.map(|copy| copy.read_at(0, digest.length as usize)).transpose();
                let mut found = RecordDigest::default();
                let bytes = bytes?.unwrap_or_default();
                found.extend(&bytes);
                if !found.same_bytes(digest) {
                    return Ok(false);
                }
                bytes
            }
        };
        // Something else in its place must go first: `write` does not replace a folder.
        let kind = disk.stat(&path)?.map(|stat| stat.kind);
        if kind.is_some_and(|kind| kind != Kind::File) {
            disk.remove_tree(&path)?;
        }
        atomic::write(disk, &path, &bytes)?;
        Ok(true)
    }

    fn record(&self, file: GuardedFile) -> &RecordDigest {
        &self.records[RECORDS.iter().position(|record| *record == file).unwrap_or(0)]
    }

    pub(super) fn added(
        &self,
        repository: &Repository,
        file: GuardedFile,
    ) -> Result<Vec<Object>, String> {
        let length = self.record(file).length;
        let lines = RecordLines::open(repository.disk(), &file.path(), length, 0);
        let lines = lines.map_err(|error| error.to_string())?;
        lines.map(|line| Ok(line.map_err(|error| error.to_string())?.object)).collect()
    }
}

/// Markers of the user's settings of git that name programs; `None` if they cannot be read. What is
/// wrong with git is reported where it is used.
pub(super) fn user_git(repository: &Repository) -> Option<BTreeMap<String, String>> {
    Git::find(repository.root(), None).ok()??.user_view().ok()
}

/// The digest of a record, which is read only if it is not the one that is known.
fn digest(
    disk: &dyn Disk,
    file: GuardedFile,
    known: Option<&RecordDigest>,
) -> Result<RecordDigest> {
    let path = file.path();
    let identity = identity(disk, &path);
    if let Some(known) = known.filter(|known| identity.is_some() && known.identity == identity) {
        return Ok(known.clone());
    }
    let Some(content) = disk.open(&path)? else { return Ok(RecordDigest::default()) };
    let length = content.length()?;
    let mut digest = RecordDigest::of(content.as_ref(), length)?;
    digest.identity = identity;
    Ok(digest)
}

/// Removes what is in the place of a copy and is not a file: a folder, a pipe, a device or a link.
pub(super) fn remove_unless_file(root: &Root, name: &str) -> accord_trees::Result<()> {
    match root.stat(name)? {
        Some(stat) if stat.kind != Kind::File => root.remove_tree(name),
        _ => Ok(()),
    }
}

/// Appends what a copy lacks of a record; the whole record if the copy is not a beginning of it.
fn copy_record(disk: &dyn Disk, root: &Root, file: GuardedFile, length: u64) -> Result<()> {
    let (path, name) = (file.path(), file.copy_name());
    remove_unless_file(root, name)?;
    let Some(source) = disk.open(&path)? else {
        root.remove_file(name)?;
        return Ok(());
    };
    let copied = match root.open(name)? {
        Some(copy) => copied(copy.as_ref(), source.as_ref(), length)?,
        None => None,
    };
    match copied {
        None => root.remove_tree(name)?,
        Some(0) => {}
        Some(length) => root.truncate(name, length)?,
    }
    let mut next = copied.unwrap_or(0);
    while next < length {
        let bytes = source.read_at(next, CHUNK.min(length - next) as usize)?;
        if bytes.is_empty() {
            break;
        }
        root.append(name, &bytes)?;
        next += bytes.len() as u64;
    }
    if root.stat(name)?.is_some() {
        root.sync(name)?;
    }
    Ok(root.sync_folder("")?)
}

/// How much of a copy is the beginning of a record, judged by its end; `None` if it is not one.
fn copied(copy: &dyn Content, source: &dyn Content, length: u64) -> Result<Option<u64>> {
    let shared = copy.length()?.min(length);
    let edge = shared.min(64 * 1024);
    let at = shared - edge;
    let same = copy.read_at(at, edge as usize)? == source.read_at(at, edge as usize)?;
    Ok(same.then_some(shared))
}
