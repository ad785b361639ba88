//! The published schemas: they are what the types say, and the documents keep to them.

use std::fs;
use std::path::{Path, PathBuf};

use accord_kit::case::Task;
use accord_kit::reporter::{JsonReporter, NdjsonReporter};
use accord_kit::{Corpus, Reporters, run, schema};
use serde_json::{Value, json};

use crate::support::{case, demo, patient, stubborn};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub(crate) fn validator(name: &str) -> jsonschema::Validator {
    let schemas = schema::all();
    let (_, schema) = schemas.iter().find(|(known, _)| *known == name).unwrap();
    jsonschema::draft202012::new(schema).unwrap()
}

pub(crate) fn assert_valid(validator: &jsonschema::Validator, name: &str, document: &Value) {
    let errors: Vec<String> =
        validator.iter_errors(document).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{name}: {errors:?}");
}

#[test]
fn the_files_in_docs_are_made_from_the_types() {
    let folder = root().join("docs/schemas");
    for (name, schema) in schema::all() {
        let path = folder.join(format!("{name}.schema.json"));
        let text = format!("{}\n", serde_json::to_string_pretty(&schema).unwrap());
        if std::env::var_os("ACCORD_BLESS").is_some() {
            fs::create_dir_all(&folder).unwrap();
            fs::write(&path, &text).unwrap();
        }
        let published = fs::read_to_string(&path).unwrap_or_default();
        assert!(
            published == text,
            "docs/schemas/{name}.schema.json is not what the types say; \
             ACCORD_BLESS=1 writes it anew"
        );
    }
}

#[test]
fn every_file_of_the_corpus_keeps_to_its_schema() {
    let (calls, exchanges) = (validator("case"), validator("http-case"));
    let fixtures = validator("fixture-case");
    let (folders, channels) = (validator("folder-case"), validator("channel-case"));
    let companions =
        ["channel", "clauses", "operations", "routes"].map(|name| (name, validator(name)));
    let corpus = Corpus::embedded().unwrap();
    for protocol in corpus.protocols() {
        for case in protocol.cases() {
            let mut source = serde_json::Deserializer::from_str(protocol.source(case).unwrap());
            // Cases about deep documents are deep themselves.
            source.disable_recursion_limit();
            let document = source.into_iter().next().unwrap().unwrap();
            let cases = match &case.task {
                Task::Call(call) if call.fixture.is_some() => &fixtures,
                Task::Call(_) => &calls,
                Task::Folder(_) => &folders,
                Task::Channel(_) => &channels,
                _ => &exchanges,
            };
            assert_valid(cases, &case.id, &document);
        }
        for (name, validator) in &companions {
            let path = format!("corpus/{}/{name}.json", protocol.name());
            if let Ok(text) = fs::read_to_string(root().join(&path)) {
                assert_valid(validator, &path, &serde_json::from_str(&text).unwrap());
            }
        }
    }
}

#[test]
fn reports_and_events_keep_to_their_schemas() {
    let (mut json, mut ndjson) = (Vec::new(), Vec::new());
    let mut reporters = Reporters(vec![
        Box::new(JsonReporter::new(&mut json)),
        Box::new(NdjsonReporter::new(&mut ndjson)),
    ]);
    run(&demo(&[case("area/a"), case("area/b")]), &stubborn(), &patient(), &mut reporters).unwrap();
    drop(reporters);
    assert_valid(&validator("report"), "report", &serde_json::from_slice(&json).unwrap());
    let events = validator("event");
    for line in String::from_utf8(ndjson).unwrap().lines() {
        assert_valid(&events, line, &serde_json::from_str(line).unwrap());
    }
}

#[test]
fn schemas_refuse_what_the_types_refuse() {
    let cases = validator("case");
    assert!(!cases.is_valid(&json!({"id": "demo/a/b"})));
    let mut extra = case("area/a");
    extra["colour"] = json!(1);
    assert!(!cases.is_valid(&extra));
    let results = validator("adapter-result");
    assert!(results.is_valid(&json!({"status": "pass", "actual": null, "note": 1})));
    assert!(!results.is_valid(&json!({"status": "passed"})));
    let baselines = validator("baseline");
    assert!(baselines.is_valid(&json!({"known_failures": [{"case": "a", "reason": "b"}]})));
    assert!(!baselines.is_valid(&json!({"known_failures": [{"case": "a"}]})));
}

#[test]
fn the_documents_of_the_kit_are_part_of_the_wire_contract() {
    let snapshot = accord_kit::contract::add_to(accord_contract::snapshot::own()).build();
    for name in
        ["Case", "HttpCase", "RouteList", "Baseline", "RunReport", "EventLine", "AdapterResult"]
    {
        assert!(snapshot["messages"].get(name).is_some(), "{name}");
    }
    assert_eq!(snapshot["events"]["EventName"]["run.finished"]["ignorable"], false);
}
