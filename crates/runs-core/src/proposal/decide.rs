//! The decision of a person on a proposal.

use accord_contract::text::pretty;
use accord_contract::{Code, Failure, Object, Time, Value, wire_enum};

use super::{ABSENT, NOT_FILE, Proposal, ProposalAction, ProposedFile, digest, proposal_folder};
use crate::paths::{PROPOSAL_APPLIED, PROPOSAL_REJECTED};
use crate::{
    Approval, Change, Emitter, EventType, Ids, LedgerDecision, RepoPath, Result, State, Status,
    Write, array, build, ledger,
};

#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct FileNow {
    /// The digest of the file in the working tree, or [`ABSENT`].
    pub current: String,
    /// The proposed content, from the folder of the proposal; `None` if it is missing.
    pub content: Option<String>,
}

wire_enum! {
    pub enum FileState("ProposedFileState", closed) {
        /// The file is as it was when the proposal was accepted.
        Ready = "ready",
        /// The file already is as proposed.
        Done = "done",
        Outdated = "outdated",
        /// The record does not have the file as it was when the proposal was accepted.
        Unknown = "unknown",
        /// The proposed content is not the one that was accepted.
        Changed = "changed",
        /// A proposal must not change the file.
        Guarded = "guarded",
        /// The path is a folder, a link or something else that is not a file.
        NotFile = "not_a_file",
    }
}

/// A proposal that was applied: the change of the run, and the files.
#[derive(Clone, Debug, PartialEq)]
pub struct Applied {
    pub change: Change,
    pub writes: Vec<Write>,
    pub files: Vec<String>,
}

pub fn file_state(file: &ProposedFile, now: &FileNow) -> FileState {
    if RepoPath::parse_file(&file.path).map_or(true, |path| path.is_guarded()) {
        return FileState::Guarded;
    }
    if now.current == NOT_FILE {
        return FileState::NotFile;
    }
    let deletes = file.action == ProposalAction::Delete;
    let proposed = match &now.content {
        _ if deletes => ABSENT.to_owned(),
        Some(content) => digest(content.as_bytes()),
        None => return FileState::Changed,
    };
    if !deletes && file.content.as_ref().is_some_and(|content| *content != proposed) {
        return FileState::Changed;
    }
    match &file.source {
        _ if now.current == proposed => FileState::Done,
        None => FileState::Unknown,
        Some(source) if *source == now.current => FileState::Ready,
        Some(_) => FileState::Outdated,
    }
}

/// Applies a proposal. `files` has what the host knows about each of its files, in their order.
/// Fails with `proposal_outdated` when a file changed since the proposal was accepted, with
/// `proposal_changed` when the proposed content did, and with `reserved_path_violation` for a file
/// that a proposal must not change. Fails with `invalid_state_transition` while a turn is active,
/// because the changes would be attributed to it.
pub fn applied(
    state: &State,
    proposal: &Proposal,
    files: &[FileNow],
    approval: &Approval,
    ids: &mut Ids,
    now: Time,
) -> Result<Applied> {
    if let Some(turn) = state.turns().next() {
        let message = format!("{} is active, and would be given the changes", turn.id());
        return Err(Failure::new(Code::XchainInvalidStateTransition, message)
            .suggesting("apply the proposal after the turn was accepted or rejected"));
    }
    check(proposal, files)?;
    let mut writes = Vec::new();
    let mut changed = Vec::new();
    for (file, found) in proposal.files.iter().zip(files) {
        if file_state(file, found) == FileState::Done {
            continue;
        }
        changed.push(file.path.clone());
        let path = file.path.clone();
        let deletes = file.action == ProposalAction::Delete;
        writes.push(match found.content.clone().filter(|_| !deletes) {
            Some(text) => Write::Replace { path, text },
            None => Write::Remove { path },
        });
    }
    // A deleted file may leave its place to a folder of the same name.
    writes.sort_by_key(|write| !matches!(write, Write::Remove { .. }));
    let all: Vec<&str> = proposal.files.iter().map(|file| file.path.as_str()).collect();
    let details = build([
        ("files", array(&all)),
        ("selective", false.into()),
        ("forced", false.into()),
        ("overridden_conflicts", Value::Array(Vec::new())),
    ]);
    let page = page(proposal, PROPOSAL_APPLIED, "applied", (approval, now), &details);
    writes.push(page);
    let change = decision(state, proposal, Verdict::Applied, details, approval, ids, now)?;
    Ok(Applied { change, writes, files: changed })
}

/// Drops a proposal. Its folder stays, with the decision. Fails with `invalid_event` when the state
/// is not usable.
pub fn dropped(
    state: &State,
    proposal: &Proposal,
    reason: Option<&str>,
    approval: &Approval,
    ids: &mut Ids,
    now: Time,
) -> Result<Applied> {
    let details = build([("reason", reason.into())]);
    let writes = vec![page(proposal, PROPOSAL_REJECTED, "rejected", (approval, now), &details)];
    let change = decision(state, proposal, Verdict::Rejected, details, approval, ids, now)?;
    Ok(Applied { change, writes, files: Vec::new() })
}

fn check(proposal: &Proposal, files: &[FileNow]) -> Result<()> {
    let states = || proposal.files.iter().zip(files).map(|(file, it)| (file, file_state(file, it)));
    let of = |wanted: &[FileState]| -> Vec<&str> {
        let found = states().filter(|(_, state)| wanted.contains(state));
        found.map(|(file, _)| file.path.as_str()).collect()
    };
    use FileState::{Changed, Guarded, NotFile, Outdated, Unknown};
    let rules = [
        (
            &[Guarded][..],
            Code::XchainReservedPathViolation,
            "a proposal must not change these files",
        ),
        (&[NotFile], Code::XchainNotAFile, "a proposal changes only files"),
        (
            &[Changed],
            Code::XchainProposalChanged,
            "the content in the folder of the proposal is not the one that was accepted",
        ),
        (
            &[Outdated, Unknown],
            Code::XchainProposalOutdated,
            "not as they were when the proposal was accepted",
        ),
    ];
    for (states, code, what) in rules {
        let files = of(states);
        if !files.is_empty() {
            let message = format!("{what}: {}", files.join(", "));
            return Err(Failure::new(code, message).with("files", array(&files)));
        }
    }
    Ok(())
}

#[derive(Clone, Copy)]
enum Verdict {
    Applied,
    Rejected,
}

/// The ledger line and the event. The line has the members of the reference runner's.
fn decision(
    state: &State,
    proposal: &Proposal,
    verdict: Verdict,
    details: Object,
    approval: &Approval,
    ids: &mut Ids,
    now: Time,
) -> Result<Change> {
    let turn = proposal.turn.as_str();
    let (verb, action, decided) = match verdict {
        Verdict::Applied => ("APPLY", "applied", LedgerDecision::ProposalApplied),
        Verdict::Rejected => ("REJECT", "rejected", LedgerDecision::ProposalRejected),
    };
    let mut about = build([
        ("id", format!("DEC-PROP-{verb}-{turn}").into()),
        ("category", "proposal".into()),
        ("action", action.into()),
        ("turn_id", turn.into()),
        ("role", "human".into()),
    ]);
    approval.add_to(&mut about);
    about.extend(details);
    let line = ledger::governance(decided, state, now, about.clone());
    let mut events = Vec::new();
    // Every event belongs to a run, and none follows the end of one.
    if state.run_id().is_some() && state.status() != Status::Completed {
        let mut emitter = Emitter::new(state, ids, now)?;
        let mut payload = build([
            ("escalation_id", format!("proposal:{turn}").into()),
            ("type", "proposal".into()),
            ("resolved_via", decided.as_str().into()),
        ]);
        payload.extend(about);
        let role = proposal.role.as_deref().unwrap_or_default();
        emitter.emit(EventType::HumanEscalationResolved, state, Some((turn, role)), payload);
        events = emitter.finish();
    }
    let mut change = Change::new(state.clone(), events);
    change.ledger.push(line);
    Ok(change)
}

fn page(
    proposal: &Proposal,
    name: &str,
    verb: &str,
    (approval, now): (&Approval, Time),
    details: &Object,
) -> Write {
    let actor = approval.person.actor.as_str();
    let (at, by) = (format!("{verb}_at"), format!("{verb}_by"));
    let mut record = build([(&*at, now.to_string().into()), (&*by, actor.into())]);
    record.extend(details.clone());
    let path = format!("{}/{name}", proposal_folder(&proposal.turn));
    Write::Replace { path, text: pretty(&record) }
}
