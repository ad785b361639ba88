//! Work that one role hands to another, and how it comes back.
//!
//! A delegation waits, is carried out by a child turn, and is done or failed. When all
//! delegations of a turn have come back, its role reviews them.

use accord_contract::time::Time;
use accord_contract::wire::{Object, Value};

use crate::members::{self, array, build, list, text, texts};
use crate::state::{State, Turn};

/// The most delegations that one result may ask for.
pub const MAX_DELEGATIONS: usize = 5;

/// Gives a new turn the delegation, or the review of delegations, that waits for its role.
pub(crate) fn attach(state: &mut State, turn: &mut Turn) {
    let review = members::object(state.members(), "pending_delegation_review").cloned();
    if let Some(review) = review
        && text(&review, "parent_role") == Some(turn.role())
    {
        turn.set("delegation_review", review);
        state.set("pending_delegation_review", Value::Null);
        return;
    }
    let mut queue = queue(state);
    let waits = |item: &&mut Value| {
        item.get("status").and_then(Value::as_str) == Some("pending")
            && item.get("to_role").and_then(Value::as_str) == Some(turn.role())
    };
    let Some(item) = queue.iter_mut().find(waits).and_then(Value::as_object_mut) else {
        return;
    };
    item.insert("status".into(), "active".into());
    item.insert("child_turn_id".into(), turn.id().as_str().into());
    let mut context = Object::new();
    for name in [
        "delegation_id",
        "parent_turn_id",
        "parent_role",
        "charter",
        "acceptance_contract",
        "scope",
        "required_decision_ids",
    ] {
        context.insert(
            name.to_owned(),
            item.get(name).cloned().unwrap_or(Value::Null),
        );
    }
    turn.set("delegation_context", context);
    state.set("delegation_queue", queue);
}

/// Books an accepted turn: what it delegates is queued, what was delegated to it comes back.
/// Gives the role that should go next, where delegations have a say.
pub(crate) fn book(state: &mut State, turn: &Turn, result: &Object, now: Time) -> Option<String> {
    let mut queue = queue(state);
    for delegation in list(result, "delegations")
        .iter()
        .filter_map(Value::as_object)
    {
        queue.push(queued(delegation, turn, now).into());
    }
    let mut next = None;
    if let Some(context) = turn.delegation_context() {
        let id = text(context, "delegation_id").unwrap_or_default();
        let parent = text(context, "parent_turn_id").unwrap_or_default();
        finish(&mut queue, id, parent, turn, result);
        if let Some(review) = review(&queue, parent) {
            next = text(&review, "parent_role").map(str::to_owned);
            queue.retain(|item| item.get("parent_turn_id").and_then(Value::as_str) != Some(parent));
            state.set("pending_delegation_review", review);
        }
    }
    if next.is_none() {
        next = queue
            .iter()
            .find(|item| item.get("status").and_then(Value::as_str) == Some("pending"))
            .and_then(|item| item.get("to_role")?.as_str())
            .map(str::to_owned);
    }
    if !queue.is_empty() || state.members().contains_key("delegation_queue") {
        state.set("delegation_queue", queue);
    }
    next
}

/// Takes back what a turn that is no more was given, for the role that goes on with it.
pub(crate) fn hand_back(state: &mut State, turn: &Turn, role: &str) {
    if let Some(review) = turn.delegation_review() {
        let mut review = review.clone();
        review.insert("parent_role".into(), role.into());
        state.set("pending_delegation_review", review);
    }
    let mut queue = queue(state);
    let own = |item: &&mut Object| text(item, "child_turn_id") == Some(turn.id().as_str());
    let given = queue.iter_mut().filter_map(Value::as_object_mut).find(own);
    if let Some(item) = given {
        item.insert("status".into(), "pending".into());
        item.insert("child_turn_id".into(), Value::Null);
        item.insert("to_role".into(), role.into());
        state.set("delegation_queue", queue);
    }
}

/// Whether delegated work has not come back or was not reviewed yet.
pub(crate) fn is_open(state: &State) -> bool {
    !queue(state).is_empty()
        || members::given(state.members(), "pending_delegation_review").is_some()
}

/// The required decisions that a review finds missing.
pub(crate) fn missing_decisions(review: &Object) -> Vec<String> {
    let results = list(review, "delegation_results")
        .iter()
        .filter_map(Value::as_object);
    results
        .flat_map(|result| texts(result, "missing_decision_ids"))
        .collect()
}

fn queue(state: &State) -> Vec<Value> {
    list(state.members(), "delegation_queue").to_vec()
}

fn queued(delegation: &Object, turn: &Turn, now: Time) -> Object {
    let member = |name: &str| delegation.get(name).cloned().unwrap_or(Value::Null);
    // The protocol's text calls the contract by another name; both are written.
    let contract = contract(delegation);
    build([
        ("delegation_id", member("id")),
        ("parent_turn_id", turn.id().as_str().into()),
        ("parent_role", turn.role().into()),
        ("to_role", member("to_role")),
        ("charter", member("charter")),
        ("acceptance_contract", contract.clone()),
        ("scope", contract),
        (
            "required_decision_ids",
            array(&texts(delegation, "required_decision_ids")),
        ),
        ("status", "pending".into()),
        ("child_turn_id", Value::Null),
        ("created_at", now.to_string().into()),
    ])
}

/// What a delegation must deliver, under either of its names.
pub(crate) fn contract(delegation: &Object) -> Value {
    let named = members::given(delegation, "acceptance_contract");
    let value = named.or_else(|| members::given(delegation, "scope"));
    match value {
        Some(Value::String(text)) => Value::from(vec![text.as_str()]),
        Some(value) => value.clone(),
        None => Value::Null,
    }
}

fn finish(queue: &mut [Value], id: &str, parent: &str, turn: &Turn, result: &Object) {
    let own = |item: &&mut Object| {
        text(item, "delegation_id") == Some(id) && text(item, "parent_turn_id") == Some(parent)
    };
    let Some(item) = queue.iter_mut().filter_map(Value::as_object_mut).find(own) else {
        return;
    };
    let done = text(result, "status") == Some("completed");
    let made: Vec<&str> = list(result, "decisions")
        .iter()
        .filter_map(|decision| decision.get("id")?.as_str())
        .collect();
    let required = texts(item, "required_decision_ids");
    let (satisfied, missing): (Vec<String>, Vec<String>) = required
        .into_iter()
        .partition(|id| made.contains(&id.as_str()));
    let status = if done { "completed" } else { "failed" };
    item.extend(build([
        ("status", status.into()),
        ("child_turn_id", turn.id().as_str().into()),
        (
            "summary",
            result.get("summary").cloned().unwrap_or(Value::Null),
        ),
        (
            "files_changed",
            result.get("files_changed").cloned().unwrap_or(Value::Null),
        ),
        (
            "verification",
            result.get("verification").cloned().unwrap_or(Value::Null),
        ),
        ("satisfied_decision_ids", array(&satisfied)),
        ("missing_decision_ids", array(&missing)),
    ]));
}

/// The review of a turn's delegations, once all of them have come back.
fn review(queue: &[Value], parent: &str) -> Option<Object> {
    let own: Vec<&Object> = queue
        .iter()
        .filter_map(Value::as_object)
        .filter(|item| text(item, "parent_turn_id") == Some(parent))
        .collect();
    let back = |item: &&Object| matches!(text(item, "status"), Some("completed" | "failed"));
    if own.is_empty() || !own.iter().all(back) {
        return None;
    }
    let results: Vec<Value> = own
        .iter()
        .map(|item| Value::Object((*item).clone()))
        .collect();
    Some(build([
        ("parent_turn_id", parent.into()),
        (
            "parent_role",
            own[0].get("parent_role").cloned().unwrap_or(Value::Null),
        ),
        ("delegation_results", results.into()),
    ]))
}
