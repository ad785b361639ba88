//! The catalogs of ggui on Accord: its own cases, its seeded faults, and public samples.

use std::collections::BTreeSet;
use std::sync::Arc;

use accord_adapters::faults::{Fault, Faulty, faults_of, reached};
use accord_adapters::ggui::Accord;
use accord_adapters::{Adapter, Call, Reply};
use accord_contract::{Code, Protocol, Wire as _};
use accord_kit::Case;
use accord_kit::case::Task;
use serde_json::{Value, json};

use crate::judged::cases;

/// The cases of one decision. Those of a server are judged with a server.
fn calls() -> Vec<&'static Case> {
    let calls = cases("ggui").iter().filter(|case| matches!(case.task, Task::Call(_)));
    calls.collect()
}

/// What is wrong with an adapter's answer to a case.
fn wrong(adapter: &dyn Adapter, case: &Case) -> Option<String> {
    let answer = adapter.answer_case(&case.encode());
    let is_pass = answer.status == accord_contract::fixture::Status::Pass;
    (!is_pass).then(|| format!("{}: {:?}", case.id, answer.message))
}

#[test]
fn accord_passes_every_case_including_proposals() {
    let cases = calls();
    let wrong: Vec<String> = cases.iter().filter_map(|case| wrong(&Accord, case)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(cases.len() >= 550, "{} cases", cases.len());
}

#[test]
fn a_case_of_its_clause_catches_every_fault() {
    let faults = faults_of("ggui");
    assert!(faults.len() >= 100);
    let honest: Arc<dyn Adapter> = Arc::new(Accord);
    let mut missed = Vec::new();
    for fault in faults.iter().filter(|fault| !ONLY_ON_A_SERVER.contains(&fault.name)) {
        let faulty = Faulty::new(Arc::clone(&honest), *fault);
        let caught = of_clause(fault).filter(|case| wrong(&faulty, case).is_some()).count();
        println!("{:<26} {:<32} {caught} cases", fault.name, fault.clause);
        if caught == 0 {
            missed.push(fault.name);
        }
    }
    assert!(missed.is_empty(), "not caught: {}", missed.join(", "));
}

/// Faults whose place no catalog reaches.
const ONLY_ON_A_SERVER: [&str; 1] = ["host-context-trimmed"];

fn of_clause(fault: &Fault) -> impl Iterator<Item = &'static Case> {
    let clause = fault.clause;
    calls().into_iter().filter(move |case| case.clauses.iter().any(|cited| cited == clause))
}

#[test]
fn a_fault_breaks_one_rule() {
    let honest: Arc<dyn Adapter> = Arc::new(Accord);
    let rounds: Vec<_> = calls()
        .into_iter()
        .map(|case| (case, reached(|| honest.answer_case(&case.encode())).1))
        .collect();
    for fault in faults_of("ggui") {
        let faulty = Faulty::new(Arc::clone(&honest), *fault);
        let near = rounds.iter().filter(|(_, places)| places.contains(fault));
        let failed = near.filter(|(case, _)| wrong(&faulty, case).is_some()).count();
        assert!(failed * 10 < rounds.len(), "{} fails {failed} cases", fault.name);
    }
}

/// The codes that no case can ask for, and why.
const WITHOUT_A_CASE: [(&str, &str); 7] = [
    ("APPEND_FAILED", "only a store that fails leads to it"),
    ("SESSION_CREATE_FAILED", "only a store that fails leads to it"),
    ("RATE_LIMIT_EXCEEDED", "how many renders a server allows is its own decision"),
    ("CTR_VALUE_TOO_COMPLEX", "how many steps a check may take is a server's own decision"),
    ("VALIDATION_ERROR", "a more precise code says what is wrong"),
    ("blueprint_rejected", "a more precise code says what is wrong"),
    ("blueprint_not_found", "with which code an unknown UI is refused is a server's own decision"),
];

#[test]
fn every_code_has_a_case() {
    let texts: String = cases("ggui").iter().map(|case| case.encode().to_string()).collect();
    let of_ggui = Code::ALL.iter().filter(|code| code.protocol() == Protocol::Ggui);
    let missing: BTreeSet<&str> = of_ggui
        .map(|code| code.as_str())
        .filter(|code| !texts.contains(&format!("\"{code}\"")))
        .collect();
    assert_eq!(missing, WITHOUT_A_CASE.map(|(code, _)| code).into());
}

#[test]
fn what_is_not_understood_is_no_answer() {
    let call = |operation: &str, args: Value| {
        let case = json!({"input": {"operation": operation, "args": args}, "expected": {}});
        Accord.perform(&Call::read(&case).expect("a call"))
    };
    assert_eq!(call("fly", json!({})), Ok(Reply::NotImplemented));
    assert!(call("client_capabilities", json!({})).is_err());
    assert!(call("contract_hash", json!({"contract": []})).is_err());
    assert!(call("version_handshake", json!({"serverVersion": "v", "policy": "maybe"})).is_err());
    assert!(call("app_of", json!({"identity": "nobody"})).is_err());
}

/// Public samples of the catalogs, as calls of the adapter.
mod samples {
    #![expect(clippy::disallowed_methods, reason = "the samples lie outside the project")]

    use std::path::PathBuf;

    use super::*;

    #[test]
    fn gadgets_of_contracts() {
        for (name, sample) in read("schema-conformance") {
            let args = json!({"clientCapabilities": sample["clientCapabilities"]});
            let answer = answer("client_capabilities", args);
            assert_eq!(answer["accepted"], sample["expect"] == "accept", "{name}");
        }
    }

    #[test]
    fn the_gate_of_gadgets() {
        for (name, sample) in read("registration-conformance") {
            let args = json!({
                "contract": sample["contract"],
                "appGadgets": sample["appGadgets"],
                "appPublicEnv": sample["appPublicEnv"],
            });
            let answer = answer("gadget_gate", args);
            let expected = &sample["expect"];
            assert_eq!(answer["accepted"], expected["outcome"] == "accept", "{name}");
            assert_eq!(answer.get("code"), expected.get("code"), "{name}");
        }
    }

    #[test]
    fn addresses() {
        for (name, sample) in read("resolution-conformance") {
            let answer = answer("bundle_urls", json!({"entry": sample["entry"]}));
            for member in ["bundleUrl", "styleUrl"] {
                assert_eq!(answer.get(member), sample["expect"].get(member), "{name}");
            }
        }
    }

    #[test]
    fn props_schemas() {
        for (name, sample) in read("props-schema-conformance") {
            let cases = sample["samples"].as_array().expect("a list");
            let props: Vec<_> = cases.iter().map(|case| case["props"].clone()).collect();
            let valid: Vec<_> = cases.iter().map(|case| case["valid"].clone()).collect();
            let args = json!({"propsSpec": sample["propsSpec"], "samples": props});
            let answer = answer("props_schema", args);
            // The order of members counts.
            assert_eq!(answer["text"], sample["propsSchema"].to_string(), "{name}");
            assert_eq!(answer["hash"], sample["propsSchemaHash"], "{name}");
            assert_eq!(answer["profile"], sample["propsSchemaProfile"], "{name}");
            assert_eq!(answer["valid"], Value::Array(valid), "{name}");
        }
    }

    fn answer(operation: &str, args: Value) -> Value {
        let case = json!({"input": {"operation": operation, "args": args}, "expected": {}});
        match Accord.perform(&Call::read(&case).expect("a call")) {
            Ok(Reply::Outcome(outcome)) => outcome,
            other => panic!("{other:?}"),
        }
    }

    /// The samples of a catalog, with their file names; none where no folder is named.
    fn read(catalog: &str) -> Vec<(String, Value)> {
        let Some(folder) = std::env::var_os("ACCORD_EXTERNAL_CORPUS") else {
            eprintln!("skipped: ACCORD_EXTERNAL_CORPUS names no folder of public samples");
            return Vec::new();
        };
        let folder = PathBuf::from(folder).join("ggui").join(catalog);
        let entries = std::fs::read_dir(&folder).expect("the folder of the catalog");
        let samples: Vec<_> = entries
            .map(|entry| {
                let path = entry.expect("an entry").path();
                let name = path.file_name().expect("a name").to_string_lossy().into_owned();
                let bytes = std::fs::read(&path).expect("a sample");
                (name, serde_json::from_slice(&bytes).expect("JSON"))
            })
            .collect();
        assert!(!samples.is_empty(), "{} has no samples", folder.display());
        samples
    }
}
