//! Facts: what is sent, what is kept, what is imported.

use accord_base::ActorType;
use accord_contract::{Code, Wire as _};
use accord_memory_core::Fact;
use accord_memory_core::fact::{
    AssertOptions, AssertState, Asserted, Assertion, ImportState, Imported, assert, import,
    invalidate,
};
use accord_memory_core::limits::{MAX_DOCUMENT_BYTES, MAX_ITEMS, MAX_KEY_BYTES, MAX_TEXT_BYTES};
use accord_memory_core::project::{Project, ProjectUpdate};
use serde_json::{Value, json};

use crate::support::{
    actor, at, fact, invalid, now, object, project, project_id, refused, time, writing,
};

fn parse(members: Value) -> Result<Assertion, accord_contract::codes::Failure> {
    let mut document = json!({"subject": "site", "predicate": "status", "value": "up"});
    document.as_object_mut().unwrap().extend(object(members));
    Assertion::parse(document.to_string().as_bytes(), &project_id())
}

fn added(asked: &Assertion, state: &AssertState<'_>) -> Fact {
    let (id, project) = (project_id(), project());
    let writing = writing(&id, Some(&project), None);
    match assert(asked, &writing, state, AssertOptions::default(), [7; 16]).unwrap() {
        Asserted::Added { fact, .. } => *fact,
        Asserted::Unchanged(fact) => panic!("{fact:?} is there"),
    }
}

#[test]
fn a_fact_has_every_member_of_the_protocol() {
    let fact = added(&parse(json!({})).unwrap(), &AssertState::default());
    let expected = json!({
        "fact_id": "fact_07070707070707070707070707070707",
        "project_id": "atlas", "subject": "site", "predicate": "status", "value": "up",
        "valid_from": "2026-05-01T00:00:00.000Z", "valid_to": null, "source_package_id": null,
        "confidence": 1.0, "asserted_by": null, "created_at": "2026-05-01T00:00:00.000Z",
        "tags": [],
    });
    assert_eq!(fact.encode(), expected);
    assert_eq!(Fact::read(object(expected)).unwrap(), fact);
}

#[test]
fn unknown_members_are_kept_and_given_times_keep_their_spelling() {
    let asked = parse(json!({
        "valid_from": "2026-04-30T00:00:00.5+00:00", "x-trust": 0.9, "unit": {"a": [1, null]},
        "confidence": 0.25, "tags": ["t"], "project_id": "atlas", "valid_to": null,
        "created_at": "2020-01-01T00:00:00Z",
    }));
    let fact = added(&asked.unwrap(), &AssertState::default()).encode();
    assert_eq!(fact["valid_from"], "2026-04-30T00:00:00.5+00:00");
    assert_eq!(fact["created_at"], "2026-05-01T00:00:00.000Z");
    assert_eq!((&fact["x-trust"], &fact["unit"]), (&json!(0.9), &json!({"a": [1, null]})));
    assert_eq!((&fact["confidence"], &fact["tags"]), (&json!(0.25), &json!(["t"])));
}

#[test]
fn what_is_no_assertion_is_refused_at_its_place() {
    for (members, pointer) in [
        (json!({"value": 97.0}), "/value"),
        (json!({"value": null}), "/value"),
        (json!({"subject": ""}), "/subject"),
        (json!({"subject": 1}), "/subject"),
        (json!({"predicate": "a\u{0}"}), "/predicate"),
        (json!({"value": "a\u{0}"}), "/value"),
        (json!({"confidence": -0.1}), "/confidence"),
        (json!({"confidence": 1.1}), "/confidence"),
        (json!({"confidence": "1"}), "/confidence"),
        (json!({"tags": "a"}), "/tags"),
        (json!({"valid_from": "2026-04-30"}), "/valid_from"),
        (json!({"valid_to": "2026-06-30T00:00:00Z"}), "/valid_to"),
        (json!({"created_at": "now"}), "/created_at"),
        (json!({"project_id": "other"}), "/project_id"),
        (json!({"fact_id": ""}), "/fact_id"),
        (json!({"source_package_id": "x".repeat(600)}), "/source_package_id"),
        (json!({"asserted_by": {"id": "a"}}), "/asserted_by/type"),
        (json!({"asserted_by": "ada"}), "/asserted_by"),
        (json!({"x-n": {"deep": 9_007_199_254_740_993_i64}}), "/x-n/deep"),
    ] {
        assert_eq!(refused(parse(members)), invalid(pointer));
    }
    for (members, code, pointer) in [
        (json!({"subject": "x".repeat(MAX_KEY_BYTES + 1)}), Code::AgenticTextTooLong, "/subject"),
        (json!({"value": "x".repeat(MAX_TEXT_BYTES + 1)}), Code::AgenticTextTooLong, "/value"),
        (json!({"tags": vec!["x"; MAX_ITEMS + 1]}), Code::AgenticTooManyItems, "/tags"),
        (json!({"x": "x".repeat(MAX_DOCUMENT_BYTES)}), Code::AgenticPayloadTooLarge, ""),
    ] {
        assert_eq!(refused(parse(members)), (code, pointer.to_owned()));
    }
    for key in ["meta:orient", "a/b?c", "😀", " ", "\n"] {
        parse(json!({"subject": key, "predicate": key, "value": ""})).unwrap();
    }
    let twice = br#"{"subject":"a","predicate":"b","value":"c","value":"d"}"#;
    assert_eq!(refused(Assertion::parse(twice, &project_id())), invalid("/value"));
}

#[test]
fn who_asserted_it_is_who_says_so_or_the_source_or_the_key() {
    let (id, here) = (project_id(), project());
    let source =
        accord_base::Actor::read(json!({"id": "ada", "type": "human", "git_commit": "abc"}))
            .unwrap();
    let owner = actor("key", ActorType::Script);
    let by = |members: Value, source: Option<&accord_base::Actor>| {
        let state = AssertState { source, ..AssertState::default() };
        let writing = writing(&id, Some(&here), Some(&owner));
        let asked = parse(members).unwrap();
        match assert(&asked, &writing, &state, AssertOptions::default(), [0; 16]).unwrap() {
            Asserted::Added { fact, warnings, .. } => (fact.asserted_by.unwrap(), warnings.len()),
            Asserted::Unchanged(_) => panic!("it is new"),
        }
    };
    let grace = json!({"id": "grace", "type": "agent"});
    let said = json!({"source_package_id": "pkg_1", "asserted_by": grace});
    assert_eq!(by(said, Some(&source)), (actor("grace", ActorType::Agent), 0));
    assert_eq!(by(json!({"source_package_id": "pkg_1"}), Some(&source)), (source.clone(), 0));
    assert_eq!(by(json!({"source_package_id": "pkg_9"}), None), (owner.clone(), 1));
    assert_eq!(by(json!({"source_package_id": ""}), None), (owner.clone(), 0));
}

#[test]
fn an_id_of_ones_own_makes_an_assertion_repeatable() {
    let (id, here) = (project_id(), project());
    let decide = |members: Value, known: &Fact, project: &Project| {
        let state = AssertState { same_id: Some(known), ..AssertState::default() };
        let asked = parse(members).unwrap();
        assert(
            &asked,
            &writing(&id, Some(project), None),
            &state,
            AssertOptions::default(),
            [0; 16],
        )
    };
    let first = parse(json!({"fact_id": "mine", "x-a": 1})).unwrap();
    let mut known = added(&first, &AssertState::default());
    assert_eq!(known.fact_id.as_str(), "mine");
    // It may have ended since, and the project may be archived: nothing is written.
    known.valid_to = Some(time("2026-06-01T00:00:00Z"));
    let ProjectUpdate::Changed(archived) = here.archived(now()) else {
        panic!("it was not archived before")
    };
    let again = decide(json!({"fact_id": "mine", "x-a": 1}), &known, &archived);
    assert_eq!(again.unwrap(), Asserted::Unchanged(Box::new(known.clone())));
    let other = decide(json!({"fact_id": "mine", "x-a": 2}), &known, &here);
    assert_eq!(refused(other), (Code::AgenticDuplicateFactId, "/fact_id".into()));
    let elsewhen = json!({"fact_id": "mine", "x-a": 1, "valid_from": "2020-01-01T00:00:00Z"});
    assert_eq!(refused(decide(elsewhen, &known, &here)).0, Code::AgenticDuplicateFactId);
    let new = parse(json!({})).unwrap();
    let outcome = assert(
        &new,
        &writing(&id, Some(&archived), None),
        &AssertState::default(),
        AssertOptions::default(),
        [0; 16],
    );
    assert_eq!(refused(outcome).0, Code::AgenticProjectArchived);
}

#[test]
fn a_planned_fact_that_is_invalidated_never_holds() {
    let planned = fact(json!({"valid_from": "2027-01-01T00:00:00Z"}));
    let ended = invalidate(Some(&planned), None, now()).unwrap();
    assert_eq!(ended, planned.valid_from);
    let running = fact(json!({}));
    assert_eq!(
        invalidate(Some(&running), Some("up"), now()).unwrap().as_str(),
        "2026-05-01T00:00:00.000Z"
    );
    assert_eq!(invalidate(Some(&running), Some("down"), now()), None);
    assert_eq!(invalidate(None, None, now()), None);
    let over = fact(json!({"valid_to": "2026-04-11T00:00:00Z"}));
    assert_eq!(invalidate(Some(&over), None, now()), None);
}

#[test]
fn a_fact_holds_from_its_start_up_to_its_end() {
    let over = fact(json!({"valid_to": "2026-04-11T00:00:00Z"}));
    for (instant, holds) in [
        ("2026-04-10T11:59:59.999999999Z", false),
        ("2026-04-10T12:00:00Z", true),
        ("2026-04-10T23:59:59Z", true),
        ("2026-04-11T00:00:00Z", false),
    ] {
        assert_eq!(over.holds_at(at(instant)), holds, "{instant}");
        assert_eq!(over.span().holds_at(at(instant)), holds, "{instant}");
    }
    let empty = fact(json!({"valid_to": "2026-04-10T12:00:00.0Z"}));
    assert!(empty.span().is_empty() && !empty.holds_at(at("2026-04-10T12:00:00Z")));
}

#[test]
fn reading_a_fact_fills_in_defaults_and_refuses_nonsense() {
    let short = fact(json!({"x-own": [1], "source_package_id": "", "tags": null}));
    assert_eq!(short.confidence.number().as_f64(), Some(1.0));
    assert_eq!((short.source_package_id.is_none(), &short.extra["x-own"]), (true, &json!([1])));
    let mut backward = object(short.encode());
    backward.insert("valid_to".into(), json!("2026-04-01T00:00:00Z"));
    assert_eq!(refused(Fact::read(backward)), invalid("/valid_to"));
    let mut partial = object(short.encode());
    partial.remove("created_at");
    assert_eq!(refused(Fact::read(partial)), invalid("/created_at"));
}

#[test]
fn an_imported_fact_fits_or_is_refused() {
    let span = |from: &str, to: Option<&str>| {
        let time = |day: &str| format!("2026-04-{day}T00:00:00Z");
        fact(json!({"fact_id": format!("f{from}"), "valid_from": time(from),
            "valid_to": to.map(time)}))
    };
    let between = |fact: &Fact, before: Option<&Fact>, after: Option<&Fact>| {
        import(fact, &ImportState { same_id: None, before, after })
    };
    let (early, late) = (span("01", Some("05")), span("10", None));
    let fits = span("05", Some("10"));
    assert_eq!(between(&fits, Some(&early), Some(&late)).unwrap(), Imported::Added);
    assert_eq!(between(&span("07", Some("07")), Some(&fits), None).unwrap(), Imported::Added);
    for wrong in [span("04", Some("06")), span("05", Some("11")), span("05", None)] {
        let outcome = between(&wrong, Some(&early), Some(&late));
        assert_eq!(refused(outcome).0, Code::AgenticFactOverlap);
    }
    assert_eq!(refused(between(&span("20", None), Some(&late), None)).0, Code::AgenticFactOverlap);

    let known = |fact: &Fact, known: &Fact| {
        import(fact, &ImportState { same_id: Some(known), ..ImportState::default() })
    };
    assert_eq!(known(&late, &late).unwrap(), Imported::Unchanged);
    let ended = span("10", Some("12"));
    let expected =
        Imported::Ended { fact_id: late.fact_id.clone(), valid_to: time("2026-04-12T00:00:00Z") };
    assert_eq!(known(&ended, &late).unwrap(), expected);
    assert_eq!(known(&late, &ended).unwrap(), Imported::Unchanged);
    // A fact that was filled in before its end made it earlier: an end never becomes later.
    let cut = span("10", Some("11"));
    let expected =
        Imported::Ended { fact_id: late.fact_id.clone(), valid_to: time("2026-04-11T00:00:00Z") };
    assert_eq!(known(&cut, &ended).unwrap(), expected);
    assert_eq!(known(&ended, &cut).unwrap(), Imported::Unchanged);
    let mut other = late.clone();
    other.value = "down".into();
    assert_eq!(refused(known(&other, &late)).0, Code::AgenticDuplicateFactId);
}
