//! Whether a version number is honest.

use accord_contract::Value;
use accord_contract::compat::{Class, Rule};
use serde_json::json;

use super::{base, report, rule_of, take};

fn nothing(_: &mut Value) {}

fn addition(snapshot: &mut Value) {
    snapshot["capabilities"] = json!(["maps", "tracking"]);
}

fn removal(snapshot: &mut Value) {
    take(&mut snapshot["messages"]["OrderReply"], "eta");
}

fn violation(snapshot: &mut Value) {
    snapshot["messages"]["OrderReply"]["orderRef"]["mirrors"] = json!("nothing");
}

/// May be no change at all.
fn unknown(snapshot: &mut Value) {
    take(&mut snapshot["messages"]["OrderReply"]["price"], "semantics");
}

/// Is a change, minor or major.
fn new_type(snapshot: &mut Value) {
    snapshot["errors"]["billing"] = json!([]);
}

fn unknown_and_removal(snapshot: &mut Value) {
    unknown(snapshot);
    removal(snapshot);
}

fn unknown_and_addition(snapshot: &mut Value) {
    unknown(snapshot);
    addition(snapshot);
}

#[test]
fn honesty_is_what_the_version_says_about_the_gravest_change() {
    let (yes, no, open) = (Some(true), Some(false), None);
    type Change = fn(&mut Value);
    // Change; overall; then the verdict under 3.4 (the same), 3.5, 3.3, 4.0, 2.9 and 3.5-rc.
    let cases: [(Change, Class, [Option<bool>; 6]); 8] = [
        (nothing, Class::None, [yes, yes, no, no, no, open]),
        (addition, Class::MinorSafe, [no, yes, no, no, no, open]),
        (removal, Class::Major, [no, no, no, yes, no, open]),
        (violation, Class::Violation, [no, no, no, no, no, no]),
        (unknown, Class::NeedsReview, [open, open, no, open, no, open]),
        (new_type, Class::NeedsReview, [no, open, no, open, no, open]),
        (unknown_and_removal, Class::Major, [no, no, no, yes, no, open]),
        (unknown_and_addition, Class::NeedsReview, [no, open, no, open, no, open]),
    ];
    let versions = ["3.4", "3.5", "3.3", "4.0", "2.9", "3.5-rc"];
    for (index, (change, overall, verdicts)) in cases.into_iter().enumerate() {
        for (version, honest) in versions.into_iter().zip(verdicts) {
            let mut new = base();
            change(&mut new);
            new["protocolVersion"] = json!(version);
            let found = report(&base(), &new);
            assert_eq!(found.overall, overall, "case {index}");
            assert_eq!(found.honest, honest, "case {index} under {version}: {}", found.reason);
        }
    }
}

#[test]
fn version_numbers_are_numbers() {
    let under = |old: &str, new: &str, change: fn(&mut Value)| {
        let (mut before, mut after) = (base(), base());
        before["protocolVersion"] = json!(old);
        change(&mut after);
        after["protocolVersion"] = json!(new);
        report(&before, &after).honest
    };
    assert_eq!(under("1.9", "1.10", addition), Some(true));
    assert_eq!(under("9.0", "10.0", removal), Some(true));
    assert_eq!(under("latest", "1.0", addition), None);
    assert_eq!(under("latest", "latest", nothing), Some(true));
    assert_eq!(under("latest", "latest", addition), None);
    assert_eq!(under("latest", "newest", nothing), None);
    assert_eq!(under("latest", "newest", violation), Some(false));
}

#[test]
fn what_is_unknown_on_both_sides_is_a_question_only_between_versions() {
    let mut old = base();
    old["messages"]["OrderReply"]["price"]["semantics"] = json!("unknown");
    let mut new = old.clone();
    assert_eq!((report(&old, &new).overall, report(&old, &new).honest), (Class::None, Some(true)));
    new["protocolVersion"] = json!("3.5");
    assert_eq!(report(&old, &new).overall, Class::NeedsReview);
    assert_eq!(report(&old, &new).honest, None);

    // A meaning that is left out is not known either.
    unknown(&mut new);
    assert_eq!(report(&old, &new).overall, Class::NeedsReview);
    unknown(&mut old);
    assert_eq!(report(&old, &new).overall, Class::NeedsReview);
    assert_eq!(report(&old, &new).honest, None);
    new["protocolVersion"] = old["protocolVersion"].clone();
    assert_eq!(report(&old, &new).overall, Class::None);
}

#[test]
fn an_event_of_unknown_meaning_is_a_question_only_between_versions() {
    let mut old = base();
    take(&mut old["events"]["OrderEventType"]["seen"], "semantics");
    let mut new = old.clone();
    assert_eq!(report(&old, &new).overall, Class::None);
    new["protocolVersion"] = json!("3.5");
    let found = report(&old, &new);
    assert_eq!(found.honest, None);
    assert_eq!(found.changes[0].path, "/events/OrderEventType/seen");
    assert_eq!(rule_of(&found.changes[0]), Rule::SemanticsUnknown);
}

#[test]
fn a_wrong_alias_is_a_violation_also_when_it_was_wrong_before() {
    let mut wrong = base();
    violation(&mut wrong);
    let found = report(&wrong, &wrong);
    assert_eq!((found.overall, found.honest), (Class::Violation, Some(false)));
    assert_eq!(report(&wrong, &base()).changes[0].class, Class::MinorSafe);
}

#[test]
fn the_reason_says_what_decided() {
    let mut new = base();
    removal(&mut new);
    new["protocolVersion"] = json!("3.5");
    let reason = report(&base(), &new).reason;
    assert_eq!(reason, "version 3.5 after 3.4 is not honest: 1 change is major");
}
