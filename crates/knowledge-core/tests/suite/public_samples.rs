//! Public Knowledge Block vectors, where `ACCORD_EXTERNAL_CORPUS` names the
//! folder that holds them.
#![expect(clippy::disallowed_methods, reason = "the samples lie outside the project")]

use std::path::{Path, PathBuf};

use accord_contract::Code;
use accord_knowledge_core::{HashOptions, KbHasher, Registry, SourceMode};
use serde_json::Value;

#[test]
fn envelopes_have_their_public_hashes() {
    let Some(folder) = folder() else { return };
    let mut checked = 0;
    for vector in vector_folders(&folder.join("canonical")) {
        let expected = read(&vector.join("expected.json"));
        for file in files(&vector) {
            if !file.to_string_lossy().contains("envelope") {
                continue;
            }
            let envelope = std::fs::read(&file).expect("an envelope");
            let mut hasher = KbHasher::new(HashOptions::default());
            match &expected {
                Some(expected) => {
                    let identified = hasher.identify(&envelope).expect("it has an identity");
                    let kb_hash = Value::from(identified.kb_hash.prefixed());
                    assert_eq!(expected["kbHash"], kb_hash, "{}", file.display());
                    checked += 1;
                }
                None => {
                    let error = Registry::default().register(&envelope).expect_err("refused");
                    let expected = match vector.file_name().and_then(|name| name.to_str()) {
                        Some("duplicate-source-rejection") => Code::InvalidEnvelope,
                        _ => Code::UnregisteredSource,
                    };
                    assert_eq!(error.code(), expected, "{}", file.display());
                }
            }
        }
    }
    assert!(checked > 0, "the samples hold no vectors");
}

#[test]
fn identities_match_the_public_probes() {
    let Some(folder) = folder() else { return };
    let probes = read(&folder.join("probes.json")).expect("the probes are there");
    for probe in probes["kbHash"].as_array().expect("a list") {
        let id = &probe["id"];
        let envelope = probe["envelopeJson"].as_str().expect("text").as_bytes();
        // The reference hashes a repeated source as often as it is named.
        let mut hasher =
            KbHasher::new(HashOptions { sources: SourceMode::AsIs, ..HashOptions::default() });
        if probe.get("error").is_some() {
            hasher.identify(envelope).expect_err("the reference refuses it too");
            continue;
        }
        let identified = hasher.identify(envelope).expect("it has an identity");
        assert_eq!(probe["kbHash"], Value::from(identified.kb_hash.prefixed()), "{id}");
        assert_eq!(probe["cidV1"], Value::from(identified.cid()), "{id}");
    }
}

fn folder() -> Option<PathBuf> {
    let Some(folder) = std::env::var_os("ACCORD_EXTERNAL_CORPUS") else {
        eprintln!("skipped: ACCORD_EXTERNAL_CORPUS names no folder of public samples");
        return None;
    };
    Some(PathBuf::from(folder).join("alx"))
}

/// The folders, two levels down, that hold one vector each.
fn vector_folders(root: &Path) -> Vec<PathBuf> {
    files(root).iter().flat_map(|group| files(group)).collect()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    entries.map(|entry| entry.expect("an entry").path()).collect()
}

fn read(path: &Path) -> Option<Value> {
    let bytes = std::fs::read(path).ok()?;
    Some(serde_json::from_slice(&bytes).expect("the samples are JSON"))
}
