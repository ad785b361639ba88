//! Who may answer, how often, and until when.

use accord_base::worker::{Ancestor, Ancestry};
use accord_base::{Actor, ActorKey, Caller, CallerProcess, Door, KeyScope, KnownBy, Verb};
use accord_contract::{Code, Object};
use accord_live_core::contract::{AnswerRules, CompiledContract};
use accord_live_core::props::PropsUpdate;
use accord_live_core::session::{PendingAsk, Sender, begin_consume, drain, set_props};
use accord_live_core::violation::Source;
use serde_json::{Value, json};

use crate::support::{World, at, contract, project, submit, time};

fn key(name: &str) -> ActorKey {
    ActorKey::parse(name).unwrap()
}

pub(crate) fn person(name: &str) -> Sender {
    let ActorKey { id, kind } = key(&format!("human:{name}"));
    Sender {
        actor: Some(Actor::new(id, kind)),
        door: Some(Door::Page),
        key_id: Some("k1".into()),
        person: Ok(KnownBy::Key.into()),
    }
}

fn agent() -> Sender {
    let caller = Caller::key("k2", &scope().bound_to(key("agent:dev"), false));
    Sender::of(&caller, None, Door::Channel).unwrap()
}

fn scope() -> KeyScope {
    KeyScope::new(vec![Verb::Write], None)
}

fn world(rules: Value) -> (World, CompiledContract) {
    let mut spec = json!({"actionSpec": {"yes": {"label": "Yes"}, "no": {"label": "No"}}});
    spec.as_object_mut().unwrap().extend(rules.as_object().unwrap().clone());
    let compiled = contract(spec.clone());
    (World::rendered(&compiled, spec, json!({})), compiled)
}

#[test]
fn only_a_known_person_answers_what_a_person_must_answer() {
    let (mut world, contract) = world(json!({"x-answeredBy": "person"}));
    for sender in [Sender::default(), agent()] {
        world.sender = sender;
        let refused = world.act(&contract, None, submit("yes", json!(null))).unwrap_err();
        assert_eq!(refused.code, Code::AofPersonRequired);
    }
    assert!(world.ask.is_some() && world.session.head.ledger == 2, "nothing is appended");
    // Another type of event is no answer, and does not end the ask.
    let other = json!({"sessionId": "s1", "type": "telemetry", "payload": {}});
    world.act(&contract, None, other).unwrap();
    assert!(world.ask.is_some());
    world.sender = person("lead");
    let mut forged = submit("yes", json!(null));
    forged["x-by"] = json!({"id": "eve", "type": "human"});
    forged["x-key"] = json!("none");
    world.act(&contract, None, forged).unwrap();
    let recorded = &world.ledger.last().unwrap().data;
    assert_eq!(recorded["x-by"], json!({"id": "lead", "type": "human"}));
    assert_eq!((&recorded["x-person"], &recorded["x-key"]), (&json!(true), &json!("k1")));
    assert_eq!(world.ask, None);
}

#[test]
fn the_agent_and_the_project_learn_who_answered() {
    let (mut world, contract) = world(json!({}));
    for sender in [agent(), person("lead")] {
        world.sender = sender;
        world.act(&contract, None, submit("yes", json!({"note": 1}))).unwrap();
    }
    let project = project();
    let taken = drain(&world.session, &[], &world.ledger, None, at(&project, world.now)).unwrap();
    let sent: Vec<Value> = taken.events.iter().map(|event| event.document().into()).collect();
    let expected = [("dev", "agent", "channel", false), ("lead", "human", "page", true)];
    for (event, (id, kind, door, is_person)) in sent.iter().zip(expected) {
        assert_eq!(event["x-by"], json!({"id": id, "type": kind}), "{event}");
        assert_eq!((&event["x-door"], &event["x-person"]), (&json!(door), &json!(is_person)));
    }
    let last = &world.events.last().unwrap().data;
    assert_eq!(last["actor"], json!({"id": "lead", "type": "human"}));
    assert_eq!((&last["door"], &last["person"]), (&json!("page"), &json!(true)));
    // printf '{"action":"yes","data":{"note":1}}' | sha256sum
    let digest = "sha256:00845f8b9d3da114978c6b921661075c6bc19947e3cfca9f456230210257ebcd";
    assert_eq!(last["digest"], digest);
    assert!(!last.to_string().contains("note"), "what was entered stays in the session");
}

#[test]
fn nobody_in_particular_cannot_name_a_person() {
    let (mut world, contract) = world(json!({}));
    world.sender = Sender::of(&Caller::key("k2", &scope()), None, Door::Channel).unwrap();
    let mut forged = submit("yes", json!(null));
    forged["x-by"] = json!({"id": "lead", "type": "human"});
    forged["x-presence"] = json!("no terminal");
    world.act(&contract, None, forged).unwrap();
    let recorded = &world.ledger.last().unwrap().data;
    assert_eq!((recorded.get("x-by"), recorded.get("x-presence")), (None, None));
    assert_eq!(recorded["x-person"], false);
}

#[test]
fn the_first_answer_closes_the_ask() {
    let (mut world, contract) = world(json!({"x-closesOn": "first"}));
    world.sender = person("lead");
    let mut first = submit("yes", json!(null));
    first["clientSeq"] = json!(1);
    world.act(&contract, Some("c1"), first.clone()).unwrap();
    world.sender = person("ana");
    let refused = world.act(&contract, None, submit("no", json!(null))).unwrap_err();
    assert_eq!((refused.code, refused.code.http_status()), (Code::DecisionStale, 412));
    let details = Value::Object(*refused.details.unwrap());
    let by = json!({"id": "lead", "type": "human"});
    let expected = json!({"by": by, "action": "yes", "at": time(0).to_string(), "sequence": 3});
    assert_eq!(details, expected);
    assert!(refused.message.contains("human:lead answered \"yes\""), "{}", refused.message);
    // Sent again, the first one is still acknowledged.
    assert_eq!(world.act(&contract, Some("c1"), first).unwrap().sequence, 3);

    // An agent that waits again does not open it.
    let project = project();
    let wait = |world: &World| {
        let now = at(&project, world.now);
        let (session, content) = (&world.session, &world.content);
        begin_consume(session, content, &contract, None, None, now).unwrap().delta
    };
    world.apply(wait(&world));
    assert_eq!(world.ask, None);
    // A new version of the page is another ask.
    let change = json!({"kind": "replace", "props": {"n": 1}});
    let change = PropsUpdate::read(change.as_object().unwrap()).unwrap();
    let now = at(&project, world.now);
    let (session, content) = (&world.session, &world.content);
    let open = CompiledContract::read(&json!({
        "propsSpec": {"properties": {"n": {"schema": {"type": "integer"}}}},
    }));
    let changed = set_props(session, content, &open.unwrap(), &change, Source::Update, now);
    world.apply(changed.unwrap().delta);
    world.apply(wait(&world));
    assert!(world.ask.is_some());
    world.act(&contract, None, submit("no", json!(null))).unwrap();
}

/// Changes the prop `q`, with a new epoch or in place.
fn change_question(world: &mut World, text: &str, source: Source) {
    let open =
        contract(json!({"propsSpec": {"properties": {"q": {"schema": {"type": "string"}}}}}));
    let change = json!({"kind": "replace", "props": {"q": text}});
    let change = PropsUpdate::read(change.as_object().unwrap()).unwrap();
    let (project, now) = (project(), world.now);
    let (session, content) = (&world.session, &world.content);
    let changed = set_props(session, content, &open, &change, source, at(&project, now));
    world.apply(changed.unwrap().delta);
}

fn expecting(digest: &str) -> Value {
    let mut action = submit("yes", json!(null));
    action["x-expect"] = json!(digest);
    action
}

#[test]
fn an_answer_counts_only_for_the_question_that_was_shown() {
    for rules in [json!({"x-answeredBy": "person"}), json!({"x-closesOn": "first"})] {
        for source in [Source::Update, Source::Amend] {
            let (mut world, contract) = world(rules.clone());
            world.sender = person("lead");
            change_question(&mut world, "Fix the typo?", Source::Amend);
            let shown = world.content.shown().to_string();
            change_question(&mut world, "Drop the database?", source);
            let before = world.session.head.ledger;
            let refused = world.act(&contract, None, expecting(&shown)).unwrap_err();
            assert_eq!(refused.code, Code::XchainEvidenceChanged);
            assert!(refused.suggestion.unwrap().contains("accord live answer"));
            assert_eq!(world.session.head.ledger, before, "nothing is appended");
            let malformed = world.act(&contract, None, expecting("")).unwrap_err();
            assert_eq!(malformed.code, Code::GguiInvalidMessage);
            let shown = world.content.shown().to_string();
            let mut action = expecting(&shown);
            action["clientSeq"] = json!(1);
            world.act(&contract, Some("c1"), action.clone()).unwrap();
            // Sent again after another change, it is still acknowledged.
            change_question(&mut world, "Why?", source);
            action["x-expect"] = json!(world.content.shown().to_string());
            world.act(&contract, Some("c1"), action).unwrap();
        }
    }
    // Where no answer decides, an update of the page does not cost an answer.
    let (mut world, contract) = world(json!({}));
    let shown = world.content.shown().to_string();
    change_question(&mut world, "50%", Source::Update);
    world.act(&contract, None, expecting(&shown)).unwrap();
}

#[test]
fn the_record_of_an_answer_says_what_was_asked() {
    let recorded = |question: &str| {
        let (mut world, contract) = world(json!({"prompt": "May I?", "x-answeredBy": "person"}));
        world.sender = person("lead");
        change_question(&mut world, question, Source::Update);
        let answer = world.decide(&contract, None, submit("yes", json!(null))).unwrap();
        answer.delta.decision.unwrap()
    };
    let (one, other) = (recorded("Fix the typo?"), recorded("Drop the database?"));
    assert_eq!(one.shown.as_deref(), Some("May I?\nq: Fix the typo?"));
    assert_eq!((one.action.as_deref(), one.label.as_deref()), (Some("yes"), Some("Yes")));
    assert_ne!(one.evidence, other.evidence);
    assert_eq!(recorded("Fix the typo?").evidence, one.evidence);
}

#[test]
fn where_an_answer_decides_a_label_names_no_other_action() {
    let read = |first: &str, second: &str, rules: Value| {
        let mut spec = json!({"actionSpec": {"approve": {"label": first},
            "reject": {"label": second}}});
        spec.as_object_mut().unwrap().extend(rules.as_object().unwrap().clone());
        CompiledContract::read(&spec)
    };
    for rules in [json!({"x-answeredBy": "person"}), json!({"x-closesOn": "first"})] {
        for (first, second) in [(" Reject", "Approve"), ("OK", "ok"), ("reject", "No")] {
            let refused = read(first, second, rules.clone()).unwrap_err();
            assert_eq!(refused.code, Code::GguiToolContractValidationFailed);
            assert!(refused.violations[0].field.ends_with(".label"), "{refused:?}");
        }
        read("Approve", "Reject", rules).unwrap();
    }
    // The document of ggui says nothing about labels.
    read("Reject", "Approve", json!({})).unwrap();
}

#[test]
fn an_ask_has_a_deadline_of_its_own() {
    let day = 24 * 3600;
    let (mut world, contract) = world(json!({"x-answerWithin": 3 * day}));
    let pending = |world: &World| {
        PendingAsk::of(&world.session, world.ask.as_ref(), &world.content.ui, world.now)
    };
    // It keeps the session.
    assert_eq!(world.session.head.expires_at, time(3 * day));
    world.now = time(3 * day - 1);
    assert_eq!(pending(&world).unwrap().until, time(3 * day));
    let soon = world.decide(&contract, None, submit("yes", json!(null))).unwrap();
    assert_eq!(soon.ack.sequence, 3);
    // It ends although the session goes on.
    world.session.head.expires_at = time(9 * day);
    world.now = time(3 * day);
    assert_eq!(pending(&world), None);
    let refused = world.act(&contract, None, submit("yes", json!(null))).unwrap_err();
    assert_eq!(refused.code, Code::LiveAskEnded);
}

#[test]
fn rules_about_answers_are_checked_with_the_contract() {
    for (name, value) in [
        ("x-answeredBy", json!("human")),
        ("x-closesOn", json!("second")),
        ("x-keep", json!("yes")),
        ("x-answerWithin", json!("1h")),
        ("x-answerWithin", json!(0)),
        ("x-answerWithin", json!(90 * 24 * 3600 + 1)),
    ] {
        let document = json!({ name: value });
        let refused = CompiledContract::read(&document).unwrap_err();
        assert_eq!(refused.violations[0].field, name, "{document}");
    }
    let ui = json!({
        "x-answeredBy": "anyone", "x-closesOn": "first", "x-answerWithin": 60, "x-keep": true,
    });
    let expected = AnswerRules { by_person: false, once: true, within: Some(60), keeps: true };
    assert_eq!(AnswerRules::of_ui(ui.as_object().unwrap()), expected);
    assert_eq!(AnswerRules::of_ui(&Object::new()), AnswerRules::default());
}

#[test]
fn a_sender_is_a_person_as_the_policy_says() {
    let lead = key("human:lead");
    let person = Caller::key("k1", &scope().bound_to(lead.clone(), false));
    let sender = Sender::of(&person, None, Door::Tool).unwrap();
    let presence = sender.person.unwrap();
    assert_eq!((presence.known_by, presence.key_id.as_deref()), (Some(KnownBy::Key), Some("k1")));
    assert_eq!(sender.key_id.as_deref(), Some("k1"));
    // The bearer of a token of a person's key need not be that person.
    let bearer = Sender::of(&person.by_token(), None, Door::Channel).unwrap();
    assert!(bearer.person.is_err() && bearer.actor.is_some());
    let plain = Caller::key("k3", &scope());
    let unnamed = Sender::of(&plain, None, Door::Tool).unwrap();
    assert_eq!(unnamed.person.unwrap_err().code, Code::AofPersonRequired);
    let refused = Sender::of(&plain, Some(&lead), Door::Http).unwrap_err();
    assert_eq!(refused.code, Code::AofPersonRequired);
    let named = Sender::of(&Caller::owner(), Some(&lead), Door::Cli).unwrap();
    assert_eq!(named.person, Ok(KnownBy::Nothing.into()));

    let marks = vec![("ACCORD_TASK_ID".to_owned(), "TASK-2026-02-09-001".to_owned())];
    let process = Ancestor { pid: 7, marks, is_supervisor: false };
    let seen = Ancestry { processes: vec![process], has_terminal: true, os_user: None };
    let worker = Caller::owner().examined_by(move || CallerProcess::Seen(vec![seen.clone()]));
    for named in [None, Some(lead), Some(key("agent:dev"))] {
        let refused = Sender::of(&worker, named.as_ref(), Door::Cli).unwrap_err();
        assert_eq!(refused.code, Code::NotForWorkers);
    }
}
