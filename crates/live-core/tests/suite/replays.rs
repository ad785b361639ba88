//! Replay of the stream and of the ledger.

use accord_contract::{Code, Field, Wire as _};
use accord_live_core::limits::{REPLAY_PAGE, SESSION_TTL_SECONDS};
use accord_live_core::session::{
    Emitter, EventsQuery, Head, LedgerName, LedgerRow, LiveCursor, StreamQuery,
    check_since_sequence, events_query, ledger_page, pull_position, replay_stream, stream_query,
};
use accord_live_core::tools::PullAnswer;
use serde_json::json;

use crate::streams::spec;
use crate::support::{World, contract, time};

#[test]
fn a_subscriber_gets_the_frames_after_its_position() {
    let contract = contract(spec());
    let mut world = World::rendered(&contract, json!({}), json!({}));
    // 1 is the lifecycle frame of the render.
    for channel in ["log", "tick", "state", "log", "state", "log"] {
        world.emit(&contract, Emitter::Agent, channel, json!("x")).unwrap();
    }
    let head = world.session.head;
    assert_eq!(head.stream, 7);
    for (from, expected) in [
        // Without a position only reserved channels are replayed.
        (None, vec![1]),
        (Some(0), vec![1, 2, 5, 6, 7]),
        (Some(1), vec![2, 5, 6, 7]),
        (Some(5), vec![6, 7]),
        (Some(7), vec![]),
        (Some(99), vec![]),
    ] {
        let replay = replay_stream(&head, &contract, from, world.kept_rows());
        let numbers: Vec<u64> = replay.rows.iter().map(|row| row.seq).collect();
        assert_eq!(numbers, expected, "{from:?}");
        assert!(!replay.is_truncated);
    }
}

#[test]
fn a_replay_that_is_not_whole_says_so() {
    let contract = contract(spec());
    let mut head = Head::new(time(0), SESSION_TTL_SECONDS);
    (head.stream, head.evicted) = (300, 44);
    for (from, expected) in
        [(None, false), (Some(0), true), (Some(43), true), (Some(44), false), (Some(300), false)]
    {
        let is_truncated = replay_stream(&head, &contract, from, Vec::new()).is_truncated;
        assert_eq!(is_truncated, expected, "{from:?}");
    }
    // Without a channel that keeps all of its frames, nothing was promised.
    let schema = json!({"type": "string"});
    let latest = crate::support::contract(
        json!({"streamSpec": {"state": {"schema": schema, "replay": "latest"}}}),
    );
    assert!(!replay_stream(&head, &latest, Some(0), Vec::new()).is_truncated);
}

#[test]
fn live_frames_up_to_the_snapshot_are_left_out() {
    let mut cursor = LiveCursor::after(5);
    let sent: Vec<u64> =
        [4, 5, 6, 6, 7, 5, 8].into_iter().filter(|seq| cursor.admit(*seq)).collect();
    assert_eq!(sent, [6, 7, 8]);
    assert_eq!(cursor.position(), 8);
}

#[test]
fn positions_in_the_ledger() {
    let mut head = Head::new(time(0), SESSION_TTL_SECONDS);
    (head.ledger, head.horizon) = (9, 3);
    for (since, expected) in [
        (json!(3), Ok(3)),
        (json!(9), Ok(9)),
        (json!(4.0), Ok(4)),
        (json!(2), Err(Code::GguiReplayHorizonPassed)),
        (json!(0), Err(Code::GguiReplayHorizonPassed)),
        (json!(10), Err(Code::GguiReplayHorizonPassed)),
        (json!(-1), Err(Code::GguiInvalidSinceSequence)),
        (json!(1.5), Err(Code::GguiInvalidSinceSequence)),
        (json!("3"), Err(Code::GguiInvalidSinceSequence)),
        (json!(null), Err(Code::GguiInvalidSinceSequence)),
    ] {
        let found = check_since_sequence(&head, &since);
        if let Err(failure) = &found
            && failure.code == Code::GguiReplayHorizonPassed
        {
            assert_eq!(failure.details.as_ref().unwrap()["currentSequence"], json!(9));
        }
        assert_eq!(found.map_err(|failure| failure.code), expected, "{since}");
    }
}

#[test]
fn the_ledger_comes_in_pages_up_to_the_snapshot() {
    let row = |seq: u64| LedgerRow {
        seq,
        at: time(0),
        kind: LedgerName::UserSubmitted.into(),
        data: json!({}),
        event_id: None,
        key: None,
    };
    let mut head = Head::new(time(0), SESSION_TTL_SECONDS);
    head.ledger = 250;
    let stored: Vec<LedgerRow> = (1..=260).map(row).collect();
    let (mut after, mut pages, mut seen) = (0, Vec::new(), Vec::new());
    loop {
        let rows = stored.iter().filter(|row| row.seq > after).take(REPLAY_PAGE + 1).cloned();
        let page = ledger_page(&head, rows.collect(), REPLAY_PAGE);
        assert_eq!(page.last_sequence, 250);
        pages.push(page.rows.len());
        seen.extend(page.rows.iter().map(|row| row.seq));
        after = *seen.last().unwrap();
        if !page.has_more {
            break;
        }
    }
    assert_eq!(pages, [100, 100, 50]);
    assert_eq!(seen, (1..=250).collect::<Vec<_>>());

    let page = ledger_page(&head, vec![row(250), row(251)], 500);
    assert_eq!(
        serde_json::Value::Object(page.document()),
        json!({
            "events": [{
                "seq": 250, "type": "user.submitted", "timestamp": time(0).to_string(), "data": {},
            }],
            "lastSequence": 250,
            "hasMore": false,
        }),
    );
}

#[test]
fn the_parameters_of_events() {
    let ok = |since, limit| Ok(EventsQuery { since, limit });
    let since = Err(Code::GguiInvalidSinceSequence);
    let limit = Err(Code::GguiInvalidMessage);
    for (given, expected) in [
        ((Some("0"), None), ok(0, 100)),
        ((Some("7"), Some("500")), ok(7, 500)),
        ((Some("7"), Some("1")), ok(7, 1)),
        ((None, None), since),
        ((Some(""), None), since),
        ((Some("-1"), None), since),
        ((Some("+1"), None), since),
        ((Some("1.0"), None), since),
        ((Some("99999999999999999999"), None), since),
        ((Some("0"), Some("0")), limit),
        ((Some("0"), Some("501")), limit),
        ((Some("0"), Some("x")), limit),
    ] {
        let found = events_query(given.0, given.1).map_err(|failure| failure.code);
        assert_eq!(found, expected, "{given:?}");
    }
}

#[test]
fn the_last_event_of_a_stream_counts_before_the_query() {
    let of = |last, since, from| stream_query(last, since, from).map_err(|failure| failure.code);
    let query = |since, from_seq| Ok(StreamQuery { since, from_seq });
    assert_eq!(of(None, None, None), query(None, None));
    assert_eq!(of(Some("9"), Some("3"), Some("2")), query(Some(9), Some(2)));
    assert_eq!(of(Some("bad"), Some("3"), None), query(Some(3), None));
    assert_eq!(of(Some("bad"), None, None), query(None, None));
    assert_eq!(of(None, Some("bad"), None), Err(Code::GguiInvalidSinceSequence));
    assert_eq!(of(None, None, Some("-1")), Err(Code::GguiInvalidMessage));
}

#[test]
fn a_pull_begins_where_the_ledger_can_be_read() {
    let mut head = Head::new(time(0), SESSION_TTL_SECONDS);
    (head.ledger, head.horizon) = (9, 3);
    let of = |since: Field<serde_json::Value>| {
        pull_position(&head, &since).map_err(|failure| failure.code)
    };
    assert_eq!(of(Field::Absent), Ok(3));
    assert_eq!(of(Field::Value(json!(5))), Ok(5));
    assert_eq!(of(Field::Value(json!(2))), Err(Code::GguiReplayHorizonPassed));
    assert_eq!(of(Field::Null), Err(Code::GguiInvalidSinceSequence));
    assert_eq!(
        PullAnswer::passed(&head).encode(),
        json!({"reason": "REPLAY_HORIZON_PASSED", "currentSequence": 9}),
    );
}
