//! Wire contracts: the snapshots in the repository are what the types say, and
//! the current one is honest about what it changed since the last release.

use std::path::PathBuf;

use serde_json::Value;

use crate::accord::accord;

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../contracts").join(name)
}

/// Compares with a file in the repository, or writes it when blessed.
fn assert_kept(name: &str, text: &str) {
    let path = file(name);
    if std::env::var_os("ACCORD_BLESS").is_some_and(|value| value == "1") {
        std::fs::write(&path, text).expect("the file can be written");
    }
    let kept = std::fs::read_to_string(&path).expect("the file is there");
    assert!(
        kept == text,
        "contracts/{name} is not what the types say; ACCORD_BLESS=1 writes it again"
    );
}

#[test]
fn snapshots_are_made_from_the_types() {
    assert_kept("accord/current.json", &accord(&["contract"], "").yes());
}

/// ALX 1.1 is published: no blessing writes it, and no edit goes unnoticed.
#[test]
fn the_contract_of_alx_1_1_is_frozen() {
    const PUBLISHED: &str = "951ada4ddba199fe74c65fefbed4729491256a28bd79f2158093e4fb02bf62a0";
    let kept = std::fs::read(file("alx/1.1.json")).expect("the contract is there");
    assert_eq!(
        accord_canon::sha256(&kept).hex(),
        PUBLISHED,
        "contracts/alx/1.1.json was edited: a changed contract is another version"
    );
    assert!(
        kept == accord(&["contract", "alx"], "").yes().as_bytes(),
        "the types no longer say what ALX 1.1 says"
    );
}

#[test]
fn the_current_contract_is_honest() {
    let (released, current) = (file("accord/released.json"), file("accord/current.json"));
    let paths = [released.to_str().expect("text"), current.to_str().expect("text")];
    accord(&["compat", paths[0], paths[1]], "").yes();
}

/// Writes a changed copy of the released contract and compares.
fn compare(change: impl FnOnce(&mut Value), args: &[&str]) -> (i32, Value) {
    let released = file("accord/released.json");
    let text = std::fs::read_to_string(&released).expect("a released contract");
    let mut snapshot: Value = serde_json::from_str(&text).expect("JSON");
    change(&mut snapshot);
    let folder = tempfile::tempdir().expect("a folder");
    let new = folder.path().join("new.json");
    std::fs::write(&new, snapshot.to_string()).expect("written");
    let paths = [released.to_str().expect("text"), new.to_str().expect("text")];
    let ran = accord(&[&["compat", "--format", "json", paths[0], paths[1]], args].concat(), "");
    let report = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}", ran.stderr));
    (ran.code, report)
}

#[test]
fn exit_codes_say_honest_not_honest_or_cannot_tell() {
    let (code, report) = compare(|_| {}, &[]);
    assert_eq!((code, &report["overall"]), (0, &Value::from("none")));

    let add_capability =
        |snapshot: &mut Value| snapshot["capabilities"] = serde_json::json!(["streaming"]);
    let (code, report) = compare(add_capability, &[]);
    assert_eq!((code, &report["honest"]), (1, &Value::from(false)), "the same version");
    let (code, _) = compare(
        |snapshot| {
            add_capability(snapshot);
            snapshot["protocolVersion"] = "0.2".into();
        },
        &[],
    );
    assert_eq!(code, 0);
    let (code, report) = compare(
        |snapshot| {
            add_capability(snapshot);
            snapshot["protocolVersion"] = "next".into();
        },
        &[],
    );
    assert_eq!((code, &report["honest"]), (2, &Value::Null));
}

#[test]
fn a_member_that_is_gone_needs_a_major_version() {
    let remove = |snapshot: &mut Value| {
        let message = &mut snapshot["messages"]["ErrorEnvelope"];
        message.as_object_mut().expect("members").remove("correlationId");
        snapshot["protocolVersion"] = "0.2".into();
    };
    let (code, report) = compare(remove, &[]);
    assert_eq!((code, &report["overall"]), (1, &Value::from("major")));
    let path = &report["changes"][0]["path"];
    assert_eq!(*path, "/messages/ErrorEnvelope/correlationId");
}

#[test]
fn rules_can_be_set_where_the_policy_is_silent_and_nowhere_else() {
    let drop_code = |snapshot: &mut Value| {
        snapshot["capabilities"] = serde_json::json!([]);
        snapshot["errors"]["billing"] = serde_json::json!(["NO_CREDIT"]);
        snapshot["protocolVersion"] = "0.2".into();
    };
    let (code, report) = compare(drop_code, &[]);
    assert_eq!((code, &report["honest"]), (2, &Value::Null), "a new type needs review");
    let (code, _) = compare(drop_code, &["--rule", "error-type-added=minor-safe"]);
    assert_eq!(code, 0);
    let released = file("accord/released.json");
    let path = released.to_str().expect("text");
    for wrong in ["field-removed=minor-safe", "no-such-rule=major", "capability-removed=nice", "x"]
    {
        let ran = accord(&["compat", path, path, "--rule", wrong], "");
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{wrong}");
    }
}
