//! Differences that are easy to overlook, and differences that are none.

use accord_contract::Value;
use accord_contract::compat::{Class, Rule};
use serde_json::json;

use super::{base, expected, found, named, report, rule_of, take};

fn member(presence: &str, meaning: &str) -> Value {
    json!({"kind": "canonical", "presence": presence, "type": "object", "semantics": meaning})
}

/// Two snapshots with one message, under 1.1 and 1.2.
fn of_message(name: &str, old: Value, new: Value) -> [Value; 2] {
    [("1.1", old), ("1.2", new)]
        .map(|(version, fields)| json!({"protocolVersion": version, "messages": {name: fields}}))
}

#[test]
fn a_new_place_hides_no_member_of_what_was_known_before() {
    for (message, rule) in [
        ("MakeRequest", Rule::RequiredRequestFieldAdded),
        ("MakeReply", Rule::RequiredResponseFieldAdded),
    ] {
        let [old, new] = of_message(
            message,
            json!({"a.b": member("required", "b")}),
            json!({"a": member("optional", "a"), "a.b": member("required", "b"),
                "a.c": member("required", "c"), "a.c.d": member("required", "d")}),
        );
        let at = |place: &str| format!("/messages/{message}/{place}");
        assert_eq!(named(&old, &new), [(at("a"), Rule::OptionalFieldAdded), (at("a.c"), rule)]);
        assert_eq!(report(&old, &new).honest, Some(false));
        assert_eq!(
            named(&new, &old),
            [(at("a"), Rule::OptionalFieldRemoved), (at("a.c"), Rule::FieldRemoved)]
        );
    }
}

#[test]
fn an_alias_that_becomes_an_object_hides_no_member_of_it() {
    let [old, new] = of_message(
        "MakeRequest",
        json!({"x": member("required", "x"), "a": {"kind": "alias", "mirrors": "x"}}),
        json!({"x": member("required", "x"), "a": member("optional", "a"),
            "a.c": member("required", "c")}),
    );
    assert_eq!(
        named(&old, &new),
        expected(&[
            ("/messages/MakeRequest/a", Rule::OptionalFieldAdded),
            ("/messages/MakeRequest/a.c", Rule::RequiredRequestFieldAdded),
        ])
    );
}

#[test]
fn a_place_beside_what_is_known_still_comes_as_one() {
    let [old, new] = of_message(
        "MakeReply",
        json!({"a.b": member("required", "b")}),
        json!({"a.b": member("required", "b"), "a.c": member("optional", "c"),
            "a.c.d": member("required", "d"), "aa": member("optional", "aa")}),
    );
    assert_eq!(
        named(&old, &new),
        expected(&[
            ("/messages/MakeReply/a.c", Rule::OptionalFieldAdded),
            ("/messages/MakeReply/aa", Rule::OptionalFieldAdded),
        ])
    );
    // The message itself is no place that others come with.
    let [old, new] = of_message(
        "MakeReply",
        json!({}),
        json!({"": member("required", "message"), "a": member("required", "a")}),
    );
    assert_eq!(named(&old, &new).len(), 2);
}

#[test]
fn readers_of_an_open_list_knew_that_values_would_come() {
    let at = "/messages/OrderReply/colour";
    let close = |s: &mut Value| {
        s["messages"]["OrderReply"]["colour"]["openEnum"] = json!(false);
        s["messages"]["OrderReply"]["colour"]["enum"] = json!(["red", "blue", "green"]);
    };
    assert_eq!(
        found(close),
        expected(&[(at, Rule::OpenEnumValueAdded), (at, Rule::ResponseEnumClosed)])
    );
    let mut new = base();
    close(&mut new);
    new["protocolVersion"] = json!("3.5");
    assert_eq!(report(&base(), &new).honest, Some(true));

    // Opening a list with the same release does not help those who read it closed.
    assert_eq!(
        found(|s| {
            s["messages"]["OrderReply"]["state"]["openEnum"] = json!(true);
            s["messages"]["OrderReply"]["state"]["enum"] = json!(["open", "done", "lost"]);
        }),
        expected(&[
            ("/messages/OrderReply/state", Rule::EnumValueAdded),
            ("/messages/OrderReply/state", Rule::ResponseEnumOpened),
        ])
    );
    assert_eq!(
        found(|s| {
            s["messages"]["OrderRequest"]["pay"]["openEnum"] = json!(false);
            s["messages"]["OrderRequest"]["pay"]["enum"] = json!(["card", "cash", "coin"]);
        }),
        expected(&[
            ("/messages/OrderRequest/pay", Rule::RequestEnumValueAdded),
            ("/messages/OrderRequest/pay", Rule::RequestEnumClosed),
        ])
    );
}

#[test]
fn a_list_that_is_open_comes_and_goes_with_its_values() {
    let at = "/messages/OrderReply/colour";
    let without_list = |s: &mut Value| {
        take(&mut s["messages"]["OrderReply"]["colour"], "enum");
    };
    assert_eq!(
        found(without_list),
        expected(&[(at, Rule::EnumValueRemoved), (at, Rule::EnumValueRemoved)])
    );
    let mut old = base();
    without_list(&mut old);
    assert_eq!(
        named(&old, &base()),
        expected(&[(at, Rule::OpenEnumValueAdded), (at, Rule::OpenEnumValueAdded)])
    );
    // A closed one is recognised by that.
    let mut closed = base();
    closed["messages"]["OrderReply"]["colour"]["openEnum"] = json!(false);
    assert_eq!(named(&old, &closed), expected(&[(at, Rule::ResponseEnumClosed)]));
}

#[test]
fn attributes_that_say_nothing_to_the_checker_are_reported() {
    let at = "/messages/OrderReply/price";
    let changed = expected(&[(at, Rule::AttributeChanged)]);
    assert_eq!(
        found(|s| s["messages"]["OrderReply"]["price"]["mirrors"] = json!("orderId")),
        changed
    );
    assert_eq!(found(|s| s["messages"]["OrderReply"]["price"]["openEnum"] = json!(true)), changed);
    assert_eq!(found(|s| s["messages"]["OrderReply"]["price"]["openEnum"] = json!(false)), []);
    for word in ["message", "title", "doc", "description", "comment"] {
        for value in [json!({"a": 1}), json!(["a"]), json!(2), json!(null)] {
            let changed_to =
                |s: &mut Value| s["messages"]["OrderReply"]["price"][word] = value.clone();
            assert_eq!(found(changed_to), changed, "{word}");
        }
    }
    // A text that becomes something else is no text for people any more.
    let with = |value: Value| {
        let mut snapshot = base();
        snapshot["title"] = value;
        snapshot
    };
    assert_eq!(named(&with(json!("a")), &with(json!("b"))), []);
    assert_eq!(
        named(&with(json!("a")), &with(json!({"a": 1}))),
        expected(&[("/title", Rule::AttributeChanged)])
    );
}

#[test]
fn numbers_of_attributes_are_numbers() {
    let with = |text: &str| {
        let mut snapshot = base();
        snapshot["messages"]["OrderReply"]["price"]["minimum"] =
            serde_json::from_str(text).unwrap();
        snapshot
    };
    assert_eq!(named(&with("1"), &with("1.0")), []);
    assert_eq!(named(&with("1"), &with("1.5")).len(), 1);
    assert_eq!(named(&with("9007199254740993"), &with("9007199254740992.0")).len(), 1);
}

#[test]
fn a_direction_of_a_message_that_is_not_there_is_reported() {
    let saying = |directions: Value| {
        let mut snapshot = base();
        snapshot["directions"] = directions;
        snapshot
    };
    let changed = expected(&[("/directions/Ghost", Rule::DirectionChanged)]);
    let (asks, answers) = (json!({"Ghost": "request"}), json!({"Ghost": "response"}));
    let asks = saying(asks);
    assert_eq!(named(&asks, &saying(answers.clone())), changed);
    assert_eq!(named(&base(), &asks), changed);
    assert_eq!(named(&asks, &base()), changed);
    assert_eq!(named(&asks, &asks), []);

    // A message brings its direction with it, and contradicts another one.
    let mut there = asks.clone();
    there["messages"]["Ghost"] = json!({});
    let added = ("/messages/Ghost", Rule::MessageAdded);
    assert_eq!(named(&base(), &there), expected(&[added]));
    assert_eq!(
        named(&saying(answers), &there),
        expected(&[("/directions/Ghost", Rule::DirectionChanged), added])
    );
}

#[test]
fn an_empty_event_list_that_comes_or_goes_is_reported() {
    let mut with = base();
    with["events"]["BillEventType"] = json!({});
    let changed = expected(&[("/events/BillEventType", Rule::AttributeChanged)]);
    assert_eq!(named(&base(), &with), changed);
    assert_eq!(named(&with, &base()), changed);
    assert_eq!(named(&with, &with), []);
    let mut emptied = base();
    emptied["events"]["OrderEventType"] = json!({});
    assert_eq!(named(&base(), &emptied).len(), 2);
    assert_eq!(named(&emptied, &base()).len(), 2);
}

#[test]
fn listed_values_are_json_values() {
    let listing = |values: &str| {
        let mut snapshot = base();
        snapshot["messages"]["OrderReply"]["state"]["enum"] = serde_json::from_str(values).unwrap();
        snapshot
    };
    let same = r#"[1.0, {"b": 2.0, "a": [1]}, 1]"#;
    assert_eq!(named(&listing(r#"[{"a": [1.0], "b": 2}, 1]"#), &listing(same)), []);
    let at = "/messages/OrderReply/state";
    assert_eq!(
        named(&listing("[9007199254740993]"), &listing("[9007199254740992.0]")),
        expected(&[(at, Rule::EnumValueRemoved), (at, Rule::EnumValueAdded)])
    );
    assert_eq!(named(&listing(r#"["1"]"#), &listing("[1]")).len(), 2, "a text is no number");
}

#[test]
fn null_among_the_types_is_the_flag() {
    let eta = |types: Value, nullable: Option<bool>| {
        let mut snapshot = base();
        let field = &mut snapshot["messages"]["OrderReply"]["eta"];
        field["type"] = types;
        take(field, "nullable");
        if let Some(nullable) = nullable {
            field["nullable"] = json!(nullable);
        }
        snapshot
    };
    let list = eta(json!(["null", "string"]), None);
    assert_eq!(named(&base(), &list), []);
    assert_eq!(named(&base(), &eta(json!(["string", "null"]), Some(true))), []);
    let at = "/messages/OrderReply/eta";
    assert_eq!(
        named(&list, &eta(json!("string"), None)),
        expected(&[(at, Rule::NoLongerNullable)])
    );
    assert_eq!(named(&eta(json!("string"), None), &list), expected(&[(at, Rule::BecameNullable)]));
    // A member that is always null has that type.
    let always = report(&list, &eta(json!("null"), None)).changes;
    assert_eq!(rule_of(&always[0]), Rule::TypeChanged);
    assert_eq!(always[0].note, "the type was string and is null");
    assert_eq!(always.len(), 1);
    assert_eq!(
        report(&base(), &eta(json!(["string", "number", "null"]), None)).overall,
        Class::Major
    );
}
