//! Questions to people in one call.

use accord_base::{ActorId, ActorKey, ActorType};
use accord_contract::{Code, Failure, Value, Wire as _};
use accord_live_core::asking::{self, Question, Step, Stored};
use accord_live_core::limits::SESSION_TTL_SECONDS;
use accord_live_core::operations::ask_person::AskPersonRequest;
use accord_live_core::props::PropsUpdate;
use accord_live_core::session::{Head, PropsChanged, set_props};
use accord_live_core::violation::Source;
use serde_json::json;

use crate::answering::person;
use crate::support::{World, app, at, object, project, time};

const DAY: i64 = 24 * 3600;

fn builder() -> ActorKey {
    ActorKey { id: ActorId::new("builder").unwrap(), kind: ActorType::Agent }
}

fn request(document: Value) -> AskPersonRequest {
    AskPersonRequest::from_document(document).unwrap()
}

fn try_question(document: Value) -> Result<Question, Failure> {
    Question::new(&request(document), &project(), Some(builder()))
}

fn question(document: Value) -> Question {
    try_question(document).unwrap()
}

/// A question that was begun, as a world.
fn begun(question: &Question) -> World {
    let compiled = question.compile().unwrap();
    let project = project();
    let (session, content, delta) =
        question.begin(&app("shop"), None, &compiled, at(&project, time(0)));
    let mut world = World::empty(session.clone(), time(0));
    world.session.head = Head::new(time(0), SESSION_TTL_SECONDS);
    world.apply(delta);
    assert_eq!((&world.session, &world.content), (&session, &content));
    world
}

fn stored(world: &World, is_read: bool) -> Stored<'_> {
    let answer = world.closed.map(|(_, seq)| seq);
    let answer = answer.and_then(|seq| world.ledger.iter().find(|row| row.seq == seq));
    let (session, content) = (&world.session, &world.content);
    let ask = world.ask.as_ref();
    Stored { session, content, ask, answer, is_read, is_waited_for: false }
}

fn chosen(session: &str, action: &str) -> Value {
    json!({"sessionId": session, "type": "data:submit", "payload": {"action": action}})
}

fn step(question: &Question, world: &World, is_read: bool) -> Step {
    question.step(Some(stored(world, is_read)), world.now).unwrap()
}

#[test]
fn a_question_is_what_is_asked_by_whom_and_during_which_work() {
    let deploy = json!({"question": "Deploy?", "options": ["yes", "no"]});
    let same = json!({
        "question": " Deploy?\n", "options": ["yes", "no"], "wait_seconds": 50, "keep": true,
        "to": "human:lead", "within_seconds": 60,
    });
    assert_eq!(question(deploy.clone()).session_id, question(same).session_id);
    let others = [
        json!({"question": "Deploy it?", "options": ["yes", "no"]}),
        json!({"question": "Deploy?", "options": ["no", "yes"]}),
        json!({"question": "Deploy?", "options": ["yes", "no"], "work": "turn_2"}),
        json!({"question": "Deploy?", "options": ["yes", "no"], "id": "a"}),
        json!({"question": "Deploy?", "form": {"type": "object", "properties": {}}}),
    ];
    for other in others {
        let asked = question(other.clone()).session_id;
        assert_ne!(question(deploy.clone()).session_id, asked, "{other}");
    }
    let nobody = Question::new(&request(deploy.clone()), &project(), None).unwrap();
    assert_ne!(question(deploy).session_id, nobody.session_id);
    let named = |text: &str| question(json!({"question": text, "id": "a"})).session_id;
    assert_eq!(named("Deploy?"), named("Deploy it?"));
}

#[test]
fn options_are_buttons_and_a_form_has_a_schema() {
    let form = json!({"type": "object", "properties": {"region": {"type": "string"}}});
    for (document, expected) in [
        (json!({"question": "Deploy?"}), vec!["yes", "no"]),
        (json!({"question": "Deploy?", "options": ["now", "later"]}), vec!["now", "later"]),
        (json!({"question": "Where?", "form": form}), vec!["submit", "refuse"]),
        (json!({"question": "Where?", "form": form, "options": ["no"]}), vec!["submit", "no"]),
    ] {
        let question = question(document.clone());
        let compiled = question.compile().unwrap();
        let actions = compiled.contract().actions.as_ref().unwrap();
        assert_eq!(actions.names().collect::<Vec<_>>(), expected, "{document}");
        let rules = compiled.contract().answers;
        assert!(rules.by_person && rules.once && rules.within == Some(DAY), "{rules:?}");
    }
    for (wrong, place) in [
        (json!({"question": " \n "}), "/question"),
        (json!({"question": "Q", "options": ["yes", "Yes"]}), "/options/1"),
        (json!({"question": "Q", "options": ["yes", " "]}), "/options/1"),
        (json!({"question": "Q", "options": ["_ggui:x"]}), "/options/0"),
        (json!({"question": "Q", "form": form, "options": ["Submit"]}), "/options/0"),
        (json!({"question": "Q", "form": {"type": "string"}}), "/form"),
        (json!({"question": "Q", "options": ["yes", "--url=http://x"]}), "/options/1"),
        (json!({"question": "Q", "options": ["yes\u{1b}[2K"]}), "/options/0"),
        (json!({"question": "Q", "to": "lead"}), "/to"),
        (json!({"question": "Q", "to": "human:lead\r\nBcc: x"}), "/to"),
        (json!({"question": "Q", "to": "agent:human:lead"}), "/to"),
    ] {
        let refused = try_question(wrong.clone()).unwrap_err();
        assert_eq!(refused.code, Code::AgenticInvalidSchema, "{wrong}");
        assert_eq!(refused.pointer.as_deref(), Some(place), "{wrong}");
    }
    // What the contract refuses, it refuses with its own code.
    let wrong =
        json!({"question": "Q", "form": {"type": "object", "properties": {"a": {"type": 7}}}});
    let refused = question(wrong).compile().unwrap_err();
    assert!(refused.message.contains("actionSpec.submit"), "{refused:?}");
}

#[test]
fn what_follows_the_first_line_is_shown_below_it() {
    let question = question(json!({"question": "Deploy?\n\n*412* tests", "to": "human:lead"}));
    let world = begun(&question);
    assert_eq!(world.content.ui["prompt"], "Deploy?");
    assert_eq!(world.content.ui["x-to"], "human:lead");
    assert_eq!(world.content.ui["x-askedBy"], json!({"id": "builder", "type": "agent"}));
    assert_eq!(world.content.props, Some(object(json!({"details": "*412* tests"}))));
    assert_eq!(world.ask.as_ref().unwrap().intent, "Deploy?");
}

#[test]
fn a_repeated_call_waits_takes_the_answer_once_and_asks_again() {
    let question = question(json!({"question": "Deploy?"}));
    let compiled = question.compile().unwrap();
    assert_eq!(question.step(None, time(0)), Ok(Step::Begin));
    let mut world = begun(&question);
    // Beyond the time to answer, so that a late call learns how it ended.
    assert_eq!(world.session.head.expires_at, time(DAY + 3600));
    assert_eq!(step(&question, &world, false), Step::Wait);
    let waiting = question.answer(Step::Wait, stored(&world, false)).encode();
    let expected = json!({
        "session_id": question.session_id.as_str(), "state": "waiting",
        "since": time(0).to_string(), "until": time(DAY).to_string(),
    });
    assert_eq!(waiting, expected);
    world.now = time(5);
    world.sender = person("lead");
    let session = question.session_id.as_str();
    world.act(&compiled, None, chosen(session, "no")).unwrap();
    assert_eq!(step(&question, &world, false), Step::Take);
    let given = question.answer(Step::Take, stored(&world, false)).encode();
    assert_eq!((&given["option"], &given["accepted"]), (&json!("no"), &json!(false)));
    assert_eq!(given["sequence"], 3);
    // It was read: the person is asked again, unless the question has an id of its own.
    assert_eq!(step(&question, &world, true), Step::Begin);
    // A call that has waited for it gets it, too.
    let waited = Stored { is_waited_for: true, ..stored(&world, true) };
    assert_eq!(question.step(Some(waited), world.now), Ok(Step::GiveAgain));
    world.now = time(2 * DAY);
    assert_eq!(step(&question, &world, true), Step::Begin);
}

#[test]
fn a_question_with_an_id_keeps_its_answer_and_names_one_question() {
    let question = question(json!({"question": "Deploy?", "id": "deploy-3"}));
    let mut world = begun(&question);
    let other = self::question(json!({"question": "Delete?", "id": "deploy-3"}));
    let refused = other.step(Some(stored(&world, false)), world.now).unwrap_err();
    assert_eq!(refused.code, Code::LiveAskConflict);
    let more = self::question(json!({"question": "Deploy?\nNow", "id": "deploy-3"}));
    assert!(more.step(Some(stored(&world, false)), world.now).is_err());
    world.sender = person("lead");
    let session = question.session_id.as_str();
    world.act(&question.compile().unwrap(), None, chosen(session, "yes")).unwrap();
    assert_eq!(step(&question, &world, false), Step::Take);
    assert_eq!(step(&question, &world, true), Step::GiveAgain);
    let given = question.answer(Step::GiveAgain, stored(&world, true));
    assert_eq!(given.accepted, Some(true));
}

#[test]
fn the_end_of_the_time_is_said_once_and_a_late_answer_is_refused() {
    let question = question(json!({"question": "Deploy?", "within_seconds": 60}));
    let mut world = begun(&question);
    world.now = time(59);
    assert_eq!(step(&question, &world, false), Step::Wait);
    world.now = time(60);
    assert_eq!(step(&question, &world, false), Step::End);
    world.apply(asking::end(stored(&world, false)));
    assert_eq!(step(&question, &world, false), Step::Begin);
    world.sender = person("lead");
    let session = question.session_id.as_str();
    let late = world.act(&question.compile().unwrap(), None, chosen(session, "yes")).unwrap_err();
    assert_eq!(late.code, Code::LiveAskEnded);
    // It begins again, with numbers that go on.
    let (compiled, project) = (question.compile().unwrap(), project());
    let earlier = world.session.clone();
    let (session, ..) =
        question.begin(&app("shop"), Some(&earlier), &compiled, at(&project, time(61)));
    assert!(session.head.ledger > earlier.head.ledger && session.head.is_asking);
    let named = self::question(json!({"question": "Deploy?", "within_seconds": 60, "id": "a"}));
    let mut world = begun(&named);
    world.now = time(60);
    world.apply(asking::end(stored(&world, false)));
    assert_eq!(step(&named, &world, false), Step::SayEnded);
}

/// Changes what stands below the first line of a question.
fn change_details(world: &World, question: &Question, text: &str) -> Result<PropsChanged, Failure> {
    let change = json!({"kind": "replace", "props": {"details": text}});
    let change = PropsUpdate::read(change.as_object().unwrap()).unwrap();
    let (project, compiled) = (project(), question.compile().unwrap());
    let (session, content, at) = (&world.session, &world.content, at(&project, world.now));
    set_props(session, content, &compiled, &change, Source::Amend, at)
}

#[test]
fn a_question_stays_as_it_was_asked() {
    let question = question(json!({"question": "Deploy?\nTo production"}));
    let world = begun(&question);
    let refused = change_details(&world, &question, "To a test machine").unwrap_err();
    assert_eq!(refused.code, Code::LiveAskConflict);
    assert_eq!(refused.pointer.as_deref(), Some("/sessionId"));
}

#[test]
fn an_answer_counts_for_the_question_that_was_shown_alone() {
    let question = question(json!({"question": "Deploy?\nTo production", "id": "deploy-3"}));
    let mut world = begun(&question);
    // An earlier version began it, and let others change it.
    world.content.ui.shift_remove("x-question");
    world.sender = person("lead");
    world.apply(change_details(&world, &question, "To a test machine").unwrap().delta);
    let session = question.session_id.as_str();
    let mut answer = chosen(session, "yes");
    // What a client says about it does not count.
    answer["x-asked"] = json!("sha256:0");
    world.act(&question.compile().unwrap(), None, answer).unwrap();
    world.apply(change_details(&world, &question, "To production").unwrap().delta);
    let refused = question.step(Some(stored(&world, false)), world.now).unwrap_err();
    assert_eq!(refused.code, Code::LiveAskConflict, "{refused:?}");
    assert!(refused.message.contains("another question"), "{refused:?}");
    // An answer of an earlier version does not say what was asked.
    for row in &mut world.ledger {
        row.data.as_object_mut().unwrap().shift_remove("x-asked");
    }
    assert_eq!(step(&question, &world, false), Step::Take);
}
