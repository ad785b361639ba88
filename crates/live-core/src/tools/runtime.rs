//! The tools of pages. A refusal is a result, `{ok: false, code, message}`, because a page cannot
//! see the errors of its host.

use std::collections::BTreeMap;

use accord_contract::{Failure, Limits, Object, TextForm, Timestamp, Value, Wire as _};
use accord_contract::{message, rule};

use crate::json::{members, put, text_len};
use crate::limits::{DECLARED_BYTES, DECLARED_TOOLS, TELEMETRY_EVENTS};
use crate::{AppId, SessionId, refuse, session::Dispatch};

const NAME: TextForm = TextForm::ANY.chars(1, 512).without_nul();

message! {
    // Clauses: GGUI-TOOL-SUBMIT-ACTION.
    /// The arguments of `ggui_runtime_submit_action`.
    pub struct SubmitActionRequest("GguiSubmitActionRequest", open) {
        /// What the person did: `dispatch`, `openLink` or `requestDisplayMode`.
        required kind: String = "kind", "action-kind";
        /// What belongs to the kind.
        required payload: Object = "payload", "action-payload";
        /// The session.
        required session_id: SessionId = "sessionId", "live-session-id";
        /// Its app.
        required app_id: AppId = "appId", "app-id";
        /// The id of the action. The same action twice is recorded once.
        required action_id: String = "actionId", "action-id", Limits::text(NAME);
        /// When the person acted.
        required fired_at: Timestamp = "firedAt", "time:iso-8601";
        /// The digest of what the person was shown.
        optional expect: String = "x-expect", "evidence-digest";
    }

    // Clauses: GGUI-TOOL-SYNC-CONTEXT.
    /// The arguments of `ggui_runtime_sync_context`.
    pub struct SyncContextRequest("GguiSyncContextRequest", open) {
        /// The session.
        required session_id: SessionId = "sessionId", "live-session-id";
        /// Its app.
        required app_id: AppId = "appId", "app-id";
        /// The value of each slot.
        required snapshot: Object = "snapshot", "context-snapshot";
    }

    // Clauses: GGUI-TOOL-REFRESH-TOKEN.
    /// The arguments of `ggui_runtime_refresh_ws_token`.
    pub struct RefreshTokenRequest("GguiRefreshTokenRequest", open) {
        /// The token, which may have expired.
        required envelope: String = "envelope", "ws-token";
    }

    // Clauses: GGUI-TOOL-TELEMETRY.
    /// The arguments of `ggui_runtime_telemetry`.
    pub struct TelemetryRequest("GguiTelemetryRequest", open) {
        /// What the page observed.
        required events: Vec<Object> = "events", "telemetry", Limits::items(TELEMETRY_EVENTS);
    }

    /// The arguments of `accord_runtime_page`.
    pub struct RuntimePageRequest("AccordRuntimePageRequest", open) {
        /// The session.
        required session_id: SessionId = "sessionId", "live-session-id";
        /// Messages after this number; 0 if it is absent.
        optional from_seq: u64 = "fromSeq", "stream-seq";
    }

    // Clauses: GGUI-TOOL-DECLARE-TOOLS.
    /// The arguments of `ggui_runtime_declare_tool_catalog`.
    pub struct DeclareToolsRequest("GguiDeclareToolsRequest", open) {
        /// The servers of the tools that the agent has, by the name of the tool: `name`, and
        /// `version` if it is known.
        required tool_catalog: Object = "toolCatalog", "tool-identities";
    }

    /// What a tool of pages answers.
    pub struct RuntimeAnswer("GguiRuntimeAnswer", open) {
        /// Whether it was done.
        required ok: bool = "ok", "flag";
        /// Why it was refused.
        optional code: String = "code", "code";
        /// The same for people.
        optional message: String = "message", "text";
        /// What is wrong with the data of an action, each with its `field`.
        optional violations: Vec<Object> = "violations", "violations";
        /// Whether an agent waits for the action.
        optional consumer_present: bool = "consumerPresent", "flag";
        /// The new token.
        optional envelope: String = "envelope", "ws-token";
        /// When it expires.
        optional expires_at: Timestamp = "expiresAt", "time:iso-8601";
    }
}

accord_contract::contract_messages! {
    Request;
    SubmitActionRequest = "ggui-submit-action-request",
    SyncContextRequest = "ggui-sync-context-request",
    RefreshTokenRequest = "ggui-refresh-token-request",
    TelemetryRequest = "ggui-telemetry-request",
    RuntimePageRequest = "accord-runtime-page-request",
    DeclareToolsRequest = "ggui-declare-tools-request",
}

#[derive(Clone, Debug, PartialEq)]
pub enum Submission {
    /// An action for the agent. It is appended.
    Dispatch(Box<Dispatch>),
    /// A link, which the host opens.
    OpenLink(String),
    /// A display mode, which the host enters.
    DisplayMode(String),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    Ok(Object),
    Refused(Box<Failure>),
}

/// What a page submits, by its kind. Fails with `INVALID_ACTION_KIND` for another kind, or a
/// payload that does not belong to it.
///
/// Clauses: GGUI-SUBMIT-KINDS.
pub fn submit_action(request: SubmitActionRequest) -> Result<Submission, Failure> {
    let mut payload = request.payload;
    let mut text = |name: &str| match payload.shift_remove(name) {
        Some(Value::String(text)) if !text.is_empty() => Ok(text),
        _ => {
            let message = format!("an action of the kind {:?} has {name}, a text", request.kind);
            Err(refuse::invalid_action_kind(message).with("field", format!("payload.{name}")))
        }
    };
    match request.kind.as_str() {
        "dispatch" => {
            let intent = text("intent")?;
            let data = payload.shift_remove("actionData").unwrap_or(Value::Null);
            let ui_context = payload.shift_remove("uiContext");
            let ui_context = ui_context.unwrap_or_else(|| Object::new().into());
            let SubmitActionRequest { action_id, fired_at, expect, .. } = request;
            let dispatch = Dispatch { intent, data, ui_context, action_id, fired_at, expect };
            Ok(Submission::Dispatch(Box::new(dispatch)))
        }
        "openLink" => text("url").map(Submission::OpenLink),
        "requestDisplayMode" => text("mode").map(Submission::DisplayMode),
        _ => {
            let message = "the kind is one of dispatch, openLink, requestDisplayMode";
            rule!(
                Err(refuse::invalid_action_kind(message));
                AnySubmission => Ok(Submission::DisplayMode(String::new()))
            )
        }
    }
}

/// The server of each tool of a catalog. Fails with `INVALID_MESSAGE` when one has no name, or has
/// other members than name and version.
///
/// Clauses: GGUI-TOOL-DECLARE-TOOLS.
pub fn tool_identities(request: DeclareToolsRequest) -> Result<BTreeMap<String, Value>, Failure> {
    let is_text = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
    let is_identity = |server: &Value| {
        server.as_object().is_some_and(|server| {
            let known = |name: &str| matches!(name, "name" | "version");
            server.contains_key("name")
                && server.iter().all(|(name, value)| known(name) && is_text(value))
        })
    };
    let wrong =
        |field: String, message: String| Err(refuse::invalid_message(message).with("field", field));
    if let Some((tool, _)) = request.tool_catalog.iter().find(|(_, server)| !is_identity(server)) {
        let message = format!("the server of the tool {tool:?} has a name and at most a version");
        return wrong(format!("toolCatalog.{tool}"), message);
    }
    let bytes: usize = request.tool_catalog.values().map(text_len).sum();
    if request.tool_catalog.len() > DECLARED_TOOLS || bytes > DECLARED_BYTES {
        let message =
            format!("a catalog has at most {DECLARED_TOOLS} tools and {DECLARED_BYTES} bytes");
        return wrong("toolCatalog".to_owned(), message);
    }
    Ok(request.tool_catalog.into_iter().collect())
}

/// Names the servers of the tools of a contract as a catalog has them, so that two agents that name
/// a server differently propose the same UI. A tool that the catalog does not have is left alone.
///
/// Clauses: GGUI-TOOL-DECLARE-TOOLS.
pub fn with_tool_identities(contract: &mut Object, catalog: &BTreeMap<String, Value>) {
    let tools = contract.get_mut("agentCapabilities").and_then(|spec| spec.get_mut("tools"));
    let Some(tools) = tools.and_then(Value::as_object_mut) else { return };
    for (name, tool) in tools {
        if let (Some(tool), Some(server)) = (tool.as_object_mut(), catalog.get(name)) {
            tool.insert("serverInfo".to_owned(), server.clone());
        }
    }
}

impl Outcome {
    pub fn of(result: Result<Object, Failure>) -> Self {
        match result {
            Ok(members) => Self::Ok(members),
            Err(failure) => Self::Refused(Box::new(failure)),
        }
    }

    /// The outcome of a submission; `consumer_present` says whether an agent waits for it.
    pub fn submitted(consumer_present: Option<bool>) -> Self {
        let mut done = Object::new();
        put(&mut done, "consumerPresent", consumer_present);
        Self::Ok(done)
    }

    pub fn answer(&self) -> RuntimeAnswer {
        let answer = RuntimeAnswer::from_document(Value::Object(self.document()));
        answer.expect("an outcome has the members of its answer")
    }

    /// Clauses: GGUI-RUNTIME-OUTCOME.
    pub fn document(&self) -> Object {
        match self {
            Self::Ok(more) => {
                let mut outcome = members([("ok", true.into())]);
                outcome.extend(more.clone());
                outcome
            }
            Self::Refused(failure) => {
                let mut outcome = members([
                    ("ok", false.into()),
                    ("code", failure.code.as_str().into()),
                    ("message", failure.message.as_str().into()),
                ]);
                let details = failure.details.as_ref();
                let violations = details.and_then(|details| details.get("violations"));
                put(&mut outcome, "violations", violations.cloned());
                outcome
            }
        }
    }
}
