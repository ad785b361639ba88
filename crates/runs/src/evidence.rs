//! Gathers the evidence of a person's decision.

use std::collections::BTreeSet;
use std::path::Path;

use accord_base::decision::{DecisionId, DecisionRecord};
use accord_contract::{Object, Time, Value};
use accord_process::Cancel;
use accord_runs_core::evidence::{
    EvidenceDigest, ExpectedDigest, Facts, LastDecision, SHOWN_BY, Subject,
};
use accord_runs_core::person::Decision;
use accord_runs_core::{Approval, Config, Consent, Result, State, TurnId, ledger};

use crate::facts::{recorded, scope};
use crate::{Git, Operation, RecordFile, Repository, Runs};

impl Runs {
    /// The evidence of a decision at this moment. Fails if configuration, state or git cannot be
    /// read.
    pub fn evidence(&self, subject: &Subject<'_>) -> Result<EvidenceDigest> {
        self.evidence_in(&self.config()?, &self.state()?, subject)
    }

    /// What waits for a person, or why a decision about what the person saw comes too late. Fails
    /// with `decision_stale` if nothing waits and somebody else decided since the person looked.
    pub fn unless_decided<T>(
        &self,
        found: Result<T>,
        expected: Option<&ExpectedDigest>,
    ) -> Result<T> {
        unless_decided(self.repository(), RecordFile::Ledger, found, expected, None)
    }

    /// The decisions of people that were carried out here, oldest first. A line of the ledger alone
    /// is none: a worker can write it.
    pub fn person_decisions(&self) -> Result<Vec<DecisionRecord>> {
        let guard = self.repository().guard();
        guard.map_or(Ok(Vec::new()), |guard| guard.decisions(self.repository()))
    }

    /// Whether a decision of a hub was carried out here: the ledger has its id. What a process left
    /// that was killed is finished before.
    pub fn has_carried_out(&self, id: &DecisionId) -> Result<bool> {
        drop(self.begin()?);
        for line in self.repository().objects(RecordFile::Ledger)? {
            if line?.get("decision_id").and_then(Value::as_str) == Some(id.as_str()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    pub(crate) fn evidence_in(
        &self,
        config: &Config,
        state: &State,
        subject: &Subject<'_>,
    ) -> Result<EvidenceDigest> {
        digest(self.repository(), self.environment.cancel_token(), config, state, subject)
    }
}

impl Operation<'_> {
    /// The decision of a person about the evidence at this moment. Fails with `decision_stale` if
    /// somebody else decided since the person looked, with `evidence_changed` if only the evidence
    /// is another one.
    pub(crate) fn approval(
        &mut self,
        subject: &Subject<'_>,
        outcome: &str,
        consent: &Consent,
    ) -> Result<Approval> {
        let cancel = self.environment.cancel_token();
        let last = last_decision(&self.locked, RecordFile::Ledger, consent.expect.as_ref(), None)?;
        let evidence = digest(&self.locked, cancel, &self.config, &self.state, subject)?;
        let approval = consent.about(evidence, last.as_ref())?;
        let (kind, subject) = subject.named(&self.state, outcome);
        let sandboxes = sandboxes_of(&self.locked, |line| self.state.owns_line(line))?;
        let (asked_at, sandbox) = (self.state.waiting_since(), joined(&sandboxes));
        let decision = Decision { kind, subject: &subject, outcome, asked_at, sandbox };
        let (now, chance) = (self.now(), self.ids.hex(16));
        note_decision(&self.locked, approval, decision, &chance, now)
    }

    /// What waits for a person. If nothing does, and somebody else decided since the person looked,
    /// it fails with `decision_stale`.
    pub(crate) fn unless_decided<T>(&self, found: Result<T>, consent: &Consent) -> Result<T> {
        unless_decided(&self.locked, RecordFile::Ledger, found, consent.expect.as_ref(), None)
    }
}

/// What waits for a person, or why the decision comes too late. `turn` is whose decision it is.
pub(crate) fn unless_decided<T>(
    repository: &Repository,
    ledger: RecordFile,
    found: Result<T>,
    expected: Option<&ExpectedDigest>,
    turn: Option<&TurnId>,
) -> Result<T> {
    let Err(failure) = found else { return found };
    if let Some(expected) = expected {
        let last = last_decision(repository, ledger, Some(expected), turn)?;
        expected.check(None, last.as_ref(), SHOWN_BY)?;
    }
    Err(failure)
}

/// Writes the record of a decision before what it does. It counts once the ledger has its id.
pub(crate) fn note_decision(
    repository: &Repository,
    approval: Approval,
    decision: Decision<'_>,
    chance: &str,
    now: Time,
) -> Result<Approval> {
    let Approval { person, evidence, .. } = &approval;
    let record = person.decision(decision, Some(evidence), chance, now)?;
    if let Some(guard) = repository.guard() {
        guard.note_decision(&record)?;
    }
    Ok(Approval { decision: Some(record), ..approval })
}

/// The sandboxes in which accepted turns were done.
pub(crate) fn sandboxes_of(
    repository: &Repository,
    is_own: impl Fn(&Object) -> bool,
) -> Result<BTreeSet<String>> {
    let lines = repository.last_lines(RecordFile::History, RECENT)?;
    let own = lines.iter().filter(|line| is_own(line));
    Ok(own.filter_map(|line| Some(line.get("worker_sandbox")?.as_str()?.to_owned())).collect())
}

/// What a record says about sandboxes.
pub(crate) fn joined(names: &BTreeSet<String>) -> Option<String> {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

/// How many of the newest lines of the ledger are searched for a decision. The decisions of turns
/// that ended since are among them.
const RECENT: usize = 256;

pub(crate) fn last_decision(
    repository: &Repository,
    file: RecordFile,
    expected: Option<&ExpectedDigest>,
    turn: Option<&TurnId>,
) -> Result<Option<LastDecision>> {
    let Some(expected) = expected else { return Ok(None) };
    let lines = repository.last_lines(file, RECENT)?;
    let is_about = |line: &&Object| {
        turn.is_none_or(|turn| line.get("turn_id").and_then(Value::as_str) == Some(turn.as_str()))
    };
    Ok(ledger::last_decision(lines.iter().filter(is_about), expected))
}

fn digest(
    repository: &Repository,
    cancel: Option<&Cancel>,
    config: &Config,
    state: &State,
    subject: &Subject<'_>,
) -> Result<EvidenceDigest> {
    if *subject == Subject::Run {
        return subject.digest(state, config, &Facts::default());
    }
    let files = subject.files(state, config);
    let observed = recorded(repository, state, &scope(repository, subject)).ok();
    let facts = Facts {
        head: head(repository.root(), cancel)?,
        observed: observed.map(|(facts, _)| facts),
        files: files.iter().map(|path| (path.to_string(), repository.file_digest(path))).collect(),
    };
    subject.digest(state, config, &facts)
}

/// The commit of a repository; `None` without version control or before the first commit.
pub(crate) fn head(root: &Path, cancel: Option<&Cancel>) -> Result<Option<String>> {
    Git::find(root, cancel)?.map_or(Ok(None), |git| git.head())
}
