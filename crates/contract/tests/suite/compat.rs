//! The compatibility checker.

mod aliases;
mod differences;
mod honesty;
mod identity;
mod rows;
mod settings;

use accord_contract::Value;
use accord_contract::compat::{Change, Report, Rule, Rules, Snapshot, check};
use serde_json::json;

/// A contract with one of everything that the checker looks at.
fn base() -> Value {
    let text = |presence: &str, meaning: &str| {
        json!({"kind": "canonical", "presence": presence, "type": "string", "nullable": false,
            "semantics": meaning})
    };
    let list = |meaning: &str, values: [&str; 2], open: bool| {
        let mut field = text("required", meaning);
        field["enum"] = json!(values);
        field["openEnum"] = json!(open);
        field
    };
    let nullable = |mut field: Value| {
        field["nullable"] = json!(true);
        field
    };
    json!({
        "protocolVersion": "3.4",
        "messages": {
            "OrderRequest": {
                "item.id": text("required", "item-id"),
                "item.note": text("optional", "note-for-kitchen"),
                "hint": nullable(text("optional", "hint")),
                "size": list("size", ["small", "large"], false),
                "pay": list("payment", ["card", "cash"], true),
            },
            "OrderReply": {
                "orderId": text("required", "order-id"),
                "orderRef": {"kind": "alias", "mirrors": "orderId", "presence": "optional",
                    "type": "string", "semantics": "order-id"},
                "price": {"kind": "canonical", "presence": "required", "type": "number",
                    "nullable": false, "semantics": "unit:cent"},
                "eta": nullable(text("optional", "time:iso-8601")),
                "state": list("state", ["open", "done"], false),
                "colour": list("colour", ["red", "blue"], true),
            },
        },
        "capabilities": ["tracking"],
        "errors": {"auth": ["NO_KEY", "OLD_KEY"], "execution": ["OVEN_COLD"]},
        "events": {"OrderEventType": {
            "placed": {"semantics": "order-placed", "ignorable": false},
            "seen": {"semantics": "order-seen", "ignorable": true},
        }},
        "envelopeSemantics": {"ok:true": "order-taken", "ok:false": "order-refused"},
        "identity": {"domainTag": "ORDER_V1", "hash": "keccak256", "scope": ["item", "size"],
            "vectors": {"plain": "0xaa", "ORDER_V1/large": "0xbb"}},
    })
}

fn report(old: &Value, new: &Value) -> Report {
    report_with(old, new, &Rules::default())
}

fn report_with(old: &Value, new: &Value, rules: &Rules) -> Report {
    let parse = |snapshot: &Value| Snapshot::parse(snapshot.clone()).unwrap();
    check(&parse(old), &parse(new), rules)
}

/// What the checker says about a change to the base: where, and by which rule.
fn found(change: impl Fn(&mut Value)) -> Vec<(String, Rule)> {
    let mut new = base();
    change(&mut new);
    new["protocolVersion"] = json!("3.5");
    named(&base(), &new)
}

/// What the checker says: where, and by which rule.
fn named(old: &Value, new: &Value) -> Vec<(String, Rule)> {
    let changes = report(old, new).changes;
    (changes.iter()).map(|change| (change.path.clone(), rule_of(change))).collect()
}

fn expected(changes: &[(&str, Rule)]) -> Vec<(String, Rule)> {
    (changes.iter()).map(|(path, rule)| ((*path).into(), *rule)).collect()
}

/// Removes a member of an object and gives it back.
fn take(object: &mut Value, member: &str) -> Value {
    let members = object.as_object_mut().unwrap();
    members.shift_remove(member).unwrap_or_else(|| panic!("there is no {member}"))
}

/// The rule behind a change, which this version always knows.
pub(crate) fn rule_of(change: &Change) -> Rule {
    change.rule.known().expect("a rule of this version")
}
