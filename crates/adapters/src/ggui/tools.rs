//! The tools of agents and pages: their arguments, handshakes and renders.

use accord_contract::{Failure, Object, Value, Wire as _};
use accord_live_core::handshake::{Blueprint, Handshake, begin};
use accord_live_core::tools::{
    Audience, ConsumeRequest, DeclareToolsRequest, EmitRequest, HandshakeAnswer, HandshakeRequest,
    ListSessionsRequest, Outcome, Prepared, PropsRequest, PullRequest, RefreshTokenRequest,
    RenderFacts, RenderRequest, Submission, SubmitActionRequest, SyncContextRequest, TOOLS,
    TelemetryRequest, prepare_handshake, read, render, render_contract, submit_action,
};
use accord_live_core::{HandshakeId, SessionId};
use serde_json::json;

use super::contracts::{listed, policy};
use super::gadgets::registered;
use super::parts::{APP, NOW, app, appended, at, ok, project, refused, time};
use crate::{BadCall, Call, Reply};

pub(super) fn tool_arguments(call: &Call) -> Result<Reply, BadCall> {
    let arguments = call.object("arguments")?.clone();
    let read: Result<(), Failure> = match call.text("tool")? {
        "ggui_handshake" => read::<HandshakeRequest>(arguments).map(drop),
        "ggui_render" => read::<RenderRequest>(arguments).map(drop),
        "ggui_update" | "ggui_amend" => read::<PropsRequest>(arguments).map(drop),
        "ggui_consume" => read::<ConsumeRequest>(arguments).map(drop),
        "ggui_emit" => read::<EmitRequest>(arguments).map(drop),
        "ggui_list_sessions" => read::<ListSessionsRequest>(arguments).map(drop),
        "ggui_runtime_pull" => read::<PullRequest>(arguments).map(drop),
        "ggui_runtime_submit_action" => read::<SubmitActionRequest>(arguments).map(drop),
        "ggui_runtime_sync_context" => read::<SyncContextRequest>(arguments).map(drop),
        "ggui_runtime_refresh_ws_token" => read::<RefreshTokenRequest>(arguments).map(drop),
        "ggui_runtime_telemetry" => read::<TelemetryRequest>(arguments).map(drop),
        "ggui_runtime_declare_tool_catalog" => read::<DeclareToolsRequest>(arguments).map(drop),
        _ => return Ok(Reply::NotImplemented),
    };
    ok(json!({"accepted": read.is_ok()}))
}

pub(super) fn list(_: &Call) -> Result<Reply, BadCall> {
    let of = |side: fn(Audience) -> bool| -> Vec<&str> {
        TOOLS.iter().filter(|tool| side(tool.audience)).map(|tool| tool.name).collect()
    };
    let is_app = |audience: Audience| audience.visibility() == Some(&["app"]);
    let is_agent = |audience: Audience| audience.visibility().is_none();
    ok(json!({"agent": of(is_agent), "app": of(is_app)}))
}

pub(super) fn handshake(call: &Call) -> Result<Reply, BadCall> {
    match made(call)? {
        Err(failure) => refused(&failure),
        Ok((handshake, prepared)) => {
            let Prepared { contract, findings, .. } = &prepared;
            let answer = HandshakeAnswer::new(&handshake, contract, findings);
            ok(json!({
                "accepted": true,
                "action": handshake.action.as_str(),
                "answer": answer.encode(),
            }))
        }
    }
}

fn made(call: &Call) -> Result<Result<(Handshake, Prepared), Failure>, BadCall> {
    let mut draft = Object::new();
    draft.insert("contract".into(), call.value("contract")?.clone());
    if let Some(variance) = call.args.get("variance") {
        draft.insert("variance".into(), variance.clone());
    }
    let mut asked = Object::new();
    asked.insert("intent".into(), "Show the orders".into());
    asked.insert("blueprintDraft".into(), Value::Object(draft));
    asked.insert("forceCreate".into(), call.flag("forceCreate", false)?.into());
    let request = read::<HandshakeRequest>(asked).map_err(bad)?;
    let none = Object::new();
    let tools = call.optional_object("tools")?.unwrap_or(&none);
    let prepared = match prepare_handshake(request, |tool| tools.get(tool)) {
        Ok(prepared) => prepared,
        Err(failure) => return Ok(Err(failure)),
    };
    let asked = prepared.asked.clone();
    let known = Blueprint { key: asked.key.clone(), code_hash: None, intent: "Show orders".into() };
    let known = call.flag("known", false)?.then_some(&known);
    let id = HandshakeId::mint([7; 16]);
    let handshake = begin(id, &app(APP)?, asked, known, time(NOW)?);
    Ok(Ok((handshake, prepared)))
}

pub(super) fn render_ui(call: &Call) -> Result<Reply, BadCall> {
    let (handshake, _) = made(call)?.map_err(bad)?;
    let mut arguments = call.object("arguments")?.clone();
    arguments.insert("handshakeId".into(), handshake.id.as_str().into());
    let request = match read::<RenderRequest>(arguments) {
        Ok(request) => request,
        Err(failure) => return refused(&failure),
    };
    let caller = app(call.optional_text("app")?.unwrap_or(APP))?;
    let themes = match call.args.contains_key("themes") {
        true => call.texts("themes")?,
        false => Vec::new(),
    };
    let themes: Vec<&str> = themes.iter().map(String::as_str).collect();
    let gadgets = registered(call)?;
    let none = Object::new();
    let public_env = call.optional_object("appPublicEnv")?.unwrap_or(&none);
    let public_env: Vec<&str> = public_env.keys().map(String::as_str).collect();
    let tools = call.optional_object("tools")?.unwrap_or(&none);
    let now = time(NOW + call.optional_integer("age")?.unwrap_or(0))?;
    let project = project()?;
    // A store removes a handshake that was used.
    let handshake = (!call.flag("used", false)?).then_some(&handshake);
    let facts = RenderFacts {
        app_id: &caller,
        handshake,
        contract: handshake.map(|handshake| render_contract(&request, handshake)),
        themes: &themes,
        rate_limit: None,
        gadgets: &gadgets,
        public_env: &public_env,
        input_schema: &|tool| tools.get(tool),
        policy: policy(call)?,
        known_code: None,
        session_id: &SessionId::mint([7; 16]),
        asked_by: None,
        at: at(&project, now),
    };
    match render(request, facts) {
        Err(failure) => refused(&failure),
        Ok(rendered) => ok(json!({
            "accepted": true,
            "epoch": rendered.session.head.epoch,
            "appended": appended(&rendered.delta),
            "pipe": rendered.session.head.has_pipe,
            "asks": rendered.session.head.is_asking,
            "answer": rendered.answer.encode(),
            "findings": listed(&rendered.findings),
        })),
    }
}

/// What a page submits, as its tool answers it.
pub(super) fn runtime_submit(call: &Call) -> Result<Reply, BadCall> {
    let request = read::<SubmitActionRequest>(call.object("arguments")?.clone()).map_err(bad)?;
    let submitted = submit_action(request);
    let kind = submitted.as_ref().ok().map(|submission| match submission {
        Submission::Dispatch(_) => "dispatch",
        Submission::OpenLink(_) => "openLink",
        Submission::DisplayMode(_) => "requestDisplayMode",
    });
    let outcome = Outcome::of(submitted.map(|_| Object::new())).document();
    let mut outcome = Value::Object(outcome);
    outcome["kind"] = kind.into();
    ok(outcome)
}

fn bad(failure: Failure) -> BadCall {
    BadCall::new(failure.to_string())
}
