//! The host context and the values of context slots.

use accord_contract::{Code, Object, Wire as _};
use accord_live_core::frame::HostContext;
use accord_live_core::session::{check_context_size, host_context, sync_context};
use serde_json::{Value, json};

use crate::support::{World, app, at, contract, object, project};

fn world() -> World {
    let spec = json!({
        "contextSpec": {
            "tab": {"schema": {"type": "integer"}, "default": 0},
            "note": {"schema": {"type": "string"}, "default": ""},
        },
    });
    World::rendered(&contract(spec.clone()), spec, json!({}))
}

#[test]
fn a_host_context_replaces_the_one_before() {
    let mut world = world();
    let project = project();
    for context in [json!({"locale": "de", "platform": "web"}), json!({"timeZone": "UTC"})] {
        let observed = HostContext::from_document(context.clone()).unwrap();
        let delta = host_context(&world.session, observed, at(&project, world.now)).unwrap();
        assert!(delta.ledger.is_empty() && delta.events.is_empty());
        world.apply(delta);
        assert_eq!(world.content.host_context.clone().map(Value::Object), Some(context));
    }
    let observed = HostContext::from_document(json!({})).unwrap();
    let late = at(&project, world.session.head.expires_at);
    let failure = host_context(&world.session, observed, late).unwrap_err();
    assert_eq!(failure.code, Code::GguiSessionNotFound);
}

#[test]
fn a_snapshot_of_the_context_replaces_the_one_before() {
    let mut world = world();
    let (contract, project) = (world.compiled(), project());
    for snapshot in [json!({"tab": 1, "note": "x"}), json!({"tab": 2})] {
        let session = Some(&world.session);
        let now = at(&project, world.now);
        let delta =
            sync_context(session, &app("shop"), &contract, object(snapshot.clone()), now).unwrap();
        world.apply(delta);
        assert_eq!(world.content.context.clone().map(Value::Object), Some(snapshot));
    }
}

#[test]
fn the_first_reason_decides() {
    let world = world();
    let (contract, project) = (world.compiled(), project());
    let slots: Object = (0..51).map(|slot| (format!("s{slot}"), json!(0))).collect();
    let bad = object(json!({"tab": "one", "other": 1}));
    let code = |session, app_id: &str, snapshot: &Object| {
        let at = at(&project, world.now);
        let failure =
            sync_context(session, &app(app_id), &contract, snapshot.clone(), at).unwrap_err();
        (failure.code, failure.details)
    };
    let session = Some(&world.session);
    assert_eq!(code(None, "b", &slots).0, Code::GguiContextTooLarge);
    assert_eq!(code(None, "b", &bad).0, Code::GguiSessionNotFound);
    assert_eq!(code(session, "b", &bad).0, Code::GguiTenantMismatch);
    let (found, details) = code(session, "shop", &bad);
    assert_eq!(found, Code::GguiContextSchemaViolation);
    let details = Value::Object(*details.unwrap());
    let fields: Vec<_> =
        details["violations"].as_array().unwrap().iter().map(|one| &one["field"]).collect();
    assert_eq!(fields, [&json!("tab.value"), &json!("contextSpec")]);
}

#[test]
fn the_limits_of_a_snapshot() {
    // A text of n letters has n + 2 bytes.
    let text = |bytes: usize| json!("x".repeat(bytes - 2));
    let is_fine = |snapshot: Object| match check_context_size(&snapshot) {
        Ok(()) => true,
        Err(failure) => {
            assert_eq!(failure.code, Code::GguiContextTooLarge);
            false
        }
    };
    let slots = |count: usize, bytes: usize| -> Object {
        (0..count).map(|slot| (format!("{slot:02}"), text(bytes))).collect()
    };
    assert!(is_fine(slots(50, 10)));
    assert!(!is_fine(slots(51, 10)));
    assert!(is_fine(slots(1, 16_384)));
    assert!(!is_fine(slots(1, 16_385)));
    assert!(is_fine(slots(4, 16_377)));
    assert!(!is_fine(slots(4, 16_378)));
}
