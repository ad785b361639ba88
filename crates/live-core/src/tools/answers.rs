//! What the tools for agents answer.

use accord_contract::{Code, Object, Timestamp, Value, message};

use super::RuntimeAnswer;
use crate::contract::{CompiledContract, SPECS, UnknownMember};
use crate::handshake::{Handshake, HandshakeAction};
use crate::session::{Content, Drained, Emitted, PropsChanged, Session, Status, UNCHANGED};
use crate::subset::{Finding, FindingKind};
use crate::violation::{MOST_VIOLATIONS, shorten};
use crate::{AppId, HandshakeId, SessionId, json::members, resource::Locator};

message! {
    /// The answer of `ggui_runtime_declare_tool_catalog`.
    pub struct DeclareToolsAnswer("GguiDeclareToolsAnswer", open) {
        /// Whether the catalog was taken.
        required saved: bool = "saved", "flag";
        /// The app that it is for.
        required app_id: AppId = "appId", "app-id";
    }

    /// The answer of `ggui_handshake`.
    pub struct HandshakeAnswer("GguiHandshakeAnswer", open) {
        /// The handshake, for `ggui_render`.
        required handshake_id: HandshakeId = "handshakeId", "handshake-id";
        /// What the render will do.
        required action: HandshakeAction = "action", "handshake-action";
        /// What the server suggests.
        required suggestion: Object = "suggestion", "suggestion";
        /// The schema that the props must match.
        optional props_schema: Value = "propsSchema", "json-schema";
        /// Its hash.
        optional props_schema_hash: String = "propsSchemaHash", "sha256";
        /// Whether a grammar can be made from it.
        optional props_schema_profile: String = "propsSchemaProfile", "props-profile";
        /// The call to make next.
        optional next_step: NextStep = "nextStep", "next-step";
        /// What the server can do.
        optional server_capabilities: Object = "serverCapabilities", "capabilities";
    }

    /// The answer of `ggui_render`.
    pub struct RenderAnswer("GguiRenderAnswer", open) {
        /// The session.
        required session_id: SessionId = "sessionId", "live-session-id";
        /// Its address.
        required resource_uri: String = "resourceUri", "ui-uri";
        /// What the render did.
        required action: HandshakeAction = "action", "handshake-action";
        /// The hash of the contract.
        required contract_hash: String = "contractHash", "contract-hash";
        /// The id of the UI.
        required blueprint_id: String = "blueprintId", "blueprint-id";
        /// The key of the variance.
        required variant_key: String = "variantKey", "variant-key";
        /// Whether a UI that was made before was used.
        required cache: Cache = "cache", "cache";
        /// The call to make next, if the UI has actions.
        optional next_step: NextStep = "nextStep", "next-step";
    }

    /// A call that an agent makes next.
    pub struct NextStep("GguiNextStep", open) {
        /// The tool.
        required tool: String = "tool", "tool-name";
        /// What the call does.
        required description: String = "description", "text";
        /// The call as it can be written.
        required example: String = "example", "text";
        /// Its arguments, where all of them are known.
        optional args: Object = "args", "arguments";
    }

    /// Whether a UI that was made before was used.
    pub struct Cache("GguiRenderCache", open) {
        /// Whether it was.
        required hit: bool = "hit", "flag";
        /// The calls of models that this saved. No model is ever called.
        required llm_calls_avoided: u64 = "llmCallsAvoided", "count";
    }

    /// The answer of `ggui_update` and `ggui_amend`.
    pub struct PropsAnswer("GguiPropsAnswer", open) {
        /// The session.
        required session_id: SessionId = "sessionId", "live-session-id";
        /// Whether anything changed.
        required updated: bool = "updated", "flag";
        /// The address of the session; with the epoch after an update.
        required resource_uri: String = "resourceUri", "ui-uri";
        /// The epoch, after an update.
        optional epoch: u64 = "epoch", "epoch";
        /// Why nothing changed.
        optional warning: String = "warning", "text";
        /// The hash of the schema of the props.
        optional props_schema_hash: String = "propsSchemaHash", "sha256";
        /// Whether a grammar can be made from it.
        optional props_schema_profile: String = "propsSchemaProfile", "props-profile";
    }

    /// The answer of `ggui_consume`.
    pub struct ConsumeAnswer("GguiConsumeAnswer", open) {
        /// The events, oldest first.
        required events: Vec<Object> = "events", "events";
        /// Whether the session can be used.
        required status: Status = "status", "session-status";
        /// What is known about the page.
        optional client: Object = "client", "client";
        /// The number of the last event that was given, for `x-after`.
        optional cursor: u64 = "x-cursor", "ledger-seq";
        /// When the time to answer was over, if nobody answered in time. No answer will come.
        optional ask_ended: Timestamp = "x-askEnded", "time:rfc-3339";
    }

    /// The answer of `ggui_emit`.
    pub struct EmitAnswer("GguiEmitAnswer", open) {
        /// Always true.
        required accepted: bool = "accepted", "flag";
        /// The number of the frame.
        optional seq: u64 = "seq", "stream-seq";
    }
}

impl HandshakeAnswer {
    /// Clauses: GGUI-HANDSHAKE-FINDINGS.
    pub fn new(handshake: &Handshake, contract: &CompiledContract, findings: &[Finding]) -> Self {
        let props = contract.props();
        let mut suggestion = handshake.suggestion();
        let unknown = contract.contract().unknown_members().take(MOST_VIOLATIONS);
        let findings = findings.iter().map(finding).chain(unknown.map(unknown_member));
        let findings: Vec<Value> = findings.collect();
        if !findings.is_empty() {
            suggestion.insert(FINDINGS.into(), findings.into());
        }
        Self {
            handshake_id: handshake.id.clone(),
            action: handshake.action,
            suggestion,
            props_schema: Some(props.document().clone()),
            props_schema_hash: Some(props.hash().to_owned()),
            props_schema_profile: Some(props.profile().as_str().to_owned()),
            next_step: Some(NextStep::render(handshake)),
            server_capabilities: None,
            extra: Object::new(),
        }
    }

    pub fn findings(&self) -> impl Iterator<Item = &Value> {
        let findings = self.suggestion.get(FINDINGS).and_then(Value::as_array);
        findings.into_iter().flatten()
    }
}

/// The member of a suggestion with what was found in the contract.
const FINDINGS: &str = "validationFindings";

/// A finding about a tool, as a handshake reports it. Only one about schemas can refuse the render.
fn finding(finding: &Finding) -> Value {
    let tool = &finding.tool;
    let (code, severity, message) = match finding.kind {
        FindingKind::SchemaMismatch => {
            let message = format!("the action sends what the tool '{tool}' refuses");
            (Code::GguiSchemaMismatchError.as_str(), "error", message)
        }
        FindingKind::ToolNotFound => {
            (finding.kind.as_str(), "warn", format!("this server has no tool '{tool}'"))
        }
    };
    found(code, severity, &format!("actionSpec.{}", finding.action), &message)
}

/// A member that nothing reads, as a handshake reports it. It never refuses the render, because
/// other members of a contract pass through.
fn unknown_member(unknown: UnknownMember<'_>) -> Value {
    let name = shorten(unknown.name);
    let hint = match unknown.meant {
        Some(meant) => format!("did you mean '{meant}'?"),
        None => format!("the specs are {}", SPECS.join(", ")),
    };
    let message =
        format!("'{name}' is not a spec of a contract, so the page does not use it; {hint}");
    found("unknown-member", "warn", &name, &message)
}

fn found(code: &str, severity: &str, path: &str, message: &str) -> Value {
    Value::Object(members([
        ("code", code.into()),
        ("severity", severity.into()),
        ("path", path.into()),
        ("message", message.into()),
    ]))
}

impl NextStep {
    fn render(handshake: &Handshake) -> Self {
        Self {
            tool: "ggui_render".to_owned(),
            description: "Shows the UI: pass props that match propsSchema.".to_owned(),
            example: format!(
                "ggui_render({{\"handshakeId\":\"{}\",\"props\":{{}}}})",
                handshake.id
            ),
            args: None,
            extra: Object::new(),
        }
    }

    pub(super) fn consume(session: &SessionId) -> Self {
        let args = members([
            ("sessionId", session.as_str().into()),
            ("timeout", CONSUME_TIMEOUT_SECONDS.into()),
        ]);
        Self {
            tool: "ggui_consume".to_owned(),
            description: "Waits for what the person does.".to_owned(),
            example: format!("ggui_consume({})", Value::Object(args.clone())),
            args: Some(args),
            extra: Object::new(),
        }
    }
}

/// How long an agent is told to wait in one call.
const CONSUME_TIMEOUT_SECONDS: u64 = 25;

impl PropsAnswer {
    /// The answer of `ggui_update`.
    ///
    /// Clauses: GGUI-UPDATE-UNCHANGED.
    pub fn updated(session: &Session, changed: &PropsChanged, contract: &CompiledContract) -> Self {
        let mut locator = Locator::new(session.id.clone());
        locator.epoch = Some(changed.epoch);
        let props = contract.props();
        Self {
            session_id: session.id.clone(),
            updated: changed.is_updated,
            resource_uri: locator.to_string(),
            epoch: Some(changed.epoch),
            warning: (!changed.is_updated).then(|| UNCHANGED.to_owned()),
            props_schema_hash: Some(props.hash().to_owned()),
            props_schema_profile: Some(props.profile().as_str().to_owned()),
            extra: Object::new(),
        }
    }

    /// The answer of `ggui_amend`, which has no epoch.
    pub fn amended(session: &Session, changed: &PropsChanged, contract: &CompiledContract) -> Self {
        let resource_uri = Locator::new(session.id.clone()).to_string();
        Self { resource_uri, epoch: None, ..Self::updated(session, changed, contract) }
    }
}

impl ConsumeAnswer {
    pub fn new(drained: &Drained, content: &Content) -> Self {
        let client = content.host_context.clone();
        let client = client.map(|context| members([("hostContext", context.into())]));
        Self {
            events: drained.events.iter().map(|event| event.document()).collect(),
            status: Status::Active,
            client,
            cursor: Some(drained.cursor),
            ask_ended: None,
            extra: Object::new(),
        }
    }

    /// The answer to a call that confirms events and takes none.
    pub fn confirmed(cursor: u64) -> Self {
        let (events, status, client, ask_ended) = (Vec::new(), Status::Active, None, None);
        Self { events, status, client, cursor: Some(cursor), ask_ended, extra: Object::new() }
    }
}

impl EmitAnswer {
    pub fn new(emitted: &Emitted) -> Self {
        Self { accepted: true, seq: Some(emitted.row.seq), extra: Object::new() }
    }
}

accord_contract::contract_messages! {
    Response;
    HandshakeAnswer = "ggui-handshake-answer",
    RenderAnswer = "ggui-render-answer",
    PropsAnswer = "ggui-props-answer",
    ConsumeAnswer = "ggui-consume-answer",
    EmitAnswer = "ggui-emit-answer",
    NextStep = "ggui-next-step",
    RuntimeAnswer = "ggui-runtime-answer",
    DeclareToolsAnswer = "ggui-declare-tools-answer",
}
