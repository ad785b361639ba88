//! Rules that a team sets, and snapshots that are refused.

use accord_contract::compat::{Class, Report, Rule, Rules, Snapshot};
use accord_contract::{Code, Value, Wire};
use serde_json::json;

use super::{base, report_with, take};

fn rules(settings: &Value) -> Result<Rules, accord_contract::codes::Failure> {
    Rules::parse(settings.as_object().unwrap())
}

#[test]
fn a_decision_of_ours_can_be_set_otherwise() {
    let mut new = base();
    new["protocolVersion"] = json!("3.5");
    new["capabilities"] = json!([]);
    for class in Class::ALL {
        let rules = rules(&json!({"capability-removed": class.as_str()})).unwrap();
        let found = report_with(&base(), &new, &rules);
        assert_eq!(found.overall, *class);
        let honest = match class {
            Class::None | Class::MinorSafe => Some(true),
            Class::NeedsReview => None,
            Class::Major | Class::Violation => Some(false),
        };
        assert_eq!(found.honest, honest, "{class}");
    }
}

#[test]
fn what_the_policy_fixes_cannot_be_set() {
    for rule in Rule::ALL {
        let result = rules(&json!({rule.as_str(): "minor-safe"}));
        assert_eq!(result.is_ok(), rule.is_settable(), "{rule}");
    }
    for fixed in ["field-removed", "alias-mirror-wrong", "identity-tag-kept", "semantics-changed"] {
        let failure = rules(&json!({fixed: "minor-safe"})).unwrap_err();
        assert_eq!(failure.code, Code::CompatRuleInvalid);
        assert_eq!(failure.pointer, Some(format!("/{fixed}")));
        assert!(failure.message.contains("the policy fixes"), "{failure}");
        assert!(failure.suggestion.unwrap().contains("capability-removed"));
    }
    assert!(rules(&json!({"no-such-rule": "major"})).unwrap_err().message.contains("no rule"));
    for class in [json!("huge"), json!(1), json!(null)] {
        let failure = rules(&json!({"capability-removed": class})).unwrap_err();
        assert!(failure.message.contains("minor-safe"), "{failure}");
    }
}

#[test]
fn a_document_that_is_no_snapshot_is_refused_with_the_place() {
    type Damage = fn(&mut Value);
    let cases: [(Damage, &str); 21] = [
        (|s| *s = json!([]), ""),
        (
            |s| {
                take(s, "protocolVersion");
            },
            "/protocolVersion",
        ),
        (
            |s| {
                take(s, "messages");
            },
            "/messages",
        ),
        (|s| s["messages"] = json!([]), "/messages"),
        (|s| s["messages"]["OrderReply"] = json!("x"), "/messages/OrderReply"),
        (|s| s["messages"]["OrderReply"]["a/b"] = json!(1), "/messages/OrderReply/a~1b"),
        (
            |s| s["messages"]["OrderReply"]["eta"]["kind"] = json!("spare"),
            "/messages/OrderReply/eta/kind",
        ),
        (
            |s| s["messages"]["OrderReply"]["eta"]["presence"] = json!("often"),
            "/messages/OrderReply/eta/presence",
        ),
        (
            |s| {
                take(&mut s["messages"]["OrderReply"]["eta"], "presence");
            },
            "/messages/OrderReply/eta",
        ),
        (
            |s| {
                take(&mut s["messages"]["OrderReply"]["eta"], "type");
            },
            "/messages/OrderReply/eta",
        ),
        (
            |s| s["messages"]["OrderReply"]["eta"]["type"] = json!(["string", 1]),
            "/messages/OrderReply/eta/type/1",
        ),
        (
            |s| {
                s["messages"]["OrderRequest"]["/item/id"] =
                    s["messages"]["OrderReply"]["eta"].clone();
            },
            "/messages/OrderRequest/item.id",
        ),
        (|s| s["directions"] = json!({"OrderReply": "sideways"}), "/directions/OrderReply"),
        (|s| s["identity"]["scope"] = json!("all"), "/identity/scope"),
        (
            |s| s["messages"]["OrderReply"]["eta"]["type"] = json!([]),
            "/messages/OrderReply/eta/type",
        ),
        (
            |s| s["messages"]["OrderReply"]["eta"]["type"] = json!("text"),
            "/messages/OrderReply/eta/type",
        ),
        (
            |s| s["messages"]["OrderReply"]["eta"]["type"] = json!(["null", "text"]),
            "/messages/OrderReply/eta/type/1",
        ),
        (
            |s| s["messages"]["OrderReply"]["orderRef"]["type"] = json!("String"),
            "/messages/OrderReply/orderRef/type",
        ),
        (
            |s| s["messages"]["OrderReply"]["price"]["type"] = json!(["number", "null"]),
            "/messages/OrderReply/price",
        ),
        (|s| s["identity"]["vectors"]["ORDER_V1/plain"] = json!("0xaa"), "/identity/vectors/plain"),
        (|s| s["identity"]["vectors"]["large"] = json!("0xbb"), "/identity/vectors/large"),
    ];
    for (change, place) in cases {
        let mut snapshot = base();
        change(&mut snapshot);
        let failure = Snapshot::parse(snapshot).unwrap_err();
        assert_eq!(failure.code, Code::SnapshotInvalid);
        assert_eq!(failure.pointer.as_deref(), Some(place), "{failure}");
    }
}

#[test]
fn a_report_is_a_message() {
    let mut new = base();
    new["protocolVersion"] = json!("3.5");
    new["errors"]["billing"] = json!([]);
    let report = report_with(&base(), &new, &Rules::default());
    let document = report.encode();
    assert_eq!(document["honest"], Value::Null);
    assert_eq!(document["overall"], "needs-review");
    assert_eq!(document["changes"][0]["changeType"], "added");
    assert_eq!(document["changes"][0]["rule"], "error-type-added");
    assert_eq!(Report::from_document(document).unwrap(), report);
}
