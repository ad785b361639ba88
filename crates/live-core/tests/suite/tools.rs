//! The tools: their requests, the gates of a render, and the tools of pages.

use std::collections::BTreeSet;

use accord_contract::{Code, Failure, Object, Wire as _};
use accord_live_core::handshake::{Blueprint, Handshake, HandshakeAction, begin};
use accord_live_core::subset::Policy;
use accord_live_core::tools::{
    Audience, ConsumeRequest, EmitRequest, HandshakeAnswer, HandshakeRequest, ListSessionsRequest,
    Outcome, PullRequest, RenderFacts, RenderRequest, Rendered, Submission, SubmitActionRequest,
    TOOLS, TelemetryRequest, prepare_handshake, read, render, render_contract, submit_action,
};
use accord_live_core::{AppId, HandshakeId, refuse};
use serde_json::{Value, json};

use crate::support::{app, at, object, project, session_id, time};

fn contract() -> Value {
    json!({
        "propsSpec": {"properties": {"title": {"schema": {"type": "string"}, "required": true}}},
        "actionSpec": {
            "save": {
                "label": "Save",
                "schema": {"type": "object", "properties": {"id": {"type": "string"}}},
                "nextStep": "save_it",
            },
        },
        "agentCapabilities": {
            "tools": {
                "save_it": {
                    "toolInfo": {
                        "inputSchema": {
                            "type": "object", "properties": {"id": {"type": "string"}},
                        },
                    },
                },
            },
        },
        "x-kept": true,
    })
}

fn no_tools(_: &str) -> Option<&'static Value> {
    None
}

fn shake(contract: Value, known: Option<&Blueprint>) -> Handshake {
    let request: HandshakeRequest = read(object(json!({
        "intent": "name it", "blueprintDraft": {"contract": contract},
    })))
    .unwrap();
    let prepared = prepare_handshake(request, no_tools).unwrap();
    let id = HandshakeId::new("hs1").unwrap();
    begin(id, &app("shop"), prepared.asked, known, time(0))
}

fn request(more: Value) -> RenderRequest {
    let mut document = json!({"handshakeId": "hs1", "props": {"title": "t"}});
    for (name, value) in more.as_object().unwrap() {
        document[name.as_str()] = value.clone();
    }
    read(object(document)).unwrap()
}

struct Given<'a> {
    handshake: Option<&'a Handshake>,
    app_id: AppId,
    rate_limit: Option<Failure>,
    schema: Option<Value>,
    policy: Policy,
    known_code: Option<&'a str>,
}

impl Default for Given<'_> {
    fn default() -> Self {
        Self {
            handshake: None,
            app_id: app("shop"),
            rate_limit: None,
            schema: None,
            policy: Policy::Reject,
            known_code: None,
        }
    }
}

fn try_render(more: Value, given: &Given<'_>) -> Result<Rendered, Failure> {
    let (project, id) = (project(), session_id("live_1"));
    let input_schema = |_: &str| given.schema.as_ref();
    let asked = request(more);
    let facts = RenderFacts {
        app_id: &given.app_id,
        handshake: given.handshake,
        contract: given.handshake.map(|made| render_contract(&asked, made)),
        themes: &["plain"],
        rate_limit: given.rate_limit.clone(),
        gadgets: &[],
        public_env: &[],
        input_schema: &input_schema,
        policy: given.policy,
        known_code: given.known_code,
        session_id: &id,
        asked_by: None,
        at: at(&project, time(1)),
    };
    render(asked, facts)
}

#[test]
fn every_tool_has_its_side() {
    let names: BTreeSet<_> = TOOLS.iter().map(|tool| tool.name).collect();
    assert_eq!(names.len(), TOOLS.len());
    for tool in TOOLS {
        let name = tool.name;
        let is_runtime = name.starts_with("ggui_runtime_") || name == "accord_runtime_page";
        assert_eq!(tool.audience == Audience::App, is_runtime, "{}", tool.name);
        assert_eq!(tool.audience.visibility().is_some(), is_runtime);
    }
    assert_eq!(TOOLS.iter().filter(|tool| tool.audience == Audience::App).count(), 7);
}

#[test]
fn arguments_have_their_limits() {
    fn is_read<T: accord_contract::wire::Wire>(arguments: Value) -> bool {
        read::<T>(object(arguments)).is_ok()
    }
    for (arguments, expected) in [
        (json!({"sessionId": "s"}), true),
        (json!({"sessionId": "s", "timeout": 0}), true),
        (json!({"sessionId": "s", "timeout": 25}), true),
        (json!({"sessionId": "s", "timeout": 26}), false),
        (json!({"sessionId": "s", "timeout": -1}), false),
        (json!({"sessionId": "s", "timeout": 1.5}), false),
        (json!({"timeout": 1}), false),
    ] {
        assert_eq!(is_read::<ConsumeRequest>(arguments.clone()), expected, "{arguments}");
    }
    for (limit, expected) in [(0, false), (1, true), (200, true), (201, false)] {
        assert_eq!(is_read::<ListSessionsRequest>(json!({"limit": limit})), expected);
    }
    for (more, expected) in [
        (json!({"sessionId": "s", "limit": 100, "wait": 20, "sinceSequence": 0}), true),
        // The answer has fewer, and comes sooner.
        (json!({"sessionId": "s", "limit": 101}), true),
        (json!({"sessionId": "s", "limit": 0}), false),
        (json!({"sessionId": "s", "wait": 21}), true),
        (json!({"sessionId": "s", "wait": -1}), false),
    ] {
        assert_eq!(is_read::<PullRequest>(more.clone()), expected, "{more}");
    }
    let telemetry = |events: usize| json!({"events": vec![json!({}); events]});
    assert!(is_read::<TelemetryRequest>(telemetry(40)));
    assert!(!is_read::<TelemetryRequest>(telemetry(41)));
    assert!(!is_read::<EmitRequest>(json!({"sessionId": "s", "channel": "c"})));
    assert!(is_read::<EmitRequest>(json!({"sessionId": "s", "channel": "c", "payload": null})));
    assert!(!is_read::<HandshakeRequest>(
        json!({"intent": "", "blueprintDraft": {"contract": {}}})
    ));
}

#[test]
fn a_handshake_answers_with_the_schema_that_a_render_enforces() {
    let mut document = contract();
    document["actionSpec"]["save"]["nextStep"] = json!("save_it");
    let schema = json!({"type": "object", "properties": {"id": {"type": "integer"}}});
    let request: HandshakeRequest = read(object(json!({
        "intent": "name it", "blueprintDraft": {"contract": document},
    })))
    .unwrap();
    let prepared = prepare_handshake(request, |_| Some(&schema)).unwrap();
    let id = HandshakeId::new("hs1").unwrap();
    let handshake = begin(id, &app("shop"), prepared.asked, None, time(0));
    let answer = HandshakeAnswer::new(&handshake, &prepared.contract, &prepared.findings);
    let answer = answer.encode();
    assert_eq!(answer["action"], json!("create"));
    let next = &answer["nextStep"];
    assert_eq!(next["tool"], json!("ggui_render"));
    assert!(next["example"].as_str().unwrap().contains("\"handshakeId\":\"hs1\""), "{next}");
    let meta = answer["suggestion"]["blueprintMeta"].as_object().unwrap();
    // ggui's schema of this document is closed.
    assert_eq!(meta.keys().collect::<Vec<_>>(), ["contractHash", "blueprintId", "variance"]);
    assert_eq!(answer["propsSchema"]["required"], json!(["title"]));
    assert_eq!(answer["propsSchemaHash"].as_str().unwrap().len(), 64);
    assert_eq!(answer["propsSchemaProfile"], json!("grammar-safe"));
    let finding = &answer["suggestion"]["validationFindings"][0];
    assert_eq!(finding["code"], json!("SCHEMA_MISMATCH_ERROR"));
    assert_eq!(finding["severity"], json!("error"));
    assert_eq!(finding["path"], json!("actionSpec.save"));
}

#[test]
fn a_handshake_warns_of_members_that_no_spec_has() {
    let findings = |contract: Value| {
        let arguments = json!({"intent": "name it", "blueprintDraft": {"contract": contract}});
        let request: HandshakeRequest = read(object(arguments)).unwrap();
        let prepared = prepare_handshake(request, |_| None).unwrap();
        let id = HandshakeId::new("hs1").unwrap();
        let handshake = begin(id, &app("shop"), prepared.asked, None, time(0));
        let answer = HandshakeAnswer::new(&handshake, &prepared.contract, &prepared.findings);
        answer.encode()["suggestion"].get("validationFindings").cloned()
    };
    for (member, meant) in [
        ("actions", "actionSpec"),
        ("actionspec", "actionSpec"),
        ("props", "propsSpec"),
        ("streams", "streamSpec"),
        ("contextSpecs", "contextSpec"),
        ("agentCapability", "agentCapabilities"),
    ] {
        let found = findings(json!({member: {"save": {"label": "Save"}}})).unwrap();
        assert_eq!(found.as_array().unwrap().len(), 1, "{found}");
        assert_eq!(found[0]["code"], "unknown-member", "{found}");
        assert_eq!(found[0]["severity"], "warn", "{found}");
        assert_eq!(found[0]["path"], member, "{found}");
        let message = found[0]["message"].as_str().unwrap();
        assert!(message.starts_with(&format!("'{member}' is not a spec")), "{message}");
        assert!(message.ends_with(&format!("did you mean '{meant}'?")), "{message}");
    }
    let found = findings(json!({"buttons": {}})).unwrap();
    let message = found[0]["message"].as_str().unwrap();
    assert!(message.contains("the specs are propsSpec, actionSpec, "), "{message}");
    let known = json!({"description": "notes", "usage": "once", "x-team": "docs"});
    assert_eq!(findings(known), None);
    assert_eq!(findings(contract()), None);
    let many: Object = (0..200).map(|at| (format!("m{at}"), Value::Null)).collect();
    assert_eq!(findings(Value::Object(many)).unwrap().as_array().unwrap().len(), 100);
}

#[test]
fn a_handshake_refuses_an_invalid_contract() {
    let arguments = json!({
        "intent": "x", "blueprintDraft": {"contract": {"actionSpec": {"_ggui:x": {"label": "X"}}}},
    });
    let failure = prepare_handshake(read(object(arguments)).unwrap(), no_tools).unwrap_err();
    assert_eq!(failure.code, Code::GguiToolNameInvariantViolation);
    let details = Value::Object(*failure.details.unwrap());
    assert_eq!(details["violations"][0]["code"], json!("CTR_RESERVED_NAME"));
}

#[test]
fn each_gate_of_a_render_comes_before_the_next() {
    let handshake = shake(contract(), None);
    let with = || Given { handshake: Some(&handshake), ..Given::default() };
    let busy = || Some(refuse::append_failed("too often"));
    let strict = || Some(json!({"type": "object", "properties": {"id": {"type": "integer"}}}));
    let bad_contract = json!({"contract": {"actionSpec": {"a": {}}}});
    let mut gadgets = contract();
    gadgets["clientCapabilities"] = json!({"gadgets": {"@x/y": {"useThing": {}}}});
    let unregistered = json!({"contract": gadgets});
    let wrong = json!({"title": 7});
    // Each row fails at its own gate, and at every later one that it can.
    for (more, given, code) in [
        (json!({"override": {}, "themeId": "no"}), Given::default(), Code::GguiInvalidMessage),
        (json!({"themeId": "no"}), Given::default(), Code::GguiToolContractViolation),
        (
            json!({"override": bad_contract}),
            Given { rate_limit: busy(), ..Given::default() },
            Code::GguiToolHandshakeNotFound,
        ),
        (
            json!({"override": bad_contract}),
            Given { rate_limit: busy(), ..with() },
            Code::GguiAppendFailed,
        ),
        (
            json!({"override": bad_contract, "props": wrong}),
            Given { schema: strict(), ..with() },
            Code::GguiToolOverrideContractInvalid,
        ),
        (
            json!({"override": unregistered, "props": wrong}),
            Given { schema: strict(), ..with() },
            Code::GguiToolGadgetNotRegistered,
        ),
        (
            json!({"props": wrong}),
            Given { schema: strict(), ..with() },
            Code::GguiSchemaMismatchError,
        ),
        (
            json!({"props": wrong}),
            Given { schema: strict(), policy: Policy::Warn, ..with() },
            Code::GguiToolContractViolation,
        ),
    ] {
        let failure = try_render(more.clone(), &given).unwrap_err();
        assert_eq!(failure.code, code, "{more}: {failure}");
    }
    // None of them has used the handshake.
    assert!(try_render(json!({}), &with()).is_ok());
    let other = Given { app_id: app("other"), ..with() };
    let failure = try_render(json!({}), &other).unwrap_err();
    assert_eq!(failure.code, Code::GguiToolHandshakeNotFound);
}

#[test]
fn a_warning_does_not_stop_a_render() {
    let handshake = shake(contract(), None);
    let schema = json!({"type": "object", "properties": {"id": {"type": "integer"}}});
    let mut given = Given { handshake: Some(&handshake), schema: Some(schema), ..Given::default() };
    given.policy = Policy::Warn;
    assert_eq!(try_render(json!({}), &given).unwrap().findings.len(), 1);
    given.policy = Policy::Off;
    assert!(try_render(json!({}), &given).unwrap().findings.is_empty());
}

#[test]
fn a_render_begins_a_session() {
    let handshake = shake(contract(), None);
    let given = Given { handshake: Some(&handshake), ..Given::default() };
    let more = json!({"themeId": "plain", "x-componentCode": "export default 1"});
    let rendered = try_render(more, &given).unwrap();
    assert_eq!(rendered.used, handshake.id);
    let head = rendered.session.head;
    assert_eq!((head.epoch, head.ledger, head.stream), (0, 2, 1));
    assert!(head.has_pipe && head.is_asking);
    assert_eq!(head.expires_at, time(3601));
    let types: Vec<_> = rendered.delta.ledger.iter().map(|row| row.kind.as_str()).collect();
    assert_eq!(types, ["ui.created", "ui.committed"]);
    let kinds: Vec<_> = rendered.delta.events.iter().map(|event| event.kind.as_str()).collect();
    assert_eq!(kinds, ["live.session.started", "live.ui.created", "live.ui.committed"]);

    let snapshot = rendered.session.snapshot(&rendered.content, time(1));
    for (name, value) in [
        ("componentCode", json!("export default 1")),
        ("prompt", json!("name it")),
        ("themeId", json!("plain")),
        ("props", json!({"title": "t"})),
        ("x-kept", json!(true)),
    ] {
        assert_eq!(snapshot[name], value, "{name}");
    }
    let (hash, code) = rendered.code.unwrap();
    assert_eq!((hash.len(), code.as_str()), (64, "export default 1"));
    assert_eq!(rendered.blueprint.code_hash, Some(hash));

    let answer = rendered.answer.encode();
    assert_eq!(answer["action"], json!("create"));
    let next = &answer["nextStep"];
    assert_eq!(next["tool"], json!("ggui_consume"));
    assert_eq!(next["args"], json!({"sessionId": "live_1", "timeout": 25}));
    assert!(next["description"].is_string() && next["example"].is_string(), "{next}");
    assert_eq!(answer["cache"], json!({"hit": false, "llmCallsAvoided": 0}));
    let uri = answer["resourceUri"].as_str().unwrap();
    let hash = answer["contractHash"].as_str().unwrap();
    assert_eq!(uri, format!("ui://ggui/render/live_1/{hash}"));
    assert_eq!(answer["blueprintId"], json!(rendered.blueprint.key.id()));
}

#[test]
fn a_ui_that_was_rendered_before_lends_its_code() {
    let first = shake(contract(), None);
    let given = Given { handshake: Some(&first), ..Given::default() };
    let blueprint = try_render(json!({"x-componentCode": "code"}), &given).unwrap().blueprint;
    let second = shake(contract(), Some(&blueprint));
    assert_eq!(second.action, HandshakeAction::Reuse);
    let given = Given { handshake: Some(&second), known_code: Some("code"), ..Given::default() };
    let rendered = try_render(json!({}), &given).unwrap();
    assert_eq!(rendered.content.ui["componentCode"], json!("code"));
    assert!(rendered.answer.cache.hit);
    // Another variance is another UI.
    let more = json!({"override": {"variance": {"persona": "new"}}});
    let rendered = try_render(more, &given).unwrap();
    assert_eq!(rendered.content.ui["componentCode"], json!(""));
    assert!(!rendered.answer.cache.hit);
    assert_ne!(rendered.blueprint.key, blueprint.key);
}

#[test]
fn a_ui_without_actions_has_no_next_step() {
    let handshake = shake(json!({}), None);
    let given = Given { handshake: Some(&handshake), ..Given::default() };
    let rendered = try_render(json!({"props": {}}), &given).unwrap();
    assert_eq!(rendered.answer.next_step, None);
    assert!(!rendered.session.head.is_asking);
}

fn submission(kind: &str, payload: Value) -> Result<Submission, Failure> {
    let arguments = json!({
        "kind": kind, "payload": payload, "sessionId": "s", "appId": "a", "actionId": "act-1",
        "firedAt": "2026-01-02T03:04:05.000Z",
    });
    submit_action(read::<SubmitActionRequest>(object(arguments)).unwrap())
}

#[test]
fn a_page_submits_three_kinds_of_actions() {
    let dispatched = submission("dispatch", json!({"intent": "go", "actionData": {"a": 1}}));
    match dispatched.unwrap() {
        Submission::Dispatch(dispatch) => {
            assert_eq!((dispatch.intent.as_str(), dispatch.action_id.as_str()), ("go", "act-1"));
            assert_eq!((dispatch.data, dispatch.ui_context), (json!({"a": 1}), json!({})));
        }
        other => panic!("{other:?}"),
    }
    let link = submission("openLink", json!({"url": "https://example.org"})).unwrap();
    assert_eq!(link, Submission::OpenLink("https://example.org".into()));
    let mode = submission("requestDisplayMode", json!({"mode": "pip"})).unwrap();
    assert_eq!(mode, Submission::DisplayMode("pip".into()));
    for (kind, payload) in [
        ("other", json!({})),
        ("dispatch", json!({})),
        ("dispatch", json!({"intent": ""})),
        ("openLink", json!({"url": 7})),
        ("requestDisplayMode", json!({})),
    ] {
        let failure = submission(kind, payload).unwrap_err();
        assert_eq!(failure.code, Code::GguiInvalidActionKind, "{kind}");
    }
}

#[test]
fn every_member_of_a_submission_is_required() {
    let whole = json!({
        "kind": "dispatch", "payload": {}, "sessionId": "s", "appId": "a", "actionId": "x",
        "firedAt": "2026-01-02T03:04:05Z",
    });
    for name in whole.as_object().unwrap().keys() {
        let mut part = object(whole.clone());
        part.shift_remove(name);
        let failure = read::<SubmitActionRequest>(part).unwrap_err();
        assert_eq!(failure.code, Code::WireFieldMissing, "{name}");
    }
}

#[test]
fn a_refusal_of_a_page_tool_is_a_result() {
    let document = |outcome: Outcome| Value::Object(outcome.document());
    assert_eq!(document(Outcome::submitted(None)), json!({"ok": true}));
    assert_eq!(
        document(Outcome::submitted(Some(false))),
        json!({"ok": true, "consumerPresent": false}),
    );
    let refused: Result<Object, Failure> = Err(refuse::pipe_not_found("no pipe"));
    assert_eq!(
        document(Outcome::of(refused)),
        json!({"ok": false, "code": "PIPE_NOT_FOUND", "message": "no pipe"}),
    );
}
