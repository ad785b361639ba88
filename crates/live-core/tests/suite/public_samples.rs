//! Public samples of the protocol's catalogs, where `ACCORD_EXTERNAL_CORPUS` names the folder that
//! holds them.
#![expect(clippy::disallowed_methods, reason = "the samples lie outside the project")]

use std::path::PathBuf;

use accord_live_core::contract::DataContract;
use accord_live_core::gadgets::{ClientCapabilities, GadgetDescriptor, check_gadgets};
use accord_live_core::props::EnforcedProps;
use accord_live_core::resolution::bundle_urls;
use accord_live_core::schema::Quota;
use serde_json::{Value, json};

#[test]
fn gadgets_of_contracts_are_accepted_and_refused_as_in_the_samples() {
    for (name, sample) in samples("schema-conformance") {
        let read = ClientCapabilities::read(&sample["clientCapabilities"]);
        assert_eq!(read.is_ok(), sample["expect"] == "accept", "{name}: {read:?}");
    }
}

#[test]
fn the_gate_of_gadgets_decides_as_in_the_samples() {
    for (name, sample) in samples("registration-conformance") {
        let contract = DataContract::read(&sample["contract"]).expect(&name);
        let registered = sample["appGadgets"].as_array().expect("a list").iter();
        let registered: Vec<_> =
            registered.map(|g| GadgetDescriptor::read(g).expect(&name)).collect();
        let env = sample["appPublicEnv"].as_object().expect("an object");
        let env = env.keys().map(String::as_str);
        let outcome = match check_gadgets(contract.gadgets.as_ref(), &registered, env) {
            Ok(()) => json!({"outcome": "accept"}),
            Err(refusal) => json!({"outcome": "reject", "code": refusal.code.as_str()}),
        };
        assert_eq!(outcome, sample["expect"], "{name}");
    }
}

#[test]
fn addresses_are_those_of_the_samples() {
    for (name, sample) in samples("resolution-conformance") {
        let urls = bundle_urls(&GadgetDescriptor::read(&sample["entry"]).expect(&name));
        let member = |member: &str| sample["expect"].get(member).and_then(Value::as_str);
        assert_eq!(urls.bundle_url.as_deref(), member("bundleUrl"), "{name}");
        assert_eq!(urls.style_url.as_deref(), member("styleUrl"), "{name}");
    }
}

#[test]
fn props_schemas_are_those_of_the_samples() {
    for (name, sample) in samples("props-schema-conformance") {
        let contract = DataContract::read(&json!({"propsSpec": sample["propsSpec"]})).expect(&name);
        let props = EnforcedProps::build(contract.props.as_ref(), &mut Quota::default());
        let props = props.expect(&name);
        // The order of members counts.
        assert_eq!(props.document().to_string(), sample["propsSchema"].to_string(), "{name}");
        assert_eq!(props.hash(), sample["propsSchemaHash"], "{name}");
        assert_eq!(props.profile().as_str(), sample["propsSchemaProfile"], "{name}");
        for case in sample["samples"].as_array().expect("a list") {
            let is_valid = props.check(&case["props"]).is_empty();
            assert_eq!(json!(is_valid), case["valid"], "{name}: {case}");
        }
    }
}

/// The samples of a catalog, with their file names; none where no folder is named.
fn samples(catalog: &str) -> Vec<(String, Value)> {
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
