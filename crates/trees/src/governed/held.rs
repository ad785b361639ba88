//! What can be written to a governed repository, by whoever holds its lock.

use std::fmt;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use accord_contract::time::Time;
use accord_contract::wire::Object;
use accord_runs_core::accept::{Commit, CommitKind};
use accord_runs_core::coordinator;
use accord_runs_core::history::RunIndex;
use accord_runs_core::manifest::Bundle;
use accord_runs_core::{HOME, RepoPath, RunId, TurnId, dispatch};

use super::carry::{self, Attempt};
use super::{
    Protected, RecordFile, Repository, Waiting, bundle, files, index, journal, obstacle, protect,
};
use crate::disk::parent;
use crate::lock;
use crate::{Result, TreeError, atomic, record};

/// How old a temporary file is that nobody can still be writing, when nothing else tells.
const FORGOTTEN_AFTER_MS: u64 = 60_000;

/// A repository whose lock this process holds until this is dropped.
pub struct Held {
    repository: Repository,
    lock: lock::Held,
    recovered: Vec<Replayed>,
    /// Whether a commit of ours is not carried out in full.
    unfinished: AtomicBool,
}

/// A journal that another process left, and what was done about it.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Replayed {
    /// Where it lay.
    pub path: String,
    /// What its commit does.
    pub kind: CommitKind,
    /// Whether the state already said what it says.
    pub applied_before: bool,
    /// Whether somebody else went on without it, so that it was dropped.
    pub superseded: bool,
    /// What was to be removed and could not be, or to be written where another file of the same
    /// commit is.
    pub left: Vec<String>,
}

/// A commit that is there.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Committed {
    /// What was to be removed and could not be; it is in nobody's way.
    pub left: Vec<String>,
}

impl fmt::Debug for Held {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Held");
        shown.field("root", &self.root()).finish_non_exhaustive()
    }
}

impl Deref for Held {
    type Target = Repository;

    fn deref(&self) -> &Repository {
        &self.repository
    }
}

impl Held {
    pub(super) fn take(repository: &Repository, patience: Duration) -> Result<Self> {
        let lock = lock::take(&repository.disk, patience)?;
        let mut held = Self {
            repository: repository.clone(),
            lock,
            recovered: Vec::new(),
            unfinished: AtomicBool::new(false),
        };
        if held.lock.taken_over {
            held.settle()?;
        }
        held.recovered = held.recover()?;
        held.remove_temporaries()?;
        Ok(held)
    }

    /// What others had left unfinished, and is finished now.
    pub fn recovered(&self) -> &[Replayed] {
        &self.recovered
    }

    /// Makes sure that nobody took the lock over; a commit asks by itself.
    ///
    /// # Errors
    /// With `lock_lost` when somebody did.
    pub fn check_held(&self) -> Result<()> {
        self.lock.check()
    }

    /// Writes everything that an operation writes, or nothing.
    ///
    /// # Errors
    /// When nothing was written; or with `commit_unfinished` when the commit has happened and a
    /// file could not be written: the next commit, or the next holder of the lock, finishes it.
    pub fn commit(&self, commit: &Commit) -> Result<Committed> {
        if self.unfinished.load(Ordering::Acquire) {
            self.recover()?;
            self.unfinished.store(false, Ordering::Release);
        }
        self.check_held()?;
        let disk = self.disk();
        let lengths = journal::survey(disk, &commit.writes)?;
        let path = journal::write(disk, commit, &lengths).inspect_err(|error| {
            let happened = matches!(error, TreeError::Unfinished { .. });
            self.unfinished.store(happened, Ordering::Release);
        })?;
        let done = carry::out(disk, &commit.writes, &lengths, Attempt::First)
            .and_then(|left| journal::remove(disk, &path).map(|()| left));
        match done {
            Ok(left) => Ok(Committed { left }),
            Err(error) => {
                self.unfinished.store(true, Ordering::Release);
                Err(obstacle::unfinished(&path, error))
            }
        }
    }

    /// What the records say about a run; keeps it, so that the next time less is read.
    ///
    /// # Errors
    /// With `record_invalid` when a line is damaged.
    pub fn index(&self, run: Option<&RunId>) -> Result<RunIndex> {
        let loaded = index::load(self.disk(), run)?;
        loaded.keep(self.disk());
        Ok(loaded.index)
    }

    /// Adds lines to a record, for good.
    ///
    /// # Errors
    /// When they could not be written.
    pub fn append(&self, record: RecordFile, lines: &[Object]) -> Result<()> {
        record::append(self.disk(), record.path().as_str(), lines)
    }

    /// Writes a file in place of what was there, for good; its folders are made.
    ///
    /// # Errors
    /// When it could not be written; what was there is there still.
    pub fn write(&self, path: &RepoPath, bytes: &[u8]) -> Result<()> {
        atomic::write(self.disk(), path.as_str(), bytes)
    }

    /// Writes a document as [`Held::write`] does, with two spaces a level and a line end.
    ///
    /// # Errors
    /// As [`Held::write`].
    pub fn write_document(&self, path: &RepoPath, document: &Object) -> Result<()> {
        self.write(path, journal::pretty(document).as_bytes())
    }

    /// Writes a file where nothing is, for good; false where something is.
    ///
    /// # Errors
    /// As [`Held::write`].
    pub fn create(&self, path: &RepoPath, bytes: &[u8]) -> Result<bool> {
        atomic::create(self.disk(), path.as_str(), bytes)
    }

    /// Removes a file, a link, or a folder with all that is in it; it may be gone.
    ///
    /// # Errors
    /// When it could not be removed.
    pub fn remove(&self, path: &RepoPath) -> Result<()> {
        self.disk().remove_tree(path.as_str())
    }

    /// Writes a turn's bundle in place of whatever was there.
    ///
    /// # Errors
    /// With `path_outside_repository` when a name in it is not one name.
    pub fn write_bundle(&self, turn: &TurnId, bundle: &Bundle) -> Result<()> {
        bundle::write(self.disk(), turn, bundle)
    }

    /// Writes one file of a turn's bundle.
    ///
    /// # Errors
    /// As [`Held::write_bundle`].
    pub fn add_to_bundle(&self, turn: &TurnId, name: &str, bytes: &[u8]) -> Result<()> {
        bundle::add(self.disk(), turn, name, bytes)
    }

    /// Makes the folder that a turn's result belongs into.
    ///
    /// # Errors
    /// As [`Held::write`].
    pub fn make_staging(&self, turn: &TurnId) -> Result<()> {
        atomic::make_folders(self.disk(), &dispatch::staging_folder(turn))
    }

    /// Stages a turn's result where it belongs, and says where.
    ///
    /// # Errors
    /// As [`Held::write`].
    pub fn stage(&self, turn: &TurnId, bytes: &[u8]) -> Result<RepoPath> {
        let path = files::own(&dispatch::staging_path(turn));
        self.write(&path, bytes)?;
        Ok(path)
    }

    /// Keeps a copy of a rejected result, and says where.
    ///
    /// # Errors
    /// As [`Held::write`].
    pub fn keep_rejected(
        &self,
        turn: &TurnId,
        attempt: u64,
        now: Time,
        bytes: &[u8],
    ) -> Result<RepoPath> {
        let path = bundle::rejected_path(turn, attempt, now);
        self.write(&path, bytes)?;
        Ok(path)
    }

    /// Writes `session.json`.
    ///
    /// # Errors
    /// As [`Held::write`].
    pub fn save_session(&self, session: &Object) -> Result<()> {
        self.write_document(&files::own(&files::session()), session)
    }

    /// Puts protected files, and the lock, back as they were before a hook ran, and names those
    /// that were not.
    ///
    /// # Errors
    /// When one could not be restored; with `lock_lost` when somebody else has the lock, whose
    /// files they are then.
    pub fn restore(&self, before: &Protected) -> Result<Vec<String>> {
        let unlocked = self.lock.put_back()?;
        let mut changed = protect::restore(self.disk(), before)?;
        changed.extend(unlocked.then(lock::path));
        Ok(changed)
    }

    /// Makes last what a process that ended may have made, renamed or removed without making it
    /// last: what we see may not be what is on the disk, and we are about to rely on it.
    fn settle(&self) -> Result<()> {
        for folder in ["".to_owned()].into_iter().chain(own_folders()) {
            if self.disk().list(&folder)?.is_some() {
                self.disk().sync_folder(&folder)?;
            }
        }
        Ok(())
    }

    /// Finishes what was left unfinished, the oldest first.
    fn recover(&self) -> Result<Vec<Replayed>> {
        let disk = self.disk();
        let mut left = Vec::new();
        if !journal::waiting(disk)?.is_empty() {
            self.settle()?;
        }
        for waiting in journal::waiting(disk)? {
            if let Some(journal) = journal::read(disk, &waiting.path)? {
                left.push((waiting, journal));
            }
        }
        left.sort_by_cached_key(|(waiting, journal)| {
            let prepared = journal.get("prepared_at").and_then(|at| at.as_str());
            (prepared.map(str::to_owned), waiting.transaction.clone())
        });
        let replayed = left
            .iter()
            .map(|(waiting, journal)| self.replay(waiting, journal));
        replayed.collect()
    }

    fn replay(&self, waiting: &Waiting, journal: &Object) -> Result<Replayed> {
        let disk = self.disk();
        let (kind, recovery) = journal::recovery(&self.repository, &waiting.path, journal)?;
        let lengths = journal::lengths(journal);
        let left = carry::out(disk, &recovery.writes, &lengths, Attempt::Again);
        let left = left.map_err(|error| match error {
            TreeError::Obstructed { .. } => obstacle::unfinished(&waiting.path, error),
            other => other,
        })?;
        journal::remove(disk, &waiting.path)?;
        Ok(Replayed {
            path: waiting.path.clone(),
            kind,
            applied_before: recovery.applied,
            superseded: recovery.superseded,
            left,
        })
    }

    /// Removes temporary files that a process left which ended while it wrote: they would look
    /// like somebody's work. Those beside the lock may be of others who want it now.
    fn remove_temporaries(&self) -> Result<()> {
        let disk = self.disk();
        let crashed = self.lock.taken_over || !self.recovered.is_empty();
        let locks = lock::path();
        for path in temporaries(&self.repository)? {
            let modified = disk.stat(&path)?.map(|stat| stat.modified_ms);
            let old = modified.is_some_and(|modified| {
                let modified = Time::from_unix_millis(modified);
                accord_system::now().millis_since(modified) > FORGOTTEN_AFTER_MS
            });
            if old || crashed && parent(&path) != parent(&locks) {
                disk.remove_file(&path)?;
            }
        }
        Ok(())
    }
}

/// The folders in which files are made and renamed that outlast a turn.
fn own_folders() -> impl Iterator<Item = String> {
    let parent_of = |path: String| parent(&path).to_owned();
    let accepted = files::journals(CommitKind::Accept);
    [
        HOME.to_owned(),
        parent_of(accepted.clone()),
        accepted,
        files::journals(CommitKind::Change),
        parent_of(files::index()),
        parent_of(lock::path()),
        parent_of(files::rejected()),
        files::rejected(),
        coordinator::coordinator_home(),
    ]
    .into_iter()
}

/// The temporary files in those folders; what lies in a turn's own folders goes with them.
pub(super) fn temporaries(repository: &Repository) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for folder in own_folders() {
        let entries = repository.disk().list(&folder)?.unwrap_or_default();
        for entry in entries {
            if atomic::is_temporary(&entry.name) {
                found.push(format!("{folder}/{}", entry.name));
            }
        }
    }
    Ok(found)
}
