//! `ui://` resources.

use accord_live_core::limits::INLINE_CODE_CHARS;
use accord_live_core::resource::{
    Code, ContextSlot, Delivery, Locator, ReadCode, ReadFacts, Readable, Slice, Substrate, read,
};
use accord_live_core::session::{Head, Session};
use accord_live_core::token::{Secret, TokenKind};
use serde_json::{Value, json};

use crate::support::{app, session_id, time};

#[test]
fn addresses() {
    for (text, session, key, epoch) in [
        ("ui://ggui/render/s1", "s1", None, None),
        ("ui://ggui/render/s1#0", "s1", None, Some(0)),
        ("ui://ggui/render/s1/abc", "s1", Some("abc"), None),
        ("ui://ggui/render/s1/abc#12", "s1", Some("abc"), Some(12)),
        ("ui://ggui/render/a%2Fb%23%C3%BC", "a/b#ü", None, None),
    ] {
        let locator = Locator::parse(text).unwrap();
        assert_eq!(locator.session_id.as_str(), session, "{text}");
        assert_eq!(locator.blueprint_key.as_deref(), key, "{text}");
        assert_eq!(locator.epoch, epoch, "{text}");
        assert_eq!(locator.to_string(), text);
    }
    for wrong in [
        "",
        "ui://ggui/render",
        "ui://ggui/render/",
        "ui://ggui/render//key",
        "ui://ggui/render/s1/",
        "ui://ggui/render/s1/a/b",
        "ui://ggui/render/s1#",
        "ui://ggui/render/s1#01",
        "ui://ggui/render/s1#-1",
        "ui://ggui/render/s1#+1",
        "ui://ggui/render/s1#99999999999999999999",
        "ui://ggui/render/s%2",
        "ui://ggui/render/s%zz",
        "ui://ggui/render/%ff",
        "ui://other/render/s1",
        "https://ggui/render/s1",
    ] {
        assert!(Locator::parse(wrong).is_err(), "{wrong}");
    }
}

fn session() -> Session {
    let mut head = Head::new(time(0), 3600);
    (head.epoch, head.ledger) = (4, 9);
    Session { id: session_id("s1"), app_id: app("shop"), head }
}

fn slice() -> Slice {
    let mut slice = Slice::new(&session(), "https://h/runtime.js");
    slice.code = Some(Code::Kind("system".into()));
    slice
}

const ALL: Substrate = Substrate { has_identities: true, has_blueprints: true };

fn found(slice: Option<Slice>, props: Option<&str>) -> Option<Readable> {
    Some(Readable { session: session(), props_json: props.map(str::to_owned), slice })
}

fn outcome(
    address: &str,
    caller: &str,
    substrate: Substrate,
    found: Option<Readable>,
    public: Option<Slice>,
) -> Result<Slice, ReadCode> {
    let app_id = app(caller);
    let facts = ReadFacts { app_id: &app_id, substrate, found, public, now: time(1) };
    read(&Locator::parse(address).unwrap(), facts)
}

const ADDRESS: &str = "ui://ggui/render/s1";

#[test]
fn a_refused_read_is_a_miss_byte_for_byte() {
    let partial = |has_identities, has_blueprints| Substrate { has_identities, has_blueprints };
    let bytes = |outcome: Result<Slice, ReadCode>| {
        let code = outcome.unwrap_err();
        (code, format!("{} {:?}", code.rpc_code(), code.failure()))
    };
    for (substrate, expected) in [
        (ALL, ReadCode::NotFound),
        (partial(false, false), ReadCode::NotSupported),
        (partial(true, false), ReadCode::NotSupported),
        (partial(false, true), ReadCode::NotSupported),
    ] {
        let found = || found(Some(slice()), Some("{}"));
        let miss = bytes(outcome(ADDRESS, "shop", substrate, None, None));
        let refused = bytes(outcome(ADDRESS, "other", substrate, found(), None));
        assert_eq!(miss.0, expected);
        assert_eq!(miss, refused);
        assert!(!miss.1.contains("s1") && !miss.1.contains("shop"));
        // A live session is read whatever the server keeps beside it.
        assert!(outcome(ADDRESS, "shop", substrate, found(), None).is_ok());
    }
    // A public UI with the key of the address is the same for both.
    let mut bare = slice();
    bare.code = None;
    let miss = outcome(ADDRESS, "shop", ALL, None, Some(bare.clone()));
    let refused = outcome(ADDRESS, "other", ALL, found(Some(slice()), None), Some(bare));
    assert_eq!(miss, Err(ReadCode::NotMountable));
    assert_eq!(bytes(miss), bytes(refused));
}

#[test]
fn an_expired_session_is_a_miss() {
    let app_id = app("shop");
    let facts = ReadFacts {
        app_id: &app_id,
        substrate: ALL,
        found: found(Some(slice()), Some("{}")),
        public: None,
        now: time(3600),
    };
    let outcome = read(&Locator::parse(ADDRESS).unwrap(), facts);
    assert_eq!(outcome, Err(ReadCode::NotFound));
}

#[test]
fn a_read_gives_a_mountable_slice_or_one_error() {
    let gone = outcome(ADDRESS, "shop", ALL, found(None, Some("{}")), None);
    assert_eq!(gone, Err(ReadCode::BlueprintUnresolvable));
    let mut bare = slice();
    bare.code = None;
    let bare = outcome(ADDRESS, "shop", ALL, found(Some(bare), Some("{}")), None);
    assert_eq!(bare, Err(ReadCode::NotMountable));
    for (code, rpc) in [
        (ReadCode::NotFound, -32002),
        (ReadCode::BlueprintUnresolvable, -32006),
        (ReadCode::NotSupported, -32006),
        (ReadCode::NotMountable, -32006),
    ] {
        assert_eq!(code.rpc_code(), rpc);
        let failure = code.failure();
        assert_eq!((failure.code.as_str(), failure.details), (code.as_str(), None));
    }
}

#[test]
fn an_epoch_is_pinned() {
    let pinned = |epoch: u64, props: Option<&str>| {
        outcome(&format!("{ADDRESS}#{epoch}"), "shop", ALL, found(Some(slice()), props), None)
    };
    let first = pinned(0, Some(r#"{"count":1}"#)).unwrap();
    assert_eq!((first.epoch, first.props_json.as_deref()), (0, Some(r#"{"count":1}"#)));
    let head = outcome(ADDRESS, "shop", ALL, found(Some(slice()), Some(r#"{"count":5}"#)), None);
    assert_eq!(head.unwrap().epoch, 4);
    assert_eq!(pinned(4, Some("{}")).unwrap().epoch, 4);
    assert_eq!(pinned(7, Some("{}")), Err(ReadCode::NotFound));
    assert_eq!(pinned(2, None), Err(ReadCode::NotFound));
}

#[test]
fn a_slice_has_what_a_host_needs() {
    let mut slice = Slice::new(&session(), "https://h/runtime.js");
    assert!(!slice.is_mountable());
    let token =
        Secret::new(*b"k").mint(TokenKind::Ws, &session_id("s1"), &app("shop"), time(0), [0; 12]);
    slice.delivery = Some(Delivery::new("https://h", &session_id("s1"), token.clone()));
    let api = |end: &str| format!("https://h/api/sessions/s1/{end}?wsToken={}", token.text);
    let (ws, poll, sse) = ("wss://h/ws", api("events"), api("stream"));
    assert!(slice.is_mountable());
    slice.props_json = Some("{}".into());
    slice.contract = Some(("abc".into(), "https://h/contract/abc.js".into()));
    slice.code = Some(Code::Url("https://h/code/f.js".into(), "f".into()));
    assert_eq!(
        Value::Object(slice.document()),
        json!({
            "sessionId": "s1", "appId": "shop", "runtimeUrl": "https://h/runtime.js",
            "lastSequence": 9, "epoch": 4,
            "wsUrl": ws, "wsToken": token.text, "pollingUrl": poll, "sseUrl": sse,
            "expiresAt": time(180).to_string(), "propsJson": "{}",
            "contractHash": "abc", "validatorsUrl": "https://h/contract/abc.js",
            "codeUrl": "https://h/code/f.js", "codeHash": "f",
        }),
    );
}

/// ggui's runtime refuses a slice with slots of another form.
#[test]
fn a_slice_has_the_context_slots_as_a_list() {
    let ui = json!({"contextSpec": {
        "currentStep": {"schema": {"type": "string"}, "default": "one", "debounceMs": 100},
        "élan": {"schema": {"type": "integer"}},
        "note": {"schema": {"type": ["string", "null"]}, "default": null},
    }});
    let said = json!({"note": "hello", "gone": 1});
    let mut slice = Slice::new(&session(), "https://h/runtime.js");
    assert_eq!(slice.document().get("contextSlots"), None);
    slice.context_slots = ContextSlot::of(ui.as_object().unwrap(), said.as_object());
    slice.theme_id = Some("dark".into());
    let document = Value::Object(slice.document());
    assert_eq!(
        document["contextSlots"],
        json!([
            {"name": "currentStep", "contextName": "CurrentStepContext",
             "schema": {"type": "string"}, "default": "one", "debounceMs": 100},
            {"name": "élan", "contextName": "ÉlanContext", "schema": {"type": "integer"},
             "default": 0},
            {"name": "note", "contextName": "NoteContext",
             "schema": {"type": ["string", "null"]}, "default": "hello"},
        ]),
    );
    assert_eq!((&document["themeId"], &document["theme"]), (&json!("dark"), &Value::Null));
}

#[test]
fn small_code_is_inline() {
    // Three bytes are four characters.
    let most = INLINE_CODE_CHARS / 4 * 3;
    assert!(Code::inline(&"x".repeat(most), "h").is_some());
    assert!(Code::inline(&"x".repeat(most + 1), "h").is_none());
    assert_eq!(Code::inline("abc", "h"), Some(Code::Inline("YWJj".into(), "h".into())));
}
