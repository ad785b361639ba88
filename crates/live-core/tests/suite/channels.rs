//! Polled channels.

use std::collections::BTreeSet;

use accord_contract::Code;
use accord_live_core::contract::CompiledContract;
use accord_live_core::frame::{Binding, ChannelSubscribe, ClientBody, Role, ServerFrame};
use accord_live_core::session::{
    ChannelFacts, ChannelSubscription, Session, redact, subscribe_channel,
};
use serde_json::{Value, json};

use crate::support::{World, app, contract, frame, session_id, time};

fn spec() -> Value {
    let tool = json!({"toolInfo": {"inputSchema": {"type": "object"}}});
    json!({
        "streamSpec": {
            "load": {
                "schema": {"type": "number"},
                "source": {"tool": "read_load", "args": {"host": "a", "unit": "s"}},
            },
            "far": {"schema": {"type": "number"}, "source": {"tool": "elsewhere"}},
            "plain": {"schema": {"type": "number"}},
        },
        "agentCapabilities": {"tools": {"read_load": tool, "elsewhere": tool}},
    })
}

fn request(payload: Value) -> ChannelSubscribe {
    match frame(json!({"type": "channel_subscribe", "payload": payload})).unwrap().body {
        ClientBody::ChannelSubscribe(request) => request,
        other => panic!("{other:?}"),
    }
}

struct Fixture {
    contract: CompiledContract,
    session: Session,
    tools: BTreeSet<String>,
    binding: Binding,
}

fn fixture() -> Fixture {
    let contract = contract(spec());
    let session = World::rendered(&contract, json!({}), json!({})).session;
    let binding = Binding {
        session_id: session_id("s1"),
        app_id: app("shop"),
        role: Role::User,
        client_id: None,
    };
    Fixture { contract, session, tools: BTreeSet::from(["read_load".to_owned()]), binding }
}

impl Fixture {
    fn facts(&self) -> ChannelFacts<'_> {
        ChannelFacts {
            binding: &self.binding,
            session: Some(&self.session),
            contract: &self.contract,
            local_tools: Some(&self.tools),
            now: time(1),
        }
    }

    fn subscribe(&self, more: Value) -> ChannelSubscription {
        let mut payload = json!({"sessionId": "s1", "appId": "shop", "channelName": "load"});
        for (name, value) in more.as_object().unwrap() {
            payload[name.as_str()] = value.clone();
        }
        subscribe_channel(request(payload), self.facts()).unwrap()
    }
}

#[test]
fn each_check_comes_before_the_next() {
    let fixture = fixture();
    let code = |session: &str, app_id: &str, channel: &str, facts: ChannelFacts<'_>| {
        let payload = json!({"sessionId": session, "appId": app_id, "channelName": channel});
        subscribe_channel(request(payload), facts).unwrap_err().code
    };
    let no_tools = ChannelFacts { local_tools: None, session: None, ..fixture.facts() };
    let unauthorized = Code::GguiSubscribeUnauthorized;
    assert_eq!(code("other", "shop", "nope", no_tools), unauthorized);
    assert_eq!(code("s1", "other", "nope", no_tools), unauthorized);
    assert_eq!(code("s1", "shop", "nope", no_tools), Code::GguiChannelNotLocal);
    let no_session = ChannelFacts { session: None, ..fixture.facts() };
    assert_eq!(code("s1", "shop", "nope", no_session), Code::GguiSessionNotFound);
    let expired = ChannelFacts { now: time(3600), ..fixture.facts() };
    assert_eq!(code("s1", "shop", "nope", expired), Code::GguiSessionNotFound);
    assert_eq!(code("s1", "shop", "nope", fixture.facts()), Code::GguiChannelUnknown);
    assert_eq!(code("s1", "shop", "plain", fixture.facts()), Code::GguiChannelUnknown);
    assert_eq!(code("s1", "shop", "far", fixture.facts()), Code::GguiChannelNotLocal);
}

#[test]
fn the_arguments_of_the_client_go_over_those_of_the_contract() {
    let subscription = fixture().subscribe(json!({"args": {"unit": "ms", "n": 1}}));
    assert_eq!(subscription.tool, "read_load");
    let expected = json!({"host": "a", "unit": "ms", "n": 1});
    assert_eq!(Value::Object(subscription.args), expected);
}

#[test]
fn the_interval_is_kept_within_its_limits() {
    for (asked, expected) in [
        (json!({}), 10_000),
        (json!({"pollIntervalMs": 0}), 1000),
        (json!({"pollIntervalMs": -5}), 1000),
        (json!({"pollIntervalMs": 2500.7}), 2500),
        (json!({"pollIntervalMs": 1e300}), 60_000),
    ] {
        assert_eq!(fixture().subscribe(asked.clone()).interval_ms, expected, "{asked}");
    }
}

#[test]
fn answers_are_numbered_by_the_subscription() {
    let fixture = fixture();
    let mut subscription = fixture.subscribe(json!({}));
    let number = |frame: ServerFrame| match frame {
        ServerFrame::ChannelPayload { seq, .. } => Some(seq),
        _ => None,
    };
    let contract = &fixture.contract;
    assert_eq!(number(subscription.answered(json!(0.5), false, contract, time(1))), Some(1));
    // An answer that violates the contract is a failed poll and uses no number.
    match subscription.answered(json!("much"), false, contract, time(2)) {
        ServerFrame::ChannelError { failure, .. } => {
            assert_eq!(failure.code, Code::GguiPollFailed);
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(number(subscription.answered(json!(0.7), false, contract, time(3))), Some(2));
    let mut again = fixture.subscribe(json!({}));
    assert_eq!(number(again.answered(json!(0.9), false, contract, time(4))), Some(1));
}

#[test]
fn a_failed_poll_shows_no_secret() {
    let subscription = fixture().subscribe(json!({}));
    let stack = format!("Authorization: Bearer abc\n{}", "x".repeat(5000));
    let frame = subscription.failed("GET /?token=abc", Some(&stack), &["hunter2"]);
    let ServerFrame::ChannelError { failure, stack, .. } = frame else { panic!("{frame:?}") };
    assert_eq!(failure.message, "GET /?token=[redacted]");
    let stack = stack.unwrap();
    assert_eq!(stack.chars().count(), 2048);
    assert!(!stack.contains("abc"));
}

#[test]
fn what_is_redacted() {
    for (text, expected) in [
        ("nothing to hide", "nothing to hide"),
        ("sent Bearer abc.def-1 to x", "sent Bearer [redacted] to x"),
        ("basic  dXNlcg== end", "basic  [redacted] end"),
        ("Authorization: Digest a=\"b\", c", "Authorization: [redacted]"),
        ("authorization=abc next\nline", "authorization= [redacted]\nline"),
        ("https://h/p?a=1&access_token=xyz&b=2", "https://h/p?a=1&access_token=[redacted]&b=2"),
        ("https://h/p?key=xyz#part", "https://h/p?key=[redacted]#part"),
        ("AWS_SECRET_ACCESS_KEY=xyz node run", "AWS_SECRET_ACCESS_KEY=[redacted] node run"),
        ("DB_PASSWORD='x-y' z", "DB_PASSWORD=[redacted]' z"),
        ("monkey=1 keyboard=2", "monkey=1 keyboard=2"),
        ("value hunter2 inside", "value [redacted] inside"),
        ("ünïcode Bearer ü", "ünïcode Bearer [redacted]"),
        ("Bearer", "Bearer"),
        ("token=", "token=[redacted]"),
        (r#"{"wsToken":"a.b c","n":1}"#, r#"{"wsToken":"[redacted]","n":1}"#),
        (r#"{"url":"ws://h/ws?wsToken=a.b"}"#, r#"{"url":"ws://h/ws?wsToken=[redacted]"}"#),
        (r#"{"key":"x","keys":"y","token":5}"#, r#"{"key":"[redacted]","keys":"y","token":5}"#),
        ("", ""),
    ] {
        assert_eq!(redact(text, &["hunter2", ""]), expected, "{text}");
    }
}
