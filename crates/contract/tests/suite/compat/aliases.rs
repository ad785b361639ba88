//! What an alias says about itself, against its canonical member and against what
//! it said before.

use accord_contract::Value;
use accord_contract::compat::{Class, Rule};
use serde_json::json;

use super::{base, expected, found, named, report};

const COLOUR: &str = "/messages/OrderReply/shade";

/// The base with an alias of the open list `colour`.
fn with_shade(attributes: Value) -> Value {
    let mut snapshot = base();
    let mut alias = json!({"kind": "alias", "mirrors": "colour"});
    for (name, value) in attributes.as_object().unwrap() {
        alias[name] = value.clone();
    }
    snapshot["messages"]["OrderReply"]["shade"] = alias;
    snapshot
}

#[test]
fn what_an_alias_does_not_say_is_as_its_canonical_member_has_it() {
    let bare = with_shade(json!({}));
    assert_eq!(named(&base(), &bare), expected(&[(COLOUR, Rule::AliasAdded)]));
    let arrival = "/messages/OrderReply/arrival";
    assert_eq!(
        found(|s| {
            s["messages"]["OrderReply"]["arrival"] = json!({"kind": "alias", "mirrors": "eta"});
        }),
        expected(&[(arrival, Rule::AliasAdded)])
    );
    let full = json!({"type": "string", "nullable": false, "semantics": "colour",
        "enum": ["blue", "red"], "openEnum": true, "presence": "optional"});
    assert_eq!(named(&base(), &with_shade(full)), expected(&[(COLOUR, Rule::AliasAdded)]));
}

#[test]
fn an_alias_that_says_something_else_than_its_canonical_member_is_wrong() {
    for attributes in [
        json!({"type": "number"}),
        json!({"nullable": true}),
        json!({"type": ["string", "null"]}),
        json!({"semantics": "weight"}),
        json!({"enum": ["red"]}),
        json!({"enum": ["red", "blue", "green"]}),
        json!({"enum": ["red", "blue"], "openEnum": false}),
    ] {
        let new = with_shade(attributes.clone());
        let wrong = expected(&[(COLOUR, Rule::AliasMirrorWrong)]);
        assert_eq!(named(&base(), &new), wrong, "{attributes}");
        assert_eq!(named(&new, &new), wrong, "{attributes}");
    }
    // A list where the canonical member has none.
    assert_eq!(
        found(|s| s["messages"]["OrderReply"]["orderRef"]["enum"] = json!(["a"])),
        expected(&[("/messages/OrderReply/orderRef", Rule::AliasMirrorWrong)])
    );
}

#[test]
fn an_alias_is_the_same_however_it_is_written() {
    let listed = |values: Value| with_shade(json!({"enum": values}));
    assert_eq!(named(&listed(json!(["red", "blue"])), &listed(json!(["blue", "red"]))), []);
    let reference = |name: &str, value: Value| {
        let mut snapshot = base();
        snapshot["messages"]["OrderReply"]["orderRef"][name] = value;
        snapshot
    };
    assert_eq!(named(&base(), &reference("openEnum", json!(false))), []);
    assert_eq!(named(&base(), &reference("nullable", json!(false))), []);
    assert_eq!(named(&base(), &reference("mirrors", json!("/orderId"))), []);
    assert_eq!(named(&base(), &reference("doc", json!("again"))), []);
}

#[test]
fn an_alias_that_is_different_is_reported() {
    let at = "/messages/OrderReply/orderRef";
    let changed = expected(&[(at, Rule::AliasChanged)]);
    for (name, value) in
        [("presence", json!("required")), ("precision", json!(2)), ("doc", json!(2))]
    {
        let change = |s: &mut Value| s["messages"]["OrderReply"]["orderRef"][name] = value.clone();
        assert_eq!(found(change), changed, "{name}");
    }
    for attributes in [
        json!({"type": "string"}),
        json!({"semantics": "colour"}),
        json!({"enum": ["red", "blue"]}),
        json!({"openEnum": true}),
    ] {
        assert_eq!(
            named(&with_shade(json!({})), &with_shade(attributes.clone())),
            expected(&[(COLOUR, Rule::AliasChanged)]),
            "{attributes}"
        );
    }
    let arrival = |attributes: Value| {
        let mut snapshot = with_shade(attributes);
        snapshot["messages"]["OrderReply"]["shade"]["mirrors"] = json!("eta");
        snapshot
    };
    assert_eq!(
        named(&arrival(json!({})), &arrival(json!({"nullable": true}))),
        expected(&[(COLOUR, Rule::AliasChanged)])
    );
}

#[test]
fn an_alias_of_unknown_meaning_is_a_question() {
    let at = "/messages/OrderReply/orderRef";
    let mut unknown = base();
    unknown["messages"]["OrderReply"]["orderRef"]["semantics"] = json!("unknown");
    assert_eq!(
        named(&base(), &unknown),
        expected(&[(at, Rule::AliasChanged), (at, Rule::SemanticsUnknown)])
    );
    assert_eq!(report(&base(), &unknown).overall, Class::NeedsReview);
    assert_eq!(named(&unknown, &unknown), []);
    let mut later = unknown.clone();
    later["protocolVersion"] = json!("3.5");
    assert_eq!(named(&unknown, &later), expected(&[(at, Rule::SemanticsUnknown)]));

    // The same where the canonical member is the one that does not tell.
    assert_eq!(
        found(|s| s["messages"]["OrderReply"]["orderId"]["semantics"] = json!("unknown")),
        expected(&[
            ("/messages/OrderReply/orderId", Rule::SemanticsUnknown),
            (at, Rule::SemanticsUnknown),
        ])
    );
}
