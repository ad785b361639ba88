//! Compares the repository with what judges the guarded turns, at the begin of every operation.

use std::collections::BTreeSet;

use accord_base::decision::DecisionRecord;
use accord_contract::{Code, Failure};
use accord_runs_core::guard::{ForeignChange, check_foreign_change};
use accord_runs_core::{Result, TurnId};
use accord_trees::{Disk as _, Root};

use super::digest::{Compared, identity};
use super::document::{COPY, Document, PendingCommit, Snapshot};
use super::files::{Differences, GuardedFile};
use super::kept::{self, KeptChange};
use super::memory::{self, Memory};
use super::{ADOPT, Guard, damaged, ids, state_of};
use crate::{LockedRepository, Notice, Repository};

/// What is in force while a worker runs.
pub(crate) struct InForce {
    pub(crate) config: Vec<u8>,
    /// The bytes of the state. The file may be another one a moment later.
    pub(crate) state: Vec<u8>,
}

impl InForce {
    fn of(snapshot: &Snapshot) -> Self {
        Self { config: snapshot.config.clone(), state: snapshot.state.clone() }
    }
}

impl Guard {
    /// Makes sure that the repository is what the guarded turns are judged by. Returns the
    /// configuration and the state that are in force; `None` if no turn is guarded. Fails with
    /// `config_changed`, `records_changed` or `run_lost` if a person must decide.
    pub(crate) fn settle(&self, repository: &LockedRepository) -> Result<Option<InForce>> {
        if let Some(memory) = memory::of(&self.folder()) {
            let mut memory = memory::lock(&memory);
            self.settle_held(repository, &mut memory)?;
            return Ok(Some(InForce::of(&memory.snapshot)));
        }
        let Some((root, mut document)) = self.copies(repository)? else { return Ok(None) };
        if !document.is_active() {
            return Ok(None);
        }
        let mut snapshot = document.snapshot.clone().ok_or_else(damaged)?;
        // No memory says whether Accord stored it.
        repository.drop_index()?;
        if let Some(pending) = document.pending.take() {
            // The process that committed was killed. This one has the lock.
            if has_happened(repository, &snapshot, &pending)? {
                snapshot.apply(&pending);
                snapshot.note_identities(repository);
                snapshot.copy_records(repository, &root)?;
                document.snapshot = Some(snapshot.clone());
            }
            document.store(&root)?;
        }
        let differences = snapshot.compare(repository)?;
        // The process that waits puts the configuration back.
        let is_held = !document.held_by_others().is_empty();
        let judged = differences.in_records() || (!is_held && !differences.files.is_empty());
        if judged {
            return Err(self.disagreement(&differences, &snapshot, &document));
        }
        Ok(Some(InForce::of(&snapshot)))
    }

    /// With the memory of this process: what others changed is taken over or put back.
    fn settle_held(&self, repository: &LockedRepository, memory: &mut Memory) -> Result<()> {
        let root = self.place.make()?;
        let mut document = Document::load(&root)?;
        if let Some(pending) = memory.pending.take()
            && has_happened(repository, &memory.snapshot, &pending)?
        {
            memory.snapshot.apply(&pending);
            memory.snapshot.note_identities(repository);
        }
        let mut differences = memory.snapshot.compare(repository)?;
        if differences.in_records() {
            let noted = self.noted()?;
            let about = (&memory.turn_ids(), noted.as_slice());
            match taken_over(repository, &memory.snapshot, about, &differences) {
                Ok(next) => {
                    memory.snapshot = next;
                    differences.files.retain(|(file, _)| *file == GuardedFile::Config);
                }
                Err(reasons) => {
                    self.put_back(&root, repository, memory, &document, &differences, &reasons)?;
                    if differences.has(GuardedFile::Config) {
                        self.refuse_results(&mut document, memory);
                    }
                    differences.files.clear();
                }
            }
        }
        if differences.has(GuardedFile::Config) {
            let reasons = ["the configuration is fixed while a worker runs".to_owned()];
            self.put_back(&root, repository, memory, &document, &differences, &reasons)?;
            self.refuse_results(&mut document, memory);
        }
        if memory.index.is_none()
            || memory.index != identity(repository.disk(), &Repository::index_path())
        {
            repository.drop_index()?;
            memory.index = None;
        }
        self.store_again(&root, repository, &mut document, memory)
    }

    /// Keeps the differing files, then puts them back.
    fn put_back(
        &self,
        root: &Root,
        repository: &LockedRepository,
        memory: &mut Memory,
        document: &Document,
        differences: &Differences,
        reasons: &[String],
    ) -> Result<()> {
        let about = (differences, &memory.snapshot);
        let now = self.environment.now();
        let kept = kept::keep(root, repository, about, ids(document), reasons.to_vec(), now)?;
        let lost = differences.is_lost(&memory.snapshot);
        for different in &differences.files {
            if !memory.snapshot.restore(repository, root, *different)? {
                let path = different.0.path();
                let message = format!(
                    "{path} changed while a worker ran, and so did its copy; neither can be trusted"
                );
                let failure = Failure::new(Code::XchainRecordsChanged, message);
                return Err(failure.with("path", path).suggesting(ADOPT));
            }
        }
        // It is derived from the records, and would hide that they were other ones.
        repository.drop_index()?;
        memory.snapshot.note_identities(repository);
        let files = kept.files.iter().map(|(path, _)| path.clone()).collect();
        let place = kept.folder.display().to_string();
        self.environment.notify(&Notice::PutBack { files, kept: place });
        if differences.in_records() {
            let failure = if lost {
                self.lost(&memory.snapshot, &memory.turn_ids(), &kept)
            } else {
                changed(&memory.turn_ids(), &kept, reasons)
            };
            memory.stops.extend(memory.turn_ids().into_iter().map(|turn| (turn, failure.clone())));
        }
        Ok(())
    }

    /// The results of all turns whose workers run are refused: any of them may have changed the
    /// configuration.
    fn refuse_results(&self, document: &mut Document, memory: &mut Memory) {
        let folder = self.folder();
        let message = |id: &TurnId| {
            format!(
                "agentxchain.json changed while the worker of {id} ran; it was put back, and the \
                 changed file is kept in {}",
                folder.display()
            )
        };
        for (id, turn) in &mut document.turns {
            turn.config_changed = turn.holder.map(|_| message(id));
        }
        memory.refused.extend(memory.turns.keys().map(|id| (id.clone(), message(id))));
    }

    /// Brings the copies to what this process remembers, if they are not.
    fn store_again(
        &self,
        root: &Root,
        repository: &Repository,
        document: &mut Document,
        memory: &Memory,
    ) -> Result<()> {
        memory.correct(document);
        let stored = Document::load(root)?;
        let same = stored.snapshot.as_ref() == Some(&memory.snapshot)
            && stored.turns == document.turns
            && stored.pending.is_none();
        if same && root.stat(COPY).is_ok_and(|stat| stat.is_some()) {
            return Ok(());
        }
        memory.snapshot.copy_records(repository, root)?;
        document.store(root)
    }

    /// Repository and copies differ, and no process remembers which of them is right.
    pub(super) fn disagreement(
        &self,
        differences: &Differences,
        snapshot: &Snapshot,
        document: &Document,
    ) -> Failure {
        let names = differences.names();
        if let Some((turn, pid)) = document.held_by_others().first() {
            let message = format!(
                "{names} changed while the worker of {turn} runs; process {pid} waits for it, and \
                 decides about the change when it ends"
            );
            return Failure::new(Code::XchainRecordsChanged, message)
                .suggesting("wait for that process, then do this again");
        }
        let turns = ids(document).join(", ");
        let folder = self.folder().display().to_string();
        if differences.is_lost(snapshot) {
            let run = lost_run(snapshot);
            let message = format!(
                "{run} is lost: .agentxchain is gone, and the process that waited for the worker \
                 of {turns} ended before it could put it back; the copies are in {folder}"
            );
            return Failure::new(Code::XchainRunLost, message)
                .suggesting("`accord run adopt --undo --yes` puts the run back from the copies");
        }
        let in_records = differences.in_records().then_some(Code::XchainRecordsChanged);
        let code = in_records.unwrap_or(Code::XchainConfigChanged);
        let message = format!(
            "{names} changed since the worker of {turns} started, and the process that waited for \
             it ended; the copies are in {folder}"
        );
        Failure::new(code, message).suggesting(ADOPT)
    }

    fn lost(&self, snapshot: &Snapshot, turns: &BTreeSet<TurnId>, kept: &KeptChange) -> Failure {
        let message = format!(
            "{} was lost: .agentxchain was removed while the worker of {} ran. Configuration, \
             state, history, ledger and events were put back from {}; bundles and staged results \
             are not copied",
            lost_run(snapshot),
            listed(turns),
            self.folder().display()
        );
        Failure::new(Code::XchainRunLost, message)
            .with("kept", kept.folder.display().to_string())
            .suggesting("`accord run status` shows where the run continues")
    }
}

/// The foreign change, if it may be taken over; else the reasons why a person must decide.
fn taken_over(
    repository: &Repository,
    snapshot: &Snapshot,
    (guarded, noted): (&BTreeSet<TurnId>, &[DecisionRecord]),
    differences: &Differences,
) -> Result<Snapshot, Vec<String>> {
    let mut reasons = Vec::new();
    for (file, compared) in &differences.files {
        let path = file.path();
        match (file, compared) {
            (GuardedFile::Config, _) | (_, Compared::Same | Compared::Grown) => {}
            (GuardedFile::State, Compared::Changed) => {}
            (_, Compared::Missing) => reasons.push(format!("{path} was removed")),
            (_, Compared::Changed) => reasons.push(format!("lines of {path} were changed")),
        }
    }
    if !reasons.is_empty() {
        return Err(reasons);
    }
    let one = |reason: String| vec![reason];
    let before = state_of(&snapshot.state);
    let now = Snapshot::take(repository, Some(snapshot));
    let now = now.map_err(|error| one(Failure::from(error).message))?;
    let after = state_of(&now.state);
    let (Some(before), Some(after)) = (before, after) else {
        return Err(one("state.json is not a state".to_owned()));
    };
    let added = |file| snapshot.added(repository, file).map_err(one);
    let history = added(GuardedFile::History)?;
    let ledger = added(GuardedFile::Ledger)?;
    let events = added(GuardedFile::Events)?;
    check_foreign_change(&ForeignChange {
        before: &before,
        after: &after,
        history: &history,
        ledger: &ledger,
        events: &events,
        guarded,
        noted,
    })?;
    let (config, user_git) = (snapshot.config.clone(), snapshot.user_git.clone());
    Ok(Snapshot { config, user_git, ..now })
}

/// Whether a commit has happened: the repository is the snapshot with the commit.
pub(super) fn has_happened(
    repository: &Repository,
    snapshot: &Snapshot,
    pending: &PendingCommit,
) -> Result<bool> {
    let mut after = snapshot.clone();
    after.apply(pending);
    // Without a difference in the records; the configuration is no part of a commit.
    Ok(!after.compare(repository)?.in_records())
}

fn changed(turns: &BTreeSet<TurnId>, kept: &KeptChange, reasons: &[String]) -> Failure {
    let (turns, why) = (listed(turns), reasons.join("; "));
    let message = format!(
        "the records of the run changed while the worker of {turns} ran ({why}); they were put \
         back, and the changed files are kept in {}",
        kept.folder.display()
    );
    Failure::new(Code::XchainRecordsChanged, message)
        .with("errors", serde_json::json!(reasons))
        .with("kept", kept.folder.display().to_string())
        .suggesting(
            "`accord run adopt` shows the change, and `accord run adopt --yes` puts it in force; \
             `accord run step` goes on without it",
        )
}

pub(super) fn lost_run(snapshot: &Snapshot) -> String {
    let Some(state) = state_of(&snapshot.state) else { return "the run".to_owned() };
    let run = state.run_id().map_or_else(|| "the run".to_owned(), ToString::to_string);
    format!("{run} in the phase {}", state.phase())
}

fn listed(turns: &BTreeSet<TurnId>) -> String {
    let turns: Vec<&str> = turns.iter().map(TurnId::as_str).collect();
    turns.join(", ")
}
