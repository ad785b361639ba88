//! Which documents are packages: R-001 to R-018 and R-040 to R-042.

use accord_contract::Code;
use accord_contract::wire::json_schema;
use accord_memory_core::Package;
use accord_memory_core::limits::{
    MAX_ACTOR_BYTES, MAX_ITEMS, MAX_PACKAGE_BYTES, MAX_PROSE_BYTES, MAX_TEXT_BYTES,
};
use accord_memory_core::package::{KnownPackageType, PackageFields, Significance, Status};
use serde_json::{Value, json};

use crate::support::{invalid, minimal, package, refused, with};

fn refusal(document: &Value) -> (Code, String) {
    refused(Package::parse(document.to_string().as_bytes()))
}

fn accepted(members: Value) -> Package {
    package(&with(members))
}

#[test]
fn each_of_the_nine_members_is_required_and_null_is_none() {
    let names: Vec<String> = minimal().as_object().unwrap().keys().cloned().collect();
    assert_eq!(names.len(), 9);
    for name in names {
        let mut document = minimal();
        document.as_object_mut().unwrap().remove(&name);
        assert_eq!(refusal(&document), invalid(&format!("/{name}")));
        assert_eq!(refusal(&with(json!({&name: null}))), invalid(&format!("/{name}")));
    }
    package(&minimal());
}

#[test]
fn the_version_is_exactly_this_one() {
    for version in [json!("0.2"), json!(0.1), json!(""), json!("0.1.0")] {
        let document = with(json!({"relay_version": version}));
        assert_eq!(refusal(&document), invalid("/relay_version"));
    }
}

#[test]
fn a_title_has_1_to_200_characters() {
    assert_eq!(refusal(&with(json!({"title": ""}))), invalid("/title"));
    accepted(json!({"title": "x"}));
    accepted(json!({"title": "😀".repeat(200)}));
    assert_eq!(refusal(&with(json!({"title": "é".repeat(201)}))), invalid("/title"));
    assert_eq!(refusal(&with(json!({"title": 7}))), invalid("/title"));
}

#[test]
fn status_review_type_and_package_type_are_of_their_lists() {
    for status in ["draft", "complete", "awaiting_review", "revision_requested"] {
        assert_eq!(accepted(json!({"status": status})).status().as_str(), status);
    }
    for wrong in ["approved", "Complete", ""] {
        assert_eq!(refusal(&with(json!({"status": wrong}))), invalid("/status"));
    }
    for review_type in ["none", "human", "agent"] {
        accepted(json!({"review_type": review_type}));
    }
    assert_eq!(refusal(&with(json!({"review_type": "peer"}))), invalid("/review_type"));
    assert_eq!(KnownPackageType::ALL.len(), 8);
    for known in KnownPackageType::ALL {
        let kind = &accepted(json!({"package_type": known.as_str()}));
        assert_eq!(kind.fields().package_type.meaning(), *known);
    }
    let own = accepted(json!({"package_type": "x-model-eval"}));
    assert_eq!(own.fields().package_type.as_str(), "x-model-eval");
    assert_eq!(own.fields().package_type.meaning(), KnownPackageType::Standard);
    for wrong in ["lattice_synthesis", "Standard", "x", "x-", ""] {
        let document = with(json!({"package_type": wrong}));
        assert_eq!(refusal(&document), invalid("/package_type"));
    }
}

#[test]
fn created_at_is_a_time_in_utc() {
    for text in ["2026-04-18T20:00:00.123456789Z", "2026-04-18T20:00:00+00:00"] {
        let read = accepted(json!({"created_at": text}));
        assert_eq!(read.fields().created_at.as_str(), text);
    }
    for wrong in [
        json!("2026-04-18T20:00:00+02:00"),
        json!("2026-04-18"),
        json!("2026-02-30T00:00:00Z"),
        json!(1_776_542_400),
    ] {
        let document = with(json!({"created_at": wrong}));
        assert_eq!(refusal(&document), invalid("/created_at"));
    }
}

#[test]
fn created_by_names_an_actor() {
    let by = |actor: Value| with(json!({"created_by": actor}));
    for kind in ["human", "agent", "script"] {
        package(&by(json!({"id": "ada", "type": kind})));
    }
    assert_eq!(refusal(&by(json!("ada"))), invalid("/created_by"));
    assert_eq!(refusal(&by(json!({"type": "human"}))), invalid("/created_by/id"));
    assert_eq!(refusal(&by(json!({"id": "", "type": "human"}))), invalid("/created_by/id"));
    assert_eq!(refusal(&by(json!({"id": "ada"}))), invalid("/created_by/type"));
    assert_eq!(refusal(&by(json!({"id": "ada", "type": "bot"}))), invalid("/created_by/type"));

    let session = |value: Value| by(json!({"id": "ada", "type": "human", "session_id": value}));
    let read = |document: Value| {
        let read = package(&document);
        read.fields().created_by.session().map(|id| id.as_str().to_owned())
    };
    assert_eq!(read(session(json!("sess_1"))), Some("sess_1".into()));
    assert_eq!(read(session(json!(null))), None);
    assert_eq!(read(session(json!(""))), None);
    assert_eq!(refusal(&session(json!(7))), invalid("/created_by/session_id"));
}

#[test]
fn optional_members_have_their_types() {
    for (member, wrong, pointer) in [
        ("description", json!(1), "/description"),
        ("tags", json!("a"), "/tags"),
        ("tags", json!(["a", 1]), "/tags/1"),
        ("decisions_made", json!({}), "/decisions_made"),
        ("open_questions", json!([null]), "/open_questions/0"),
        ("handoff_note", json!([]), "/handoff_note"),
        ("estimated_next_actor", json!("script"), "/estimated_next_actor"),
        ("deliverables", json!({}), "/deliverables"),
        ("parent_package_id", json!(1), "/parent_package_id"),
        ("significance", json!(0), "/significance"),
        ("significance", json!(11), "/significance"),
        ("significance", json!(5.5), "/significance"),
        ("significance", json!(-1), "/significance"),
        ("significance", json!("5"), "/significance"),
        ("content_md", json!(true), "/content_md"),
        ("topic", json!(1), "/topic"),
        ("artifact_type", json!([]), "/artifact_type"),
        ("storage_path", json!({}), "/storage_path"),
    ] {
        assert_eq!(refusal(&with(json!({member: wrong}))), invalid(pointer));
        // What the hash cannot tell from absence is no reason to refuse.
        accepted(json!({member: null}));
    }
    for number in [json!(1), json!(10), json!(10.0)] {
        accepted(json!({"significance": number}));
    }
    for next in ["human", "agent"] {
        accepted(json!({"estimated_next_actor": next}));
    }
}

#[test]
fn a_deliverable_has_a_path_and_a_type() {
    let of = |item: Value| with(json!({"deliverables": [item]}));
    assert_eq!(refusal(&of(json!({"type": "md"}))), invalid("/deliverables/0/path"));
    assert_eq!(refusal(&of(json!({"path": "a.md"}))), invalid("/deliverables/0/type"));
    for size in [json!(-1), json!(1.5), json!("1")] {
        let document = of(json!({"path": "a.md", "type": "md", "size_bytes": size}));
        assert_eq!(refusal(&document), invalid("/deliverables/0/size_bytes"));
    }
    let sound =
        json!({"path": "a.md", "type": "md", "hash": "sha256:ab", "size_bytes": 0, "lang": "en"});
    let read = package(&of(sound));
    assert_eq!(read.fields().deliverables()[0].extra["lang"], "en");
}

#[test]
fn defaults_are_read_and_not_written() {
    let bare = package(&minimal());
    let fields = bare.fields();
    assert_eq!(fields.significance(), Significance::DEFAULT);
    assert_eq!((fields.description(), fields.handoff_note(), fields.content_md()), ("", "", ""));
    assert!(fields.tags().is_empty() && fields.open_questions().is_empty());
    assert_eq!((fields.topic(), fields.parent()), (None, None));
    assert_eq!(bare.text(), minimal().to_string());
    assert_eq!(accepted(json!({"parent_package_id": ""})).fields().parent(), None);
}

#[test]
fn what_two_readers_could_understand_differently_is_refused() {
    let text = minimal().to_string();
    let inserted = |member: &str| text.replacen('{', &format!("{{{member},"), 1);
    for (member, pointer) in [
        (r#""title":"twice""#, "/title"),
        (r#""x":{"a":1,"\u0061":2}"#, "/x/a"),
        (r#""x-n":9007199254740993"#, "/x-n"),
        (r#""x-n":1e400"#, "/x-n"),
        (r#""x-s":"\ud800""#, "/x-s"),
        (r#""x-k":{"\udc00":1}"#, "/x-k"),
    ] {
        let refusal = refused(Package::parse(inserted(member).as_bytes()));
        assert_eq!(refusal, invalid(pointer), "{member}");
    }
    // An integer that a double holds is no other number.
    Package::parse(inserted(r#""x-n":10000000000000000000000"#).as_bytes()).unwrap();
    let mut broken = text.clone().into_bytes();
    broken.push(0xff);
    for bytes in [b"".as_slice(), b"{", b"null", b"[]", b"\"x\"", &broken, b"{}{}"] {
        assert_eq!(refused(Package::parse(bytes)).0, Code::AgenticInvalidSchema);
    }
}

#[test]
fn every_limit_has_its_code() {
    let deep = |levels: usize| {
        let nested = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        let document = minimal().to_string();
        Package::parse(document.replacen('{', &format!("{{\"x\":{nested},"), 1).as_bytes())
    };
    assert!(deep(255).is_ok());
    assert_eq!(refused(deep(256)).0, Code::AgenticTooDeep);

    let items = vec!["x"; MAX_ITEMS + 1];
    for member in ["tags", "decisions_made", "open_questions"] {
        let expected = (Code::AgenticTooManyItems, format!("/{member}"));
        assert_eq!(refusal(&with(json!({member: items}))), expected);
        accepted(json!({member: items[1..]}));
        let expected = (Code::AgenticTextTooLong, format!("/{member}/1"));
        let long = json!({member: ["", "x".repeat(MAX_TEXT_BYTES + 1)]});
        assert_eq!(refusal(&with(long)), expected);
    }
    let deliverables = vec![json!({"path": "a", "type": "b"}); MAX_ITEMS + 1];
    let expected = (Code::AgenticTooManyItems, "/deliverables".into());
    assert_eq!(refusal(&with(json!({"deliverables": deliverables}))), expected);
    for (member, limit) in [
        ("description", MAX_PROSE_BYTES),
        ("handoff_note", MAX_PROSE_BYTES),
        ("content_md", MAX_PROSE_BYTES),
        ("topic", MAX_TEXT_BYTES),
        ("artifact_type", MAX_TEXT_BYTES),
        ("parent_package_id", MAX_TEXT_BYTES),
        ("storage_path", MAX_TEXT_BYTES),
    ] {
        accepted(json!({member: "x".repeat(limit)}));
        let expected = (Code::AgenticTextTooLong, format!("/{member}"));
        assert_eq!(refusal(&with(json!({member: "x".repeat(limit + 1)}))), expected);
    }
    let heavy = json!({"id": "ada", "type": "human", "key": "x".repeat(MAX_ACTOR_BYTES)});
    let expected = (Code::AgenticTextTooLong, "/created_by".into());
    assert_eq!(refusal(&with(json!({"created_by": heavy}))), expected);
    let large = with(json!({"x-blob": "x".repeat(MAX_PACKAGE_BYTES)}));
    assert_eq!(refusal(&large).0, Code::AgenticPayloadTooLarge);
}

#[test]
fn the_schema_for_other_tools_names_what_is_required() {
    let schema = json_schema::<PackageFields>();
    let document = schema.to_string();
    for name in minimal().as_object().unwrap().keys() {
        assert!(document.contains(&format!("\"{name}\"")), "{name}");
    }
    assert!(Status::ALL.iter().all(|status| document.contains(status.as_str())));
}
