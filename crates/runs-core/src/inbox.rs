//! What waits for a person about a governed run, and about an initiative.

use accord_base::inbox::{Urgency, Waiting, kind, words};
use accord_canon::sha256;
use accord_contract::Time;

use crate::coordinator::{CoordinatorState, CoordinatorStatus, Divergence, pending_gate};
use crate::doc;
use crate::next_step::{NextStep, TurnView};
use crate::state::Pending;
use crate::{RuntimeType, State};

/// How many digits of a digest tell two duties apart.
const DIGITS: usize = 16;

/// The item of a run that waits for a decision: a gate, or a block. `since` is when it began to, if
/// the records say it; `evidence` is the digest of what is decided about.
pub fn waiting(
    state: &State,
    pending: Option<&Pending>,
    since: Option<Time>,
    evidence: Option<&str>,
    now: Time,
) -> Option<Waiting> {
    let run = state.run_id()?.as_str();
    let known = since.unwrap_or(now);
    let opening = since.map_or(0, |since| since.unix_millis().max(0).unsigned_abs());
    let mut item = match pending {
        Some(pending) => {
            let gate = pending.gate().unwrap_or("of the run");
            let title = match pending.to() {
                Some(to) => format!("Gate {gate}: {} -> {to}", state.phase()),
                None => format!("Gate {gate}: the run ends"),
            };
            Waiting::new(kind::RUN_GATE, run, opening, title, known)
        }
        None => {
            let title = format!("The run is blocked in {}", state.phase());
            let mut item = Waiting::new(kind::RUN_BLOCKED, run, opening, title, known);
            item.words = state.blocked_detail().and_then(words);
            item
        }
    };
    item.urgency = Urgency::Chain;
    item.version = evidence.map(str::to_owned);
    Some(item)
}

/// The items of an initiative: the gate that waits for a person, and each difference from its
/// repositories that blocks it. `evidence` is the digest of what is decided about at the gate.
pub fn initiative(
    state: &CoordinatorState,
    divergence: &[Divergence],
    evidence: Option<&str>,
    now: Time,
) -> Vec<Waiting> {
    let run = state.super_run_id();
    let mut found = Vec::new();
    if let Ok(gate) = pending_gate(state) {
        let name = state.pending_gate_id().unwrap_or("of the initiative");
        let title = match (doc::MultiGate::FROM.get(gate), doc::MultiGate::TO.get(gate)) {
            (Some(from), Some(to)) => format!("Gate {name} of the initiative: {from} -> {to}"),
            _ => format!("Gate {name} of the initiative: it ends"),
        };
        let since = state.waiting_since();
        let opening = since.map_or(0, |since| since.unix_millis().max(0).unsigned_abs());
        let subject = format!("{run}/{name}");
        let since = since.unwrap_or(now);
        let mut item = Waiting::new(kind::COORDINATOR_GATE, &subject, opening, title, since);
        item.urgency = Urgency::Chain;
        item.version = evidence.map(str::to_owned);
        found.push(item);
    }
    let mut diverged = |subject: String, title: String| {
        let mut item = Waiting::new(kind::COORDINATOR_DIVERGED, &subject, 0, title, now);
        item.urgency = Urgency::Loss;
        item.words = state.blocked_reason().and_then(words);
        found.push(item);
    };
    let fatal = || divergence.iter().filter(|found| found.kind.is_fatal());
    for differs in fatal() {
        let Divergence { kind, repo, turn, .. } = differs;
        let about = turn.as_ref().map(|turn| format!("/{turn}")).unwrap_or_default();
        let title = format!("The initiative differs from {repo}: {kind}");
        diverged(format!("{run}/{kind}/{repo}{about}"), title);
    }
    if state.status() == CoordinatorStatus::Blocked && fatal().next().is_none() {
        diverged(format!("{run}/blocked"), "The initiative is blocked".to_owned());
    }
    found
}

/// A step that waits for a person, but is no decision about evidence.
#[derive(Clone, Debug, PartialEq)]
pub struct Duty {
    /// The kind of its item.
    pub kind: &'static str,
    /// What tells it from the other steps of its run.
    pub key: String,
    /// A title, made of facts.
    pub title: String,
    /// What an agent or a program wrote.
    pub words: Option<String>,
    pub since: Option<Time>,
    pub deadline: Option<Time>,
    /// Whether its deadline is over.
    pub is_overdue: bool,
}

/// The duty that a next step is; `None` for what a worker does, or the run does by itself.
pub fn duty(step: &NextStep, turns: &[TurnView]) -> Option<Duty> {
    let view = step.turn().and_then(|turn| turns.iter().find(|view| view.turn.id() == turn));
    let by_hand = view.is_some_and(|view| view.runtime == Some(RuntimeType::Manual));
    let (kind, name, what, words) = match step {
        NextStep::Dispatch { .. } | NextStep::Work { .. } | NextStep::Accept { .. } if by_hand => {
            (kind::RUN_TURN, "do", "A person does the work of", None)
        }
        NextStep::Mend { why, .. } => {
            (kind::RUN_REFUSED, "mend", "A result was refused, of", Some(why.clone()))
        }
        NextStep::Overdue { .. } => (kind::RUN_DUTY, "reissue", "The deadline is over of", None),
        NextStep::Reissue { .. } => (kind::RUN_DUTY, "reissue", "To be given out again:", None),
        NextStep::Unable { why, .. } => {
            (kind::RUN_DUTY, "unable", "Cannot start here:", Some(why.message.clone()))
        }
        NextStep::Assign { role, by_hand: true } => {
            (kind::RUN_TURN, "assign", "The next turn is that of a person", Some(role.clone()))
        }
        NextStep::Tidy { files } => {
            (kind::RUN_DUTY, "tidy", "Changed files belong to no turn", Some(files.join(" ")))
        }
        NextStep::RaiseBudget { missing } => {
            let why = Some(missing.to_string());
            (kind::RUN_DUTY, "budget", "The budget does not cover another turn", why)
        }
        NextStep::Examine(failure) => {
            let why = Some(failure.message.clone());
            (kind::RUN_DUTY, "examine", "Something is in the way of the run", why)
        }
        NextStep::Adopt(failure) => {
            let why = Some(failure.message.clone());
            (kind::RUN_DUTY, "adopt", "Changes were put back while a worker ran", why)
        }
        _ => return None,
    };
    let (key, title) = match view {
        Some(TurnView { turn, .. }) => {
            (format!("{}/{}", turn.id(), turn.attempt()), format!("{what} turn {}", turn.id()))
        }
        None => {
            let digest = sha256(words.as_deref().unwrap_or_default().as_bytes()).hex();
            (digest[..DIGITS].to_owned(), what.to_owned())
        }
    };
    Some(Duty {
        kind,
        key: format!("{name}/{key}"),
        title,
        words,
        since: view.and_then(|view| view.turn.began()),
        deadline: view.and_then(|view| view.turn.deadline()),
        is_overdue: view.is_some_and(|view| view.overdue),
    })
}

impl Duty {
    /// The item of a run.
    pub fn waiting(&self, run: &str, now: Time) -> Waiting {
        let since = self.since.unwrap_or(now);
        let subject = format!("{run}/{}", self.key);
        let mut item = Waiting::new(self.kind, &subject, 0, self.title.clone(), since);
        item.words = self.words.as_deref().and_then(words);
        item.deadline = self.deadline;
        item.urgency = if self.is_overdue { Urgency::Chain } else { Urgency::Piece };
        item.rises = self.deadline.map(|deadline| (deadline, Urgency::Chain));
        item
    }
}
