//! Frames of clients and servers.

use accord_contract::{Code, Value};
use accord_live_core::contract::Mode;
use accord_live_core::frame::{
    ActionAck, ClientBody, Close, Rejected, ServerFrame, SubscribeAck, parse,
};
use accord_live_core::limits::Limits;
use accord_live_core::refuse;
use accord_live_core::session::{LedgerName, LedgerRow, StreamRow};
use accord_live_core::version::PROTOCOL_VERSION;
use serde_json::json;

use crate::support::{app, frame, object, session_id, time};

/// The request id and the code that a text is answered with.
fn answer(text: &str) -> (Option<String>, Code) {
    match parse(text.as_bytes(), true, &Limits::default()).unwrap_err() {
        Rejected::Answer { request_id, failure } => (request_id, failure.code),
        Rejected::Close(close) => panic!("{close:?}"),
    }
}

#[test]
fn every_frame_of_a_client_is_read() {
    let host = json!({"locale": "de"});
    for (kind, payload) in [
        ("subscribe", json!({"sessionId": "s"})),
        ("action", json!({"sessionId": "s", "type": "data:submit"})),
        ("ping", json!({})),
        ("host_context_observed", json!({"sessionId": "s", "hostContext": host})),
        ("channel_subscribe", json!({"sessionId": "s", "appId": "a", "channelName": "c"})),
        ("channel_unsubscribe", json!({"sessionId": "s", "appId": "a", "channelName": "c"})),
    ] {
        let mut payload = payload;
        payload["x-later"] = json!([1]);
        let document = json!({
            "type": kind, "payload": payload, "requestId": "r", "later": {"more": true},
        });
        let read = frame(document).unwrap();
        assert_eq!((read.kind(), read.request_id.as_deref()), (kind, Some("r")));
    }
    assert_eq!(frame(json!({"type": "ping"})).unwrap().body, ClientBody::Ping);
}

#[test]
fn malformed_frames_have_their_codes() {
    let id = || Some("r".to_owned());
    for (text, request_id, code) in [
        ("{", None, Code::GguiInvalidJson),
        ("", None, Code::GguiInvalidJson),
        (r#"{"type":"ping","type":"ping"}"#, None, Code::GguiInvalidJson),
        ("[]", None, Code::GguiInvalidMessage),
        ("7", None, Code::GguiInvalidMessage),
        (r#"{"requestId":"r"}"#, id(), Code::GguiInvalidMessage),
        (r#"{"type":7,"requestId":"r"}"#, id(), Code::GguiInvalidMessage),
        (r#"{"type":"ping","requestId":7}"#, None, Code::GguiInvalidMessage),
        (r#"{"type":"push","requestId":"r"}"#, id(), Code::GguiUnsupportedMessage),
        (r#"{"type":"subscribe","requestId":"r"}"#, id(), Code::GguiInvalidMessage),
        (r#"{"type":"subscribe","payload":{}}"#, None, Code::GguiInvalidMessage),
        (r#"{"type":"subscribe","payload":{"sessionId":""}}"#, None, Code::GguiInvalidMessage),
        (
            r#"{"type":"subscribe","payload":{"sessionId":"s","fromSeq":-1}}"#,
            None,
            Code::GguiInvalidMessage,
        ),
        (
            r#"{"type":"subscribe","payload":{"sessionId":"s","role":"admin"}}"#,
            None,
            Code::GguiInvalidMessage,
        ),
        (
            r#"{"type":"subscribe","payload":{"sessionId":"s","clientId":""}}"#,
            None,
            Code::GguiInvalidMessage,
        ),
        (r#"{"type":"action","payload":{"sessionId":"s"}}"#, None, Code::GguiInvalidMessage),
        (r#"{"type":"action","payload":{"type":"data:submit"}}"#, None, Code::GguiInvalidMessage),
        (
            r#"{"type":"channel_subscribe","payload":{"sessionId":"s","channelName":"c"}}"#,
            None,
            Code::GguiInvalidMessage,
        ),
    ] {
        assert_eq!(answer(text), (request_id, code), "{text}");
    }
}

#[test]
fn a_malformed_position_in_the_ledger_is_read_because_it_has_its_own_code() {
    for since in [json!(-1), json!(1.5), json!("3"), json!(null)] {
        let payload = json!({"sessionId": "s", "sinceSequence": since});
        assert!(frame(json!({"type": "subscribe", "payload": payload})).is_ok());
    }
}

#[test]
fn a_binary_frame_is_read_as_text_if_it_is_utf_8() {
    let limits = Limits::default();
    assert!(parse(br#"{"type":"ping"}"#, false, &limits).is_ok());
    match parse(b"{\"type\":\"\xff\"}", false, &limits).unwrap_err() {
        Rejected::Answer { failure, .. } => assert_eq!(failure.code, Code::GguiInvalidJson),
        Rejected::Close(close) => panic!("{close:?}"),
    }
}

#[test]
fn a_frame_that_is_too_large_closes_the_socket_before_it_is_read() {
    let limits = Limits::default();
    let close = |bytes: usize, is_subscribed, limits: &Limits| match parse(
        &vec![b' '; bytes],
        is_subscribed,
        limits,
    )
    .unwrap_err()
    {
        Rejected::Close(close) => Some(close),
        Rejected::Answer { .. } => None,
    };
    assert_eq!(close(65_536, false, &limits), None);
    assert_eq!(close(65_537, false, &limits), Some(Close::PRE_SUBSCRIBE_PAYLOAD));
    assert_eq!(close(65_537, true, &limits), None);
    assert_eq!(close(1_048_576, true, &limits), None);
    assert_eq!(close(1_048_577, true, &limits), Some(Close::FRAME_TOO_LARGE));
    assert_eq!(close(1_048_577, false, &limits), Some(Close::FRAME_TOO_LARGE));
    let mut uncapped = limits;
    (uncapped.frame_bytes, uncapped.pre_subscribe_bytes) = (0, 0);
    assert_eq!(close(1_048_577, false, &uncapped), None);
}

#[test]
fn close_codes_and_reasons() {
    for (close, code, reason) in [
        (Close::FRAME_TOO_LARGE, Some(1009), ""),
        (Close::PRE_SUBSCRIBE_PAYLOAD, Some(1009), "pre_subscribe_payload_exceeded"),
        (Close::PRE_SUBSCRIBE_IDLE, Some(1008), "pre_subscribe_idle_timeout"),
        (Close::PRE_SUBSCRIBE_CEILING, Some(1013), "pre_subscribe_connection_ceiling"),
        (Close::SERVICE_RESTART, Some(1012), "service_restart"),
        (Close::SESSION_EXPIRED, Some(1008), "session_expired"),
        (Close::SLOW_SUBSCRIBER, Some(1013), "slow_subscriber"),
        (Close::UPGRADE_REQUIRED, None, ""),
    ] {
        assert_eq!((close.code, close.reason), (code, reason));
        // A control frame has at most 125 bytes, two of which are the code.
        assert!(close.reason.len() <= 123);
    }
}

#[test]
fn a_host_context_is_strict_and_kept_as_it_is() {
    let whole = json!({
        "availableDisplayModes": ["inline", "pip"],
        "currentDisplayMode": "fullscreen",
        "containerDimensions": {"width": 320, "maxHeight": 12.5},
        "platform": "mobile",
        "deviceCapabilities": {"touch": true, "hover": false},
        "locale": "de-CH",
        "timeZone": "Europe/Zurich",
    });
    let read = |context: &Value| {
        let payload = json!({"sessionId": "s", "hostContext": context});
        frame(json!({"type": "host_context_observed", "payload": payload}))
    };
    match read(&whole).unwrap().body {
        ClientBody::HostContext(observed) => {
            assert_eq!(Value::Object(observed.host_context.into_members()), whole);
        }
        other => panic!("{other:?}"),
    }
    assert!(read(&json!({})).is_ok());
    for (wrong, field) in [
        (json!({"theme": "dark"}), "payload.hostContext.theme"),
        (json!({"displayMode": "inline"}), "payload.hostContext.displayMode"),
        (json!({"platform": "tv"}), "payload.hostContext.platform"),
        (json!({"locale": ""}), "payload.hostContext.locale"),
        (json!({"timeZone": null}), "payload.hostContext.timeZone"),
        (json!({"currentDisplayMode": "modal"}), "payload.hostContext.currentDisplayMode"),
        (json!({"availableDisplayModes": ["x"]}), "payload.hostContext.availableDisplayModes.0"),
        (json!({"availableDisplayModes": {}}), "payload.hostContext.availableDisplayModes"),
        (
            json!({"containerDimensions": {"depth": 1}}),
            "payload.hostContext.containerDimensions.depth",
        ),
        (
            json!({"containerDimensions": {"width": "1"}}),
            "payload.hostContext.containerDimensions.width",
        ),
        (
            json!({"deviceCapabilities": {"touch": 1}}),
            "payload.hostContext.deviceCapabilities.touch",
        ),
        (json!({"deviceCapabilities": []}), "payload.hostContext.deviceCapabilities"),
        (json!([]), "payload.hostContext"),
    ] {
        match read(&wrong).unwrap_err() {
            Rejected::Answer { failure, .. } => {
                assert_eq!(failure.code, Code::GguiInvalidMessage);
                assert_eq!(failure.details.unwrap()["field"], json!(field), "{wrong}");
            }
            Rejected::Close(close) => panic!("{close:?}"),
        }
    }
}

fn row() -> StreamRow {
    StreamRow {
        seq: 7,
        channel: "log".into(),
        mode: Mode::Append,
        payload: json!({"line": 1}),
        complete: true,
    }
}

#[test]
fn every_frame_of_a_server_has_its_payload() {
    let (session, app, now) = (session_id("s"), app("a"), time(0));
    let failure = || Box::new(refuse::channel_unknown("no such channel"));
    let event = LedgerRow {
        seq: 3,
        at: now,
        kind: LedgerName::UiUpdated.into(),
        data: json!({"epoch": 1}),
        event_id: None,
        key: None,
    };
    for (frame, kind, payload) in [
        (
            ServerFrame::Acted(ActionAck { sequence: 4, at: now, warnings: Vec::new() }),
            "ack",
            json!({"sequence": 4, "timestamp": now.unix_millis()}),
        ),
        (ServerFrame::Pong, "pong", json!({})),
        (
            ServerFrame::Render { session: json!({"id": "s"}), match_type: Some("exact".into()) },
            "render",
            json!({"session": {"id": "s"}, "matchType": "exact"}),
        ),
        (
            ServerFrame::Data { session_id: session.clone(), row: row() },
            "data",
            json!({
                "sessionId": "s", "channel": "log", "mode": "append", "payload": {"line": 1},
                "complete": true, "seq": 7,
            }),
        ),
        (
            ServerFrame::PropsUpdate {
                session_id: session.clone(),
                props: object(json!({"a": 1})),
                epoch: 2,
            },
            "props_update",
            json!({"sessionId": "s", "props": {"a": 1}, "epoch": 2}),
        ),
        (
            ServerFrame::DrainAck {
                app_id: app.clone(),
                session_id: session.clone(),
                event_id: "e".into(),
                drained_at: now,
            },
            "drain_ack",
            json!({"appId": "a", "sessionId": "s", "eventId": "e", "drainedAt": now.to_string()}),
        ),
        (
            ServerFrame::RenderEvent(event),
            "render_event",
            json!({
                "seq": 3, "type": "ui.updated", "timestamp": now.to_string(), "data": {"epoch": 1},
            }),
        ),
        (
            ServerFrame::ChannelPayload {
                session_id: session.clone(),
                app_id: app.clone(),
                channel: "c".into(),
                seq: 1,
                at: now,
                payload: json!([1]),
                complete: None,
            },
            "channel_payload",
            json!({
                "sessionId": "s", "appId": "a", "channelName": "c", "seq": 1,
                "ts": now.to_string(), "mode": "replace", "payload": [1],
            }),
        ),
        (
            ServerFrame::ChannelError {
                session_id: session,
                channel: "c".into(),
                failure: failure(),
                stack: Some("at poll".into()),
            },
            "channel_error",
            json!({
                "sessionId": "s", "channelName": "c", "code": "CHANNEL_UNKNOWN",
                "message": "no such channel", "details": "at poll",
            }),
        ),
    ] {
        let mut stamped = payload;
        stamped["schemaVersion"] = json!(PROTOCOL_VERSION);
        assert_eq!(
            frame.encode(PROTOCOL_VERSION, Some("r")),
            json!({"type": kind, "payload": stamped, "requestId": "r"}),
        );
    }
}

#[test]
fn an_error_has_no_version() {
    let failure = refuse::replay_horizon_passed("too old").with("currentSequence", 9);
    let frame = ServerFrame::Error(Box::new(failure));
    assert_eq!(
        frame.encode(PROTOCOL_VERSION, None),
        json!({
            "type": "error",
            "payload": {
                "code": "REPLAY_HORIZON_PASSED",
                "message": "too old",
                "details": {"currentSequence": 9},
            },
        }),
    );
}

#[test]
fn the_answer_to_subscribe_has_optional_members_only_if_they_say_something() {
    let mut ack = SubscribeAck {
        sequence: 2,
        at: time(0),
        session: json!({"id": "s"}),
        stream_seq: 0,
        server_version: "v".into(),
        replay_truncated: false,
        session_token: None,
    };
    let encoded = ServerFrame::Subscribed(Box::new(ack.clone())).encode("v", Some("r"));
    assert_eq!(
        encoded,
        json!({
            "type": "ack",
            "payload": {
                "sequence": 2, "timestamp": time(0).unix_millis(), "session": {"id": "s"},
                "streamSeq": 0, "serverVersion": "v", "schemaVersion": "v",
            },
            "requestId": "r",
        }),
    );
    (ack.replay_truncated, ack.session_token) = (true, Some("t".into()));
    let encoded = ServerFrame::Subscribed(Box::new(ack)).encode("v", None);
    assert_eq!(encoded["payload"]["replayTruncated"], json!(true));
    assert_eq!(encoded["payload"]["sessionToken"], json!("t"));
}

/// Frames that are cut, changed and joined at random, with the same seed in every run.
#[test]
fn no_bytes_make_the_reader_panic() {
    let seeds = [
        r#"{"type":"subscribe","payload":{"sessionId":"s","fromSeq":1,"wsToken":"a.b"}}"#,
        r#"{"type":"action","payload":{"sessionId":"s","type":"data:submit","payload":{"a":1}}}"#,
        r#"{"type":"host_context_observed","payload":{"sessionId":"s","hostContext":{}}}"#,
        r#"{"type":"channel_subscribe","payload":{"sessionId":"s","pollIntervalMs":1e9}}"#,
    ];
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    let (mut read, mut answered) = (0, 0);
    for _ in 0..20_000 {
        let mut bytes = seeds[random(seeds.len())].as_bytes().to_vec();
        for _ in 0..random(4) {
            let place = random(bytes.len());
            match random(4) {
                0 => bytes.truncate(place.max(1)),
                1 => bytes[place] = random(256) as u8,
                2 => bytes.insert(place, br#"{}[]",:\0"#[random(9)]),
                _ => bytes.extend_from_within(place..),
            }
        }
        match parse(&bytes, false, &Limits::default()) {
            Ok(_) => read += 1,
            Err(Rejected::Answer { .. }) => answered += 1,
            Err(Rejected::Close(close)) => panic!("{close:?} for {} bytes", bytes.len()),
        }
    }
    assert!(read > 1000 && answered > 1000, "{read} {answered}");
}
