//! Questions to people in one call.

use std::time::Duration;

use accord_base::{ActorKey, By, Caller, CallerProcess, Door, worker::Ancestry};
use accord_contract::{Code, Failure, Wire as _};
use accord_live::{Live, LiveOptions, PageQuery, Taken};
use accord_live_core::SessionId;
use accord_live_core::operations::answer::LiveAnswerRequest;
use accord_live_core::operations::ask_person::{AskPersonAnswer, AskPersonRequest, AskState};
use serde_json::{Value, json};

use crate::support::{LIMIT, app, owner, places, until_true};

fn builder() -> ActorKey {
    ActorKey::parse("agent:builder").unwrap()
}

/// A process at which a person is.
fn person() -> Caller {
    Caller::owner().examined_by(|| {
        let processes = Vec::new();
        CallerProcess::Seen(vec![Ancestry { processes, has_terminal: false, os_user: None }])
    })
}

async fn try_ask(live: &Live, document: Value) -> Result<Taken<AskPersonAnswer>, Failure> {
    let request = AskPersonRequest::from_document(document).unwrap();
    let (caller, shop) = (owner(), app("shop"));
    let asked = live.check_question(&caller, &shop, request, Some(builder())).await?;
    let asking = live.ask_person(&caller, &shop, asked);
    tokio::time::timeout(LIMIT, asking).await.unwrap()
}

async fn ask(live: &Live, document: Value) -> AskPersonAnswer {
    try_ask(live, document).await.unwrap().take()
}

async fn answer(live: &Live, session: &SessionId, action: &str) -> Result<u64, Failure> {
    let request = LiveAnswerRequest {
        action: action.to_owned(),
        data: None,
        client_id: None,
        client_seq: None,
        expect: None,
    };
    let by = By::parse("human:lead", Door::Cli).unwrap();
    let acked = live.answer(&person(), &app("shop"), session, request, by).await?;
    Ok(acked.sequence)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_call_that_waits_is_woken_by_the_answer() {
    for place in places() {
        let live = place.live();
        let asking = {
            let live = live.clone();
            let question = json!({"question": "Deploy?", "wait_seconds": 50, "to": "human:lead"});
            tokio::spawn(async move { ask(&live, question).await })
        };
        let asks = until_true(|| async {
            let asks = live.pending_asks(&owner(), &app("shop"), &page()).await.unwrap().asks;
            (!asks.is_empty()).then_some(asks)
        });
        let asks = asks.await;
        assert_eq!(asks[0].to.as_ref().unwrap().id.as_str(), "lead");
        assert_eq!(asks[0].asked_by.as_ref().unwrap().id.as_str(), "builder");
        until_true(|| async { live.has_consumer(&asks[0].session_id).then_some(()) }).await;
        answer(&live, &asks[0].session_id, "yes").await.unwrap();
        let given = asking.await.unwrap();
        assert_eq!((given.state, given.accepted), (AskState::Answered, Some(true)));
        assert_eq!(given.by.unwrap().id.as_str(), "lead");
        let second = answer(&live, &asks[0].session_id, "no").await.unwrap_err();
        assert_eq!(second.code, Code::DecisionStale);
    }
}

fn page() -> PageQuery {
    PageQuery { cursor: None, limit: 10 }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn calls_that_wait_for_one_answer_all_get_it() {
    for place in places() {
        let live = place.live();
        let session = ask(&live, json!({"question": "Deploy?"})).await;
        // Each of them says which question it waits for, so that none begins another one.
        let since = session.since.as_str();
        let question = json!({"question": "Deploy?", "wait_seconds": 50, "since": since});
        let call = |question: Value| {
            let live = live.clone();
            tokio::spawn(async move { try_ask(&live, question).await })
        };
        let calls: Vec<_> = (0..3).map(|_| call(question.clone())).collect();
        until_true(|| async { live.has_consumer(&session.session_id).then_some(()) }).await;
        answer(&live, &session.session_id, "yes").await.unwrap();
        for call in calls {
            let given = call.await.unwrap().unwrap().take();
            assert_eq!(given.accepted, Some(true));
        }
        assert_eq!(ask(&live, json!({"question": "Deploy?"})).await.state, AskState::Waiting);
    }
}

#[tokio::test]
async fn an_answer_is_given_until_it_was_taken_and_then_asked_for_again() {
    for place in places() {
        let live = place.live();
        let question = json!({"question": "Deploy?"});
        let asked = ask(&live, question.clone()).await;
        assert_eq!(asked.state, AskState::Waiting);
        let session = asked.session_id.clone();
        // The same question is one session.
        assert_eq!(ask(&live, question.clone()).await.session_id, session);
        assert_eq!(
            live.overview(&owner(), &app("shop"), None, &page()).await.unwrap().sessions.len(),
            1
        );
        answer(&live, &session, "no").await.unwrap();
        // A reply that was never sent gives its answer back, durably.
        let lost = try_ask(&live, question.clone()).await.unwrap();
        assert_eq!(lost.answer().state, AskState::Answered);
        drop(lost);
        until_true(|| async { place.returned(session.as_str()).map(drop) }).await;
        let again = ask(&live, question.clone()).await;
        assert_eq!((again.option.as_deref(), again.accepted), (Some("no"), Some(false)));
        // It was read, so the person is asked again.
        let anew = ask(&live, question.clone()).await;
        assert_eq!((anew.state, anew.session_id), (AskState::Waiting, session.clone()));
        answer(&live, &session, "yes").await.unwrap();
        assert_eq!(ask(&live, question).await.accepted, Some(true));
        let kinds = place.kinds();
        let started = kinds.iter().filter(|kind| *kind == "live.session.started").count();
        assert_eq!(started, 2, "{kinds:?}");
    }
}

#[tokio::test]
async fn an_answer_that_is_kept_is_given_until_it_is_confirmed() {
    for place in places() {
        let live = place.live();
        let question = json!({"question": "Deploy?", "keep": true});
        let session = ask(&live, question.clone()).await.session_id;
        answer(&live, &session, "yes").await.unwrap();
        for _ in 0..2 {
            assert_eq!(ask(&live, question.clone()).await.accepted, Some(true));
        }
        let given = ask(&live, question.clone()).await;
        let number = given.sequence.unwrap();
        live.confirm(&owner(), &app("shop"), session.clone(), number).await.unwrap();
        assert_eq!(ask(&live, question).await.state, AskState::Waiting);
    }
}

#[tokio::test]
async fn an_answer_that_outlives_its_session_is_given() {
    for place in places() {
        let live = place.live();
        for is_swept in [true, false] {
            let question = json!({"question": "Deploy?", "keep": true});
            let session = ask(&live, question.clone()).await.session_id;
            answer(&live, &session, "no").await.unwrap();
            place.expire(session.as_str());
            if is_swept {
                live.sweep().await.unwrap();
            }
            let late = ask(&live, question.clone()).await;
            assert_eq!((late.option.as_deref(), late.accepted), (Some("no"), Some(false)));
            // The same words under another id are another question.
            let other = json!({"question": "Deploy?", "id": "a"});
            assert_eq!(ask(&live, other).await.state, AskState::Waiting);
            let number = late.sequence.unwrap();
            live.confirm(&owner(), &app("shop"), session, number).await.unwrap();
            let anew = ask(&live, question).await;
            assert_eq!(anew.state, AskState::Waiting);
            answer(&live, &anew.session_id, "yes").await.unwrap();
            assert_eq!(ask(&live, json!({"question": "Deploy?"})).await.accepted, Some(true));
        }
    }
}

#[tokio::test]
async fn a_call_ends_with_the_time_to_answer() {
    for place in places() {
        let live = place.live();
        let question = json!({"question": "Deploy?", "within_seconds": 1, "wait_seconds": 50});
        let ended = ask(&live, question.clone()).await;
        assert_eq!((ended.state, ended.accepted), (AskState::Expired, None));
        let late = answer(&live, &ended.session_id, "yes").await.unwrap_err();
        assert_eq!(late.code, Code::LiveAskEnded);
        // It was said, so the same call asks again.
        let anew = json!({"question": "Deploy?", "within_seconds": 600});
        assert_eq!(ask(&live, anew).await.state, AskState::Waiting);
    }
}

#[tokio::test]
async fn an_id_names_one_question_of_its_actor_and_keeps_the_answer() {
    for place in places() {
        let live = place.live();
        let question = json!({"question": "Deploy?", "id": "3.0"});
        let session = ask(&live, question.clone()).await.session_id;
        let refused = try_ask(&live, json!({"question": "Delete?", "id": "3.0"})).await;
        assert_eq!(refused.unwrap_err().code, Code::LiveAskConflict);
        answer(&live, &session, "yes").await.unwrap();
        for _ in 0..2 {
            assert_eq!(ask(&live, question.clone()).await.accepted, Some(true));
        }
    }
}

#[tokio::test]
async fn a_question_counts_as_a_render_and_needs_an_open_project() {
    for place in places() {
        let live = place.live_with(LiveOptions { renders_per_minute: 1, ..LiveOptions::default() });
        ask(&live, json!({"question": "First?"})).await;
        // The window of a minute may just end.
        let second = try_ask(&live, json!({"question": "Second?"})).await;
        let third = try_ask(&live, json!({"question": "Third?"})).await;
        let refused = second.err().or(third.err()).unwrap();
        assert_eq!(refused.code, Code::GguiRateLimitExceeded);
        // To go on waiting is no render.
        ask(&live, json!({"question": "First?"})).await;
        place.archive(true);
        let refused = try_ask(&live, json!({"question": "First?"})).await.unwrap_err();
        assert_eq!(refused.code, Code::AgenticProjectArchived);
    }
}

#[tokio::test]
async fn an_actor_has_few_open_questions() {
    for place in places() {
        let live = place.live_with(LiveOptions { open_asks: 2, ..LiveOptions::default() });
        let first = json!({"question": "First?", "within_seconds": 600});
        let open = ask(&live, first.clone()).await;
        let second = ask(&live, json!({"question": "Second?"})).await;
        let third = json!({"question": "Third?"});
        let refused = try_ask(&live, third.clone()).await.unwrap_err();
        assert_eq!(refused.code, Code::LiveTooManyAsks);
        // To go on waiting for one of them is no other question.
        ask(&live, first.clone()).await;
        // Another actor has questions of its own.
        let request = AskPersonRequest::from_document(third.clone()).unwrap();
        let other = ActorKey::parse("agent:other").unwrap();
        let asked = live.check_question(&owner(), &app("shop"), request, Some(other)).await;
        live.ask_person(&owner(), &app("shop"), asked.unwrap()).await.unwrap().take();
        // An answer makes room.
        answer(&live, &open.session_id, "yes").await.unwrap();
        ask(&live, third).await;
        // So does the end of the time to answer.
        let refused = try_ask(&live, json!({"question": "Fourth?"})).await.unwrap_err();
        assert_eq!(refused.code, Code::LiveTooManyAsks);
        place.expire(second.session_id.as_str());
        ask(&live, json!({"question": "Fourth?"})).await;
    }
}

#[tokio::test]
async fn a_call_that_is_dropped_stops_waiting() {
    for place in places() {
        let live = place.live();
        let question = json!({"question": "Deploy?", "wait_seconds": 50});
        let asking = try_ask(&live, question);
        let dropped = tokio::time::timeout(Duration::from_millis(50), asking).await;
        assert!(dropped.is_err());
        until_true(|| async { (live.followed() == 0).then_some(()) }).await;
    }
}
