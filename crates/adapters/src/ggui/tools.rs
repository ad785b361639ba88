//! The tools of agents and pages: their arguments, handshakes and renders.

use accord_contract::{Failure, Object, Value, Wire as _};
use accord_live_core::handshake::{Blueprint, Handshake, begin};
use accord_live_core::tools::{
    self, Audience, HandshakeAnswer, HandshakeRequest, Prepared, RenderFacts, RenderRequest,
    Submission, SubmitActionRequest, prepare_handshake, read, render, render_contract,
    submit_action,
};
use accord_live_core::{HandshakeId, SessionId};
use serde_json::json;

use super::contracts::{listed, policy};
use super::gadgets::registered;
use super::parts::{APP, NOW, app, appended, at, project, time};
use crate::{BadCall, Call, Outcome, Stop};

pub(super) fn tool_arguments(call: &Call) -> Outcome {
    let arguments = call.object("arguments")?.clone();
    let read: Result<(), Failure> = match call.text("tool")? {
        "ggui_handshake" => read::<HandshakeRequest>(arguments).map(drop),
        "ggui_render" => read::<RenderRequest>(arguments).map(drop),
        "ggui_update" | "ggui_amend" => read::<tools::PropsRequest>(arguments).map(drop),
        "ggui_consume" => read::<tools::ConsumeRequest>(arguments).map(drop),
        "ggui_emit" => read::<tools::EmitRequest>(arguments).map(drop),
        "ggui_list_sessions" => read::<tools::ListSessionsRequest>(arguments).map(drop),
        "ggui_runtime_pull" => read::<tools::PullRequest>(arguments).map(drop),
        "ggui_runtime_submit_action" => read::<SubmitActionRequest>(arguments).map(drop),
        "ggui_runtime_sync_context" => read::<tools::SyncContextRequest>(arguments).map(drop),
        "ggui_runtime_refresh_ws_token" => read::<tools::RefreshTokenRequest>(arguments).map(drop),
        "ggui_runtime_telemetry" => read::<tools::TelemetryRequest>(arguments).map(drop),
        "ggui_runtime_declare_tool_catalog" => {
            read::<tools::DeclareToolsRequest>(arguments).map(drop)
        }
        _ => return Err(Stop::NotImplemented),
    };
    Ok(json!({"accepted": read.is_ok()}))
}

pub(super) fn list(_: &Call) -> Outcome {
    let of = |side: fn(Audience) -> bool| -> Vec<&str> {
        // Tools of Accord's own are none of the protocol.
        let of_ggui = tools::TOOLS.iter().filter(|tool| tool.name.starts_with("ggui_"));
        of_ggui.filter(|tool| side(tool.audience)).map(|tool| tool.name).collect()
    };
    let is_app = |audience: Audience| audience.visibility() == Some(&["app"]);
    let is_agent = |audience: Audience| audience.visibility().is_none();
    Ok(json!({"agent": of(is_agent), "app": of(is_app)}))
}

pub(super) fn handshake(call: &Call) -> Outcome {
    let (handshake, prepared) = made(call)?;
    let Prepared { contract, findings, .. } = &prepared;
    let answer = HandshakeAnswer::new(&handshake, contract, findings).encode();
    Ok(json!({"accepted": true, "action": handshake.action.as_str(), "answer": answer}))
}

fn made(call: &Call) -> Result<(Handshake, Prepared), Stop> {
    let mut draft = Object::new();
    draft.insert("contract".into(), call.value("contract")?.clone());
    if let Some(variance) = call.args.get("variance") {
        draft.insert("variance".into(), variance.clone());
    }
    let mut asked = Object::new();
    asked.insert("intent".into(), "Show the orders".into());
    asked.insert("blueprintDraft".into(), Value::Object(draft));
    asked.insert("forceCreate".into(), call.flag("forceCreate", false)?.into());
    let request = read::<HandshakeRequest>(asked).map_err(BadCall::from_error)?;
    let none = Object::new();
    let tools = call.optional_object("tools")?.unwrap_or(&none);
    let prepared = prepare_handshake(request, |tool| tools.get(tool))?;
    let asked = prepared.asked.clone();
    let known = Blueprint { key: asked.key.clone(), code_hash: None, intent: "Show orders".into() };
    let known = call.flag("known", false)?.then_some(&known);
    let id = HandshakeId::mint([7; 16]);
    let handshake = begin(id, &app(APP)?, asked, known, time(NOW)?);
    Ok((handshake, prepared))
}

pub(super) fn render_ui(call: &Call) -> Outcome {
    let (handshake, _) = made(call).map_err(|stop| match stop {
        Stop::Refused(failure) => BadCall::from_error(failure).into(),
        other => other,
    })?;
    let mut arguments = call.object("arguments")?.clone();
    arguments.insert("handshakeId".into(), handshake.id.as_str().into());
    let request = read::<RenderRequest>(arguments)?;
    let caller = app(call.optional_text("app")?.unwrap_or(APP))?;
    let themes = call.optional_texts("themes")?;
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
    let rendered = render(request, facts)?;
    Ok(json!({
        "accepted": true,
        "epoch": rendered.session.head.epoch,
        "appended": appended(&rendered.delta),
        "pipe": rendered.session.head.has_pipe,
        "asks": rendered.session.head.is_asking,
        "answer": rendered.answer.encode(),
        "findings": listed(&rendered.findings),
    }))
}

/// What a page submits, as its tool answers it.
pub(super) fn runtime_submit(call: &Call) -> Outcome {
    let request = read::<SubmitActionRequest>(call.object("arguments")?.clone());
    let submitted = submit_action(request.map_err(BadCall::from_error)?);
    let kind = submitted.as_ref().ok().map(|submission| match submission {
        Submission::Dispatch(_) => "dispatch",
        Submission::OpenLink(_) => "openLink",
        Submission::DisplayMode(_) => "requestDisplayMode",
    });
    let outcome = tools::Outcome::of(submitted.map(|_| Object::new())).document();
    let mut outcome = Value::Object(outcome);
    outcome["kind"] = kind.into();
    Ok(outcome)
}
