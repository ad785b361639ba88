//! The reaction to a refused result.

use accord_contract::{Extensible, Failure, Value};

use crate::next_step::needs_human_merge;
use crate::{State, Status, TurnId, TurnStatus};

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum AfterRefusal {
    Blocked,
    /// The result was not judged: the refusal has another cause.
    NotJudged,
    HumanMerge,
    /// The turn is rejected, and tried again if there is an attempt left.
    Reject,
}

pub fn after_refusal(state: &State, turn: &TurnId) -> AfterRefusal {
    if state.status() == Status::Blocked {
        return AfterRefusal::Blocked;
    }
    let Some(turn) = state.turn(turn) else { return AfterRefusal::NotJudged };
    // The status tells whether the result was judged. Other refusals leave it as it was.
    use TurnStatus::{Conflicted, FailedAcceptance};
    match turn.status() {
        Extensible::Known(FailedAcceptance | Conflicted) if needs_human_merge(turn) => {
            AfterRefusal::HumanMerge
        }
        Extensible::Known(FailedAcceptance | Conflicted) => AfterRefusal::Reject,
        _ => AfterRefusal::NotJudged,
    }
}

/// The errors and the stage that a refusal names, for the prompt of the next attempt.
pub fn refusal_details(refusal: &Failure) -> (Vec<String>, Option<String>) {
    let detail = |name: &str| refusal.details.as_ref()?.get(name);
    let errors = detail("errors").and_then(Value::as_array).into_iter().flatten();
    let errors = errors.filter_map(Value::as_str);
    let stage = detail("failed_stage").and_then(Value::as_str);
    (errors.map(str::to_owned).collect(), stage.map(str::to_owned))
}
