//! The arguments of `resolve_blocked` and `transition_state`. The core decides them.

use accord_contract::Object;
use accord_runs_core::run::TransitionRequest;
use accord_runs_core::state::PendingTransition;
use serde_json::Value;

pub fn action(args: &Object) -> Option<&str> {
    text(args, "action")
}

pub fn request(args: &Object) -> TransitionRequest<'_> {
    let overrides = args.get("candidate_overrides").and_then(Value::as_object);
    let run_id = overrides.filter(|members| members.contains_key("run_id"));
    let gate = |name: &str| Some(args.get("gate")?.get(name)?.as_str()?.to_owned());
    TransitionRequest {
        trigger: text(args, "trigger").unwrap_or_default(),
        target_status: text(args, "target_status"),
        gate: PendingTransition {
            from: gate("from").unwrap_or_default(),
            to: gate("to").unwrap_or_default(),
            gate: gate("gate").unwrap_or_default(),
            requested_by_turn: gate("requested_by_turn"),
            requested_at: gate("requested_at"),
        },
        reason: text(args, "reason"),
        role: text(args, "role_id"),
        run_id: run_id.map(|members| text(members, "run_id")),
    }
}

fn text<'a>(document: &'a Object, name: &str) -> Option<&'a str> {
    document.get(name).and_then(Value::as_str)
}
