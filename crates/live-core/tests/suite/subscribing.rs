//! Subscribing: the checks in their order, and the session that begins.

use accord_contract::{Code, Wire as _};
use accord_live_core::frame::{ClientBody, Role, Subscribe};
use accord_live_core::limits::SESSION_TTL_SECONDS;
use accord_live_core::session::{
    Content, ContentChange, Head, Session, Status, SubscribeFacts, SubscribeRefusal, Subscribed,
    subscribe,
};
use accord_live_core::tenancy::Identity;
use accord_live_core::token::{Secret, TokenKind};
use accord_live_core::tools::SessionSummary;
use accord_live_core::version::{PROTOCOL_VERSION, VersionPolicy};
use serde_json::{Value, json};

use crate::support::{app, at, frame, object, project, session_id, time};

fn request(payload: Value) -> Subscribe {
    match frame(json!({"type": "subscribe", "payload": payload})).unwrap().body {
        ClientBody::Subscribe(request) => *request,
        other => panic!("{other:?}"),
    }
}

fn secret() -> Secret {
    Secret::new(*b"0123456789abcdef0123456789abcdef")
}

fn token(kind: TokenKind, session: &str, app_id: &str) -> String {
    secret().mint(kind, &session_id(session), &app(app_id), time(0), [1; 12]).text
}

fn facts<'a>(identity: &'a Identity, secret: Option<&'a Secret>) -> SubscribeFacts<'a> {
    SubscribeFacts {
        identity,
        version: PROTOCOL_VERSION,
        policy: VersionPolicy::Reject,
        secret,
        default_app: None,
        now: time(0),
        random: [2; 12],
    }
}

fn refused(payload: Value, facts: SubscribeFacts<'_>) -> SubscribeRefusal {
    subscribe(&request(payload), facts).unwrap_err()
}

fn stored(app_id: &str, expires: i64) -> Session {
    let mut head = Head::new(time(0), SESSION_TTL_SECONDS);
    (head.ledger, head.stream, head.expires_at) = (12, 34, time(expires));
    Session { id: session_id("s"), app_id: app(app_id), head }
}

#[test]
fn each_check_comes_before_the_next() {
    let secret = secret();
    let ws = |session: &str, app_id: &str| token(TokenKind::Ws, session, app_id);
    let old = json!(["draft-1"]);
    let session_token = token(TokenKind::Session, "s", "a");
    let pending = &Identity::Pending;
    for (payload, identity, with_secret, code) in [
        // Everything is wrong: the version counts first.
        (
            json!({"sessionId": "s", "supportedVersions": old, "wsToken": "x"}),
            pending,
            false,
            Code::GguiUpgradeRequired,
        ),
        (json!({"sessionId": "s", "appId": "b"}), pending, true, Code::GguiUnauthenticated),
        (
            json!({"sessionId": "s", "wsToken": "x"}),
            pending,
            false,
            Code::GguiBootstrapNotSupported,
        ),
        (json!({"sessionId": "s", "wsToken": "x"}), pending, true, Code::GguiBootstrapInvalid),
        // A token to connect again with opens no channel here.
        (
            json!({"sessionId": "s", "wsToken": session_token}),
            pending,
            true,
            Code::GguiBootstrapInvalid,
        ),
        (
            json!({"sessionId": "s", "appId": "b", "wsToken": ws("other", "a")}),
            pending,
            true,
            Code::GguiBootstrapSessionMismatch,
        ),
        (
            json!({"sessionId": "s", "appId": "b", "wsToken": ws("s", "a")}),
            pending,
            true,
            Code::GguiBootstrapAppMismatch,
        ),
        (json!({"sessionId": "s"}), &Identity::Open, true, Code::GguiAppMismatch),
    ] {
        let refusal = refused(payload.clone(), facts(identity, with_secret.then_some(&secret)));
        assert_eq!(refusal.failure.code, code, "{payload}");
        let is_version = code == Code::GguiUpgradeRequired;
        assert_eq!((refusal.closes, refusal.spends), (is_version, !is_version), "{payload}");
    }
}

#[test]
fn an_expired_token_has_its_own_code() {
    let (secret, identity) = (secret(), Identity::Pending);
    let mut facts = facts(&identity, Some(&secret));
    facts.now = time(180);
    let payload = json!({"sessionId": "s", "wsToken": token(TokenKind::Ws, "s", "a")});
    assert_eq!(refused(payload, facts).failure.code, Code::GguiBootstrapExpired);
}

#[test]
fn an_advisory_server_leaves_the_socket_open() {
    let identity = Identity::Open;
    let mut facts = facts(&identity, None);
    facts.policy = VersionPolicy::Advisory;
    let refusal = refused(json!({"sessionId": "s", "supportedVersions": ["x"]}), facts);
    assert_eq!(refusal.failure.code, Code::GguiUpgradeRequired);
    assert!(!refusal.closes && !refusal.spends);
}

#[test]
fn a_session_can_advertise_another_version() {
    let identity = Identity::Open;
    let mut facts = facts(&identity, None);
    facts.version = "99.99-unsupported";
    let payload = json!({"sessionId": "s", "supportedVersions": [PROTOCOL_VERSION]});
    let refusal = refused(payload, facts);
    let details = refusal.failure.details.unwrap();
    assert_eq!(details["serverVersion"], json!("99.99-unsupported"));
}

#[test]
fn a_token_gives_a_token_to_connect_again_with() {
    let (secret, identity) = (secret(), Identity::Pending);
    let payload = json!({"sessionId": "s", "wsToken": token(TokenKind::Ws, "s", "a")});
    let subscribed = subscribe(&request(payload), facts(&identity, Some(&secret))).unwrap();
    assert_eq!(subscribed.binding.app_id, app("a"));
    let text = subscribed.session_token.unwrap();
    assert!(secret.verify(&text, TokenKind::Session, time(4 * 3600 - 1)).is_ok());

    let by_key = Identity::Key(Some([app("a")].into()));
    let payload = json!({"sessionId": "s", "clientId": "page-1", "role": "agent"});
    let subscribed = subscribe(&request(payload), facts(&by_key, Some(&secret))).unwrap();
    assert_eq!(subscribed.session_token, None);
    assert_eq!(subscribed.binding.role, Role::Agent);
    assert_eq!(subscribed.binding.client_id.as_deref(), Some("page-1"));
}

#[test]
fn the_holder_of_a_session_token_has_that_session_alone() {
    let identity = Identity::Token { session_id: session_id("s"), app_id: app("a") };
    let subscribed = subscribe(&request(json!({"sessionId": "s"})), facts(&identity, None));
    assert_eq!(subscribed.unwrap().binding.app_id, app("a"));
    let refusal = refused(json!({"sessionId": "other"}), facts(&identity, None));
    assert_eq!(refusal.failure.code, Code::GguiBootstrapSessionMismatch);
}

fn subscribed(app_id: &str) -> Subscribed {
    let payload = json!({"sessionId": "s", "appId": app_id});
    subscribe(&request(payload), facts(&Identity::Open, None)).unwrap()
}

#[test]
fn a_session_that_does_not_exist_begins() {
    let project = project();
    let (session, delta) = subscribed("a").session(None, at(&project, time(5))).unwrap();
    let delta = delta.unwrap();
    assert_eq!((&session.id, &session.app_id), (&session_id("s"), &app("a")));
    assert_eq!(session.head, Head::new(time(5), SESSION_TTL_SECONDS));
    assert_eq!(delta.session.as_ref(), Some(&session));
    assert_eq!(delta.content, [ContentChange::Ui(object(json!({"componentCode": ""})))]);
    assert!(delta.ledger.is_empty() && delta.stream.is_empty());
    let kinds: Vec<_> = delta.events.iter().map(|event| event.kind.as_str()).collect();
    assert_eq!(kinds, ["live.session.started"]);

    let ack = subscribed("a").ack(&session, &Content::provisioned(), false, "v", time(5));
    assert_eq!((ack.sequence, ack.stream_seq, ack.server_version.as_str()), (0, 0, "v"));
    assert_eq!(
        ack.session,
        json!({
            "id": "s", "appId": "a", "eventSequence": 0,
            "createdAt": time(5).unix_millis(), "lastActivityAt": time(5).unix_millis(),
            "expiresAt": time(3605).unix_millis(), "status": "active", "epoch": 0,
            "componentCode": "",
        }),
    );
}

#[test]
fn a_session_of_another_app_is_refused() {
    let project = project();
    let failure = subscribed("b").session(Some(&stored("a", 60)), at(&project, time(0)));
    assert_eq!(failure.unwrap_err().code, Code::GguiAppMismatch);
}

#[test]
fn a_subscription_keeps_a_session_alive() {
    let (project, subscribed) = (project(), subscribed("a"));
    // In the first half of its life nothing is written.
    let young = stored("a", SESSION_TTL_SECONDS);
    let (session, delta) = subscribed.session(Some(&young), at(&project, time(10))).unwrap();
    assert_eq!((session, delta), (young.clone(), None));
    let (session, delta) = subscribed.session(Some(&young), at(&project, time(1801))).unwrap();
    assert_eq!(session.head.expires_at, time(1801 + SESSION_TTL_SECONDS));
    let delta = delta.unwrap();
    assert_eq!(delta.session, Some(session));
    assert!(delta.ledger.is_empty() && delta.events.is_empty() && delta.content.is_empty());
}

#[test]
fn the_id_of_an_expired_session_continues_its_counters() {
    let project = project();
    let earlier = stored("a", 60);
    assert_eq!(earlier.status(time(59)), Status::Active);
    assert_eq!(earlier.status(time(60)), Status::Expired);
    // Also for another app: the old session cannot be read through the new one.
    let (session, delta) = subscribed("b").session(Some(&earlier), at(&project, time(60))).unwrap();
    let head = session.head;
    assert_eq!((head.ledger, head.stream, head.epoch), (12, 34, 0));
    assert_eq!((head.horizon, head.evicted, head.drained, head.ring), (12, 34, 12, 0));
    assert!(head.revision > earlier.head.revision);
    assert!(!head.has_pipe && !head.is_asking);
    assert_eq!((session.app_id, head.created_at), (app("b"), time(60)));
    assert_eq!(delta.unwrap().content[0], ContentChange::Clear);
}

#[test]
fn a_snapshot_keeps_unknown_members_and_its_own() {
    let session = stored("a", 60);
    let content = Content {
        ui: object(json!({
            "type": "mcpApps", "source": {"connectorId": "c"}, "x-later": [1],
            "id": "forged", "appId": "forged", "eventSequence": 99, "expiresAt": 0,
        })),
        props: Some(object(json!({"n": 1}))),
        host_context: Some(object(json!({"locale": "de"}))),
        context: Some(object(json!({"slot": 2}))),
        closed: None,
    };
    let snapshot = session.snapshot(&content, time(0));
    for (name, value) in [
        ("id", json!("s")),
        ("appId", json!("a")),
        ("eventSequence", json!(12)),
        ("expiresAt", json!(time(60).unix_millis())),
        ("type", json!("mcpApps")),
        ("source", json!({"connectorId": "c"})),
        ("x-later", json!([1])),
        ("props", json!({"n": 1})),
        ("hostContext", json!({"locale": "de"})),
        ("contextSnapshot", json!({"slot": 2})),
    ] {
        assert_eq!(snapshot[name], value, "{name}");
    }
    assert_eq!(session.snapshot(&content, time(60))["status"], json!("expired"));
}

#[test]
fn the_end_of_an_expired_session_is_recorded_before_its_id_is_used_again() {
    let project = project();
    let mut earlier = stored("a", 60);
    let kinds = |app_id: &str, earlier: &Session| -> Vec<String> {
        let (_, delta) = subscribed(app_id).session(Some(earlier), at(&project, time(60))).unwrap();
        let events = delta.unwrap().events;
        events.iter().map(|event| event.kind.as_str().to_owned()).collect()
    };
    assert_eq!(kinds("a", &earlier), ["live.session.expired", "live.session.started"]);
    // That of another app is in the stream of its own project.
    assert_eq!(kinds("b", &earlier), ["live.session.started"]);
    earlier.head.is_ended = true;
    assert_eq!(kinds("a", &earlier), ["live.session.started"]);
}

#[test]
fn a_session_in_a_list_has_no_code_and_no_props() {
    let content = Content {
        ui: object(json!({"prompt": "p", "componentCode": "c", "hostSession": {"hostName": "h"}})),
        props: Some(object(json!({"n": 1}))),
        ..Content::default()
    };
    let summary = SessionSummary::new(&stored("a", 60), &content.ui, time(0)).encode();
    assert_eq!(summary["prompt"], json!("p"));
    assert_eq!((&summary["hostName"], summary.get("hostSession")), (&json!("h"), None));
    assert_eq!((summary.get("componentCode"), summary.get("props")), (None, None));
    // ggui's list has other times than its sessions.
    assert_eq!((&summary["sessionId"], summary["createdAt"].is_string()), (&json!("s"), true));
    assert_eq!(summary["eventSequence"], json!(12));
}
