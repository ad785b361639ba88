//! A person sends the pending gate of an initiative back: the request is dropped, and repositories
//! get another turn in the same phase.
//!
//! Invariants:
//! - a satisfied barrier stays satisfied; the repositories that owe a turn follow from the history;
//! - the gate cannot be requested again before each of them had a turn accepted.

use std::fmt::Write as _;

use accord_contract::{Code, Failure, Object, Time};

use super::gates::pending_gate;
use super::history::{self, LineType};
use super::projection::Initiative;
use super::{
    CoordinatorChange, CoordinatorDecision, CoordinatorLedger, CoordinatorStatus, RepoViews,
};
use crate::gate::GateStatus;
use crate::{Approval, Result, Status, array, build, doc};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct SendBackGate {
    /// The reason, for the next turns of the phase.
    pub reason: String,
    /// The repositories that get another turn; all of the phase if empty.
    pub repos: Vec<String>,
}

/// The last gate that was sent back and not requested again since.
pub(super) struct SentBackGate<'a> {
    line: &'a Object,
    since: &'a [Object],
}

impl<'a> SentBackGate<'a> {
    pub(super) fn of(history: &'a [Object]) -> Option<Self> {
        let at = history.iter().rposition(|line| history::is(line, LineType::GateSentBack))?;
        let since = &history[at + 1..];
        let requested = since.iter().any(|line| {
            history::is(line, LineType::PhaseTransitionRequested)
                || history::is(line, LineType::RunCompletionRequested)
        });
        (!requested).then(|| Self { line: &history[at], since })
    }

    /// The repositories that had no turn accepted since.
    pub(super) fn owed(&self) -> Vec<String> {
        let had_turn = |repo: &String| {
            self.since.iter().any(|line| {
                history::is(line, LineType::AcceptanceProjection)
                    && doc::MultiHistory::REPO_ID.get(line) == Some(repo)
            })
        };
        let mut repos = doc::MultiHistory::REPO_IDS.get(self.line);
        repos.retain(|repo| !had_turn(repo));
        repos
    }

    /// What a turn in a repository must know; `None` if the repository was not named.
    pub(super) fn about(&self, repo: &str) -> Option<Object> {
        let repos = doc::MultiHistory::REPO_IDS.get(self.line);
        let line = self.line;
        repos.iter().any(|name| name == repo).then(|| {
            build([
                doc::MultiHistory::GATE.of(line),
                doc::MultiHistory::REASON.of(line),
                doc::MultiHistory::SENT_BACK_BY.of(line),
                ("sent_back_at", doc::MultiHistory::TIMESTAMP.copy(line)),
            ])
        })
    }
}

/// The repositories that must have a turn accepted before the gate can be requested again.
pub(crate) fn owed_repos(history: &[Object]) -> Vec<String> {
    SentBackGate::of(history).map_or_else(Vec::new, |sent_back| sent_back.owed())
}

pub(super) fn section(record: &Object, text: &mut String) {
    let _ = write!(
        text,
        "\n## Sent back by a person\n\n{} sent back the gate {} of the initiative at {}, for this \
         reason:\n\n",
        doc::MultiHistory::SENT_BACK_BY.get(record).unwrap_or("human"),
        doc::MultiHistory::GATE.get(record).unwrap_or("?"),
        crate::members::text(record, "sent_back_at").unwrap_or("?"),
    );
    // Every line is quoted, so that none of them can start a section.
    for line in doc::MultiHistory::REASON.get(record).unwrap_or_default().lines() {
        let _ = writeln!(text, "{}", format!("> {line}").trim_end());
    }
}

/// Sends the pending gate back. Fails with `invalid_state_transition` when no gate is pending, or
/// when no repository can take another turn because its run is completed. Fails with
/// `unknown_repository` when a named one has no workstream in the phase.
pub fn send_back_gate(
    initiative: &Initiative<'_>,
    repos: &RepoViews,
    given: &SendBackGate,
    approval: &Approval,
    ledger: &mut CoordinatorLedger,
    now: Time,
) -> Result<CoordinatorChange> {
    let pending = pending_gate(initiative.state)?;
    let targets = targets(initiative, repos, &given.repos)?;
    let gate = doc::MultiGate::GATE.get(pending).unwrap_or_default();
    let to = doc::MultiGate::TO.get(pending);
    let mut state = initiative.state.clone();
    state.clear(doc::Coordinator::PENDING_GATE);
    state.set_gate(gate, GateStatus::Failed);
    state.set_status(CoordinatorStatus::Active, now);
    let members = [
        doc::MultiHistory::GATE.to(gate),
        doc::MultiHistory::FROM.to(initiative.state.phase()),
        doc::MultiHistory::TO.to(to),
        doc::MultiHistory::REPO_IDS.to(&targets),
        doc::MultiHistory::REASON.to(given.reason.as_str()),
        doc::MultiHistory::SENT_BACK_BY.to(approval.person.actor.as_str()),
    ];
    let mut line = history::line(LineType::GateSentBack, initiative.state, now, members);
    approval.add_to(&mut line);
    let category = match to {
        Some(_) => CoordinatorDecision::PhaseTransition,
        None => CoordinatorDecision::Completion,
    };
    let statement = format!("{gate} is sent back: {}", given.reason);
    let about = [
        doc::MultiHistory::GATE.to(gate),
        doc::MultiHistory::FROM.to(initiative.state.phase()),
        doc::MultiHistory::TO.to(to),
        doc::MultiHistory::REPO_IDS.to(&targets),
        ("decision", "gate_sent_back".into()),
        doc::MultiHistory::REASON.to(given.reason.as_str()),
    ];
    let mut decision = ledger.line(initiative.state, category, &statement, about, now);
    approval.add_to(&mut decision);
    let mut change = CoordinatorChange::of_state(state, initiative.barriers.clone());
    change.history.push(line);
    change.decisions.push(decision);
    Ok(change)
}

/// The repositories that get another turn: the named ones, or all with a workstream in the phase
/// whose run is not completed.
fn targets(
    initiative: &Initiative<'_>,
    repos: &RepoViews,
    named: &[String],
) -> Result<Vec<String>> {
    let phase = initiative.state.phase();
    let mut of_phase: Vec<String> = Vec::new();
    for repo in initiative.config.workstreams_of(phase).into_iter().flat_map(|it| &it.repos) {
        if !of_phase.contains(repo) {
            of_phase.push(repo.clone());
        }
    }
    if let Some(unknown) = named.iter().find(|repo| !of_phase.contains(repo)) {
        let known = of_phase.join(", ");
        let message =
            format!("{unknown} has no workstream in the phase {phase}; there are {known}");
        return Err(Failure::new(Code::XchainUnknownRepository, message)
            .with("repo_id", unknown.as_str())
            .with("repo_ids", array(&of_phase)));
    }
    let is_over = |repo: &String| {
        let state = repos.get(repo).and_then(|view| view.state.as_ref());
        state.is_some_and(|state| state.status() == Status::Completed)
    };
    if let Some(over) = named.iter().find(|repo| is_over(repo)) {
        return Err(completed(&format!("the run of {over} is completed")));
    }
    let wanted = if named.is_empty() { of_phase } else { named.to_vec() };
    let mut targets: Vec<String> = Vec::new();
    for repo in wanted {
        if !is_over(&repo) && !targets.contains(&repo) {
            targets.push(repo);
        }
    }
    if targets.is_empty() {
        return Err(completed("the run of every repository is completed"));
    }
    Ok(targets)
}

fn completed(what: &str) -> Failure {
    let message = format!("{what}, so it can take no further turn");
    Failure::new(Code::XchainInvalidStateTransition, message)
        .suggesting("approve the gate; further work needs a new initiative")
}
