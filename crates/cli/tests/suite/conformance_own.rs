//! What Accord claims of itself: all that its corpus judges, and nothing that does not hold.

use std::collections::BTreeSet;
use std::path::Path;

use accord_contract::Wire as _;
use accord_contract::fixture::{Capabilities, STDIO_FIXTURE_V1};
use accord_kit::Corpus;
use serde_json::{Value, json};

use crate::accord::{accord, command, path_with_accord, run};
use crate::conformance::{CAPABILITIES, text};

/// What Accord claims of itself is what its corpus judges, all of it.
#[test]
fn our_own_claims_are_all_that_the_corpus_judges() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let written = std::fs::read(root.join(CAPABILITIES)).expect("the claims");
    let written = serde_json::from_slice(&written).expect("JSON");
    let claims = Capabilities::from_document(written).expect("capabilities");
    claims.check(STDIO_FIXTURE_V1).expect("sound");
    assert_eq!(claims.version.value(), Some(&json!(env!("CARGO_PKG_VERSION"))));
    let command = claims.command().expect("a command");
    assert_eq!(command, ("accord", &["adapter", "agentxchain"].map(str::to_owned)[..]));
    let protocol = Corpus::embedded_protocol("agentxchain").expect("sound");
    let cases = protocol.cases().iter();
    let surfaces: BTreeSet<&str> = cases.clone().filter_map(|case| case.surface()).collect();
    let claimed = claims.surfaces().expect("enforced");
    assert_eq!(BTreeSet::from_iter(claimed), surfaces);
    let tiers: BTreeSet<u64> = cases.filter_map(|case| case.tier).collect();
    assert_eq!(BTreeSet::from_iter(claims.tiers.iter().copied()), tiers);
    assert_eq!(claims.protocol_version.value(), Some(&json!(protocol.version())));
}

/// What Accord claims of itself is judged as anybody's claims are, with its command found in
/// `PATH`.
#[test]
fn our_own_claims_hold() {
    let root = text(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    let args = ["conformance", "check", "--target", &root, "--surface", "history"];
    let mut check = command(&args);
    check.env("PATH", path_with_accord());
    let said = run(check, "").yes();
    assert!(said.contains("Implementation: accord\n"), "{said}");
    assert!(!said.contains("0/0") && !said.contains("not implemented"), "{said}");
}

/// What a case begins with is part of it: an adapter that passes over a member which it does not
/// know judges another situation.
#[test]
fn our_own_adapters_report_a_setup_that_they_do_not_know() {
    let corpus = Corpus::embedded().expect("sound");
    for protocol in accord_adapters::protocols() {
        let cases = corpus.protocol(protocol).expect("there").cases();
        let mut lines = String::new();
        for case in cases {
            let mut document = case.encode();
            document["setup"]["moon"] = "full".into();
            lines.push_str(&format!("{document}\n"));
        }
        let said = accord(&["adapter", protocol, "--lines"], lines).yes();
        assert_eq!(said.lines().count(), cases.len(), "{protocol}");
        for (case, line) in cases.iter().zip(said.lines()) {
            let result: Value = serde_json::from_str(line).expect("a result");
            assert_eq!(result["status"], "error", "{}: {line}", case.id);
            assert_eq!(result["id"], case.id.as_str());
        }
    }
}
