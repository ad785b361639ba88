//! The pipe, and what a session asks for.

use accord_base::{ActorId, ActorKey, ActorType, Presence, ProjectId};
use accord_contract::{Code, Object, Timestamp, Wire as _};
use accord_live_core::contract::CompiledContract;
use accord_live_core::frame::ServerFrame;
use accord_live_core::operations::questions::LiveAsk;
use accord_live_core::session::{
    ActFacts, ContentChange, Dispatch, Drained, LedgerRow, PendingAsk, begin_consume, confirm,
    drain, expire, give_back, submit as submit_tool,
};
use serde_json::{Value, json};

use crate::support::{World, at, contract, project, submit, time};

fn world() -> World {
    let spec = json!({"actionSpec": {"pick": {"label": "Pick", "schema": {"type": "string"}}}});
    World::rendered(&contract(spec.clone()), merged(spec), json!({}))
}

fn merged(mut ui: Value) -> Value {
    ui["prompt"] = json!("pick a colour");
    ui
}

fn pending(world: &World) -> Vec<LedgerRow> {
    let drained = world.session.head.drained;
    let rows = world.ledger.iter();
    rows.filter(|row| row.seq > drained && row.event_id.is_some()).cloned().collect()
}

fn take(world: &mut World) -> Drained {
    take_after(world, None)
}

fn take_after(world: &mut World, after: Option<u64>) -> Drained {
    let project = project();
    let returned: Vec<LedgerRow> =
        world.ledger.iter().filter(|row| world.returned.contains(&row.seq)).cloned().collect();
    let now = at(&project, world.now);
    let taken = drain(&world.session, &returned, &pending(world), after, now).unwrap();
    world.apply(taken.delta.clone());
    taken
}

fn facts<'a>(
    world: &'a World,
    contract: &'a CompiledContract,
    project: &'a ProjectId,
) -> ActFacts<'a> {
    let (session, at) = (&world.session, at(project, world.now));
    ActFacts {
        session,
        contract,
        client_id: None,
        sender: &world.sender,
        earlier: None,
        ask: None,
        content: None,
        closed_by: None,
        at,
    }
}

#[test]
fn what_a_page_submits_is_checked_against_the_contract() {
    let world = world();
    let (contract, project) = (world.compiled(), project());
    let submitted = |intent: &str, data: Value| {
        let dispatch = Dispatch {
            intent: intent.into(),
            data,
            ui_context: json!({}),
            action_id: "act-1".into(),
            fired_at: Timestamp::parse("2026-01-02T03:04:05Z").unwrap(),
            expect: None,
        };
        submit_tool(dispatch, facts(&world, &contract, &project))
    };
    let key = format!("accord_{}_{}", "0123456789abcdef", "0v".repeat(26));
    for (intent, data) in [("pick", json!(7)), ("drop", json!("red")), ("pick", json!(key))] {
        let failure = submitted(intent, data.clone()).unwrap_err();
        assert_eq!(failure.code, Code::GguiContractViolation, "{intent} {data}");
    }
    assert_eq!(submitted("pick", json!("red")).unwrap().ack.sequence, 3);
}

#[test]
fn only_a_known_person_submits_what_a_person_must_answer() {
    let mut world = world();
    let spec = json!({"actionSpec": {"pick": {"label": "Pick"}}, "x-answeredBy": "person"});
    let (contract, project) = (CompiledContract::read(&spec).unwrap(), project());
    let submitted = |world: &World| {
        let dispatch = Dispatch {
            intent: "pick".into(),
            data: json!(null),
            ui_context: json!({}),
            action_id: "act-1".into(),
            fired_at: Timestamp::parse("2026-01-02T03:04:05Z").unwrap(),
            expect: None,
        };
        submit_tool(dispatch, facts(world, &contract, &project)).map(|acted| acted.ack.sequence)
    };
    assert_eq!(submitted(&world).unwrap_err().code, Code::AofPersonRequired);
    world.sender.person = Ok(Presence::default());
    assert_eq!(submitted(&world).unwrap(), 3);
}

#[test]
fn events_are_taken_out_once_with_one_frame_each() {
    let mut world = world();
    let contract = world.compiled();
    world.act(&contract, None, submit("pick", json!("red"))).unwrap();
    let dispatch = Dispatch {
        intent: "pick".into(),
        data: json!("blue"),
        ui_context: json!({"tab": 1}),
        action_id: "act-9".into(),
        fired_at: Timestamp::parse("2026-01-02T03:04:05Z").unwrap(),
        expect: None,
    };
    let project = project();
    let acted = submit_tool(dispatch, facts(&world, &contract, &project)).unwrap();
    world.apply(acted.delta);
    world.now = time(77);

    let taken = take(&mut world);
    let minted = &taken.events[0].action_id;
    assert!(minted.len() == 8 && minted.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let documents: Vec<Value> =
        taken.events.iter().map(|event| Value::Object(event.document())).collect();
    assert_eq!(
        documents,
        [
            json!({
                "type": "action", "sessionId": "s1", "intent": "pick", "actionData": "red",
                "uiContext": {}, "actionId": minted, "firedAt": time(0).to_string(),
            }),
            json!({
                "type": "action", "sessionId": "s1", "intent": "pick", "actionData": "blue",
                "uiContext": {"tab": 1}, "actionId": "act-9", "firedAt": "2026-01-02T03:04:05Z",
            }),
        ],
    );
    let ids: Vec<&str> = (taken.acks.iter())
        .map(|frame| match frame {
            ServerFrame::DrainAck { event_id, drained_at, .. } => {
                assert_eq!(*drained_at, time(77));
                event_id.as_str()
            }
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(ids, [minted.as_str(), "act-9"]);
    assert_eq!(world.session.head.expires_at, time(77 + 3600));

    let again = take(&mut world);
    assert!(again.events.is_empty() && again.acks.is_empty() && again.delta.is_empty());
}

#[test]
fn two_agents_with_the_same_rows_take_an_event_once() {
    let mut world = world();
    let contract = world.compiled();
    world.act(&contract, None, submit("pick", json!("red"))).unwrap();
    let rows = pending(&world);
    assert_eq!(take(&mut world).events.len(), 1);
    let project = project();
    let late = drain(&world.session, &[], &rows, None, at(&project, world.now)).unwrap();
    assert!(late.events.is_empty() && late.delta.is_empty());
}

#[test]
fn an_action_without_data_has_null() {
    let open = contract(json!({}));
    let mut world = World::rendered(&open, json!({}), json!({}));
    let payload = json!({"sessionId": "s1", "type": "data:submit", "payload": {"action": "go"}});
    world.act(&open, None, payload).unwrap();
    assert_eq!(take(&mut world).events[0].action_data, Value::Null);
}

#[test]
fn a_session_without_a_pipe_has_nothing_to_take() {
    let mut world = world();
    let project = project();
    world.session.head.has_pipe = false;
    let failure = drain(&world.session, &[], &[], None, at(&project, world.now)).unwrap_err();
    assert_eq!(failure.code, Code::GguiPipeNotFound);
    let failure = drain(&world.session, &[], &[], None, at(&project, time(3600))).unwrap_err();
    assert_eq!(failure.code.as_str(), "session_not_found");
}

#[test]
fn an_agent_that_waits_says_so_and_asks_again() {
    let mut world = world();
    let (contract, project) = (world.compiled(), project());
    let ask = world.ask.clone().unwrap();
    assert_eq!((ask.intent.as_str(), ask.since), ("pick a colour", time(0)));

    // An answer ends the ask, and only once.
    world.act(&contract, None, submit("pick", json!("red"))).unwrap();
    assert_eq!(world.ask, None);
    world.act(&contract, None, submit("pick", json!("blue"))).unwrap();

    world.now = time(50);
    let agent = ActorKey { id: ActorId::new("dev").unwrap(), kind: ActorType::Agent };
    let begun = begin_consume(
        &world.session,
        &world.content,
        &contract,
        Some(agent.clone()),
        world.oldest(),
        at(&project, world.now),
    )
    .unwrap();
    assert_eq!(begun.row.channel, "_ggui:lifecycle");
    let polling = json!({"kind": "consume_polling", "sessionId": "s1", "state": "open"});
    assert_eq!(begun.row.payload, polling);
    assert!(contract.check_stream(&begun.row.channel, &begun.row.payload, false).is_ok());
    world.apply(begun.delta);

    let ui = Object::from_iter([("x-to".to_owned(), json!("human:lead"))]);
    let pending = PendingAsk::of(&world.session, world.ask.as_ref(), &ui, world.now).unwrap();
    assert_eq!(
        LiveAsk::of(&pending).encode(),
        json!({
            "session_id": "s1", "app_id": "shop", "intent": "pick a colour",
            "since": time(50).to_string(), "until": time(3650).to_string(),
            "asked_by": {"id": "dev", "type": "agent"}, "to": {"id": "lead", "type": "human"},
        }),
    );
    // It ends with the session, which is recorded once.
    assert_eq!(PendingAsk::of(&world.session, world.ask.as_ref(), &ui, pending.until), None);
    assert_eq!(expire(&world.session, at(&project, time(3649))), None);
    world.apply(expire(&world.session, at(&project, pending.until)).unwrap());
    assert_eq!(world.ask, None);
    assert_eq!(world.events.last().unwrap().kind.as_str(), "live.session.expired");
    assert_eq!(expire(&world.session, at(&project, time(9999))), None);
}

#[test]
fn a_session_without_actions_asks_nothing() {
    let show = contract(json!({}));
    let world = World::rendered(&show, json!({"prompt": "look"}), json!({}));
    assert!(world.ask.is_none() && !world.session.head.is_asking);
}

#[test]
fn events_that_are_given_back_come_first_and_once() {
    let mut world = world();
    let contract = world.compiled();
    for colour in ["red", "green"] {
        world.act(&contract, None, submit("pick", json!(colour))).unwrap();
    }
    let lost = take(&mut world);
    world.act(&contract, None, submit("pick", json!("blue"))).unwrap();
    let other = take(&mut world);
    assert_eq!(other.events.len(), 1);
    // Twice is once.
    for _ in 0..2 {
        let returned = world.returned.clone();
        let delta = give_back(&world.session, &returned, &lost.numbers, world.now).unwrap();
        world.apply(delta);
    }
    world.act(&contract, None, submit("pick", json!("black"))).unwrap();
    let again = take(&mut world);
    let data: Vec<_> = again.events.iter().map(|event| event.action_data.clone()).collect();
    assert_eq!(data, [json!("red"), json!("green"), json!("black")]);
    assert_eq!(world.returned, [0; 0]);
    assert_eq!(take(&mut world).events, []);
    // An expired session takes nothing back.
    assert_eq!(give_back(&world.session, &[], &lost.numbers, time(36_000)), None);
}

#[test]
fn what_is_not_confirmed_is_given_again() {
    let mut world = world();
    let contract = world.compiled();
    for colour in ["red", "blue"] {
        world.act(&contract, None, submit("pick", json!(colour))).unwrap();
    }
    let data = |taken: &Drained| -> Vec<Value> {
        taken.events.iter().map(|event| event.action_data.clone()).collect()
    };
    let first = take_after(&mut world, Some(0));
    assert_eq!(
        (data(&first), first.acks.len(), first.cursor),
        (vec!["red".into(), "blue".into()], 2, 4)
    );
    // Its reply was lost. The ids are the same, and the page is not told again.
    world.act(&contract, None, submit("pick", json!("black"))).unwrap();
    let again = take_after(&mut world, Some(0));
    assert_eq!(again.events[..2], first.events[..]);
    assert_eq!((again.events.len(), again.acks.len(), again.cursor), (3, 1, 5));
    // A part of it is confirmed.
    let rest = take_after(&mut world, Some(4));
    assert_eq!((data(&rest), rest.acks.len()), (vec!["black".into()], 0));
    // A number that no event has confirms nothing that was not given.
    world.act(&contract, None, submit("pick", json!("white"))).unwrap();
    let next = take_after(&mut world, Some(1000));
    assert_eq!((data(&next), next.cursor), (vec!["white".into()], 6));
    let done = take_after(&mut world, Some(6));
    assert!(done.events.is_empty() && done.cursor == 6 && world.returned.is_empty());
    assert!(take_after(&mut world, Some(6)).delta.is_empty());
}

#[test]
fn an_agent_that_does_not_confirm_takes_what_another_left() {
    let mut world = world();
    let contract = world.compiled();
    world.act(&contract, None, submit("pick", json!("red"))).unwrap();
    take_after(&mut world, Some(0));
    assert_eq!(world.returned, [3]);
    assert_eq!(confirm(&world.session, &world.returned, 2, world.now), None);
    let confirmed = confirm(&world.session, &world.returned, 3, world.now).unwrap();
    assert_eq!(confirmed.content, [ContentChange::Returned(Vec::new())]);
    assert_eq!(take(&mut world).events.len(), 1);
    assert!(take_after(&mut world, Some(0)).events.is_empty(), "it was taken out");
}
