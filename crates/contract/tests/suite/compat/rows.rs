//! Every rule of the checker, by the change that it is about.

use std::collections::BTreeSet;

use accord_contract::Value;
use accord_contract::compat::{Class, Rule};
use serde_json::json;

use super::{base, report, rule_of, take};

/// A change to the base, and all that the checker must say about it.
struct Row {
    change: fn(&mut Value),
    expected: &'static [(&'static str, Rule)],
}

const REQUEST: &str = "/messages/OrderRequest";
const REPLY: &str = "/messages/OrderReply";

fn rows() -> Vec<Row> {
    let row = |change, expected| Row { change, expected };
    vec![
        // 1 (V1)
        row(
            |s| s["messages"]["OrderReply"]["extras.sauce"] = field("optional", "sauce"),
            &[("/messages/OrderReply/extras.sauce", Rule::OptionalFieldAdded)],
        ),
        row(
            |s| s["messages"]["OrderRequest"]["/item/gift"] = field("optional", "gift"),
            &[("/messages/OrderRequest//item/gift", Rule::OptionalFieldAdded)],
        ),
        // A new optional object may have required members: they come with it.
        row(
            |s| {
                s["messages"]["OrderReply"]["extras"] = field("optional", "extras");
                s["messages"]["OrderReply"]["extras.sauce"] = field("required", "sauce");
            },
            &[("/messages/OrderReply/extras", Rule::OptionalFieldAdded)],
        ),
        // 2
        row(
            |s| s["capabilities"] = json!(["maps", "tracking"]),
            &[("/capabilities/maps", Rule::CapabilityAdded)],
        ),
        // 3, 4 (V7)
        row(
            |s| {
                s["events"]["OrderEventType"]["warm"] =
                    json!({"semantics": "w", "ignorable": true});
            },
            &[("/events/OrderEventType/warm", Rule::EventAdded)],
        ),
        row(
            |s| {
                s["events"]["OrderEventType"]["lost"] =
                    json!({"semantics": "l", "ignorable": false});
            },
            &[("/events/OrderEventType/lost", Rule::EventAddedNotIgnorable)],
        ),
        row(
            |s| s["events"]["OrderEventType"]["lost"] = json!({"semantics": "l"}),
            &[("/events/OrderEventType/lost", Rule::EventIgnorabilityUnknown)],
        ),
        // 5
        row(
            |s| {
                s["messages"]["OrderReply"]["cost"] = json!({"kind": "alias", "mirrors": "/price",
                "type": "number", "semantics": "unit:cent"});
            },
            &[("/messages/OrderReply/cost", Rule::AliasAdded)],
        ),
        // 6
        row(
            |s| s["errors"]["execution"] = json!(["RATE", "OVEN_COLD"]),
            &[("/errors/execution/RATE", Rule::ErrorCodeAdded)],
        ),
        // 7, 27 (V3)
        row(
            |s| {
                take(&mut s["messages"]["OrderReply"], "price");
            },
            &[("/messages/OrderReply/price", Rule::FieldRemoved)],
        ),
        row(
            |s| {
                take(&mut s["messages"]["OrderReply"], "eta");
            },
            &[("/messages/OrderReply/eta", Rule::OptionalFieldRemoved)],
        ),
        // 8 (V4)
        row(
            |s| {
                let field = take(&mut s["messages"]["OrderReply"], "price");
                s["messages"]["OrderReply"]["total"] = field;
            },
            &[("/messages/OrderReply/price", Rule::FieldRenamed)],
        ),
        row(
            |s| {
                take(&mut s["messages"]["OrderReply"], "eta");
                s["messages"]["OrderReply"]["note"] = field("optional", "note");
            },
            &[
                ("/messages/OrderReply/eta", Rule::OptionalFieldRemoved),
                ("/messages/OrderReply/note", Rule::OptionalFieldAdded),
            ],
        ),
        row(
            |s| {
                take(&mut s["messages"]["OrderReply"], "price");
                s["messages"]["OrderReply"]["total"] = field("optional", "unit:cent");
            },
            &[
                ("/messages/OrderReply/price", Rule::FieldRemoved),
                ("/messages/OrderReply/total", Rule::OptionalFieldAdded),
            ],
        ),
        // 9 (V2)
        row(
            |s| s["messages"]["OrderReply"]["price"]["semantics"] = json!("unit:dollar"),
            &[("/messages/OrderReply/price", Rule::SemanticsChanged)],
        ),
        row(
            |s| s["messages"]["OrderReply"]["price"]["semantics"] = json!("unknown"),
            &[("/messages/OrderReply/price", Rule::SemanticsUnknown)],
        ),
        row(
            |s| {
                take(&mut s["messages"]["OrderReply"]["price"], "semantics");
            },
            &[("/messages/OrderReply/price", Rule::SemanticsUnknown)],
        ),
        // 10 (V5)
        row(
            |s| s["messages"]["OrderReply"]["eta"]["presence"] = json!("required"),
            &[("/messages/OrderReply/eta", Rule::FieldBecameRequired)],
        ),
        row(
            |s| s["messages"]["OrderRequest"]["item.note"]["presence"] = json!("required"),
            &[("/messages/OrderRequest/item.note", Rule::FieldBecameRequired)],
        ),
        // 11 (V6)
        row(
            |s| s["events"]["OrderEventType"]["placed"]["semantics"] = json!("order-paid"),
            &[("/events/OrderEventType/placed", Rule::EventSemanticsChanged)],
        ),
        row(
            |s| {
                take(&mut s["events"]["OrderEventType"], "seen");
            },
            &[("/events/OrderEventType/seen", Rule::EventRemoved)],
        ),
        row(
            |s| {
                take(s, "events");
            },
            &[
                ("/events/OrderEventType/placed", Rule::EventRemoved),
                ("/events/OrderEventType/seen", Rule::EventRemoved),
            ],
        ),
        row(
            |s| s["events"]["OrderEventType"]["placed"]["ignorable"] = json!(true),
            &[("/events/OrderEventType/placed", Rule::EventBecameIgnorable)],
        ),
        row(
            |s| s["events"]["OrderEventType"]["seen"]["ignorable"] = json!(false),
            &[("/events/OrderEventType/seen", Rule::EventNoLongerIgnorable)],
        ),
        row(
            |s| {
                take(&mut s["events"]["OrderEventType"]["seen"], "ignorable");
            },
            &[("/events/OrderEventType/seen", Rule::EventIgnorabilityUnknown)],
        ),
        row(
            |s| s["events"]["OrderEventType"]["seen"]["rate"] = json!(1),
            &[("/events/OrderEventType/seen", Rule::AttributeChanged)],
        ),
        // 12
        row(
            |s| s["envelopeSemantics"]["ok:true"] = json!("order-noted"),
            &[("/envelopeSemantics/ok:true", Rule::EnvelopeSemanticsChanged)],
        ),
        row(
            |s| {
                take(&mut s["envelopeSemantics"], "ok:false");
            },
            &[("/envelopeSemantics/ok:false", Rule::EnvelopeSemanticsChanged)],
        ),
        row(
            |s| s["envelopeSemantics"]["ok:null"] = json!("not-yet"),
            &[("/envelopeSemantics/ok:null", Rule::EnvelopeSemanticsAdded)],
        ),
        row(
            |s| s["envelopeSemantics"]["ok:true"] = json!("unknown"),
            &[("/envelopeSemantics/ok:true", Rule::SemanticsUnknown)],
        ),
        // 13
        row(
            |s| {
                take(&mut s["messages"]["OrderReply"], "orderRef");
            },
            &[("/messages/OrderReply/orderRef", Rule::AliasRemoved)],
        ),
        row(
            |s| {
                s["messages"]["OrderReply"]["orderRef"] = json!({"kind": "alias",
                "mirrors": "price", "type": "number", "semantics": "unit:cent"});
            },
            &[("/messages/OrderReply/orderRef", Rule::AliasChanged)],
        ),
        row(
            |s| {
                let alias = take(&mut s["messages"]["OrderReply"], "orderRef");
                s["messages"]["OrderReply"]["ref"] = alias;
            },
            &[
                ("/messages/OrderReply/orderRef", Rule::AliasRemoved),
                ("/messages/OrderReply/ref", Rule::AliasAdded),
            ],
        ),
        // 14
        row(
            |s| s["messages"]["OrderReply"]["orderRef"]["mirrors"] = json!("nothing"),
            &[("/messages/OrderReply/orderRef", Rule::AliasMirrorWrong)],
        ),
        row(
            |s| s["messages"]["OrderReply"]["orderRef"]["mirrors"] = json!("price"),
            &[("/messages/OrderReply/orderRef", Rule::AliasMirrorWrong)],
        ),
        row(
            |s| s["messages"]["OrderReply"]["orderRef"]["semantics"] = json!("other"),
            &[("/messages/OrderReply/orderRef", Rule::AliasMirrorWrong)],
        ),
        row(
            |s| s["messages"]["OrderReply"]["orderRef"]["type"] = json!("number"),
            &[("/messages/OrderReply/orderRef", Rule::AliasMirrorWrong)],
        ),
        row(
            |s| {
                take(&mut s["messages"]["OrderReply"]["orderRef"], "mirrors");
            },
            &[("/messages/OrderReply/orderRef", Rule::AliasMirrorWrong)],
        ),
        row(
            |s| {
                s["messages"]["OrderReply"]["again"] =
                    json!({"kind": "alias", "mirrors": "orderRef"});
            },
            &[("/messages/OrderReply/again", Rule::AliasMirrorWrong)],
        ),
        row(
            |s| {
                take(&mut s["messages"]["OrderReply"], "orderId");
            },
            &[
                ("/messages/OrderReply/orderId", Rule::FieldRemoved),
                ("/messages/OrderReply/orderRef", Rule::AliasMirrorWrong),
            ],
        ),
        row(
            |s| s["messages"]["BillReply"] = json!({"total": {"kind": "alias", "mirrors": "sum"}}),
            &[
                ("/messages/BillReply", Rule::MessageAdded),
                ("/messages/BillReply/total", Rule::AliasMirrorWrong),
            ],
        ),
        // 15
        row(
            |s| {
                take(&mut s["messages"]["OrderReply"], "orderId");
                s["messages"]["OrderReply"]["orderRef"] = field("required", "order-id");
            },
            &[("/messages/OrderReply/orderRef", Rule::AliasPromoted)],
        ),
        // The other way round nothing is promoted: the canonical member is gone.
        row(
            |s| {
                s["messages"]["OrderReply"]["price"] = json!({"kind": "alias", "mirrors": "orderId",
                    "type": "string", "semantics": "order-id"});
            },
            &[("/messages/OrderReply/price", Rule::FieldRemoved)],
        ),
        // 16
        row(
            |s| s["identity"]["hash"] = json!("sha256"),
            &[
                ("/identity/hash", Rule::IdentityRuleChanged),
                ("/identity/hash", Rule::IdentityTagKept),
            ],
        ),
        row(
            |s| s["identity"]["scope"] = json!(["item"]),
            &[
                ("/identity/scope", Rule::IdentityRuleChanged),
                ("/identity/scope", Rule::IdentityTagKept),
            ],
        ),
        row(
            |s| {
                s["identity"] = renewed(
                    json!({"ORDER_V1/plain": "0xaa", "ORDER_V1/large": "0xbb", "plain": "0xcc"}),
                );
            },
            &[
                ("/identity/domainTag", Rule::DomainTagChanged),
                ("/identity/hash", Rule::IdentityRuleChanged),
            ],
        ),
        row(
            |s| {
                s["identity"] =
                    renewed(json!({"ORDER_V1/plain": "0xaa", "ORDER_V1/large": "0xbb"}));
            },
            &[
                ("/identity/domainTag", Rule::DomainTagChanged),
                ("/identity/hash", Rule::IdentityRuleChanged),
                ("/identity/hash", Rule::IdentityVectorsMissing),
            ],
        ),
        row(
            |s| s["identity"] = renewed(json!({"ORDER_V1/plain": "0xaa", "large": "0xcc"})),
            &[
                ("/identity/domainTag", Rule::DomainTagChanged),
                ("/identity/hash", Rule::IdentityRuleChanged),
                ("/identity/hash", Rule::IdentityVectorsMissing),
                ("/identity/vectors/ORDER_V1/large", Rule::VectorRemoved),
            ],
        ),
        row(
            |s| {
                s["identity"] = renewed(
                    json!({"ORDER_V1/plain": "0xdd", "ORDER_V1/large": "0xbb", "plain": "0xcc"}),
                );
            },
            &[
                ("/identity/domainTag", Rule::DomainTagChanged),
                ("/identity/hash", Rule::IdentityRuleChanged),
                ("/identity/hash", Rule::IdentityVectorsMissing),
                ("/identity/vectors/plain", Rule::VectorChanged),
            ],
        ),
        row(
            |s| {
                take(s, "identity");
            },
            &[("/identity", Rule::IdentityRemoved)],
        ),
        row(|s| s["identity"]["salt"] = json!("x"), &[("/identity/salt", Rule::AttributeChanged)]),
        // 17
        row(
            |s| {
                s["identity"]["domainTag"] = json!("ORDER_V2");
                s["identity"]["vectors"]["ORDER_V1/plain"] = json!("0xaa");
            },
            &[("/identity/domainTag", Rule::DomainTagChanged)],
        ),
        row(
            |s| s["identity"]["vectors"]["plain"] = json!("0xab"),
            &[("/identity/vectors/plain", Rule::VectorChanged)],
        ),
        row(
            |s| {
                take(&mut s["identity"]["vectors"], "plain");
            },
            &[("/identity/vectors/plain", Rule::VectorRemoved)],
        ),
        row(|s| s["identity"]["vectors"]["more"] = json!("0xab"), &[]),
        // 18, 19
        row(
            |s| s["messages"]["OrderReply"]["paid"] = field("required", "paid"),
            &[("/messages/OrderReply/paid", Rule::RequiredResponseFieldAdded)],
        ),
        row(
            |s| s["messages"]["OrderRequest"]["table"] = field("required", "table"),
            &[("/messages/OrderRequest/table", Rule::RequiredRequestFieldAdded)],
        ),
        // 20, 21
        row(
            |s| s["messages"]["OrderReply"]["orderId"]["presence"] = json!("optional"),
            &[("/messages/OrderReply/orderId", Rule::ResponseFieldRelaxed)],
        ),
        row(
            |s| s["messages"]["OrderRequest"]["item.id"]["presence"] = json!("optional"),
            &[("/messages/OrderRequest/item.id", Rule::RequestFieldRelaxed)],
        ),
        // 22
        row(
            |s| s["messages"]["OrderReply"]["price"]["type"] = json!("string"),
            &[("/messages/OrderReply/price", Rule::TypeChanged)],
        ),
        row(
            |s| s["messages"]["OrderReply"]["price"]["type"] = json!(["string", "number"]),
            &[("/messages/OrderReply/price", Rule::TypeChanged)],
        ),
        row(
            |s| s["messages"]["OrderReply"]["price"]["nullable"] = json!(true),
            &[("/messages/OrderReply/price", Rule::BecameNullable)],
        ),
        row(
            |s| s["messages"]["OrderRequest"]["item.id"]["nullable"] = json!(true),
            &[("/messages/OrderRequest/item.id", Rule::RequestBecameNullable)],
        ),
        row(
            |s| s["messages"]["OrderReply"]["eta"]["nullable"] = json!(false),
            &[("/messages/OrderReply/eta", Rule::NoLongerNullable)],
        ),
        row(
            |s| s["messages"]["OrderRequest"]["hint"]["nullable"] = json!(false),
            &[("/messages/OrderRequest/hint", Rule::RequestNoLongerNullable)],
        ),
        // 23
        row(
            |s| s["capabilities"] = json!([]),
            &[("/capabilities/tracking", Rule::CapabilityRemoved)],
        ),
        row(
            |s| s["messages"]["OrderReply"]["state"]["enum"] = json!(["done"]),
            &[("/messages/OrderReply/state", Rule::EnumValueRemoved)],
        ),
        row(
            |s| s["messages"]["OrderReply"]["colour"]["enum"] = json!(["red"]),
            &[("/messages/OrderReply/colour", Rule::EnumValueRemoved)],
        ),
        row(
            |s| s["messages"]["OrderReply"]["state"]["enum"] = json!(["lost", "done", "open"]),
            &[("/messages/OrderReply/state", Rule::EnumValueAdded)],
        ),
        row(
            |s| s["messages"]["OrderReply"]["colour"]["enum"] = json!(["red", "blue", "green"]),
            &[("/messages/OrderReply/colour", Rule::OpenEnumValueAdded)],
        ),
        row(
            |s| s["messages"]["OrderRequest"]["size"]["enum"] = json!(["small", "large", "huge"]),
            &[("/messages/OrderRequest/size", Rule::RequestEnumValueAdded)],
        ),
        row(
            |s| s["messages"]["OrderReply"]["state"]["openEnum"] = json!(true),
            &[("/messages/OrderReply/state", Rule::ResponseEnumOpened)],
        ),
        row(
            |s| {
                take(&mut s["messages"]["OrderReply"]["state"], "enum");
            },
            &[("/messages/OrderReply/state", Rule::ResponseEnumOpened)],
        ),
        row(
            |s| s["messages"]["OrderReply"]["colour"]["openEnum"] = json!(false),
            &[("/messages/OrderReply/colour", Rule::ResponseEnumClosed)],
        ),
        row(
            |s| s["messages"]["OrderRequest"]["size"]["openEnum"] = json!(true),
            &[("/messages/OrderRequest/size", Rule::RequestEnumOpened)],
        ),
        row(
            |s| s["messages"]["OrderRequest"]["pay"]["openEnum"] = json!(false),
            &[("/messages/OrderRequest/pay", Rule::RequestEnumClosed)],
        ),
        // 24
        row(
            |s| s["errors"]["auth"] = json!(["NO_KEY"]),
            &[("/errors/auth/OLD_KEY", Rule::ErrorCodeRemoved)],
        ),
        row(
            |s| {
                s["errors"]["auth"] = json!(["NO_KEY"]);
                s["errors"]["execution"] = json!(["OVEN_COLD", "OLD_KEY"]);
            },
            &[("/errors/auth/OLD_KEY", Rule::ErrorCodeMoved)],
        ),
        row(
            |s| s["errors"]["billing"] = json!(["NO_CARD"]),
            &[("/errors/billing", Rule::ErrorTypeAdded)],
        ),
        row(
            |s| {
                take(&mut s["errors"], "execution");
            },
            &[("/errors/execution", Rule::ErrorTypeRemoved)],
        ),
        row(
            |s| {
                take(&mut s["errors"], "execution");
                s["errors"]["oven"] = json!(["OVEN_COLD", "OVEN_LOST"]);
            },
            &[
                ("/errors/execution", Rule::ErrorTypeRemoved),
                ("/errors/execution/OVEN_COLD", Rule::ErrorCodeMoved),
                ("/errors/oven", Rule::ErrorTypeAdded),
            ],
        ),
        // 25
        row(
            |s| {
                *s = reversed(s);
                s["errors"]["auth"] = json!(["OLD_KEY", "NO_KEY", "NO_KEY"]);
                s["identity"]["scope"] = json!(["size", "item"]);
                s["messages"]["OrderReply"]["state"]["enum"] = json!(["done", "open"]);
            },
            &[],
        ),
        row(
            |s| {
                let field = take(&mut s["messages"]["OrderRequest"], "item.id");
                s["messages"]["OrderRequest"]["/item/id"] = field;
            },
            &[],
        ),
        // 26
        row(
            |s| {
                s["title"] = json!("Orders");
                s["messages"]["OrderReply"]["price"]["examples"] = json!([1]);
                for word in ["doc", "description", "title", "message"] {
                    s["messages"]["OrderReply"]["price"][word] = json!("new");
                    s["messages"]["OrderReply"]["orderRef"][word] = json!("new");
                }
            },
            &[],
        ),
        // Without a row
        row(
            |s| s["messages"]["BillReply"] = json!({"sum": field("required", "sum")}),
            &[("/messages/BillReply", Rule::MessageAdded)],
        ),
        row(
            |s| {
                take(&mut s["messages"], "OrderReply");
            },
            &[("/messages/OrderReply", Rule::MessageRemoved)],
        ),
        row(
            |s| s["directions"] = json!({"OrderReply": "request"}),
            &[("/messages/OrderReply", Rule::DirectionChanged)],
        ),
        row(
            |s| s["messages"]["OrderReply"]["price"]["precision"] = json!(2),
            &[("/messages/OrderReply/price", Rule::AttributeChanged)],
        ),
        row(|s| s["limits"] = json!({"body": 1}), &[("/limits", Rule::AttributeChanged)]),
    ]
}

#[test]
fn each_change_is_named_with_its_path_and_its_rule() {
    for (index, row) in rows().iter().enumerate() {
        let mut new = base();
        (row.change)(&mut new);
        new["protocolVersion"] = json!("3.5");
        let found = report(&base(), &new);
        let named: Vec<_> =
            (found.changes.iter()).map(|change| (change.path.as_str(), rule_of(change))).collect();
        assert_eq!(named, row.expected, "row {index}");
        for change in &found.changes {
            assert_eq!(change.class, rule_of(change).class(), "row {index}");
            assert!(!change.note.is_empty());
        }
        let gravest = row.expected.iter().map(|(_, rule)| rule.class()).max();
        assert_eq!(found.overall, gravest.unwrap_or(Class::None), "row {index}");
    }
}

#[test]
fn every_rule_and_every_row_of_the_policy_is_reached() {
    let mut reached: BTreeSet<_> =
        (rows().iter()).flat_map(|row| row.expected.iter().map(|(_, rule)| *rule)).collect();
    let mut without_identity = base();
    take(&mut without_identity, "identity");
    reached.extend(report(&without_identity, &base()).changes.iter().map(rule_of));
    let all: BTreeSet<_> = Rule::ALL.iter().copied().collect();
    assert_eq!(all.difference(&reached).collect::<Vec<_>>(), Vec::<&Rule>::new());

    // Rows 25 and 26 are about what is no change, so they have no rule.
    let rows: BTreeSet<_> = Rule::ALL.iter().map(|rule| rule.row()).collect();
    let expected: BTreeSet<_> = (0..=27).filter(|row| ![25, 26].contains(row)).collect();
    assert_eq!(rows, expected);
}

#[test]
fn classes_are_those_of_the_policy() {
    use Class::{Major, MinorSafe, NeedsReview, Violation};
    let expected = [
        (1, MinorSafe),
        (2, MinorSafe),
        (3, MinorSafe),
        (4, Major),
        (5, MinorSafe),
        (6, MinorSafe),
        (7, Major),
        (8, Major),
        (9, Major),
        (10, Major),
        (11, Major),
        (12, Major),
        (13, MinorSafe),
        (14, Violation),
        (15, Major),
        (17, Major),
        (18, Major),
        (19, Major),
        (20, Major),
        (21, MinorSafe),
        (27, Major),
    ];
    for (row, class) in expected {
        for rule in Rule::ALL.iter().filter(|rule| rule.row() == row) {
            assert_eq!(rule.class(), class, "{rule}");
        }
    }
    assert_eq!(Rule::ErrorTypeAdded.class(), NeedsReview);
    assert_eq!(Rule::CapabilityRemoved.class(), MinorSafe);
    assert_eq!(Rule::EnumValueRemoved.class(), Major);
}

#[test]
fn another_hash_needs_old_vectors_also_where_there_were_none() {
    let mut old = base();
    take(&mut old["identity"], "vectors");
    let mut new = base();
    new["protocolVersion"] = json!("4.0");
    new["identity"] = renewed(json!({"plain": "0xcc"}));
    let found = report(&old, &new);
    assert_eq!(found.overall, Class::Violation);
    assert_eq!(rule_of(&found.changes[2]), Rule::IdentityVectorsMissing);
    new["identity"] = renewed(json!({"plain": "0xcc", "ORDER_V1/plain": "0xaa"}));
    let found = report(&old, &new);
    assert_eq!((found.overall, found.honest), (Class::Major, Some(true)));
}

#[test]
fn a_direction_that_is_said_overrules_the_name() {
    let mut old = base();
    old["directions"] = json!({"OrderRequest": "response", "OrderReply": "response"});
    let mut new = old.clone();
    new["messages"]["OrderRequest"]["item.id"]["presence"] = json!("optional");
    let found = report(&old, &new);
    assert_eq!(found.changes[0].path, format!("{REQUEST}/item.id"));
    assert_eq!(rule_of(&found.changes[0]), Rule::ResponseFieldRelaxed);

    // A name that ends in Input is a request, too.
    let rename = |mut snapshot: Value| {
        let message = take(&mut snapshot["messages"], "OrderReply");
        snapshot["messages"]["OrderInput"] = message;
        snapshot
    };
    let mut new = base();
    new["messages"]["OrderReply"]["orderId"]["presence"] = json!("optional");
    assert_eq!(report(&base(), &new).changes[0].path, format!("{REPLY}/orderId"));
    assert_eq!(rule_of(&report(&base(), &new).changes[0]), Rule::ResponseFieldRelaxed);
    let found = report(&rename(base()), &rename(new));
    assert_eq!(rule_of(&found.changes[0]), Rule::RequestFieldRelaxed);
}

#[test]
fn the_order_of_a_snapshot_does_not_reach_the_report() {
    for row in rows() {
        let mut new = base();
        (row.change)(&mut new);
        assert_eq!(report(&base(), &new), report(&reversed(&base()), &reversed(&new)));
    }
}

fn field(presence: &str, meaning: &str) -> Value {
    json!({"kind": "canonical", "presence": presence, "type": "string", "semantics": meaning})
}

/// Another hash under another tag, with these vectors.
fn renewed(vectors: Value) -> Value {
    json!({"domainTag": "ORDER_V2", "hash": "sha256", "scope": ["item", "size"],
        "vectors": vectors})
}

/// The same document with the members of every object in the opposite order.
fn reversed(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            (members.iter().rev()).map(|(name, value)| (name.clone(), reversed(value))).collect()
        }
        other => other.clone(),
    }
}
