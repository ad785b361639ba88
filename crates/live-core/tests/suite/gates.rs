//! Which frames a socket may send.

use accord_contract::Code;
use accord_live_core::frame::{Binding, ClientFrame, Gate, Role, Socket};
use serde_json::{Value, json};

use crate::support::{app, frame, session_id};

fn frames(session: &str) -> Vec<(&'static str, ClientFrame)> {
    let with = |kind: &'static str, payload: Value| {
        (kind, frame(json!({"type": kind, "payload": payload})).unwrap())
    };
    vec![
        with("subscribe", json!({"sessionId": session})),
        with("action", json!({"sessionId": session, "type": "data:submit"})),
        with("ping", json!({})),
        with("host_context_observed", json!({"sessionId": session, "hostContext": {}})),
        with("channel_subscribe", json!({"sessionId": session, "appId": "a", "channelName": "c"})),
        with(
            "channel_unsubscribe",
            json!({"sessionId": session, "appId": "a", "channelName": "c"}),
        ),
    ]
}

fn outcome(socket: &Socket, session: &str) -> Vec<(&'static str, &'static str)> {
    let gate = |frame: &ClientFrame| match socket.gate(frame) {
        Gate::Pass => "pass",
        Gate::Ignore => "ignore",
        Gate::Refuse(failure) => failure.code.as_str(),
    };
    frames(session).iter().map(|(kind, frame)| (*kind, gate(frame))).collect()
}

#[test]
fn before_a_subscription_only_ping_and_subscribe_do_something() {
    let not_subscribed = Code::GguiNotSubscribed.as_str();
    assert_eq!(
        outcome(&Socket::default(), "s"),
        [
            ("subscribe", "pass"),
            ("action", not_subscribed),
            ("ping", "pass"),
            ("host_context_observed", not_subscribed),
            ("channel_subscribe", not_subscribed),
            ("channel_unsubscribe", "ignore"),
        ],
    );
}

#[test]
fn a_socket_is_subscribed_once_to_one_session() {
    let binding = Binding {
        session_id: session_id("s"),
        app_id: app("a"),
        role: Role::User,
        client_id: None,
    };
    let socket = Socket { binding: Some(binding), is_spent: true };
    let unauthenticated = Code::GguiUnauthenticated.as_str();
    assert_eq!(
        outcome(&socket, "s"),
        [
            ("subscribe", unauthenticated),
            ("action", "pass"),
            ("ping", "pass"),
            ("host_context_observed", "pass"),
            ("channel_subscribe", "pass"),
            ("channel_unsubscribe", "pass"),
        ],
    );
    let mismatch = Code::GguiSessionMismatch.as_str();
    assert_eq!(
        outcome(&socket, "other"),
        [
            ("subscribe", unauthenticated),
            ("action", mismatch),
            ("ping", "pass"),
            ("host_context_observed", mismatch),
            // Its own checks answer with a channel_error.
            ("channel_subscribe", "pass"),
            ("channel_unsubscribe", "ignore"),
        ],
    );
}

#[test]
fn a_refused_subscribe_uses_the_identity_up() {
    let socket = Socket { binding: None, is_spent: true };
    assert_eq!(outcome(&socket, "s")[0], ("subscribe", Code::GguiUnauthenticated.as_str()));
}
