//! What loading accepts, and what it says about each mistake.

use std::fs;
use std::path::Path;

use accord_kit::Corpus;
use accord_kit::corpus::CorpusError;
use serde_json::{Value, json};

use crate::support::{case, changed, clauses, demo, operations, put, write_corpus};

fn faults(folder: &Path) -> Vec<String> {
    match Corpus::from_dir(folder) {
        Err(CorpusError::Faulty(faults)) => faults.iter().map(ToString::to_string).collect(),
        Err(other) => panic!("{other}"),
        Ok(_) => Vec::new(),
    }
}

/// The one fault of a corpus whose case `demo/area/a` has these members changed.
fn fault(changes: Value) -> String {
    let folder = write_corpus(&[]);
    put(folder.path(), "demo/area/a.json", &changed(case("area/a"), changes).to_string());
    let faults = faults(folder.path());
    assert_eq!(faults.len(), 1, "{faults:?}");
    faults[0].clone()
}

#[test]
fn a_sound_corpus_is_read_in_the_order_of_its_ids() {
    let protocol = demo(&[case("b/x"), case("a/y"), case("a/x")]);
    let ids: Vec<&str> = protocol.cases().iter().map(|case| case.id.as_str()).collect();
    assert_eq!(ids, ["demo/a/x", "demo/a/y", "demo/b/x"]);
    assert_eq!(protocol.version(), "3.0");
    assert_eq!(protocol.cases()[0].area(), "a");
    let uncovered: Vec<&str> =
        protocol.uncovered_clauses().iter().map(|clause| clause.id.as_str()).collect();
    assert_eq!(uncovered, ["DEMO-2", "DEMO-3"]);
}

#[test]
fn no_protocol_is_known_by_name() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(Corpus::from_dir(folder.path()).unwrap().protocols().count(), 0);
    put(folder.path(), "README.md", "# Cases");
    put(folder.path(), ".hidden/x", "");
    for name in ["zeta", "omega-2"] {
        let own = changed(clauses(), json!({"protocol": name}));
        put(folder.path(), &format!("{name}/clauses.json"), &own.to_string());
        put(folder.path(), &format!("{name}/operations.json"), &operations().to_string());
        put(folder.path(), &format!("{name}/README.md"), "text");
    }
    let corpus = Corpus::from_dir(folder.path()).unwrap();
    let names: Vec<&str> = corpus.protocols().map(|protocol| protocol.name()).collect();
    assert_eq!(names, ["omega-2", "zeta"]);
    let error = corpus.protocol("alpha").unwrap_err();
    assert_eq!(error.to_string(), "no corpus for the protocol \"alpha\"; there is omega-2, zeta");
    assert_eq!(corpus.uncovered_clauses().len(), 6);
}

#[test]
fn a_mistake_in_a_case_is_named_with_file_and_place() {
    for (changes, expected) in [
        (
            json!({"id": "demo/area/b"}),
            "demo/area/a.json: /id: is \"demo/area/b\", but the file's path says \"demo/area/a\"",
        ),
        (
            json!({"protocol": "other"}),
            "demo/area/a.json: /protocol: is \"other\", but the folder is another",
        ),
        (
            json!({"colour": 1}),
            "demo/area/a.json: /colour: expected no member of this name, found a number",
        ),
        (json!({"title": 7}), "demo/area/a.json: /title: expected a string, found a number"),
        (
            json!({"title": " "}),
            "demo/area/a.json: /title: must be one line that states the property under test",
        ),
        (
            json!({"strength": "shall"}),
            "demo/area/a.json: /strength: expected one of \"must\", \"should\", \"may\", \
             \"proposal\", found \"shall\"",
        ),
        (json!({"tier": 1}), "demo/area/a.json: /tier: a case has a level or a tier, not both"),
        (json!({"clauses": []}), "demo/area/a.json: /clauses: a case proves at least one clause"),
        (
            json!({"clauses": ["DEMO-1", "DEMO-9"]}),
            "demo/area/a.json: /clauses/1: no clause \"DEMO-9\" is in clauses.json",
        ),
        (
            json!({"clauses": ["DEMO-1", "DEMO-1"]}),
            "demo/area/a.json: /clauses/1: \"DEMO-1\" is listed twice",
        ),
        (
            json!({"clauses": ["DEMO-2", "DEMO-3"]}),
            "demo/area/a.json: /strength: is `must`, but the strongest clause that it cites is \
             `should`",
        ),
        (
            json!({"setup": {"x/y": 1}}),
            "demo/area/a.json: /setup/x~1y: the operation \"echo\" has no such setup",
        ),
        (
            json!({"input": {"operation": "sing", "args": {}}}),
            "demo/area/a.json: /input/operation: no operation \"sing\" is in operations.json",
        ),
        (
            json!({"input": {"operation": "echo", "args": {}}}),
            "demo/area/a.json: /input/args/text: is missing; the operation \"echo\" needs it",
        ),
        (
            json!({"input": {"operation": "echo", "args": {"text": "x", "loud": true}}}),
            "demo/area/a.json: /input/args/loud: the operation \"echo\" has no such argument",
        ),
        (
            json!({"input": {"operation": "echo", "args": {"text": "x", "times": 1.5}}}),
            "demo/area/a.json: /input/args/times: must be of type integer",
        ),
        (
            json!({"input": {"operation": "echo", "args": {"text": null}}}),
            "demo/area/a.json: /input/args/text: must be of type string",
        ),
        (
            json!({"input": {"operation": "noop"}}),
            "demo/area/a.json: /input/args: expected an object, found nothing",
        ),
        (
            json!({"expected": {}}),
            "demo/area/a.json: /expected: expects nothing, so it proves nothing",
        ),
        (
            json!({"expected": {"text": {"assert": "like"}}}),
            "demo/area/a.json: /expected/text: unknown assertion `like`; known are absent, \
             contains, equals, id_prefix, nonempty_string, present, unordered_array",
        ),
        (
            json!({"expected": {"hash": [format!("0x{}", "ab".repeat(32))]}}),
            "demo/area/a.json: /expected/hash/0: is a digest; `oracle` must name who computed it",
        ),
        (
            json!({"expected": {"cid": format!("b{}", "afkrei2".repeat(9))[..59]}}),
            "demo/area/a.json: /expected/cid: is a digest; `oracle` must name who computed it",
        ),
        (json!({"oracle": ""}), "demo/area/a.json: /oracle: must name who computed the digests"),
        (
            json!({"oracle": "nod"}),
            "demo/area/a.json: /oracle: no oracle \"nod\" is in clauses.json",
        ),
        (json!({"level": "cor"}), "demo/area/a.json: /level: no level \"cor\" is in clauses.json"),
        (
            json!({"expected": {"result": "okay", "text": "x"}}),
            "demo/area/a.json: /expected/result: must be \"ok\" or \"error\"",
        ),
        (
            json!({"expected": {"result": "ok", "txet": "x"}}),
            "demo/area/a.json: /expected/txet: the operation \"echo\" has no such member in its \
             result",
        ),
        (
            json!({"expected": {"result": "ok", "hash": ""}}),
            "demo/area/a.json: /expected/hash: is empty where a digest is expected",
        ),
        (
            json!({"expected": {"list": [{"kbHash": ["0x", ""]}]}}),
            "demo/area/a.json: /expected/list/0/kbHash/1: is empty where a digest is expected",
        ),
    ] {
        assert_eq!(fault(changes), expected);
    }
}

#[test]
fn a_case_has_a_level_or_a_tier() {
    let mut neither = case("area/a");
    neither.as_object_mut().unwrap().remove("level");
    let folder = write_corpus(&[neither.clone()]);
    assert_eq!(faults(folder.path()), ["demo/area/a.json: has neither a `level` nor a `tier`"]);
    neither["tier"] = json!(2);
    assert_eq!(demo(&[neither]).cases()[0].level(), "2");
}

#[test]
fn text_that_is_not_strict_json_is_refused() {
    let folder = write_corpus(&[]);
    for (text, expected) in [
        ("", "demo/area/a.json: "),
        ("{\"id\": ", "demo/area/a.json: "),
        ("[]", "demo/area/a.json: expected an object, found a list"),
        ("{\"id\": \"x\", \"id\": \"x\"}", "demo/area/a.json: /id: "),
        ("{} {}", "demo/area/a.json: "),
    ] {
        put(folder.path(), "demo/area/a.json", text);
        let faults = faults(folder.path());
        assert!(faults.len() == 1 && faults[0].starts_with(expected), "{text}: {faults:?}");
    }
}

#[test]
fn files_that_do_not_belong_are_refused() {
    let folder = write_corpus(&[]);
    put(folder.path(), "stray.json", "{}");
    put(folder.path(), "demo/lost.json", "{}");
    put(folder.path(), "demo/area/notes.txt", "");
    put(folder.path(), "demo/Area/a.json", &changed(case("Area/a"), json!({})).to_string());
    put(folder.path(), "empty/area/README.md", "");
    let found = faults(folder.path());
    let files: Vec<&str> = found.iter().filter_map(|fault| fault.split(':').next()).collect();
    assert_eq!(
        files,
        [
            "stray.json",
            "demo/area",
            "demo/area/notes.txt",
            "demo/lost.json",
            "demo/Area/a.json",
            "empty/clauses.json",
            "empty/operations.json",
            "empty/area",
        ]
    );
}

#[test]
fn clauses_are_unique_and_say_something() {
    let folder = write_corpus(&[]);
    let mut list = clauses();
    list["protocol"] = json!("other");
    list["clauses"][1]["id"] = json!("DEMO-1");
    list["clauses"][2]["text"] = json!("");
    put(folder.path(), "demo/clauses.json", &list.to_string());
    assert_eq!(
        faults(folder.path()),
        [
            "demo/clauses.json: /protocol: is \"other\", but the folder is \"demo\"",
            "demo/clauses.json: /clauses/1/id: \"DEMO-1\" is listed twice",
            "demo/clauses.json: /clauses/2/text: must not be empty",
        ]
    );
}

#[test]
fn names_are_declared_once_and_every_operation_declares_its_outcome() {
    let folder = write_corpus(&[]);
    let list = changed(clauses(), json!({"levels": ["core", "core"], "oracles": [" "]}));
    put(folder.path(), "demo/clauses.json", &list.to_string());
    let mut list = operations();
    list["operations"]["echo"]["result"] = json!(["text", "text"]);
    list["operations"]["noop"].as_object_mut().unwrap().remove("result");
    put(folder.path(), "demo/operations.json", &list.to_string());
    assert_eq!(
        faults(folder.path()),
        [
            "demo/clauses.json: /levels/1: \"core\" is listed twice",
            "demo/clauses.json: /oracles/0: must not be empty",
            "demo/operations.json: /operations/echo/result/1: \"text\" is listed twice",
            "demo/operations.json: /operations/noop/result: is missing; it names the members of an \
             outcome beside `result`",
        ]
    );
}

#[test]
fn an_empty_folder_is_refused() {
    let folder = write_corpus(&[case("area/a")]);
    fs::create_dir_all(folder.path().join("other")).unwrap();
    fs::create_dir_all(folder.path().join("demo/later")).unwrap();
    put(folder.path(), "demo/notes/README.md", "To come.");
    assert_eq!(
        faults(folder.path()),
        [
            "demo/later: is an empty folder",
            "other: is an empty folder",
            "demo/notes: is an area without a case",
        ]
    );
}

#[test]
fn a_folder_that_cannot_be_read_is_named() {
    let error = Corpus::from_dir(Path::new("/no/such/corpus")).unwrap_err();
    assert!(error.to_string().starts_with("/no/such/corpus cannot be read: "), "{error}");

    let folder = write_corpus(&[]);
    fs::write(folder.path().join("demo/area.json"), [0xff, 0xfe]).unwrap();
    let error = Corpus::from_dir(folder.path()).unwrap_err();
    assert!(matches!(error, CorpusError::Unreadable { .. }), "{error}");

    std::os::unix::fs::symlink("..", folder.path().join("demo/loop")).unwrap();
    fs::remove_file(folder.path().join("demo/area.json")).unwrap();
    let error = Corpus::from_dir(folder.path()).unwrap_err();
    assert!(error.to_string().contains("nested too deeply"), "{error}");
}

#[test]
fn an_unknown_case_is_answered_with_one_that_looks_like_it() {
    let protocol = demo(&[case("area/plain"), case("area/other")]);
    let error = protocol.case("demo/plain").unwrap_err();
    assert_eq!(
        error.to_string(),
        "no case has the id \"demo/plain\"; did you mean \"demo/area/plain\"?"
    );
    assert_eq!(protocol.case("zzz").unwrap_err().to_string(), "no case has the id \"zzz\"");
    assert!(protocol.source(protocol.case("demo/area/plain").unwrap()).is_some());
}

#[test]
fn an_exported_corpus_is_the_same_corpus() {
    let source = write_corpus(&[case("area/a"), case("area/b")]);
    put(source.path(), "demo/README.md", "About these cases.\n");
    let corpus = Corpus::from_dir(source.path()).unwrap();
    let target = tempfile::tempdir().unwrap();
    let folder = target.path().join("new/folder");
    corpus.export(&folder).unwrap();

    let again = Corpus::from_dir(&folder).unwrap();
    let digest = |corpus: &Corpus| corpus.protocol("demo").unwrap().digest();
    assert_eq!(digest(&again), digest(&corpus));
    assert!(folder.join("demo/README.md").exists());
    let error = corpus.export(&folder).unwrap_err();
    assert!(matches!(error, CorpusError::Occupied { .. }), "{error}");

    // Texts for people judge nothing.
    put(&folder, "demo/README.md", "Other words.\n");
    assert_eq!(digest(&Corpus::from_dir(&folder).unwrap()), digest(&corpus));
    put(&folder, "demo/area/b.json", &format!("{} ", case("area/b")));
    assert_ne!(digest(&Corpus::from_dir(&folder).unwrap()), digest(&corpus));
}
