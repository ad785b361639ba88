//! Requests that a person sends back.

use accord_contract::{Code, Failure};
use accord_runs_core::config::Config;
use accord_runs_core::dispatch::{self, Briefing};
use accord_runs_core::event;
use accord_runs_core::next_step::{NextStep, due_role, next_steps};
use accord_runs_core::run::{Change, SendBack, SentBack, resolve, send_back};
use accord_runs_core::state::{State, Status};
use accord_runs_core::testing::approval;
use serde_json::{Value, json};

use crate::support::{accept, assign, config, config_with, ids, now, result, stage, world};

fn waiting(change: impl FnOnce(&mut Value)) -> State {
    let mut document = json!({
        "schema_version": "1.1", "run_id": "run_1", "project_id": "shop", "status": "paused",
        "phase": "planning", "active_turns": {}, "turn_sequence": 2,
        "blocked_on": "human_approval:plan",
        "pending_phase_transition": {"from": "planning", "to": "implementation", "gate": "plan",
            "requested_by_turn": "turn_1"},
        "phase_gate_status": {"plan": "pending", "ship": "pending"},
        "last_completed_turn_id": "turn_1", "next_recommended_role": "dev",
        "non_progress_count": 2, "non_progress_signature": "plan:x",
    });
    change(&mut document);
    State::read(document).unwrap()
}

fn completing() -> State {
    waiting(|state| {
        state["phase"] = json!("qa");
        state["pending_phase_transition"] = Value::Null;
        state["pending_run_completion"] = json!({"gate": "ship", "requested_by_turn": "turn_1",
            "requested_at": "2026-04-20T09:00:00.000Z"});
        state["blocked_on"] = json!("human_approval:ship");
    })
}

fn given(reason: &str) -> SendBack {
    SendBack { reason: reason.to_owned(), role: None }
}

fn sent(state: &State, given: &SendBack) -> Result<Change, Failure> {
    send_back(state, &config(), given, &approval(), Some("pm"), &mut ids(3), now())
}

fn prompts(config: &Config, state: &State) -> [String; 2] {
    let turn = state.turns().next().unwrap();
    let briefing =
        Briefing { config, state, turn, recent: &[], next_decision: "DEC-001", role_prompt: None };
    [dispatch::prompt(&briefing), dispatch::context(&briefing)]
}

#[test]
fn the_run_continues_in_its_phase_with_the_role_that_made_the_request() {
    let change = sent(&waiting(|_| {}), &given("The roadmap has no dates.")).unwrap();
    let state = &change.state;
    assert_eq!((state.status(), state.phase()), (Status::Active, "planning"));
    assert_eq!(state.blocked_on(), None);
    assert!(state.pending_transition().is_none());
    assert_eq!(state.member("phase_gate_status")["plan"], "failed");
    assert_eq!(state.member("non_progress_count"), 0);
    assert_eq!(due_role(state, &config()).as_deref(), Some("pm"));
    let record = SentBack::of(state).unwrap();
    assert_eq!((record.reason(), record.by()), ("The roadmap has no dates.", "human:reviewer"));
    assert_eq!((record.at(), record.to()), ("2026-04-20T10:00:00.000Z", Some("implementation")));
}

#[test]
fn other_runners_read_a_gate_that_failed_and_do_not_pass_it_by_themselves() {
    let change = sent(&waiting(|_| {}), &given("No dates.")).unwrap();
    let [event] = &change.events[..] else { panic!("{:?}", change.events) };
    assert_eq!(event::check(&event.line().clone().into()), Vec::<String>::new());
    let line = Value::Object(event.line().clone());
    assert_eq!(line["event_type"], "gate_failed");
    assert_eq!((&line["status"], &line["phase"]), (&json!("active"), &json!("planning")));
    let payload = &line["payload"];
    assert_eq!(payload["gate_id"], "plan");
    assert_eq!(
        (&payload["from_phase"], &payload["to_phase"]),
        (&json!("planning"), &json!("implementation"))
    );
    assert_eq!(payload["reasons"], json!(["sent back by human:reviewer: No dates."]));
    assert_eq!(payload["sent_back"]["requested_by_turn"], "turn_1");

    let [line] = &change.ledger[..] else { panic!("{:?}", change.ledger) };
    let line = Value::Object(line.clone());
    assert_eq!(
        (&line["type"], &line["decision"]),
        (&json!("gate_failure"), &json!("gate_sent_back"))
    );
    assert_eq!((&line["role"], &line["statement"]), (&json!("human"), &json!("No dates.")));
    assert_eq!(line["sent_back"]["sent_back_by"], "human:reviewer");
    // Who decided is where an approval has it.
    for record in [payload, &line, &line["sent_back"]] {
        assert_eq!(record["actor"], "human:reviewer");
        assert_eq!(record["evidence_digest"], approval().evidence.as_str());
    }
    assert_eq!((&line["run_id"], &line["phase"]), (&json!("run_1"), &json!("planning")));

    // The reference runner looks the turn and the phase up in the history, and passes the gate of a
    // request that it finds there.
    let failure = change.state.member("last_gate_failure");
    assert_eq!(failure["gate_type"], "phase_transition");
    assert_eq!(failure["requested_by_turn"], "sent_back:turn_1");
    assert_eq!(failure["to_phase"], "planning");
    assert_eq!(failure["reasons"], json!(["sent back by human:reviewer: No dates."]));
}

#[test]
fn a_request_to_complete_the_run_can_be_sent_back() {
    let change = sent(&completing(), &given("Not yet.")).unwrap();
    assert!(change.state.pending_completion().is_none());
    assert_eq!((change.state.status(), change.state.phase()), (Status::Active, "qa"));
    assert_eq!(change.state.member("phase_gate_status")["ship"], "failed");
    let failure = change.state.member("last_gate_failure");
    assert_eq!(
        (&failure["gate_type"], &failure["to_phase"]),
        (&json!("run_completion"), &Value::Null)
    );
    // A completion without a gate has no status to change.
    let mut bare = completing().document();
    bare["pending_run_completion"]["gate"] = Value::Null;
    let bare = State::read(bare.into()).unwrap();
    let change = sent(&bare, &given("Not yet.")).unwrap();
    assert_eq!(change.state.member("phase_gate_status")["ship"], "pending");
}

#[test]
fn a_run_that_was_blocked_while_its_gate_waited_can_be_sent_back() {
    let blocked = waiting(|state| {
        state["status"] = json!("blocked");
        state["blocked_on"] = json!("gate_action:plan");
        state["blocked_reason"] = json!({"category": "gate_action_failed"});
        state["escalation"] = json!({"source": "x"});
    });
    let failure = resolve(&blocked, None, &approval(), &mut ids(3), now()).unwrap_err();
    assert!(failure.suggestion.unwrap().contains("send the request back"));
    let state = sent(&blocked, &given("The check fails.")).unwrap().state;
    assert_eq!((state.status(), state.blocked_on()), (Status::Active, None));
    assert_eq!(
        (state.member("blocked_reason"), state.member("escalation")),
        (Value::Null, Value::Null)
    );
}

#[test]
fn a_run_whose_gate_does_not_wait_cannot_be_sent_back() {
    for status in ["idle", "active", "completed", "failed", "blocked", "paused"] {
        let state = waiting(|state| {
            state["status"] = json!(status);
            if matches!(status, "blocked" | "paused") {
                state["pending_phase_transition"] = Value::Null;
            }
        });
        let failure = sent(&state, &given("No.")).unwrap_err();
        assert_eq!(failure.code, Code::XchainInvalidStateTransition, "{status}");
        assert!(failure.message.contains(status), "{}", failure.message);
    }
}

#[test]
fn another_role_can_be_named_if_it_can_take_a_turn() {
    let state = waiting(|_| {});
    let to = |role: &str| SendBack { role: Some(role.to_owned()), ..given("No.") };
    let change = sent(&state, &to("dev")).unwrap();
    assert_eq!(due_role(&change.state, &config()).as_deref(), Some("dev"));
    assert_eq!(sent(&state, &to("none")).unwrap_err().code, Code::XchainUnknownRole);
    // A role that is not declared any more does not get the turn; the entry role does.
    let gone =
        send_back(&state, &config(), &given("No."), &approval(), Some("gone"), &mut ids(3), now());
    assert_eq!(due_role(&gone.unwrap().state, &config()).as_deref(), Some("pm"));
    let unknown =
        send_back(&state, &config(), &given("No."), &approval(), None, &mut ids(3), now());
    assert_eq!(due_role(&unknown.unwrap().state, &config()).as_deref(), Some("pm"));
}

#[test]
fn both_ways_are_named_at_a_gate_that_waits() {
    let (steps, due) = next_steps(&config(), &waiting(|_| {}), &[]);
    assert!(
        matches!(&steps[..], [NextStep::ApproveTransition { .. },
        NextStep::SendBack { phase }] if phase == "planning"),
        "{steps:?}"
    );
    assert_eq!(due, None);
    let (steps, _) = next_steps(&config(), &completing(), &[]);
    assert!(
        matches!(&steps[..], [NextStep::ApproveCompletion { .. },
        NextStep::SendBack { phase }] if phase == "qa"),
        "{steps:?}"
    );
}

#[test]
fn the_prompts_have_the_question_of_a_turn_and_the_answer_of_a_person() {
    let mut world = world(config(), "implementation");
    let turn = assign(&mut world, "dev", 10);
    let mut asks = result(&world, &turn);
    asks["status"] = json!("needs_human");
    asks["needs_human_reason"] = json!("Which port?\n# Not a heading");
    stage(&mut world, &turn, &asks);
    accept(&mut world, &turn, &crate::support::Script { seed: 10, ..Default::default() });
    assert_eq!(world.state.status(), Status::Blocked);
    let resolved = |note: Option<&str>| {
        let mut approval = approval();
        approval.person.note = note.map(str::to_owned);
        resolve(&world.state, None, &approval, &mut ids(11), now()).unwrap().state
    };
    let texts = |state: &State| {
        let mut world = world.clone();
        world.state = state.clone();
        assign(&mut world, "dev", 12);
        prompts(&world.config, &world.state)
    };
    for text in texts(&resolved(None)) {
        assert!(!text.contains("Answered by a person"), "{text}");
    }
    let answered = resolved(Some("8080.\n\nNo other."));
    let expected = format!(
        "\n## Answered by a person\n\nThe run was stopped by {turn}:\n\n> Which port?\n\
         > # Not a heading\n\nhuman:reviewer answered at 2026-04-20T10:00:00.000Z:\n\n\
         > 8080.\n>\n> No other.\n"
    );
    for text in texts(&answered) {
        assert!(text.contains(&expected), "{text}");
    }
}

#[test]
fn the_prompts_have_the_reason_until_the_gate_waits_again() {
    let config = config_with(|config| {
        config["gates"]["plan"]["requires_files"] = json!([".planning/PM_SIGNOFF.md"]);
    });
    let mut world = world(config.clone(), "planning");
    world.files.insert(".planning/PM_SIGNOFF.md".to_owned(), "Approved: YES\n".to_owned());
    let ask = |world: &mut accord_runs_core::testing::MemoryRepository, seed: u8, asks: bool| {
        let turn = assign(world, "pm", seed);
        let texts = prompts(&config, &world.state);
        let mut result = result(world, &turn);
        if asks {
            result["phase_transition_request"] = json!("implementation");
        }
        stage(world, &turn, &result);
        accept(world, &turn, &crate::support::Script { seed, ..Default::default() })
            .outcome
            .unwrap();
        texts
    };
    for text in ask(&mut world, 10, true) {
        assert!(!text.contains("Sent back by a person"), "{text}");
    }
    assert_eq!(world.state.status(), Status::Paused);
    let back = given("Name the dates.\n\n# Not a heading\nName the owner.");
    world.state = sent(&world.state, &back).unwrap().state;
    let expected = "\n## Sent back by a person\n\nhuman:reviewer sent back the request for the \
                    phase implementation at 2026-04-20T10:00:00.000Z, for this reason:\n\n\
                    > Name the dates.\n>\n> # Not a heading\n> Name the owner.\n";
    // A turn that does not make the request leaves the reason for the next one.
    for seed in [11, 12] {
        for text in ask(&mut world, seed, seed == 12) {
            assert!(text.contains(expected), "{text}");
        }
    }
    assert_eq!(world.state.status(), Status::Paused);
    assert!(SentBack::of(&world.state).is_none());
    assert!(!world.state.document().contains_key("accord_sent_back"));
    assert_eq!(world.state.member("last_gate_failure"), Value::Null);
}
