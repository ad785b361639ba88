//! Published fixtures of any corpus: a folder of them is a protocol's cases.

use std::collections::BTreeSet;
use std::path::Path;

use accord_contract::Wire as _;
use accord_kit::Protocol;
use accord_kit::corpus::{CorpusError, LeftOut};
use serde_json::{Value, json};

use crate::support::{changed, put};

/// A fixture as anybody would publish it.
pub(crate) fn fixture(id: &str, tier: u64, surface: &str) -> Value {
    json!({
        "fixture_id": id,
        "tier": tier,
        "surface": surface,
        "description": "What is said comes back.",
        "type": "validate",
        "setup": {},
        "input": {"operation": "echo", "args": {"text": id}},
        "expected": {"result": "ok"},
    })
}

/// Writes fixtures into a folder, one file each.
pub(crate) fn put_fixtures(folder: &Path, fixtures: &[Value]) {
    for fixture in fixtures {
        let id = fixture["fixture_id"].as_str().unwrap();
        put(folder, &format!("{id}.json"), &fixture.to_string());
    }
}

/// The protocol whose fixtures these tests replace.
pub(crate) fn agentxchain() -> &'static Protocol {
    crate::agentxchain::agentxchain()
}

/// The protocol with these fixtures.
pub(crate) fn protocol(fixtures: &[Value]) -> Protocol {
    let folder = tempfile::tempdir().unwrap();
    put_fixtures(folder.path(), fixtures);
    agentxchain().with_fixtures(folder.path()).unwrap().0
}

fn refusal(folder: &Path) -> String {
    agentxchain().with_fixtures(folder).unwrap_err().to_string()
}

#[test]
fn a_fixture_is_sent_as_the_document_that_it_is() {
    let mut strange = fixture("SM-001", 1, "state_machine");
    strange["x-mood"] = json!({"b": 1, "a": [1.0, null]});
    strange["input"]["note"] = json!("kept");
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "1/state_machine/SM-001.json", &strange.to_string());
    put(folder.path(), "README.md", "for people");
    put(folder.path(), ".hidden/x.json", "not a fixture");
    let (read, left_out) = agentxchain().with_fixtures(folder.path()).unwrap();
    let hidden = LeftOut { hidden: 1, ..LeftOut::default() };
    assert_eq!(left_out, hidden);
    let case = &read.cases()[0];
    assert_eq!(case.encode().to_string(), strange.to_string());
    assert_eq!((case.id.as_str(), case.surface()), ("SM-001", Some("state_machine")));
    assert_eq!((read.name(), read.version()), ("agentxchain", agentxchain().version()));
}

#[test]
fn one_file_that_is_no_fixture_refuses_them_all_and_every_fault_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let sound = fixture("A", 1, "history");
    put_fixtures(folder.path(), std::slice::from_ref(&sound));
    for (name, change, pointer) in [
        ("tier.json", json!({"tier": 4}), "/tier"),
        ("tier-text.json", json!({"tier": "1"}), "/tier"),
        ("surface.json", json!({"surface": ""}), "/surface"),
        ("id.json", json!({"fixture_id": " "}), "/fixture_id"),
        ("setup.json", json!({"setup": []}), "/setup"),
        ("expected.json", json!({"expected": null}), "/expected"),
        ("input.json", json!({"input": {"operation": "echo"}}), "/input/args"),
        ("call.json", json!({"input": {"args": {}}}), "/input/operation"),
        ("twice.json", json!({}), "/fixture_id"),
    ] {
        let id = json!({"fixture_id": if name == "twice.json" { "A" } else { name }});
        let broken = changed(changed(sound.clone(), id), change);
        put(folder.path(), name, &broken.to_string());
        let said = refusal(folder.path());
        assert!(said.starts_with(&format!("{name}: {pointer}: ")), "{said}");
        std::fs::remove_file(folder.path().join(name)).unwrap();
    }
    for (name, text) in [("cut.json", "{"), ("twice-a-key.json", r#"{"a":1,"a":2}"#)] {
        put(folder.path(), name, text);
    }
    let said = refusal(folder.path());
    assert!(said.contains("cut.json: ") && said.contains("twice-a-key.json: "), "{said}");
}

#[test]
fn every_member_that_a_fixture_needs_is_missed() {
    let sound = fixture("A", 1, "history");
    for member in sound.as_object().unwrap().keys() {
        let mut without = sound.clone();
        without.as_object_mut().unwrap().shift_remove(member);
        let folder = tempfile::tempdir().unwrap();
        put(folder.path(), "a.json", &without.to_string());
        let said = refusal(folder.path());
        assert!(said.starts_with(&format!("a.json: /{member}: ")), "{said}");
    }
}

#[test]
fn a_folder_without_fixtures_judges_nothing() {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "README.md", "for people");
    assert!(refusal(folder.path()).contains("has no fixture"));
    let error = agentxchain().with_fixtures(&folder.path().join("elsewhere"));
    assert!(matches!(error, Err(CorpusError::Unreadable { .. })));
}

/// The kit's own corpus, read as anybody else's, gives the cases that bind everybody.
#[test]
fn our_own_corpus_reads_the_same_as_a_folder_of_fixtures() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/agentxchain");
    let (read, left_out) = agentxchain().with_fixtures(&folder).unwrap();
    let binding = agentxchain().binding();
    let documents = |protocol: &Protocol| -> Vec<String> {
        let cases = protocol.cases().iter();
        cases.map(|case| case.encode().to_string()).collect()
    };
    assert_eq!(documents(&read), documents(&binding));
    let (all, bound) = (agentxchain().cases().len(), binding.cases().len());
    assert!(bound >= 150 && bound < all, "{bound} of {all}");
    assert!(binding.cases().iter().all(|case| case.profile.is_none()));
    let of_a_profile = agentxchain().only(|case| case.profile.is_some());
    let of_a_profile = of_a_profile.cases().len();
    let expected =
        LeftOut { of_a_profile, not_must: all - bound - of_a_profile, companions: 2, hidden: 0 };
    assert_eq!(left_out, expected);
    let reported = left_out.to_string();
    assert!(reported.contains(&format!("{of_a_profile} of a profile, ")), "{reported}");
    assert!(!reported.contains("dot"), "{reported}");
}

/// The public fixtures, if the environment names their folder.
#[test]
fn the_public_fixtures_are_read() {
    let Some(folder) = std::env::var_os("ACCORD_EXTERNAL_CORPUS") else {
        eprintln!("skipped: ACCORD_EXTERNAL_CORPUS names no folder of public fixtures");
        return;
    };
    let read = agentxchain().with_fixtures(&Path::new(&folder).join("agentxchain"));
    let (read, left_out) = read.unwrap();
    assert!(left_out.is_nothing(), "{left_out}");
    let surfaces = |protocol: &Protocol| -> BTreeSet<String> {
        let cases = protocol.cases().iter();
        cases.filter_map(|case| case.surface().map(str::to_owned)).collect()
    };
    assert!(read.cases().len() >= 80);
    assert_eq!(surfaces(&read), surfaces(&agentxchain().binding()));
}
