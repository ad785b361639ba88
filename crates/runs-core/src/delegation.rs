//! Delegations: work that one role gives to another.
//!
//! A delegation is pending, then executed by a child turn, and ends as completed or failed. When
//! all delegations of a turn have ended, its role reviews them.
//!
//! A review is pending in the state until its own turn is accepted. The state names its results
//! `delegation_results`, the turn and the history name them `results`; both names are read in all
//! places. At most one review is pending. Further ones wait in the queue as ended delegations.

use accord_contract::{Object, Time, Value};

use crate::doc::{self, List, Member};
use crate::{State, Turn, build};

pub(crate) const MAX_DELEGATIONS: usize = 5;

/// Attaches a pending delegation or review of its role to a new turn.
pub(crate) fn attach(state: &mut State, turn: &mut Turn) {
    if let Some(pending) = pending_review(state)
        && doc::Review::PARENT_ROLE.get(pending) == Some(turn.role())
    {
        turn.set(doc::Turn::DELEGATION_REVIEW, renamed(pending, doc::Review::RESULTS));
        return;
    }
    let mut queue = queue(state);
    let waits = |item: &&mut Value| {
        doc::Queued::STATUS.get(item) == Some("pending")
            && doc::Queued::TO_ROLE.get(item) == Some(turn.role())
    };
    let Some(item) = queue.iter_mut().find(waits).and_then(Value::as_object_mut) else { return };
    doc::Queued::STATUS.set(item, "active");
    doc::Queued::CHILD_TURN_ID.set(item, turn.id().as_str());
    let context = build([
        doc::Queued::DELEGATION_ID.of(item),
        doc::Queued::PARENT_TURN_ID.of(item),
        doc::Queued::PARENT_ROLE.of(item),
        doc::Queued::CHARTER.of(item),
        doc::Queued::ACCEPTANCE_CONTRACT.of(item),
        doc::Queued::SCOPE.of(item),
        doc::Queued::REQUIRED_DECISION_IDS.of(item),
    ]);
    turn.set(doc::Turn::DELEGATION_CONTEXT, context);
    state.set(doc::State::DELEGATION_QUEUE, queue);
}

/// Updates delegations for an accepted turn: queues its own, and ends the one that it executed or
/// the review that it made. Returns the next role when delegations determine it.
pub(crate) fn book(state: &mut State, turn: &Turn, result: &Object, now: Time) -> Option<String> {
    let mut queue = queue(state);
    let own = doc::Result::DELEGATIONS.objects(result);
    queue.extend(own.map(|delegation| Value::Object(queued(delegation, turn, now))));
    if let Some(review) = turn.delegation_review()
        && pending_review(state).is_some_and(|pending| same_parent(pending, review))
    {
        state.clear(doc::State::PENDING_DELEGATION_REVIEW);
    }
    if let Some(context) = turn.delegation_context() {
        let id = doc::Queued::DELEGATION_ID.get(context).unwrap_or_default();
        let parent = doc::Queued::PARENT_TURN_ID.get(context).unwrap_or_default();
        finish(&mut queue, id, parent, turn, result);
    }
    if pending_review(state).is_none()
        && let Some(review) = next_review(&mut queue)
    {
        state.set(doc::State::PENDING_DELEGATION_REVIEW, review);
    }
    let waits = |item: &&Value| doc::Queued::STATUS.get(item) == Some("pending");
    let waiting = || doc::Queued::TO_ROLE.get(queue.iter().find(waits)?).map(str::to_owned);
    let next = due_reviewer(state).or_else(waiting);
    if !queue.is_empty() || doc::State::DELEGATION_QUEUE.is_in(state.members()) {
        state.set(doc::State::DELEGATION_QUEUE, queue);
    }
    next
}

/// Requeues the delegation of a withdrawn turn, for the role that continues it.
pub(crate) fn requeue(state: &mut State, turn: &Turn, role: &str) {
    let mut queue = queue(state);
    if let Some(review) = turn.delegation_review() {
        let other = pending_review(state).filter(|pending| !same_parent(pending, review));
        if other.is_some() {
            queue.extend(ended_again(review, role));
            state.set(doc::State::DELEGATION_QUEUE, queue.clone());
        } else {
            let mut review = renamed(review, doc::Review::DELEGATION_RESULTS);
            doc::Review::PARENT_ROLE.set(&mut review, role);
            state.set(doc::State::PENDING_DELEGATION_REVIEW, review);
        }
    }
    let own = |item: &&mut Object| doc::Queued::CHILD_TURN_ID.get(item) == Some(turn.id().as_str());
    if let Some(item) = queue.iter_mut().filter_map(Value::as_object_mut).find(own) {
        doc::Queued::STATUS.set(item, "pending");
        doc::Queued::CHILD_TURN_ID.set(item, Value::Null);
        doc::Queued::TO_ROLE.set(item, role);
        state.set(doc::State::DELEGATION_QUEUE, queue);
    }
}

/// Whether delegated work has not ended or is not reviewed yet.
pub(crate) fn is_open(state: &State) -> bool {
    !queue(state).is_empty()
        || doc::State::PENDING_DELEGATION_REVIEW.given(state.members()).is_some()
}

pub(crate) fn missing_decisions(review: &Object) -> Vec<String> {
    results(review).flat_map(missing).collect()
}

fn missing(result: &Object) -> Vec<String> {
    if doc::Queued::MISSING_DECISION_IDS.given(result).is_some() {
        return doc::Queued::MISSING_DECISION_IDS.get(result);
    }
    let made = doc::Queued::SATISFIED_DECISION_IDS.get(result);
    let required = doc::Queued::REQUIRED_DECISION_IDS.get(result);
    required.into_iter().filter(|id| !made.contains(id)).collect()
}

/// The results in a review, under either of their names.
pub(crate) fn results(review: &Object) -> impl Iterator<Item = &Object> {
    let names = [doc::Review::RESULTS, doc::Review::DELEGATION_RESULTS];
    let named = names.into_iter().find(|name| name.raw(review).is_some_and(Value::is_array));
    named.unwrap_or(doc::Review::RESULTS).objects(review)
}

fn renamed(review: &Object, name: Member<List>) -> Object {
    let results: Vec<Object> = results(review).cloned().collect();
    let mut renamed = review.clone();
    doc::Review::RESULTS.remove(&mut renamed);
    doc::Review::DELEGATION_RESULTS.remove(&mut renamed);
    name.set(&mut renamed, results);
    renamed
}

/// The results of a review as ended delegations, for a role that reviews them later.
fn ended_again(review: &Object, role: &str) -> Vec<Value> {
    let ended = results(review).cloned().map(|mut item| {
        doc::Queued::PARENT_TURN_ID.set(&mut item, doc::Review::PARENT_TURN_ID.copy(review));
        doc::Queued::PARENT_ROLE.set(&mut item, role);
        Value::Object(item)
    });
    ended.collect()
}

fn pending_review(state: &State) -> Option<&Object> {
    doc::State::PENDING_DELEGATION_REVIEW.get(state.members())
}

/// The role of the pending review, unless it is at work.
fn due_reviewer(state: &State) -> Option<String> {
    let role = doc::Review::PARENT_ROLE.get(pending_review(state)?)?;
    let is_active = state.turns().any(|turn| turn.role() == role);
    (!is_active).then(|| role.to_owned())
}

fn same_parent(one: &Object, other: &Object) -> bool {
    let parent = doc::Review::PARENT_TURN_ID;
    parent.get(one) == parent.get(other)
}

fn queue(state: &State) -> Vec<Value> {
    doc::State::DELEGATION_QUEUE.get(state.members()).to_vec()
}

fn queued(delegation: &Object, turn: &Turn, now: Time) -> Object {
    // The protocol text and its cases use different names for the contract. Both are written.
    let contract = contract(delegation);
    let required = doc::Delegation::REQUIRED_DECISION_IDS.get(delegation);
    build([
        doc::Queued::DELEGATION_ID.to(doc::Delegation::ID.copy(delegation)),
        doc::Queued::PARENT_TURN_ID.to(turn.id().as_str()),
        doc::Queued::PARENT_ROLE.to(turn.role()),
        doc::Queued::TO_ROLE.to(doc::Delegation::TO_ROLE.copy(delegation)),
        doc::Queued::CHARTER.to(doc::Delegation::CHARTER.copy(delegation)),
        doc::Queued::ACCEPTANCE_CONTRACT.to(contract.clone()),
        doc::Queued::SCOPE.to(contract),
        doc::Queued::REQUIRED_DECISION_IDS.to(&required),
        doc::Queued::STATUS.to("pending"),
        doc::Queued::CHILD_TURN_ID.to(Value::Null),
        doc::Queued::CREATED_AT.to(now),
    ])
}

/// The acceptance contract of a delegation, under either of its names.
pub(crate) fn contract(delegation: &Object) -> Value {
    let named = doc::Delegation::ACCEPTANCE_CONTRACT.given(delegation);
    match named.or_else(|| doc::Delegation::SCOPE.given(delegation)) {
        Some(Value::String(text)) => Value::from(vec![text.as_str()]),
        value => value.cloned().unwrap_or(Value::Null),
    }
}

fn finish(queue: &mut [Value], id: &str, parent: &str, turn: &Turn, result: &Object) {
    // Ids of delegations repeat between parents, so both must match.
    let own = |item: &&mut Object| {
        doc::Queued::DELEGATION_ID.get(item) == Some(id)
            && doc::Queued::PARENT_TURN_ID.get(item) == Some(parent)
    };
    let Some(item) = queue.iter_mut().filter_map(Value::as_object_mut).find(own) else { return };
    let done = doc::Result::STATUS.get(result) == Some("completed");
    let decisions = doc::Result::DECISIONS.get(result).iter();
    let made: Vec<&str> = decisions.filter_map(|it| doc::Decision::ID.get(it)).collect();
    let required = doc::Queued::REQUIRED_DECISION_IDS.get(item);
    let (satisfied, missing): (Vec<String>, Vec<String>) =
        required.into_iter().partition(|id| made.contains(&id.as_str()));
    let status = if done { "completed" } else { "failed" };
    item.extend(build([
        doc::Queued::STATUS.to(status),
        doc::Queued::CHILD_TURN_ID.to(turn.id().as_str()),
        doc::Queued::SUMMARY.to(doc::Result::SUMMARY.copy(result)),
        doc::Queued::FILES_CHANGED.to(doc::Result::FILES_CHANGED.copy(result)),
        doc::Queued::VERIFICATION.to(doc::Result::VERIFICATION.copy(result)),
        doc::Queued::SATISFIED_DECISION_IDS.to(&satisfied),
        doc::Queued::MISSING_DECISION_IDS.to(&missing),
    ]));
}

/// Takes the first review whose delegations have all ended out of the queue. What stays there
/// counts as open work.
fn next_review(queue: &mut Vec<Value>) -> Option<Object> {
    let parents = queue.iter().filter_map(|item| doc::Queued::PARENT_TURN_ID.get(item));
    let found = parents.clone().find_map(|parent| review(queue, parent))?;
    let parent = doc::Review::PARENT_TURN_ID.get(&found).map(str::to_owned);
    queue.retain(|item| doc::Queued::PARENT_TURN_ID.get(item) != parent.as_deref());
    Some(found)
}

/// The review of a turn's delegations, once all have ended.
fn review(queue: &[Value], parent: &str) -> Option<Object> {
    let is_own = |item: &&Object| doc::Queued::PARENT_TURN_ID.get(item) == Some(parent);
    let own: Vec<&Object> = queue.iter().filter_map(Value::as_object).filter(is_own).collect();
    let is_back =
        |it: &&Object| matches!(doc::Queued::STATUS.get(it), Some("completed" | "failed"));
    if own.is_empty() || !own.iter().all(is_back) {
        return None;
    }
    let results: Vec<Value> = own.iter().map(|item| Value::Object((*item).clone())).collect();
    Some(build([
        doc::Review::PARENT_TURN_ID.to(parent),
        doc::Review::PARENT_ROLE.to(doc::Queued::PARENT_ROLE.copy(own[0])),
        doc::Review::DELEGATION_RESULTS.to(results),
    ]))
}
