//! Decisions that a person takes on the hub: what may be decided, and how far one can go.

use accord_api::operations::edge_decisions::{
    EdgeDecidable, EdgeDecision, EdgeDecisionState, EdgeVerb,
};
use accord_contract::{Object, Time, Value};

/// How long the edge may take a decision, in seconds.
const LASTS: i64 = 24 * 60 * 60;
/// The same for a gate that runs commands.
const LASTS_WITH_COMMANDS: i64 = 60 * 60;
const LATE: &str = "the edge did not apply it in time";
const RESTORED: &str = "the hub was restored from a backup since; look at it, and decide again";
/// The member of a request that lists what can be decided.
pub const VERBS: &str = "verbs";
/// The type of the state of a run.
pub const RUN_STATE: &str = "run.state";
/// The member of a request that lists the commands of a gate.
pub const COMMANDS: &str = "commands";

/// What can be decided about a request of a type.
pub fn verbs_of(kind: EdgeDecidable) -> &'static [EdgeVerb] {
    match kind {
        EdgeDecidable::RunGate | EdgeDecidable::RunCompletion | EdgeDecidable::TaskReview => {
            &[EdgeVerb::Approve, EdgeVerb::SendBack]
        }
        EdgeDecidable::RunBlock => &[EdgeVerb::Resolve],
        EdgeDecidable::RunProposal => &[EdgeVerb::Approve, EdgeVerb::Cancel],
        EdgeDecidable::TaskDeadletter => &[EdgeVerb::Resurrect, EdgeVerb::Cancel],
        EdgeDecidable::RunStop => &[EdgeVerb::Stop],
    }
}

/// Whether a note must say why.
pub fn needs_note(verb: EdgeVerb) -> bool {
    matches!(verb, EdgeVerb::SendBack | EdgeVerb::Stop)
}

/// What a decision about an item of a type is about. A state is not decided; what can be done about
/// it is.
pub fn decidable(type_name: &str, verb: EdgeVerb) -> &str {
    match verb {
        EdgeVerb::Stop if type_name == RUN_STATE => EdgeDecidable::RunStop.as_str(),
        _ => type_name,
    }
}

/// What the record of a decision calls its outcome.
pub fn outcome(verb: EdgeVerb) -> &'static str {
    match verb {
        EdgeVerb::Approve => "approved",
        EdgeVerb::SendBack => "sent_back",
        EdgeVerb::Resolve => "resolved",
        EdgeVerb::Resurrect => "resurrected",
        EdgeVerb::Cancel => "cancelled",
        EdgeVerb::Stop => "stopped",
    }
}

/// What a request says that can be decided about it.
pub fn offered(body: &Object) -> Vec<EdgeVerb> {
    let verbs = body.get(VERBS).and_then(Value::as_array).into_iter().flatten();
    verbs.filter_map(|verb| EdgeVerb::parse(verb.as_str()?)).collect()
}

/// Until when the edge may take a decision about a request.
pub fn expires(decided_at: Time, body: &Object) -> Time {
    let has_commands =
        body.get(COMMANDS).and_then(Value::as_array).is_some_and(|commands| !commands.is_empty());
    decided_at.add_seconds(if has_commands { LASTS_WITH_COMMANDS } else { LASTS })
}

/// Whether the edge may still take or apply it.
pub fn is_open(state: EdgeDecisionState) -> bool {
    matches!(state, EdgeDecisionState::Waiting | EdgeDecisionState::Taken)
}

/// How a decision ended by itself, and why: its time is over; or the hub is another incarnation
/// than the one that it was taken on. A hub that was restored does not know whether a person took
/// the decision back since, so that a person decides again.
pub fn over(
    decided: &EdgeDecision,
    now: Time,
    incarnation: Option<&str>,
) -> Option<(EdgeDecisionState, &'static str)> {
    if !is_open(decided.state) {
        return None;
    }
    if incarnation != Some(decided.hub.as_str()) {
        return Some((EdgeDecisionState::Returned, RESTORED));
    }
    (decided.expires_at.time() <= now).then_some((EdgeDecisionState::Expired, LATE))
}

/// The state after the edge reported another one; `None` if it stays. What was applied was applied,
/// also if a person withdrew the decision meanwhile.
pub fn reported(now: EdgeDecisionState, report: EdgeDecisionState) -> Option<EdgeDecisionState> {
    use EdgeDecisionState::{Applied, Expired, Returned, Superseded, Taken, Waiting, Withdrawn};
    match (now, report) {
        (Waiting, Taken)
        | (Waiting | Taken, Applied | Superseded | Returned)
        | (Withdrawn | Expired | Returned | Superseded, Applied) => Some(report),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use EdgeDecisionState::{Applied, Expired, Returned, Superseded, Taken, Waiting, Withdrawn};
    use accord_contract::Wire as _;
    use serde_json::json;

    use super::*;

    #[test]
    fn what_was_applied_stays_applied_and_nothing_else_comes_back() {
        for now in EdgeDecisionState::ALL.iter().copied() {
            assert_eq!(reported(now, Waiting), None);
            assert_eq!(reported(now, Applied).is_some(), now != Applied, "{now:?}");
            for report in [Taken, Superseded, Returned] {
                let is_new = is_open(now) && now != report;
                assert_eq!(reported(now, report).is_some(), is_new, "{now:?} {report:?}");
            }
            for never in [Withdrawn, Expired] {
                assert_eq!(reported(now, never), None);
            }
        }
    }

    #[test]
    fn a_decision_that_runs_commands_lasts_an_hour() {
        let now = Time::from_unix(1_800_000_000, 0).unwrap();
        let body = |value: Value| value.as_object().cloned().unwrap();
        let lasts = |body: &Object| expires(now, body).millis_since(now) / 1000;
        assert_eq!(lasts(&body(json!({"commands": []}))), 24 * 60 * 60);
        assert_eq!(lasts(&body(json!({"commands": ["make deploy"]}))), 60 * 60);
        assert_eq!(offered(&body(json!({"verbs": ["approve", "x"]}))), [EdgeVerb::Approve]);
    }

    fn decided(state: EdgeDecisionState, at: Time, body: &Object) -> EdgeDecision {
        let document = json!({
            "decision_id": "dec_00000000000000000000000000000000", "item": "run_1/gate/ship/t1",
            "type": "run.gate", "verb": "approve", "state": state.as_str(),
            "state_at": at.to_string(), "evidence": "0".repeat(64), "actor": "human:lead",
            "known_by": "key", "door": "http", "hub": "inc_1", "decided_at": at.to_string(),
            "expires_at": expires(at, body).to_string(),
        });
        EdgeDecision::from_document(document).unwrap()
    }

    #[test]
    fn an_open_decision_is_over_in_time_and_after_a_restore() {
        let at = Time::from_unix(1_800_000_000, 0).unwrap();
        let body = |value: Value| value.as_object().cloned().unwrap();
        for (commands, lasts) in [(json!([]), LASTS), (json!(["make"]), LASTS_WITH_COMMANDS)] {
            let body = body(json!({"commands": commands}));
            for state in EdgeDecisionState::ALL.iter().copied() {
                let decided = decided(state, at, &body);
                let after = |seconds: i64| over(&decided, at.add_seconds(seconds), Some("inc_1"));
                assert_eq!(after(lasts - 1), None);
                let ended = is_open(state).then_some((Expired, LATE));
                assert_eq!((after(lasts), after(lasts * 9)), (ended, ended), "{state:?}");
                for other in [None, Some("inc_2")] {
                    let ended = is_open(state).then_some((Returned, RESTORED));
                    assert_eq!(over(&decided, at, other), ended, "{state:?}");
                }
            }
        }
    }
}
