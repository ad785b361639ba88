//! Snapshots that are made from the types.

use std::collections::BTreeMap;

use accord_contract::compat::{Class, Direction, Report, Rule, Rules, Snapshot, check};
use accord_contract::snapshot::{ACCORD_CONTRACT_VERSION, builder, own};
use accord_contract::wire::json_schema;
use accord_contract::{Code, Protocol, Value, alx, compat as contract_compat, message};
use serde_json::json;

use crate::compat::rule_of;
use crate::golden;

fn vectors() -> BTreeMap<String, String> {
    BTreeMap::from([("KB_V1/one".into(), "0x01".into())])
}

fn compared(old: &Value, new: &Value) -> Report {
    let parse = |snapshot: &Value| Snapshot::parse(snapshot.clone()).unwrap();
    check(&parse(old), &parse(new), &Rules::default())
}

#[test]
fn the_types_still_say_what_alx_1_1_says() {
    let kept = golden::read(golden::ALX_1_1).expect("the contract is in the repository");
    let kept: Value = serde_json::from_str(&kept).unwrap();
    let vectors = kept["identity"]["vectors"].as_object().unwrap();
    let vectors = (vectors.iter()).map(|(id, hash)| (id.clone(), hash.as_str().unwrap().into()));
    let report = compared(&kept, &alx::snapshot(vectors.collect()));
    assert_eq!(report.overall, Class::None, "{:#?}", report.changes);
    assert_eq!(report.honest, Some(true), "{}", report.reason);
}

#[test]
fn snapshots_are_what_their_own_schema_says() {
    let validator =
        jsonschema::validator_for(&json_schema::<contract_compat::SnapshotDocument>()).unwrap();
    for snapshot in [alx::snapshot(vectors()), own().build()] {
        let problems: Vec<_> = validator.iter_errors(&snapshot).map(|e| e.to_string()).collect();
        assert_eq!(problems, Vec::<String>::new());
        let report = compared(&snapshot, &snapshot);
        assert_eq!((report.overall, report.honest), (Class::None, Some(true)));
    }
}

#[test]
fn another_hash_scope_without_another_tag_is_a_violation() {
    let old = alx::snapshot(vectors());
    let mut new = old.clone();
    new["protocolVersion"] = json!("2.0");
    new["identity"]["scope"].as_array_mut().unwrap().push(json!("curator"));
    let report = compared(&old, &new);
    assert_eq!((report.overall, report.honest), (Class::Violation, Some(false)));

    new["identity"]["domainTag"] = json!("KB_V2");
    assert_eq!(compared(&old, &new).overall, Class::Violation);
    new["identity"]["vectors"]["KB_V2/one"] = json!("0x02");
    let report = compared(&old, &new);
    assert_eq!((report.overall, report.honest), (Class::Major, Some(true)));
    new["protocolVersion"] = json!("1.2");
    assert_eq!(compared(&old, &new).honest, Some(false));
}

#[test]
fn the_snapshot_has_the_codes_of_its_protocol_by_category() {
    let listed = |snapshot: &Value| -> usize {
        let by_type = snapshot["errors"].as_object().unwrap();
        by_type.values().map(|codes| codes.as_array().unwrap().len()).sum()
    };
    let alx_codes = Code::ALL.iter().filter(|code| code.protocol() == Protocol::Alx).count();
    assert_eq!(listed(&alx::snapshot(vectors())), alx_codes);
    assert_eq!(listed(&own().build()), Code::ALL.len());
    assert_eq!(alx::snapshot(vectors())["errors"]["auth"][0], "AUTH_REQUIRED");
}

message! {
    /// Version one of a thing.
    pub struct First("Thing", open) {
        /// Named.
        required name: String = "name", "name";
    }

    /// Version two of a thing.
    pub struct Second("Thing", open) {
        /// Named.
        required name: String = "name", "name";
        /// Noted.
        optional note: String = "note", "note";
    }
    aliases { "label" => "name" }
}

#[test]
fn a_change_of_a_type_is_a_change_of_the_contract() {
    let old = builder("0.1").message::<First>(Direction::Response).build();
    let new = builder("0.2").message::<Second>(Direction::Response).capability("x").build();
    let report = compared(&old, &new);
    let found: Vec<_> =
        (report.changes.iter()).map(|change| (change.path.as_str(), rule_of(change))).collect();
    assert_eq!(
        found,
        [
            ("/capabilities/x", Rule::CapabilityAdded),
            ("/messages/Thing/label", Rule::AliasAdded),
            ("/messages/Thing/note", Rule::OptionalFieldAdded),
        ]
    );
    assert_eq!(report.honest, Some(true));
    let back = compared(&new, &old);
    assert_eq!((back.overall, back.honest), (Class::Major, Some(false)));
}

#[test]
#[should_panic(expected = "two messages are called Thing")]
fn two_messages_of_one_name_are_refused() {
    let _ =
        builder("0.1").message::<First>(Direction::Response).message::<Second>(Direction::Response);
}

#[test]
fn own_snapshots_carry_their_version_and_grow() {
    let snapshot = own().message::<First>(Direction::Request).build();
    assert_eq!(snapshot["protocolVersion"], ACCORD_CONTRACT_VERSION);
    assert_eq!(snapshot["directions"]["Thing"], "request");
    let report = compared(&own().build(), &snapshot);
    assert_eq!(report.changes.len(), 1);
    assert_eq!(rule_of(&report.changes[0]), Rule::MessageAdded);
}
