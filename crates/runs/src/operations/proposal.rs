//! Proposals of turns: what waits, what is in them, and the decision of a person.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::slice;

use accord_contract::{Code, Failure, Object, Value};
use accord_runs_core::evidence::ExpectedDigest;
use accord_runs_core::operations::{ApplyProposal, DropProposal};
use accord_runs_core::proposal::{
    self, Applied, DECIDED, FileNow, FileState, Proposal, ProposalAction, file_state,
    proposal_folder, proposals_folder, snapshot_path,
};
use accord_runs_core::{
    Consent, EvidenceDigest, LedgerDecision, RepoPath, Result, Subject, TurnId, Write, run,
};

use super::{Checkpoint, RunUpdate};
use crate::evidence::unless_decided;
use crate::repository::{RecordFile, Repository, limits};
use crate::{Operation, Runs, own_path};

#[derive(Clone, Debug, PartialEq)]
pub struct ProposalView {
    pub proposal: Proposal,
    /// `applied` or `dropped`; `None` while it waits.
    pub decided: Option<&'static str>,
}

/// A file of a proposal, compared with the working tree.
#[derive(Clone, Debug, PartialEq)]
pub struct ProposalFile {
    pub path: String,
    pub action: ProposalAction,
    pub state: FileState,
    /// The proposed content; `None` for a deletion, or if it is missing.
    pub content: Option<String>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ProposalFilter {
    Waiting,
    All,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ApplyTo {
    WorkingTree,
    /// Into the working tree and into a commit of git.
    Checkpoint,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ProposalDecided {
    pub turn: TurnId,
    pub files: Vec<String>,
    pub checkpoint: Option<Checkpoint>,
    pub update: RunUpdate,
}

impl Runs {
    /// The proposals in the repository, by turn. Fails if the repository cannot be read.
    pub fn proposals(&self, filter: ProposalFilter) -> Result<Vec<ProposalView>> {
        let repository = self.repository();
        let turns = turns_of_folders(repository)?;
        let records = Records::about(repository, &turns)?;
        let mut found = Vec::new();
        for turn in turns {
            let decided = records.decision_on(repository, &turn)?;
            if decided.is_some() && filter == ProposalFilter::Waiting {
                continue;
            }
            match records.accepted(repository, &turn) {
                // A folder without a list of files is not a proposal, or not a whole one.
                Err(failure) if failure.code == Code::XchainProposalNotFound => {}
                proposal => found.push(ProposalView { proposal: proposal?, decided }),
            }
        }
        Ok(found)
    }

    /// What the folder of proposals has and the records do not: proposals of turns that never were,
    /// and decisions that nobody took. Fails if the repository cannot be read.
    pub(crate) fn forged_proposals(&self) -> Result<Vec<String>> {
        let repository = self.repository();
        let turns = turns_of_folders(repository)?;
        let records = Records::about(repository, &turns)?;
        let mut forged = Vec::new();
        for turn in turns {
            let folder = proposal_folder(&turn);
            if listed(repository, &turn)?.is_some() && !records.history.contains_key(&turn) {
                forged.push(folder);
            } else if records.decision_on(repository, &turn)?.is_none()
                && let Some((page, _)) = decision_page(repository, &turn)?
            {
                forged.push(format!("{folder}/{page}"));
            }
        }
        Ok(forged)
    }

    /// A proposal, and its files compared with the working tree. Fails with `proposal_not_found`,
    /// or a failure of the file system.
    pub fn proposal(&self, turn: &TurnId) -> Result<(ProposalView, Vec<ProposalFile>)> {
        let repository = self.repository();
        let records = Records::about(repository, slice::from_ref(turn))?;
        let proposal = records.accepted(repository, turn)?;
        let now = files_now(repository, &proposal)?;
        let files = proposal.files.iter().zip(now).map(|(file, now)| ProposalFile {
            path: file.path.clone(),
            action: file.action,
            state: file_state(file, &now),
            content: now.content.filter(|_| file.action != ProposalAction::Delete),
        });
        let files = files.collect();
        let decided = records.decision_on(repository, turn)?;
        Ok((ProposalView { proposal, decided }, files))
    }

    /// A proposal that waits, and the evidence of a decision on it. Fails with `proposal_not_found`
    /// or `proposal_decided`; `decision_stale` if it was decided since the person looked.
    pub fn waiting_proposal(
        &self,
        turn: &TurnId,
        expected: Option<&ExpectedDigest>,
    ) -> Result<(Proposal, EvidenceDigest)> {
        let proposal = undecided(self.repository(), turn, expected)?;
        let evidence = self.evidence(&Subject::Proposal(&proposal))?;
        Ok((proposal, evidence))
    }

    /// Writes the files of a proposal into the working tree, in one commit with its record. Fails
    /// with `not_for_workers` if a worker started the caller; `proposal_not_found` or
    /// `proposal_decided`; `evidence_changed` if the person saw other evidence; `proposal_outdated`
    /// if a file changed since the proposal was accepted; `proposal_changed` if the proposed
    /// content did; `reserved_path_violation`, `path_outside_repository` or `not_a_file` for a path
    /// that it must not change; `invalid_state_transition` while a turn is active.
    pub fn apply_proposal(
        &self,
        turn: &TurnId,
        consent: &Consent,
        to: ApplyTo,
    ) -> Result<ProposalDecided> {
        let consent = &self.authorize_consent::<ApplyProposal>(consent)?;
        let mut operation = self.begin()?;
        let proposal = undecided(&operation.locked, turn, consent.expect.as_ref())?;
        let approval = operation.approval(&Subject::Proposal(&proposal), "applied", consent)?;
        let now = files_now(&operation.locked, &proposal)?;
        let at = operation.now();
        let Operation { state, ids, .. } = &mut operation;
        let applied = proposal::applied(state, &proposal, &now, &approval, ids, at)?;
        let modes = modes_of(&operation, &applied.files);
        let mut decided = commit(&mut operation, turn, applied)?;
        // A replaced file has the mode of a new one, so an executable script would lose its right.
        for (path, mode) in modes {
            let place = operation.root().join(path);
            let _ = std::fs::set_permissions(place, Permissions::from_mode(mode));
        }
        if to == ApplyTo::Checkpoint && !decided.files.is_empty() {
            decided.checkpoint = checkpoint_files(&mut operation, &proposal, &decided.files)?;
            decided.update.state = operation.state.clone();
        }
        Ok(decided)
    }

    /// Records that a proposal is not applied. Its files stay in its folder. Fails with
    /// `not_for_workers` if a worker started the caller; `proposal_not_found` or
    /// `proposal_decided`; `evidence_changed` if the person saw other evidence.
    pub fn drop_proposal(
        &self,
        turn: &TurnId,
        reason: Option<&str>,
        consent: &Consent,
    ) -> Result<ProposalDecided> {
        let consent = &self.authorize_consent::<DropProposal>(consent)?;
        let mut operation = self.begin()?;
        let proposal = undecided(&operation.locked, turn, consent.expect.as_ref())?;
        let approval = operation.approval(&Subject::Proposal(&proposal), "dropped", consent)?;
        let at = operation.now();
        let Operation { state, ids, .. } = &mut operation;
        let dropped = proposal::dropped(state, &proposal, reason, &approval, ids, at)?;
        commit(&mut operation, turn, dropped)
    }
}

fn commit(
    operation: &mut Operation<'_>,
    turn: &TurnId,
    decided: Applied,
) -> Result<ProposalDecided> {
    operation.commit(&decided.change, decided.writes)?;
    let update = RunUpdate { state: decided.change.state, events: decided.change.events };
    Ok(ProposalDecided { turn: turn.clone(), files: decided.files, checkpoint: None, update })
}

/// Commits applied files to git, like the files of an accepted turn.
fn checkpoint_files(
    operation: &mut Operation<'_>,
    proposal: &Proposal,
    files: &[String],
) -> Result<Option<Checkpoint>> {
    let Some(git) = operation.git()? else {
        let message = "the files are applied, but the repository does not use git";
        return Err(Failure::new(Code::XchainNothingToCheckpoint, message));
    };
    let git = git.with_filters();
    let role = proposal.role.as_deref().unwrap_or("proposal");
    let summary = proposal.summary.as_deref().and_then(|text| text.lines().next());
    let summary: String = summary.unwrap_or("proposed changes").chars().take(60).collect();
    let message = format!("{role}: {summary}\n\nTurn: {}\n", proposal.turn);
    let Some(commit) = git.commit(files, &message)? else { return Ok(None) };
    let clean = git.changes()?.attributable().next().is_none();
    let now = operation.now();
    let about = (proposal.turn.as_str(), role);
    let Operation { state, ids, .. } = &mut *operation;
    let change = run::checkpoint(state, about, &commit, files, clean, ids, now)?;
    operation.commit(&change, Vec::<Write>::new())?;
    let turns = vec![proposal.turn.to_string()];
    Ok(Some(Checkpoint { commit, files: files.to_vec(), turns, changed: Vec::new() }))
}

fn modes_of(operation: &Operation<'_>, files: &[String]) -> Vec<(String, u32)> {
    let mode = |path: &String| {
        let found = operation.root().join(path).symlink_metadata().ok()?;
        found.is_file().then(|| (path.clone(), found.permissions().mode() & 0o7777))
    };
    files.iter().filter_map(mode).collect()
}

fn undecided(
    repository: &Repository,
    turn: &TurnId,
    expected: Option<&ExpectedDigest>,
) -> Result<Proposal> {
    let records = Records::about(repository, slice::from_ref(turn))?;
    let proposal = records.accepted(repository, turn)?;
    let Some(decided) = records.decision_on(repository, turn)? else { return Ok(proposal) };
    let message = format!("the proposal of {turn} was {decided} before");
    let decided = Failure::new(Code::XchainProposalDecided, message).with("decision", decided);
    unless_decided(repository, RecordFile::Ledger, Err(decided), expected, Some(turn))
}

/// What history and ledger say about the turns of proposals. A worker can write the folder of a
/// proposal, but not these.
struct Records {
    /// The accepted turns, each with its proposal if Accord accepted it.
    history: BTreeMap<TurnId, Option<Proposal>>,
    /// The turns whose proposals were decided.
    decided: BTreeSet<TurnId>,
}

impl Records {
    /// Reads each record once, whatever the number of turns.
    fn about(repository: &Repository, turns: &[TurnId]) -> Result<Self> {
        let (mut history, mut decided) = (BTreeMap::new(), BTreeSet::new());
        if turns.is_empty() {
            return Ok(Self { history, decided });
        }
        let turn_of = |line: &Object| {
            let named = line.get("turn_id").and_then(Value::as_str)?;
            turns.iter().find(|turn| turn.as_str() == named).cloned()
        };
        for line in repository.objects(RecordFile::History)? {
            let line = line?;
            if let Some(turn) = turn_of(&line) {
                let proposal: &mut Option<Proposal> = history.entry(turn).or_default();
                *proposal = proposal.take().or_else(|| Proposal::of_history(&line));
            }
        }
        let decisions = [LedgerDecision::ProposalApplied, LedgerDecision::ProposalRejected];
        for line in repository.objects(RecordFile::Ledger)? {
            let line = line?;
            let said = line.get("decision").and_then(Value::as_str);
            if decisions.iter().any(|decision| said == Some(decision.as_str())) {
                decided.extend(turn_of(&line));
            }
        }
        Ok(Self { history, decided })
    }

    /// The proposal as it was accepted: from the history, else from its own folder, if another
    /// runner accepted the turn.
    fn accepted(&self, repository: &Repository, turn: &TurnId) -> Result<Proposal> {
        let found = match self.history.get(turn) {
            Some(Some(proposal)) => Some(proposal.clone()),
            Some(None) => listed(repository, turn)?,
            None => None,
        };
        found.ok_or_else(|| {
            let message = format!("there is no proposal of {turn} in the history of the run");
            Failure::new(Code::XchainProposalNotFound, message)
        })
    }

    /// The decision on a proposal: the page in its folder counts if the ledger says so, too.
    fn decision_on(&self, repository: &Repository, turn: &TurnId) -> Result<Option<&'static str>> {
        let page = decision_page(repository, turn)?.filter(|_| self.decided.contains(turn));
        Ok(page.map(|(_, decision)| decision))
    }
}

/// The turns that have a folder below that of the proposals.
fn turns_of_folders(repository: &Repository) -> Result<Vec<TurnId>> {
    let entries = repository.list(&own_path(&proposals_folder())?)?;
    Ok(entries.iter().filter_map(|entry| TurnId::parse(&entry.name)).collect())
}

fn listed(repository: &Repository, turn: &TurnId) -> Result<Option<Proposal>> {
    let bytes = repository.read(&own_path(&snapshot_path(turn))?, limits::DOCUMENT)?;
    let snapshot = bytes.and_then(|bytes| accord_canon::read(&bytes).ok());
    let snapshot: Option<Object> = snapshot.and_then(|snapshot| snapshot.as_object().cloned());
    Ok(snapshot.map(|snapshot| Proposal::of_snapshot(turn, &snapshot)))
}

/// The page in the folder of a proposal that says how it was decided.
fn decision_page(
    repository: &Repository,
    turn: &TurnId,
) -> Result<Option<(&'static str, &'static str)>> {
    for (page, decision) in DECIDED {
        let path = own_path(&format!("{}/{page}", proposal_folder(turn)))?;
        if repository.stat(&path)?.is_some() {
            return Ok(Some((page, decision)));
        }
    }
    Ok(None)
}

/// The files of a proposal in the working tree and in its folder. A path that leads out of the
/// repository is an error.
fn files_now(repository: &Repository, proposal: &Proposal) -> Result<Vec<FileNow>> {
    let folder = proposal_folder(&proposal.turn);
    let mut files = Vec::new();
    for file in &proposal.files {
        let path = RepoPath::parse(&file.path).map_err(|error| {
            let message = format!("the proposal names {:?}: {error}", file.path);
            let failure = Failure::new(Code::XchainPathOutsideRepository, message);
            failure.with("path", file.path.as_str())
        })?;
        let bytes = repository.read(&own_path(&format!("{folder}/{path}"))?, limits::STAGED)?;
        let current = repository.digest(&path)?;
        let content = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
        files.push(FileNow { current, content });
    }
    Ok(files)
}
