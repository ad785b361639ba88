//! A person decides about changes that Accord did not take over.

use std::path::PathBuf;

use accord_base::evidence::{EvidenceDigest, ExpectedDigest};
use accord_canon::sha256;
use accord_contract::{Code, Failure};
use accord_runs_core::{Person, Result, State, Status, TurnId, person};
use accord_trees::{Root, read_file};
use serde_json::json;

use super::decisions::append;
use super::document::{COPY, Document, Snapshot};
use super::files::{Differences, GuardedFile};
use super::kept::{self, Decision, KeptChange};
use super::settle::lost_run;
use super::{Guard, had_worker, ids, memory, state_of};
use crate::own_path;
use crate::repository::{LockedRepository, Repository, failure, limits};

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Choice {
    Show,
    Adopt,
    Undo,
}

#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Found {
    /// The files that differ from the copies, after the waiting process ended.
    pub(crate) differing: Vec<String>,
    /// The run of the copies that the repository does not have any more.
    pub(crate) lost: Option<String>,
    pub(crate) kept: Vec<KeptChange>,
    pub(crate) folder: PathBuf,
    /// Why nothing but a decision is possible now.
    pub(crate) trouble: Option<Failure>,
    /// The turns whose worker was not waited for to the end, with their attempts.
    pub(crate) turns: Vec<(TurnId, u64)>,
    /// The digest of what the decision is about, if it was asked for.
    pub(crate) evidence: Option<EvidenceDigest>,
}

impl Found {
    pub(crate) fn is_empty(&self) -> bool {
        self.differing.is_empty() && self.lost.is_none() && self.kept.is_empty()
    }
}

impl Guard {
    /// What there is to decide about. Takes no lock and writes nothing.
    pub(crate) fn find(&self, repository: &Repository) -> Result<Found> {
        let mut found = self.look(repository)?;
        // A commit may have happened between reading the copies and the repository.
        for _ in 0..5 {
            if found.trouble.is_none() {
                break;
            }
            let again = self.look(repository)?;
            if again == found {
                break;
            }
            found = again;
        }
        Ok(found)
    }

    fn look(&self, repository: &Repository) -> Result<Found> {
        let folder = self.folder();
        let loaded = self.load()?;
        let is_intact = loaded.as_ref().is_some_and(|(_, document)| document.intact);
        let is_held = memory::of(&folder).is_some();
        let state = repository.state_bytes().ok().flatten();
        let mut found = Found { folder, ..Found::default() };
        // Records that cannot be read are reported where they are used.
        if !is_intact && !is_held && had_worker(repository).unwrap_or(false) {
            found.trouble = Some(self.missing());
            found.differing = vec![COPY.to_owned()];
            let state = state.as_deref().and_then(state_of);
            let turns = state.iter().flat_map(State::turns);
            found.turns = turns.map(|turn| (turn.id().clone(), turn.attempt())).collect();
        }
        let Some((root, document)) = loaded else { return Ok(found) };
        found.kept = kept::open(&root, state.as_deref())?;
        let Some(mut snapshot) = document.snapshot.clone().filter(|_| is_intact) else {
            return Ok(found);
        };
        if document.is_active() {
            let mut differences = snapshot.compare(repository)?;
            if let Some(pending) = document.pending.as_ref().filter(|_| differences.in_records()) {
                // A commit is under way, or was left by a process that ended.
                snapshot.apply(pending);
                differences = snapshot.compare(repository)?;
            }
            let waits = is_held || !document.held_by_others().is_empty();
            if !waits && !differences.files.is_empty() {
                found.differing = differences.files.iter().map(|(file, _)| file.path()).collect();
                found.lost = differences.is_lost(&snapshot).then(|| lost_run(&snapshot));
                found.trouble = Some(self.disagreement(&differences, &snapshot, &document));
                let turns = document.turns.iter();
                found.turns = turns.map(|(id, turn)| (id.clone(), turn.attempt)).collect();
            }
        } else if state.is_none() {
            let is_lost = state_of(&snapshot.state).is_some_and(|state| is_open(&state));
            found.lost = is_lost.then(|| lost_run(&snapshot));
        }
        Ok(found)
    }

    /// What there is to decide about, with the digest of it. What was put back earlier is in a
    /// folder that a worker without a sandbox can write.
    pub(crate) fn find_with_evidence(&self, repository: &Repository) -> Result<Found> {
        let mut found = self.find(repository)?;
        if found.is_empty() {
            return Ok(found);
        }
        let tree = Root::open(repository.root()).map_err(|error| failure(&error))?;
        let mark = |root: &Root, path: &str| match read_file(root, path, limits::PROTECTED) {
            Ok(bytes) => json!(bytes.map(|bytes| sha256(&bytes).hex())),
            Err(error) => json!({"unreadable": error.to_string()}),
        };
        let differing = found.differing.iter().map(|path| json!([path, mark(&tree, path)]));
        let differing: Vec<_> = differing.collect();
        let mut kept = Vec::new();
        if let Some(root) = self.place.open()? {
            for change in &found.kept {
                let files = GuardedFile::ALL.map(|file| mark(&root, &change.path(file)));
                kept.push(json!([change.id, files]));
            }
        }
        let list = json!({
            "format": "accord-adopt-evidence/1",
            "differing": differing,
            "lost": found.lost,
            "kept": kept,
        });
        found.evidence = Some(sha256(list.to_string().as_bytes()).into());
        Ok(found)
    }

    /// Carries out what a person decided, and returns what it was about. Fails with
    /// `evidence_changed` if it is not what the person saw; `worker_busy` while a worker runs;
    /// `invalid_config` or `state_invalid` if what should be put in force is not valid.
    pub(crate) fn decide(
        &self,
        repository: &LockedRepository,
        choice: Choice,
        (person, expect): (&Person, Option<&ExpectedDigest>),
        check: impl Fn(&[u8]) -> Result<()>,
    ) -> Result<Found> {
        let found = self.find_with_evidence(repository)?;
        let evidence = found.evidence.as_ref().map(|digest| (digest, true));
        expect.map_or(Ok(()), |it| it.check(evidence, None, "`accord run adopt`"))?;
        if choice == Choice::Show || found.is_empty() {
            return Ok(found);
        }
        // It may be missing.
        let root = self.place.make()?;
        let mut document = Document::load(&root)?;
        self.refuse_while_working(&document)?;
        match choice {
            Choice::Show => {}
            Choice::Undo => self.undo(repository, &root, &document, &found)?,
            Choice::Adopt => adopt(repository, &root, &found, check)?,
        }
        let decision = if choice == Choice::Adopt { Decision::Adopted } else { Decision::Undone };
        // Before the question is closed: a decision that was carried out has its record.
        self.record(&root, &found, decision, person)?;
        // The repository alone judges from here on; the next worker gets new copies.
        document.turns.clear();
        document.pending = None;
        if choice == Choice::Adopt && (found.lost.is_some() || !document.intact) {
            document.snapshot = None;
        }
        document.store(&root)?;
        for change in &found.kept {
            change.decide(&root, decision)?;
        }
        Ok(found)
    }

    fn record(
        &self,
        root: &Root,
        found: &Found,
        decision: Decision,
        person: &Person,
    ) -> Result<()> {
        let kept: Vec<&str> = found.kept.iter().map(|change| change.id.as_str()).collect();
        let now = self.environment.now();
        let subject = found.lost.as_deref().unwrap_or("agentxchain.json");
        let decided = person::Decision {
            kind: "run.adopt",
            subject: found.turns.first().map_or(subject, |(turn, _)| turn.as_str()),
            outcome: decision.as_str(),
            asked_at: None,
            sandbox: None,
        };
        let chance = self.environment.ids().hex(16);
        let record = person.decision(decided, found.evidence.as_ref(), &chance, now)?;
        let line = json!({
            "at": now.to_string(),
            "decision": decision.as_str(),
            "actor": person.actor,
            "os_user": person.os_user,
            "door": person.door.as_str(),
            "presence": person.presence.recorded(),
            "note": person.note,
            "differing": found.differing,
            "lost": found.lost,
            "kept": kept,
        });
        let line = line.as_object().cloned().unwrap_or_default();
        append(root, &record, line)
    }

    fn refuse_while_working(&self, document: &Document) -> Result<()> {
        let others = document.held_by_others();
        let own = || (ids(document).join(", "), u64::from(std::process::id()));
        let holder = others.first().map(|(turn, pid)| (turn.to_string(), *pid));
        let holder = holder.or_else(|| memory::of(&self.folder()).map(|_| own()));
        let Some((turn, pid)) = holder else { return Ok(()) };
        let message = format!("process {pid} waits for the worker of {turn}");
        Err(Failure::new(Code::XchainWorkerBusy, message)
            .with("holder_pid", pid)
            .suggesting("wait for that process, or end it, then do this again"))
    }

    /// Puts the copies back, after the differing files were kept.
    fn undo(
        &self,
        repository: &LockedRepository,
        root: &Root,
        document: &Document,
        found: &Found,
    ) -> Result<()> {
        if found.differing.is_empty() && found.lost.is_none() {
            return Ok(());
        }
        let snapshot = document.snapshot.as_ref().filter(|_| document.intact);
        let snapshot = snapshot.ok_or_else(|| self.missing())?;
        let differences = snapshot.compare(repository)?;
        let about = (&differences, snapshot);
        let now = self.environment.now();
        let reasons = vec!["undone by a person".to_owned()];
        let kept = kept::keep(root, repository, about, ids(document), reasons, now)?;
        kept.decide(root, Decision::Undone)?;
        restore_all(repository, root, snapshot, &differences)?;
        repository.drop_index()?;
        Ok(())
    }
}

fn adopt(
    repository: &LockedRepository,
    root: &Root,
    found: &Found,
    check: impl Fn(&[u8]) -> Result<()>,
) -> Result<()> {
    // The newest version of each file counts. What the repository has now is newer than what was
    // put back earlier.
    let is_missing = found.differing.iter().any(|path| path == COPY);
    let differs = |file: GuardedFile| is_missing || found.differing.contains(&file.path());
    let config = found.kept.iter().rev().find(|change| change.has_config());
    let config = config.filter(|_| !differs(GuardedFile::Config));
    let config = config.map(|change| change.bytes(root, GuardedFile::Config));
    let config = config.transpose()?.flatten();
    let records = found.kept.iter().rev().find(|change| change.has_records() && !change.outdated);
    let in_records = GuardedFile::ALL.into_iter().filter(|file| *file != GuardedFile::Config);
    let records = records.filter(|_| !in_records.clone().any(differs));
    // Everything is checked before anything is written.
    match &config {
        Some(bytes) => check(bytes)?,
        None if differs(GuardedFile::Config) => check(&repository.config_bytes()?)?,
        None => {}
    }
    if !found.differing.is_empty() {
        repository.state()?;
    }
    let mut writes = Vec::new();
    if let Some(change) = records {
        for file in in_records {
            if let Some(bytes) = change.bytes(root, file)?.filter(|_| change.has(file)) {
                if file == GuardedFile::State {
                    Repository::read_state(&bytes)?;
                }
                writes.push((file, bytes));
            }
        }
        // The state last, so that it never refers to a record that is not there.
        writes.sort_by_key(|(file, _)| *file == GuardedFile::State);
    }
    writes.extend(config.map(|bytes| (GuardedFile::Config, bytes)));
    for (file, bytes) in writes {
        repository.write(&own_path(&file.path())?, &bytes)?;
    }
    repository.drop_index()?;
    Ok(())
}

fn restore_all(
    repository: &LockedRepository,
    root: &Root,
    snapshot: &Snapshot,
    differences: &Differences,
) -> Result<()> {
    for different in &differences.files {
        if !snapshot.restore(repository, root, *different)? {
            let message = format!("the copy of {} is not what was copied", different.0.path());
            let next =
                "restore the file from a backup or from git, then run accord run adopt --yes";
            return Err(Failure::new(Code::XchainRecordsChanged, message).suggesting(next));
        }
    }
    Ok(())
}

fn is_open(state: &State) -> bool {
    matches!(state.status(), Status::Active | Status::Paused | Status::Blocked)
}
