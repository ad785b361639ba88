//! The text of a package, and its hash.

use accord_base::ProjectId;
use accord_contract::Code;
use accord_memory_core::package::{not_found, transport_text, verify, with_minted_id};
use accord_memory_core::{ContentHash, Package, PackageId, compact};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{invalid, minimal, package, project_id, refused, with};

#[test]
fn the_hash_is_what_an_independent_program_computes() {
    let rich = with(json!({
        "tags": ["archive", "cli"],
        "x-l": [1, null],
        "x-keys": {"b": 1, "a": 2, "Z": 3, "é": 4, "😀": 5, "\u{fffd}": 6},
        "handoff_note": "line\n\"quoted\" / \u{7f} \u{2028}",
    }));
    for (document, hash) in [
        (minimal(), "sha256:2d9d35281cd53bf0dc9b2f7bb6740baa1e4b0d24fe566406bd4a2de42a9d75d6"),
        (rich, "sha256:e12c6483775d9ed9d6775213d7e6090edd2900ae3848d3f9405a03f10bfbb8f5"),
    ] {
        assert_eq!(package(&document).content_hash().to_string(), hash);
        assert_eq!(hash.parse::<ContentHash>().unwrap().to_string(), hash);
    }
    for wrong in [
        "",
        "sha256:",
        "2d9d",
        "sha256:0x00",
        "SHA256:2d9d35281cd53bf0dc9b2f7bb6740baa1e4b0d24fe566406bd4a2de42a9d75d6",
    ] {
        assert!(wrong.parse::<ContentHash>().is_err(), "{wrong}");
    }
}

#[test]
fn order_space_and_null_make_no_difference_to_the_hash_and_content_does() {
    let hash = |document: &Value| *package(document).content_hash();
    let plain = with(json!({"tags": ["a", "b"], "x": {"m": {}}}));
    let spaced = serde_json::to_string_pretty(&plain).unwrap();
    assert_eq!(*Package::parse(spaced.as_bytes()).unwrap().content_hash(), hash(&plain));
    let mut reversed = serde_json::Map::new();
    for (name, value) in plain.as_object().unwrap().iter().rev() {
        reversed.insert(name.clone(), value.clone());
    }
    assert_eq!(hash(&Value::Object(reversed)), hash(&plain));
    let nulls = with(json!({"tags": ["a", "b"], "topic": null, "x": {"m": {"n": null}}}));
    assert_eq!(hash(&nulls), hash(&plain));

    assert_ne!(hash(&with(json!({"tags": ["b", "a"], "x": {"m": {}}}))), hash(&plain));
    assert_ne!(hash(&with(json!({"x-l": [1, null]}))), hash(&with(json!({"x-l": [1]}))));
    let other = json!({"created_by": {"id": "ada", "type": "agent"}});
    assert_ne!(hash(&with(other)), hash(&minimal()));
}

#[test]
fn the_text_stays_as_it_was_spelled() {
    let text = "\n{ \"package_id\":\"pkg_1\", \"project_id\" : \"atlas\",\"relay_version\":\"0.1\",\
        \"title\":\"caf\\u00e9 e\u{301} \\/\",\"status\":\"draft\",\"package_type\":\"standard\",\
        \"review_type\":\"none\",\"created_at\":\"2026-04-18T20:00:00.10Z\",\
        \"created_by\":{\"id\":\"ada\",\"type\":\"human\",\"session_id\":null},\
        \"future\":{\"a\":[1.0,null,{\"z\":1e-7},1E5]},\"significance\":5.0 }\n";
    let read = Package::parse(text.as_bytes()).unwrap();
    assert_eq!(read.text(), text.trim());
    assert_eq!(read.fields().title.as_str(), "café e\u{301} /");
}

#[test]
fn the_transport_member_is_taken_out_and_must_be_right() {
    let sound = package(&minimal());
    let hash = sound.content_hash().to_string();
    let named = format!("\"content_hash\":\"{hash}\"");
    let text = minimal().to_string();
    let inside = &text[1..text.len() - 1];
    let middle = text.replacen(
        ",\"title\"",
        &format!(" , \"content\\u005fhash\" : \"{hash}\" ,\"title\""),
        1,
    );
    for (sent, kept) in [
        (format!("{{{named},{inside}}}"), text.clone()),
        (format!("{{ {named} , {inside}}}"), format!("{{  {inside}}}")),
        (format!("{{{inside},{named}}}"), text.clone()),
        (format!("{{{inside}, {named} }}"), format!("{{{inside} }}")),
        (format!("{{{inside},\"content_hash\":null}}"), text.clone()),
        (middle, text.replacen(",\"title\"", "  ,\"title\"", 1)),
        (sound.transport_text(), text.clone()),
    ] {
        let read = Package::parse(sent.as_bytes()).unwrap();
        assert_eq!(read.text(), kept);
        assert_eq!(read.content_hash(), sound.content_hash());
    }
    let other = package(&with(json!({"title": "another"}))).content_hash().to_string();
    for wrong in [json!(other), json!("abc"), json!(7)] {
        let sent = with(json!({"content_hash": wrong})).to_string();
        let expected = (Code::AgenticHashMismatch, "/content_hash".to_owned());
        assert_eq!(refused(Package::parse(sent.as_bytes())), expected);
    }
    assert_eq!(
        refused(Package::parse(format!("{{{named}}}").as_bytes())).0,
        Code::AgenticInvalidSchema
    );
}

#[test]
fn a_package_belongs_to_one_project() {
    let sound = package(&minimal());
    sound.must_belong_to(&project_id()).unwrap();
    let other = ProjectId::new("other").unwrap();
    assert_eq!(refused(sound.must_belong_to(&other)), invalid("/project_id"));
}

#[test]
fn a_damaged_text_is_noticed() {
    let sound = package(&minimal());
    let stored = sound.text().to_owned();
    assert_eq!(Package::from_stored(stored.clone(), sound.content_hash()).unwrap(), sound);
    verify(&stored, sound.content_hash()).unwrap();
    for damaged in [
        stored.replacen("rebuilt", "rebuilT", 1),
        stored.replacen(',', ";", 1),
        String::new(),
        format!("{}\0", &stored[..stored.len() - 1]),
    ] {
        assert_eq!(refused(verify(&damaged, sound.content_hash())).0, Code::AgenticIntegrityError);
        let outcome = Package::from_stored(damaged, sound.content_hash());
        assert_eq!(refused(outcome).0, Code::AgenticIntegrityError);
    }
    let no_package = ContentHash::of(b"{}").unwrap();
    let outcome = Package::from_stored("{}".into(), &no_package);
    assert_eq!(refused(outcome).0, Code::AgenticIntegrityError);
}

#[test]
fn an_id_that_names_no_package_is_said_so() {
    let id = PackageId::new("pkg_1").unwrap();
    assert_eq!(not_found(&id).code, Code::AgenticPackageNotFound);
}

#[test]
fn an_id_is_minted_where_none_is_given() {
    let mut document = minimal();
    document.as_object_mut().unwrap().remove("package_id");
    let expected = "pkg_00000000000000000000000000000000";
    for sent in [
        document.to_string(),
        format!(" {document:#}"),
        with(json!({"package_id": null})).to_string(),
    ] {
        let minted = with_minted_id(sent.as_bytes(), [0; 16]).unwrap();
        assert_eq!(Package::parse(minted.as_bytes()).unwrap().package_id().as_str(), expected);
    }
    let own = minimal().to_string();
    assert_eq!(with_minted_id(own.as_bytes(), [0; 16]).unwrap(), own);
    assert_eq!(
        with_minted_id(b" {} ", [0; 16]).unwrap(),
        format!("{{\"package_id\":\"{expected}\"}} ")
    );
    for wrong in [b"[]".as_slice(), b"", b"{", b"\xff"] {
        assert_eq!(refused(with_minted_id(wrong, [0; 16])).0, Code::AgenticInvalidSchema);
    }
}

#[test]
fn what_can_be_searched_is_what_people_wrote() {
    let sound = package(&with(json!({
        "description": "why", "tags": ["t1", "t2"], "topic": "storage", "artifact_type": "report",
        "decisions_made": ["d1", "d2"], "open_questions": ["q1"], "handoff_note": "next",
        "content_md": "# body", "deliverables": [{"path": "docs/a.md", "type": "md"}],
    })));
    let texts = sound.fields().searchable();
    assert_eq!(texts.title, "Indexes rebuilt");
    assert_eq!((texts.decisions.as_str(), texts.questions.as_str()), ("d1\nd2", "q1"));
    assert_eq!(texts.handoff, "next");
    assert_eq!(texts.body, "why\nstorage\nt1\nt2\nreport\ndocs/a.md\n# body");
}

/// Any JSON value, of a few levels.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-1000_i64..1000).prop_map(Value::from),
        any::<f64>().prop_filter("finite", |n| n.is_finite()).prop_map(Value::from),
        "[ \\\\\"a-zé😀\n]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[ \\\\\"a-zé{}:,]{0,6}", inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn unknown_members_survive_and_the_hash_can_be_checked(value in any_json(), pretty: bool) {
        let document = with(json!({"x-own": value, "future": {"deep": [value]}}));
        let sent = match pretty {
            true => serde_json::to_string_pretty(&document).unwrap(),
            false => document.to_string(),
        };
        let read = Package::parse(sent.as_bytes()).unwrap();
        prop_assert_eq!(read.text(), &sent);
        // In transport and back, compact or not, it is the same package.
        let transport = transport_text(read.text(), read.content_hash());
        let back = Package::parse(transport.as_bytes()).unwrap();
        prop_assert_eq!(back.text(), read.text());
        let short = compact(&sent);
        prop_assert!(!short.contains('\n'));
        prop_assert_eq!(serde_json::from_str::<Value>(&short).unwrap(), document);
        prop_assert_eq!(ContentHash::of(short.as_bytes()).unwrap(), *read.content_hash());
        prop_assert_eq!(compact(&short), short);
    }

    #[test]
    fn no_text_makes_the_reader_stumble(text in "[{}\\[\\],:\"\\\\ a-z0-9content_hash]{0,60}") {
        let _ = Package::parse(text.as_bytes());
        let _ = with_minted_id(text.as_bytes(), [0; 16]);
        let _ = compact(&text);
    }
}
