//! What an agent does: handshake, render, update, amend, reads.

use accord_contract::{Object, Wire as _};
use accord_live::{Live, LiveOptions};
use accord_live_core::token::{Secret, TokenKind};
use accord_live_core::violation::Source;
use serde_json::{Value, json};

use crate::support::{
    app, arguments, contract, document, next, object, owner, places, session_id, subscribe,
};

async fn handshake(live: &Live, contract: &Value) -> accord_live_core::tools::HandshakeAnswer {
    let draft = json!({"contract": contract});
    let request = json!({"intent": "ask for a colour", "blueprintDraft": draft});
    live.handshake(&owner(), &app("shop"), arguments(request)).await.unwrap()
}

fn with_props() -> Value {
    let mut document = contract();
    let schema = json!({"type": "integer"});
    document["propsSpec"] = json!({"properties": {"count": {"schema": schema, "required": true}}});
    document
}

#[tokio::test]
async fn a_ui_is_rendered_changed_and_found_again() {
    for place in places() {
        let live = place.live();
        let (caller, shop, contract) = (owner(), app("shop"), with_props());
        let made = handshake(&live, &contract).await;
        let id = made.handshake_id.as_str();
        // A render that is refused leaves the handshake usable.
        let wrong = json!({"handshakeId": id, "props": {"count": "many"}});
        let refused = live.render(&caller, &shop, arguments(wrong), None).await.unwrap_err();
        assert_eq!(refused.code.as_str(), "contract_violation");
        let code = "export default () => null";
        let request = json!({"handshakeId": id, "props": {"count": 1}, "x-componentCode": code});
        let rendered = live.render(&caller, &shop, arguments(request.clone()), None).await.unwrap();
        assert!(!rendered.cache.hit);
        let refused = live.render(&caller, &shop, arguments(request), None).await.unwrap_err();
        assert_eq!(refused.code.as_str(), "handshake_not_found");

        let session = rendered.session_id.clone();
        let snapshot = live.session(&caller, &shop, &session).await.unwrap().encode();
        assert_eq!((&snapshot["props"]["count"], &snapshot["epoch"]), (&json!(1), &json!(0)));
        assert_eq!(snapshot["componentCode"], code);
        let hash = snapshot["x-codeHash"].as_str().unwrap();
        assert_eq!(live.code(hash).await.unwrap().as_deref(), Some(code));
        assert_eq!(live.code("0").await.unwrap(), None);
        let other = live.session(&caller, &app("atlas"), &session).await.unwrap_err();
        assert_eq!(other.code.as_str(), "session_not_found");

        let mut page = subscribe(&live, session.as_str(), json!({"fromSeq": 1})).await.unwrap();
        let merge = json!({"sessionId": session.as_str(), "kind": "merge", "patch": {"count": 2}});
        let updated =
            live.set_props(&caller, &shop, object(merge.clone()), Source::Update).await.unwrap();
        assert_eq!((updated.updated, updated.epoch), (true, Some(1)));
        let frames = next(&mut page.subscriber).await;
        assert_eq!(frames[0]["type"], "props_update");
        assert_eq!(frames[0]["payload"]["props"], json!({"count": 2}));
        let same = live.set_props(&caller, &shop, object(merge), Source::Update).await.unwrap();
        assert_eq!((same.updated, same.epoch), (false, Some(1)));
        let replace =
            json!({"sessionId": session.as_str(), "kind": "replace", "props": {"count": 3}});
        live.set_props(&caller, &shop, object(replace), Source::Amend).await.unwrap();
        let found = live.found(&session, None).await.unwrap().unwrap();
        assert_eq!(found.props_json.as_deref(), Some(r#"{"count":3}"#));
        let pinned = live.found(&session, Some(0)).await.unwrap().unwrap();
        assert_eq!(pinned.props_json.as_deref(), Some(r#"{"count":1}"#));

        // The same contract again: the UI is known, with its code.
        let known = handshake(&live, &contract).await;
        assert_eq!(known.action.as_str(), "reuse");
        let request = json!({"handshakeId": known.handshake_id.as_str(), "props": {"count": 5}});
        let again = live.render(&caller, &shop, arguments(request), None).await.unwrap();
        assert!(again.cache.hit && again.session_id != session);
        let snapshot = live.session(&caller, &shop, &again.session_id).await.unwrap().encode();
        assert_eq!(snapshot["componentCode"], code);
        let blueprint = json!({"blueprintId": again.blueprint_id, "props": {"count": 6}});
        live.render_blueprint(&caller, &shop, arguments(blueprint), None).await.unwrap();
        let listed = live.sessions(&caller, &shop, arguments(json!({"limit": 2}))).await.unwrap();
        assert_eq!((listed.sessions.len(), listed.has_more), (2, true));
        // A list has what the session is for, and nothing that is large.
        let listed = listed.sessions[0].encode();
        assert_eq!(listed["prompt"], "ask for a colour");
        for name in ["componentCode", "props", "actionSpec", "propsSpec"] {
            assert!(listed.get(name).is_none(), "{name} in {listed}");
        }
        let found = live.blueprints(&caller, &shop, arguments(json!({"query": "COLOUR"}))).await;
        let found = found.unwrap();
        assert_eq!(found.blueprints.len(), 1);
        assert_eq!(Value::Object(found.blueprints[0].contract.clone()), contract);
        let context = json!({"sessionId": session.as_str(), "appId": "atlas", "snapshot": {}});
        let outcome = live.sync_context(&caller, arguments(context)).await.unwrap().document();
        assert_eq!(outcome["code"], "TENANT_MISMATCH");
    }
}

#[tokio::test]
async fn a_token_opens_one_session() {
    for place in places() {
        let options = LiveOptions { secret: Some(Secret::new([7; 32])), ..LiveOptions::default() };
        let live = place.live_with(options);
        let minted = live
            .mint_token_with(TokenKind::Ws, &session_id("s1"), &app("shop"), Object::new())
            .unwrap();
        let request = json!({"wsToken": minted.text});
        let subscribed = subscribe(&live, "s1", request.clone()).await.unwrap();
        assert!(document(&subscribed.ack.text)["payload"]["sessionToken"].is_string());
        let refused = subscribe(&live, "s2", request).await.unwrap_err();
        assert_eq!(refused.failure.code.as_str(), "BOOTSTRAP_SESSION_MISMATCH");
        let refresh = arguments(json!({"envelope": minted.text}));
        let fresh = live.refresh_token(&refresh, false).await.unwrap().document();
        let claims = live.verify_token(fresh["envelope"].as_str().unwrap(), TokenKind::Ws);
        let claims = claims.unwrap();
        assert!(fresh["expiresAt"].as_str().unwrap().ends_with('Z'), "{fresh:?}");
        assert_eq!(claims.session_id, session_id("s1"));
        let bare = place.live();
        assert_eq!(
            bare.refresh_token(&refresh, false).await.unwrap().document()["code"],
            "BOOTSTRAP_NOT_SUPPORTED"
        );
        assert!(
            bare.mint_token_with(TokenKind::Ws, &session_id("s1"), &app("shop"), Object::new())
                .is_none()
        );
    }
}
