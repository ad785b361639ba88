//! Commits of Accord while turns are guarded: they move memory and copies along.

use std::collections::BTreeSet;

use accord_contract::{Code, Failure, Object};
use accord_runs_core::accept::{Commit, CommitKind, Record, Write};
use accord_runs_core::guard::{ForeignChange, check_foreign_change};
use accord_runs_core::{Result, TurnId};

use super::document::{Document, PendingCommit};
use super::files::GuardedFile;
use super::{Guard, had_worker, ids, is_at, kept, memory, state_of};
use crate::{LockedRepository, Notice, Repository};

pub(crate) struct Announced {
    pending: PendingCommit,
}

impl Guard {
    /// Notes a commit in the copies before it happens; `None` if no turn is guarded. Fails with
    /// `worker_busy` if another process waits for a worker, and would have to put the change back.
    pub(crate) fn announce(
        &self,
        repository: &LockedRepository,
        commit: &Commit,
    ) -> Result<Option<Announced>> {
        let pending = PendingCommit::new(commit);
        if let Some(memory) = memory::of(&self.folder()) {
            let mut memory = memory::lock(&memory);
            // The commit was decided on what the operation found at its begin.
            let differences = memory.snapshot.compare(repository)?;
            // A check or a hook may have changed the configuration since it was compared.
            let in_config =
                commit.kind == CommitKind::Accept && differences.has(GuardedFile::Config);
            if differences.in_records() || in_config {
                let message = format!("{} changed while this was decided", differences.names());
                return Err(Failure::new(Code::XchainRecordsChanged, message)
                    .suggesting("do it again; the change is put back first"));
            }
            let root = self.place.make()?;
            let mut document = Document::load(&root)?;
            memory.pending = Some(pending.clone());
            memory.correct(&mut document);
            self.check_others(&document, commit, &pending)?;
            document.store(&root)?;
            return Ok(Some(Announced { pending }));
        }
        let Some((root, mut document)) = self.copies(repository)? else { return Ok(None) };
        if !document.is_active() {
            return Ok(None);
        }
        self.check_others(&document, commit, &pending)?;
        document.pending = Some(pending.clone());
        document.store(&root)?;
        Ok(Some(Announced { pending }))
    }

    /// Moves memory and copies along after the commit.
    pub(crate) fn follow(&self, repository: &LockedRepository, announced: Announced) -> Result<()> {
        let root = self.place.make()?;
        let mut document = Document::load(&root)?;
        let memory = memory::of(&self.folder());
        if let Some(memory) = &memory {
            memory::lock(memory).correct(&mut document);
        }
        let Some(snapshot) = &mut document.snapshot else { return Ok(()) };
        snapshot.copy_commit(&root, &announced.pending)?;
        snapshot.apply(&announced.pending);
        snapshot.note_identities(repository);
        // Turns that were accepted, rejected or reissued are judged.
        let state = state_of(&snapshot.state);
        let snapshot = snapshot.clone();
        document.turns.retain(|id, guarded| is_at(state.as_ref(), id, guarded));
        document.pending = None;
        document.store(&root)?;
        if let Some(memory) = memory {
            let mut memory = memory::lock(&memory);
            memory.snapshot = snapshot;
            memory.pending = None;
            memory.turns.retain(|turn, _| document.turns.contains_key(turn));
            memory.refused.retain(|turn, _| document.turns.contains_key(turn));
            if memory.turns.is_empty() {
                memory::forget(&self.folder());
            }
        }
        Ok(())
    }

    pub(crate) fn withdraw(&self) -> Result<()> {
        if let Some(memory) = memory::of(&self.folder()) {
            memory::lock(&memory).pending = None;
        }
        let Some((root, mut document)) = self.load()? else { return Ok(()) };
        document.pending = None;
        document.store(&root)
    }

    /// Whether a journal may be applied. While turns are guarded, one that Accord did not announce
    /// is kept and dropped: a worker can write a journal, too.
    pub(crate) fn permits_journal(
        &self,
        repository: &Repository,
        path: &str,
        journal: &Object,
    ) -> Result<bool> {
        let held = memory::of(&self.folder());
        let judges = match self.load()? {
            Some((_, document)) if document.intact => document.is_active(),
            _ => had_worker(repository)?,
        };
        if held.is_none() && !judges {
            return Ok(true);
        }
        let root = self.place.make()?;
        let document = Document::load(&root)?;
        let remembered = held.and_then(|memory| memory::lock(&memory).pending.clone());
        let announced = remembered.or(document.pending.clone());
        if announced.is_some_and(|pending| pending.has_journal(journal)) {
            return Ok(true);
        }
        let now = self.environment.now();
        let kept = kept::keep_journal(&root, path, journal, ids(&document), now)?;
        let kept = kept.folder.display().to_string();
        self.environment.notify(&Notice::PutBack { files: vec![path.to_owned()], kept });
        Ok(false)
    }

    /// Refuses what another waiting process would have to put back.
    fn check_others(
        &self,
        document: &Document,
        commit: &Commit,
        pending: &PendingCommit,
    ) -> Result<()> {
        let others = document.held_by_others();
        let (Some((first, pid)), Some(after)) = (others.first(), &pending.state) else {
            return Ok(());
        };
        let before = document.snapshot.as_ref().and_then(|snapshot| state_of(&snapshot.state));
        let (Some(before), Some(after)) = (before, state_of(after.as_bytes())) else {
            return Ok(());
        };
        let lines = |wanted: Record| {
            let lines = commit.writes.iter().filter_map(|write| match write {
                Write::Append { record, line } if *record == wanted => Some(line.clone()),
                _ => None,
            });
            lines.collect::<Vec<Object>>()
        };
        let guarded: BTreeSet<TurnId> = others.iter().map(|(turn, _)| turn.clone()).collect();
        let change = ForeignChange {
            before: &before,
            after: &after,
            history: &lines(Record::History),
            ledger: &lines(Record::Ledger),
            events: &lines(Record::Events),
            guarded: &guarded,
            noted: &self.noted()?,
        };
        check_foreign_change(&change).map_err(|reasons| {
            let reasons = reasons.join("; ");
            let message = format!(
                "process {pid} waits for the worker of {first}, and would put this change back: \
                 {reasons}"
            );
            Failure::new(Code::XchainWorkerBusy, message)
                .with("turn_id", first.as_str())
                .with("holder_pid", *pid)
                .suggesting("wait for that process, or end it, then do this again")
        })
    }
}

impl Repository {
    pub(crate) fn guard(&self) -> Option<&Guard> {
        self.guard.as_deref()
    }
}
