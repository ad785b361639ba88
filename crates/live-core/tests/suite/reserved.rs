//! The channels of the server, and the shapes of their payloads.

use accord_live_core::reserved::{COMPONENTS, Channel, is_reserved};
use serde_json::{Value, json};

fn fields(channel: Channel, payload: &Value) -> Vec<String> {
    channel.check(payload).into_iter().map(|violation| violation.field).collect()
}

#[test]
fn only_two_of_the_reserved_names_exist() {
    for name in ["_ggui:preview", "_ggui:lifecycle", "_ggui:preveiw", "_ggui:props", "_ggui:"] {
        assert!(is_reserved(name));
    }
    assert!(!is_reserved("ggui:preview") && !is_reserved("_gguipreview"));
    assert_eq!(Channel::parse("_ggui:preview"), Some(Channel::Preview));
    assert_eq!(Channel::parse("_ggui:lifecycle"), Some(Channel::Lifecycle));
    for other in ["_ggui:preveiw", "_ggui:props", "_ggui:contract-error", "preview"] {
        assert_eq!(Channel::parse(other), None);
    }
}

#[test]
fn lifecycle_is_a_closed_union() {
    let good = [
        json!({"kind": "handshake_started", "handshakeId": "h", "intent": "i"}),
        json!({"kind": "handshake_completed", "handshakeId": "h", "outcome": "cached",
            "genExpected": false}),
        json!({"kind": "render_started", "sessionId": "s", "intent": "i", "later": 1}),
        json!({"kind": "consume_polling", "sessionId": "s", "state": "open"}),
    ];
    for payload in &good {
        assert!(fields(Channel::Lifecycle, payload).is_empty(), "{payload}");
        // Every member is needed.
        for name in payload.as_object().unwrap().keys().filter(|name| *name != "later") {
            let mut less = payload.clone();
            less.as_object_mut().unwrap().remove(name);
            assert_eq!(fields(Channel::Lifecycle, &less), [name.as_str()], "{less}");
            let mut wrong = payload.clone();
            wrong[name] = json!(7);
            assert_eq!(fields(Channel::Lifecycle, &wrong), [name.as_str()], "{wrong}");
        }
    }
    for payload in [json!(null), json!([]), json!("render_started")] {
        assert_eq!(fields(Channel::Lifecycle, &payload), ["payload"]);
    }
    assert_eq!(fields(Channel::Lifecycle, &json!({"kind": "render_finished"})), ["kind"]);
    let outcome = json!({"kind": "handshake_completed", "handshakeId": "h", "outcome": "maybe"});
    assert_eq!(fields(Channel::Lifecycle, &outcome), ["outcome", "genExpected"]);
}

#[test]
fn a_preview_is_a_message_of_a2ui() {
    let good = [
        json!({"version": "v0.9", "createSurface": {
            "surfaceId": "s", "catalogId": "ggui.preview.v1"}}),
        json!({"version": "v0.9", "deleteSurface": {"surfaceId": "s"}}),
        json!({"version": "v0.9", "updateComponents": {"surfaceId": "s", "components": []}}),
    ];
    for payload in &good {
        assert!(fields(Channel::Preview, payload).is_empty(), "{payload}");
    }
    for (payload, expected) in [
        (json!([]), vec!["payload"]),
        (json!({"deleteSurface": {"surfaceId": "s"}}), vec!["version"]),
        (json!({"version": "v0.8", "deleteSurface": {"surfaceId": "s"}}), vec!["version"]),
        (json!({"version": "v0.9"}), vec!["payload"]),
        (json!({"version": "v0.9", "updateDataModel": {"surfaceId": "s"}}), vec!["payload"]),
        (
            json!({"version": "v0.9", "deleteSurface": {"surfaceId": "s"},
            "createSurface": {"surfaceId": "s", "catalogId": "ggui.preview.v1"}}),
            vec!["payload"],
        ),
        (
            json!({"version": "v0.9", "deleteSurface": {"surfaceId": ""}}),
            vec!["deleteSurface.surfaceId"],
        ),
        (json!({"version": "v0.9", "deleteSurface": "s"}), vec!["deleteSurface"]),
        (
            json!({"version": "v0.9", "createSurface": {"surfaceId": "s", "catalogId": "other"}}),
            vec!["createSurface.catalogId"],
        ),
        (
            json!({"version": "v0.9", "updateComponents": {"surfaceId": "s"}}),
            vec!["updateComponents.components"],
        ),
    ] {
        assert_eq!(fields(Channel::Preview, &payload), expected, "{payload}");
    }
}

fn component(component: Value) -> Vec<String> {
    let payload = json!({"version": "v0.9",
        "updateComponents": {"surfaceId": "s", "components": [component]}});
    let prefix = "updateComponents.components[0]";
    let fields = fields(Channel::Preview, &payload);
    fields.iter().map(|field| field.strip_prefix(prefix).expect("a component").to_owned()).collect()
}

#[test]
fn a_preview_has_the_components_of_the_catalog() {
    for name in COMPONENTS {
        let mut whole = json!({
            "id": "a", "component": name, "text": "t", "src": "x", "name": "n", "label": "l",
            "children": ["b"], "child": "b", "value": "v", "more": {},
        });
        assert!(component(whole.clone()).is_empty(), "{name}");
        whole["id"] = json!("");
        assert_eq!(component(whole), [".id"], "{name}");
    }
    for (wrong, expected) in [
        (json!({"id": "a", "component": "Video"}), ".component"),
        (json!({"component": "Divider"}), ".id"),
        (json!({"id": "a", "component": "Text"}), ".text"),
        (json!({"id": "a", "component": "Image", "src": ""}), ".src"),
        (json!({"id": "a", "component": "Icon"}), ".name"),
        (json!({"id": "a", "component": "Button"}), ".label"),
        (json!({"id": "a", "component": "Row", "children": "b"}), ".children"),
        (json!({"id": "a", "component": "Column", "align": "left"}), ".align"),
        (json!({"id": "a", "component": "Row", "justify": "left"}), ".justify"),
        (json!({"id": "a", "component": "Card", "child": ["b"]}), ".child"),
        (json!({"id": "a", "component": "Divider", "orientation": "up"}), ".orientation"),
        (json!({"id": "a", "component": "CheckBox", "checked": "yes"}), ".checked"),
        (json!({"id": "a", "component": "ChoicePicker", "options": [{"label": "x"}]}), ".options"),
        (json!({"id": "a", "component": "TextField", "value": 1}), ".value"),
        (json!(7), ""),
    ] {
        assert_eq!(component(wrong.clone()), [expected], "{wrong}");
    }
}
