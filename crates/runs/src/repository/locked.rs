//! What can be written to a governed repository by the process that holds its lock.

use std::fmt;
use std::ops::Deref;
use std::time::Duration;

use accord_contract::{Failure, Object, Time};
use accord_runs_core::accept::{Commit, CommitKind};
use accord_runs_core::manifest::Bundle;
use accord_runs_core::{HOME, RepoPath, RunId, RunIndex, TurnId, coordinator, dispatch};
use accord_trees::commit::Lengths;
use accord_trees::lock::LockFile;
use accord_trees::{
    LockedTree, Recovered, Recovery, TreeError, TreeFormat, atomic, parent, record,
};

use crate::guard::InForce;

use super::{
    Protected, RecordFile, ReplayedJournal, Repository, RepositoryError, Result, bundle, index,
    journal, layout, lock, protect,
};

/// A repository whose lock this process holds until this value is dropped.
pub struct LockedRepository {
    tree: LockedTree<Repository>,
}

#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Committed {
    /// Paths that could not be removed; they do no harm.
    pub left: Vec<String>,
}

impl fmt::Debug for LockedRepository {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("LockedRepository");
        shown.field("root", &self.root()).finish_non_exhaustive()
    }
}

impl Deref for LockedRepository {
    type Target = Repository;

    fn deref(&self) -> &Repository {
        self.tree.format()
    }
}

impl TreeFormat for Repository {
    type Error = RepositoryError;
    type Detail = ReplayedJournal;

    fn lock_file(&self) -> LockFile {
        lock::file()
    }

    fn folders(&self) -> Vec<String> {
        let parent_of = |path: String| parent(&path).to_owned();
        let accepted = layout::journals(CommitKind::Accept);
        vec![
            HOME.to_owned(),
            parent_of(accepted.clone()),
            accepted,
            layout::journals(CommitKind::Change),
            parent_of(layout::index()),
            parent_of(lock::file().path),
            parent_of(layout::rejected()),
            layout::rejected(),
            coordinator::coordinator_home(),
        ]
    }

    fn journals(&self) -> Result<Vec<String>> {
        let pending = self.pending_journals()?.into_iter();
        Ok(pending.map(|pending| pending.path).collect())
    }

    fn prepared_at(&self, journal: &Object) -> Option<String> {
        journal.get("prepared_at")?.as_str().map(str::to_owned)
    }

    fn recover(&self, path: &str, journal: &Object) -> Result<Recovery<ReplayedJournal>> {
        if let Some(guard) = self.guard()
            && !guard.permits_journal(self, path, journal).map_err(RepositoryError::Document)?
        {
            let kind = CommitKind::of_journal(journal).unwrap_or(CommitKind::Change);
            return Ok(Recovery {
                writes: Vec::new(),
                lengths: Lengths::new(),
                detail: ReplayedJournal { kind, applied_before: false, superseded: true },
            });
        }
        let (kind, recovery) = self.recovery(path, journal)?;
        let (applied_before, superseded) = (recovery.applied, recovery.superseded);
        Ok(Recovery {
            writes: journal::writes(&recovery.writes),
            lengths: journal::lengths(journal),
            detail: ReplayedJournal { kind, applied_before, superseded },
        })
    }
}

impl LockedRepository {
    pub(super) fn take(repository: &Repository, timeout: Duration) -> Result<Self> {
        let tree = LockedTree::take(repository.disk.clone(), repository.clone(), timeout)?;
        Ok(Self { tree })
    }

    /// The commits of other processes that were finished when the lock was taken.
    pub fn recovered(&self) -> &[Recovered<ReplayedJournal>] {
        self.tree.recovered()
    }

    /// Applies everything that an operation writes, or nothing. Fails with `commit_unfinished` if
    /// the commit has happened and a file could not be written: the next commit, or the next holder
    /// of the lock, finishes it. After any other error nothing was written.
    pub fn commit(&self, commit: &Commit) -> Result<Committed> {
        let guard = self.guard();
        let announced = guard.map(|guard| guard.announce(self, commit)).transpose();
        let announced = announced.map_err(RepositoryError::Document)?.flatten();
        let committed = self.tree.commit(
            &journal::path(commit),
            |lengths| journal::document(commit, lengths),
            &journal::writes(&commit.writes),
        );
        if let (Some(guard), Some(announced)) = (guard, announced) {
            let followed = match &committed {
                Ok(_) => guard.follow(self, announced),
                // It has happened: the next holder of the lock completes the copies, too.
                Err(RepositoryError::Tree(TreeError::Unfinished { .. })) => Ok(()),
                Err(_) => guard.withdraw(),
            };
            followed.map_err(RepositoryError::Document)?;
        }
        Ok(Committed { left: committed? })
    }

    /// Makes sure that the repository is what guarded turns are judged by. Returns the
    /// configuration and the state that are in force; `None` if no worker runs. Fails with
    /// `config_changed`, `records_changed` or `run_lost` if a person must decide.
    pub(crate) fn settle(&self) -> std::result::Result<Option<InForce>, Failure> {
        self.guard().map_or(Ok(None), |guard| guard.settle(self))
    }

    /// Removes the stored index, so that the records are read again.
    pub(crate) fn drop_index(&self) -> Result<()> {
        Ok(self.disk().remove_tree(&layout::index())?)
    }

    /// What the records say about a run. The index is stored, so that less is read next time. Fails
    /// with `record_invalid` if a line is damaged.
    pub fn index(&self, run: Option<&RunId>) -> Result<RunIndex> {
        let loaded = index::load(self.disk(), run)?;
        if loaded.store(self.disk())
            && let Some(guard) = self.guard()
        {
            guard.note_index(self);
        }
        Ok(loaded.index)
    }

    pub fn append(&self, record: RecordFile, lines: &[Object]) -> Result<()> {
        Ok(record::append(self.disk(), record.path().as_str(), lines)?)
    }

    /// Replaces a file, or leaves it as it is; missing folders are created.
    pub fn write(&self, path: &RepoPath, bytes: &[u8]) -> Result<()> {
        Ok(atomic::write(self.disk(), path.as_str(), bytes)?)
    }

    /// Writes a document as [`LockedRepository::write`] does, with two spaces per level.
    pub fn write_document(&self, path: &RepoPath, document: &Object) -> Result<()> {
        self.write(path, accord_contract::text::pretty(document).as_bytes())
    }

    /// Creates a file; false if the path exists.
    pub fn create(&self, path: &RepoPath, bytes: &[u8]) -> Result<bool> {
        Ok(atomic::create(self.disk(), path.as_str(), bytes)?)
    }

    /// Removes a file, a link, or a folder with all its content; it need not exist.
    pub fn remove(&self, path: &RepoPath) -> Result<()> {
        Ok(self.disk().remove_tree(path.as_str())?)
    }

    /// Writes a turn's bundle; replaces what its folder contained. Fails with
    /// `path_outside_repository` if a name in it has folders.
    pub fn write_bundle(&self, turn: &TurnId, bundle: &Bundle) -> Result<()> {
        bundle::write(self.disk(), turn, bundle)
    }

    pub fn add_to_bundle(&self, turn: &TurnId, name: &str, bytes: &[u8]) -> Result<()> {
        bundle::add(self.disk(), turn, name, bytes)
    }

    pub fn make_staging(&self, turn: &TurnId) -> Result<()> {
        Ok(atomic::make_folders(self.disk(), &dispatch::staging_folder(turn))?)
    }

    /// Stages a turn's result, and returns its path.
    pub fn stage(&self, turn: &TurnId, bytes: &[u8]) -> Result<RepoPath> {
        let path = layout::own(&dispatch::staging_path(turn));
        self.write(&path, bytes)?;
        Ok(path)
    }

    /// Stores a copy of a rejected result, and returns its path.
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

    pub fn save_session(&self, session: &Object) -> Result<()> {
        self.write_document(&layout::own(&layout::session()), session)
    }

    /// Restores the protected files and the lock after a hook ran, and returns the paths that had
    /// changed. Fails with `lock_lost` if another process has the lock by now; its files are not
    /// touched then.
    pub fn restore(&self, before: &Protected) -> Result<Vec<String>> {
        // First: without the lock, the files may already be those of another process.
        let unlocked = self.tree.lock().put_back()?;
        let mut changed = protect::restore(self.disk(), before)?;
        changed.extend(unlocked.then(|| lock::file().path));
        Ok(changed)
    }
}
