//! Applies what a person decided on the hub, as a decision that is taken here.
//!
//! Invariants:
//! - a decision is applied only while the hub says that it is open, and what it is about is as the
//!   person saw it;
//! - a decision that was applied is known by its id in the record of the work tree, so that it is
//!   applied once, also if the process is killed at any moment;
//! - a gate whose commands may have run is not passed again without a person.

use std::path::Path;

use accord_api::operations::edge_decisions::{EdgeDecidable, EdgeDecision, EdgeDecisionState};
use accord_base::{Caller, DecidedOnHub};
use accord_contract::{Code, Failure, Value};
use accord_outbox::{decision, evidence};
use accord_runs::Runs;
use accord_system::durable_step;

use crate::{Joined, Result, Source, SourceKind};

const CHANGED: &str = "changed since";
const TAKEN_BACK: &str = "the hub took it back before it was applied";
const ENDED: &str = "it ended here before";
const INTERRUPTED: &str = "the process ended while the commands of the gate ran; look at what they \
                           did, and decide again";

/// Opens a work tree to apply decisions, as the commands do that decide there.
pub trait Applies {
    /// The governed repository of a folder.
    fn runs(&self, root: &Path) -> Result<Runs>;

    /// This process, which decides about tasks.
    fn caller(&self) -> Result<Caller>;

    /// Whether this process applies a decision. Another one is left to whoever does.
    fn takes(&self, _decided: &EdgeDecision) -> bool {
        true
    }

    /// A decision was applied to a work tree.
    fn applied(&self, root: &Path, kind: SourceKind);
}

/// What came of a decision.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Concluded {
    Ended(EdgeDecisionState, Option<String>),
    /// It is tried again.
    Later(Failure),
}

/// Concludes a decision that was taken. `is_open`: the hub says that it is still to be applied.
pub(crate) fn conclude(
    joined: &Joined,
    source: &Source,
    decided: &EdgeDecision,
    is_open: bool,
    applies: &dyn Applies,
) -> Result<Concluded> {
    if source.has_applied(decided, applies)? {
        joined.end_commands()?;
        return Ok(applied());
    }
    if !is_open {
        return Ok(ended(EdgeDecisionState::Returned, TAKEN_BACK));
    }
    if joined.interrupted().as_deref() == Some(decided.decision_id.as_str()) {
        joined.end_commands()?;
        return Ok(ended(EdgeDecisionState::Returned, INTERRUPTED));
    }
    let waiting = source.waiting(&joined.join, None)?;
    let Some(found) = waiting.iter().find(|waiting| waiting.id == decided.item) else {
        return Ok(ended(EdgeDecisionState::Superseded, ENDED));
    };
    let text = |name: &str| found.body.get(name).and_then(Value::as_str);
    let may = decision::offered(&found.body).contains(&decided.verb);
    let is_decider = joined.join.deciders.iter().flatten().any(|who| *who == decided.actor);
    if !may || !is_decider {
        let message = "the join does not let the hub, or this person, decide this";
        return Ok(ended(EdgeDecisionState::Returned, message));
    }
    let is_same = text(evidence::EVIDENCE) == Some(decided.evidence.as_str());
    let (true, Some(digest)) = (is_same, text("digest")) else {
        return Ok(ended(EdgeDecisionState::Returned, CHANGED));
    };
    let commands = found.body.get(decision::COMMANDS).and_then(Value::as_array);
    if commands.is_some_and(|commands| !commands.is_empty()) {
        joined.begin_commands(decided.decision_id.as_str())?;
        durable_step("edge.commands");
    }
    let done = source.apply(decided, digest, on_hub(decided), applies);
    durable_step("edge.carried_out");
    let concluded = match done {
        Ok(()) => applied(),
        Err(failure) => match failure.code {
            // It is refused because it was carried out, when a commit was only finished now.
            _ if source.has_applied(decided, applies)? => applied(),
            Code::XchainEvidenceChanged => ended(EdgeDecisionState::Returned, CHANGED),
            // A turn is active: it can be applied when that ended.
            Code::XchainInvalidStateTransition
                if decided.type_name == EdgeDecidable::RunProposal.as_str() =>
            {
                Concluded::Later(failure)
            }
            Code::DecisionStale
            | Code::XchainProposalDecided
            | Code::XchainInvalidStateTransition
            | Code::AofInvalidTaskTransition => {
                ended(EdgeDecisionState::Superseded, &failure.message)
            }
            Code::XchainWorkerBusy
            | Code::WorkerStillRuns
            | Code::XchainLockTimeout
            | Code::XchainGivenUp => Concluded::Later(failure),
            code => ended(EdgeDecisionState::Returned, &format!("{code}: {}", failure.message)),
        },
    };
    joined.end_commands()?;
    if concluded == applied() {
        applies.applied(source.root(), source.kind());
    }
    Ok(concluded)
}

fn applied() -> Concluded {
    Concluded::Ended(EdgeDecisionState::Applied, None)
}

fn ended(state: EdgeDecisionState, reason: &str) -> Concluded {
    Concluded::Ended(state, Some(reason.to_owned()))
}

fn on_hub(decided: &EdgeDecision) -> DecidedOnHub {
    DecidedOnHub {
        hub: decided.hub.clone(),
        decision_id: decided.decision_id.clone(),
        decided_at: decided.decided_at.time(),
        known_by: decided.known_by,
        key_id: decided.key_id.clone(),
    }
}
