//! Capabilities, error codes, event types and the envelope's guarantees.

use std::collections::{BTreeMap, BTreeSet};

use super::changes::Changes;
use super::snapshot::{EventEntry, Snapshot};
use super::{Rule, differing};

pub(super) fn compare(old: &Snapshot, new: &Snapshot, changes: &mut Changes<'_>) {
    capabilities(old, new, changes);
    errors(old, new, changes);
    events(old, new, changes);
    guarantees(old, new, changes);
    for name in differing(old.unknown_parts(), new.unknown_parts()) {
        let note = "the checker does not know this part of a snapshot";
        changes.changed(&format!("/{name}"), Rule::AttributeChanged, note);
    }
}

/// Clauses: ALX-MINOR-2, ALX-COMPAT-02, ALX-COMPAT-23.
fn capabilities(old: &Snapshot, new: &Snapshot, changes: &mut Changes<'_>) {
    let (old, new) = (old.capabilities(), new.capabilities());
    for name in old.difference(&new) {
        let path = format!("/capabilities/{name}");
        changes.removed(&path, Rule::CapabilityRemoved, "the capability is gone");
    }
    for name in new.difference(&old) {
        let path = format!("/capabilities/{name}");
        changes.added(&path, Rule::CapabilityAdded, "the capability is new");
    }
}

/// Clauses: ALX-MINOR-5, ALX-COMPAT-06, ALX-COMPAT-24.
fn errors(old: &Snapshot, new: &Snapshot, changes: &mut Changes<'_>) {
    let (old, new) = (old.errors(), new.errors());
    // The new codes, each with its type.
    let mut homes: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (kind, codes) in &new {
        let known = old.get(kind);
        for code in codes.iter().filter(|code| !holds(known, code)) {
            homes.entry(code).or_default().push(kind);
        }
        if known.is_none() {
            let path = format!("/errors/{kind}");
            changes.added(&path, Rule::ErrorTypeAdded, "the error type is new");
        }
    }
    for (kind, codes) in &old {
        let left = new.get(kind);
        if left.is_none() {
            let path = format!("/errors/{kind}");
            changes.removed(&path, Rule::ErrorTypeRemoved, "the error type is gone");
        }
        for code in codes.iter().filter(|code| !holds(left, code)) {
            let path = format!("/errors/{kind}/{code}");
            // Taken out of `homes`, so that a moved code is not reported as new as well.
            if let Some(home) = homes.get_mut(code).and_then(Vec::pop) {
                let note = format!("the code is in the type {home} now");
                changes.renamed(&path, Rule::ErrorCodeMoved, note);
            // A removed type is one change. Its codes go with it.
            } else if left.is_some() {
                changes.removed(&path, Rule::ErrorCodeRemoved, "the code is gone");
            }
        }
    }
    for (code, kinds) in homes {
        // A new type brings its codes with it.
        for kind in kinds.into_iter().filter(|kind| old.contains_key(kind)) {
            let path = format!("/errors/{kind}/{code}");
            changes.added(&path, Rule::ErrorCodeAdded, "the code is new");
        }
    }
}

fn holds(codes: Option<&BTreeSet<&str>>, code: &str) -> bool {
    codes.is_some_and(|codes| codes.contains(code))
}

/// Clauses: ALX-SERVER-7, ALX-MINOR-3, ALX-V7, ALX-COMPAT-03, ALX-COMPAT-04.
fn events(old: &Snapshot, new: &Snapshot, changes: &mut Changes<'_>) {
    // A list is added and removed with its event types; only an empty one is a separate change.
    let (were_empty, are_empty) = (old.empty_event_lists(), new.empty_event_lists());
    for list in were_empty.difference(&new.event_lists()) {
        let note = "the event list, which was empty, is gone";
        changes.removed(&format!("/events/{list}"), Rule::AttributeChanged, note);
    }
    for list in are_empty.difference(&old.event_lists()) {
        let note = "the event list is new, and empty";
        changes.added(&format!("/events/{list}"), Rule::AttributeChanged, note);
    }
    let (old, new) = (old.events(), new.events());
    for (key, before) in &old {
        let path = format!("/events/{}/{}", key.0, key.1);
        match new.get(key) {
            None => changes.removed(&path, Rule::EventRemoved, "the event type is gone"),
            Some(after) => event(&path, before, after, changes),
        }
    }
    for (key, entry) in new.iter().filter(|(key, _)| !old.contains_key(*key)) {
        let path = format!("/events/{}/{}", key.0, key.1);
        let (rule, note) = match entry.ignorable {
            Some(true) => (Rule::EventAdded, "the event type is new and can be ignored"),
            Some(false) => {
                (Rule::EventAddedNotIgnorable, "the event type is new and cannot be ignored")
            }
            None => {
                let note = "the event type is new; whether it can be ignored is not stated";
                (Rule::EventIgnorabilityUnknown, note)
            }
        };
        changes.added(&path, rule, note);
    }
}

/// Clauses: ALX-SERVER-6, ALX-MAJOR-5, ALX-V6, ALX-COMPAT-11.
fn event(path: &str, old: &EventEntry, new: &EventEntry, changes: &mut Changes<'_>) {
    let meanings = [old, new].map(|side| side.semantics.as_deref());
    changes.meaning(path, meanings, Rule::EventSemanticsChanged);
    let (rule, note) = match (old.ignorable, new.ignorable) {
        (Some(true), Some(false)) => {
            (Some(Rule::EventNoLongerIgnorable), "the event type cannot be ignored any more")
        }
        (Some(false), Some(true)) => {
            (Some(Rule::EventBecameIgnorable), "the event type can be ignored now")
        }
        (was, is) => {
            let note = "whether the event type can be ignored is not stated on both sides";
            ((was != is).then_some(Rule::EventIgnorabilityUnknown), note)
        }
    };
    if let Some(rule) = rule {
        changes.changed(path, rule, note);
    }
    for name in differing(&old.extra, &new.extra) {
        changes.changed(path, Rule::AttributeChanged, format!("the attribute {name} is different"));
    }
}

/// Clauses: ALX-MAJOR-6, ALX-COMPAT-12.
fn guarantees(old: &Snapshot, new: &Snapshot, changes: &mut Changes<'_>) {
    let (old, new) = (old.guarantees(), new.guarantees());
    for (when, was) in &old {
        let path = format!("/envelopeSemantics/{when}");
        match new.get(when) {
            Some(is) => {
                changes.meaning(&path, [Some(was), Some(is)], Rule::EnvelopeSemanticsChanged);
            }
            None => {
                changes.removed(&path, Rule::EnvelopeSemanticsChanged, "the guarantee is gone");
            }
        }
    }
    for when in new.keys().filter(|when| !old.contains_key(*when)) {
        let path = format!("/envelopeSemantics/{when}");
        changes.added(&path, Rule::EnvelopeSemanticsAdded, "the guarantee is new");
    }
}
