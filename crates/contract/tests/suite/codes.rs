//! The registry, its pages, its lists, and failures in each protocol's body.

use std::collections::{BTreeMap, BTreeSet};

use accord_contract::alx::{ErrorEnvelope, RunEventType, SessionStatus};
use accord_contract::codes::{Category, Exchange, Policy, Union, index, page, page_name, unions};
use accord_contract::wire::{AliasState, DecodeErrorKind, Names, check_aliases};
use accord_contract::{Code, Extensible, Failure, Protocol, Wire, WireCode};
use serde_json::json;

use crate::golden;

#[test]
fn every_code_has_its_page_and_no_page_is_stale() {
    let mut pages: BTreeMap<_, _> =
        (Code::ALL.iter()).map(|code| (page_name(*code), page(*code))).collect();
    pages.insert("README.md".into(), index());
    golden::check_folder("docs/codes", &pages);
}

#[test]
fn a_page_says_what_the_registry_says() {
    let text = page(Code::RateLimited);
    for part in [
        "# RATE_LIMITED\n",
        Code::RateLimited.meaning(),
        "| Defined by | ALX 1.1 |",
        "`execution`",
        "`backoff`",
        "| 429 |",
        "`ErrorCode.execution` (extensible)",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
}

#[test]
fn a_failure_of_every_code_has_one_body_in_every_protocol() {
    for code in Code::ALL {
        let failure = Failure::new(*code, "This happened.").at("/a/b").suggesting("Do that.");
        for protocol in Protocol::ALL {
            let exchange = Exchange {
                correlation_id: "c-1".into(),
                capabilities: vec![Extensible::from_text("runs"), Extensible::from_text("later")],
            };
            let body = failure.body(*protocol, exchange);
            let envelope = ErrorEnvelope::from_document(body.clone()).unwrap();
            assert_eq!(envelope.error.known_code(), Some(*code));
            let mut expected = json!({
                "ok": false, "correlationId": "c-1",
                "protocol": {"protocol_version": "1.1", "capabilities": ["runs", "later"]},
                "error": {"message": "This happened.", "suggestion": "Do that."},
            });
            expected["error"]["type"] = code.category().as_str().into();
            expected["error"]["code"] = code.as_str().into();
            assert_eq!(envelope.view(), expected);
            let aliases = check_aliases::<ErrorEnvelope>(&body);
            assert!(aliases.iter().all(|alias| alias.state == AliasState::Match));
        }
    }
}

#[test]
fn a_suggestion_that_was_not_made_is_absent() {
    let exchange = Exchange { correlation_id: "c-1".into(), capabilities: Vec::new() };
    let body = Failure::new(Code::Usage, "No.").body(Protocol::Accord, exchange);
    assert_eq!(body["error"].get("suggestion"), None);
}

#[test]
fn an_agentic_body_names_the_field_and_what_programs_act_on() {
    let failure = Failure::new(Code::AgenticInvalidSchema, "No.")
        .at("/created_by/a~1b~0c/0")
        .with("status", "complete");
    let body = |failure: &Failure, protocol| {
        let exchange = Exchange { correlation_id: "c-1".into(), capabilities: Vec::new() };
        failure.body(protocol, exchange)["error"].clone()
    };
    let agentic = body(&failure, Protocol::Agentic);
    assert_eq!(agentic["field"], "created_by.a/b~c.0");
    assert_eq!(agentic["pointer"], "/created_by/a~1b~0c/0");
    assert_eq!(agentic["status"], "complete");
    assert_eq!(agentic["code"], "invalid_schema");
    // Other protocols have no such members, and a whole document is no field.
    let alx = body(&failure, Protocol::Alx);
    assert_eq!((alx.get("field"), &alx["status"]), (None, &json!("complete")));
    let whole = Failure::new(Code::AgenticInvalidSchema, "No.").at("");
    assert_eq!(body(&whole, Protocol::Agentic).get("field"), None);
    // A detail does not overrule what the envelope says.
    let forged = Failure::new(Code::Usage, "No.").with("code", "OTHER");
    assert_eq!(body(&forged, Protocol::Accord)["code"], "USAGE");
}

#[test]
fn no_two_pages_differ_in_letter_case_alone() {
    let names: BTreeSet<_> =
        (Code::ALL.iter()).map(|code| page_name(*code).to_lowercase()).collect();
    assert_eq!(names.len(), Code::ALL.len());
}

#[test]
fn a_refused_document_names_its_code_and_place() {
    let cases = [
        (json!({"ok": false}), Code::WireFieldMissing, "/error"),
        (json!({"ok": true, "error": {}}), Code::WireFieldValue, "/ok"),
        (json!({"ok": false, "error": {"type": 1}}), Code::WireFieldType, "/error/type"),
    ];
    for (document, code, pointer) in cases {
        let failure = Failure::from(ErrorEnvelope::from_document(document).unwrap_err());
        assert_eq!((failure.code, failure.pointer.as_deref()), (code, Some(pointer)));
        assert!(failure.to_string().starts_with(code.as_str()));
    }
}

#[test]
fn every_refusal_of_a_document_has_its_own_code() {
    let codes: BTreeSet<_> =
        (accord_canon::Refusal::ALL.iter()).map(|refusal| Code::from(*refusal).as_str()).collect();
    let listed: BTreeSet<_> = union("CanonRefusal").members.into_iter().collect();
    assert_eq!(codes, listed);

    let codes: BTreeSet<_> =
        (DecodeErrorKind::ALL.iter()).map(|kind| Code::from(*kind).as_str()).collect();
    let listed: BTreeSet<_> = union("WireRefusal").members.into_iter().collect();
    assert_eq!((codes.len(), &codes), (4, &listed));

    let error = accord_canon::read(br#"{"a":{"b":1,"b":2}}"#).unwrap_err();
    let failure = Failure::from(error);
    assert_eq!(failure.code, Code::CanonDuplicateKey);
    assert_eq!(failure.pointer.as_deref(), Some("/a/b"));
}

#[test]
fn an_unknown_code_is_kept_and_a_known_one_is_recognised() {
    let read = |text: &str| WireCode::from_document(json!(text)).unwrap();
    assert_eq!(read("RATE_LIMITED"), WireCode::Known(Code::RateLimited));
    assert_eq!(read("NEW_ONE"), WireCode::Unknown("NEW_ONE".into()));
    assert_eq!(read("NEW_ONE").encode(), json!("NEW_ONE"));
    assert_eq!(read("rate_limited").known(), None);
}

#[test]
fn lists_are_named_once_and_do_not_repeat_themselves() {
    let mut names = BTreeSet::new();
    for union in unions() {
        assert!(names.insert(union.name.clone()), "{} is listed twice", union.name);
        let members: BTreeSet<_> = union.members.iter().collect();
        assert_eq!(members.len(), union.members.len(), "{}", union.name);
    }
}

#[test]
fn closed_lists_refuse_and_extensible_lists_keep_what_they_do_not_know() {
    for union in unions() {
        assert_eq!(union.accepts("no such value"), union.policy == Policy::Extensible);
        assert!(union.members.iter().all(|member| union.accepts(member)));
    }
    // The types that readers use do what the lists say.
    assert_eq!(union("SessionStatus").policy, Policy::Closed);
    assert!(SessionStatus::from_document(json!("dormant")).is_err());
    for (name, reads) in
        [("ErrorType", tolerates::<Category>()), ("RunEventType", tolerates::<RunEventType>())]
    {
        assert_eq!(union(name).accepts("later"), reads, "{name}");
    }
}

#[test]
fn every_alx_code_is_in_the_list_of_its_category() {
    for code in Code::ALL.iter().filter(|code| code.protocol() == Protocol::Alx) {
        let list = union(&format!("ErrorCode.{}", code.category()));
        assert!(list.members.contains(&code.as_str()), "{code}");
    }
}

#[test]
fn every_ggui_code_is_in_a_list_of_ggui() {
    let lists: Vec<_> =
        unions().into_iter().filter(|union| union.name.starts_with("Ggui")).collect();
    for code in Code::ALL.iter().filter(|code| code.protocol() == Protocol::Ggui) {
        let is_listed = lists.iter().any(|list| list.members.contains(&code.as_str()));
        assert!(is_listed, "{code}");
    }
    // Its clients are written against this closed list.
    let reads = ["NOT_FOUND", "BLUEPRINT_UNRESOLVABLE", "NOT_SUPPORTED", "NOT_MOUNTABLE"];
    assert_eq!(union("GguiResourceRead").members, reads);
}

fn union(name: &str) -> Union {
    let found = unions().into_iter().find(|union| union.name == name);
    found.unwrap_or_else(|| panic!("there is no list {name}"))
}

fn tolerates<N: Names>() -> bool {
    Extensible::<N>::from_document(json!("later")).is_ok()
}
