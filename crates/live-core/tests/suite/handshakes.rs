//! Handshakes.

use accord_contract::Code;
use accord_live_core::HandshakeId;
use accord_live_core::handshake::{
    Blueprint, BlueprintKey, Handshake, HandshakeAction, NewHandshake, begin, peek,
};
use serde_json::{Value, json};

use crate::support::{app, object, time};

fn key(contract: &str) -> BlueprintKey {
    BlueprintKey { contract_hash: contract.into(), variant_key: "0123456789abcdef".into() }
}

fn handshake(force_create: bool, known: Option<&str>) -> Handshake {
    let asked = NewHandshake {
        intent: "pick a colour".into(),
        contract: object(json!({"x": 1})),
        variance: object(json!({"persona": "p"})),
        key: key("aaaaaaaaaaaaaaaa"),
        force_create,
    };
    let known =
        known.map(|hash| Blueprint { key: key(hash), code_hash: None, intent: "earlier".into() });
    let id = HandshakeId::new("hs1").unwrap();
    begin(id, &app("shop"), asked, known.as_ref(), time(0))
}

#[test]
fn only_exactly_the_same_ui_is_used_again() {
    for (force, known, action, origin) in [
        (false, None, HandshakeAction::Create, "agent"),
        (false, Some("aaaaaaaaaaaaaaaa"), HandshakeAction::Reuse, "cache"),
        (true, Some("aaaaaaaaaaaaaaaa"), HandshakeAction::Create, "agent"),
        (false, Some("bbbbbbbbbbbbbbbb"), HandshakeAction::Create, "agent"),
    ] {
        let handshake = handshake(force, known);
        assert_eq!(handshake.action, action);
        let suggestion = Value::Object(handshake.suggestion());
        assert_eq!(suggestion["origin"], json!(origin));
        assert_eq!(
            suggestion["blueprintMeta"],
            json!({
                "contractHash": "aaaaaaaaaaaaaaaa",
                "blueprintId": "bp_aaaaaaaaaaaaaaaa_0123456789abcdef",
                "variance": {"persona": "p"},
            }),
        );
    }
}

#[test]
fn a_handshake_is_found_by_its_app_for_ten_minutes() {
    let stored = handshake(false, None);
    assert!(peek(Some(&stored), &app("shop"), time(599)).is_ok());
    for (stored, app_id, after) in
        [(Some(&stored), "shop", 600), (Some(&stored), "other", 0), (None, "shop", 0)]
    {
        let failure = peek(stored, &app(app_id), time(after)).unwrap_err();
        assert_eq!(failure.code, Code::GguiToolHandshakeNotFound);
    }
}

#[test]
fn the_id_of_a_ui_names_its_key() {
    let key = key("aaaaaaaaaaaaaaaa");
    assert_eq!(BlueprintKey::parse(&key.id()), Some(key));
    for wrong in ["", "bp_", "bp_a_b", "x_aaaaaaaaaaaaaaaa_0123456789abcdef"] {
        assert_eq!(BlueprintKey::parse(wrong), None, "{wrong}");
    }
}
