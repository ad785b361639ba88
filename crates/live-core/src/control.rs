//! The steps of "conformance control v1": how a kit brings sessions into the state that a case
//! needs. A host offers them on a listener of their own, with a token.
//!
//! A step can be repeated: a session that exists begins again, and its counters go on.

use accord_contract::codes::{Code, Failure};
use accord_contract::wire::{Object, Value, Wire as _};
use accord_contract::{message, wire_enum};

use crate::session::{At, Content, Delta, Rendering, Session, render};
use crate::{AppId, SessionId};

/// The app of a session for which a step names none.
pub const DEFAULT_APP: &str = "conformance";

/// A step.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// A session begins.
    CreateSession(CreateSession),
    /// A session advertises another version.
    VersionOverride(VersionOverride),
    /// The platform emits a frame in the session that was created last.
    EmitEnvelope(EmitEnvelope),
}

message! {
    /// A session begins.
    pub struct CreateSession("GguiControlCreateSession", open) {
        /// Its id.
        required session_id: SessionId = "sessionId", "live-session-id";
        /// Its app.
        optional app_id: AppId = "appId", "app-id";
        /// Its actions. An entry need not have a label.
        optional action_spec: Object = "actionSpec", "action-spec";
    }
}

message! {
    /// A session advertises another version.
    pub struct VersionOverride("GguiControlVersionOverride", open) {
        /// The session.
        required session_id: SessionId = "sessionId", "live-session-id";
        /// The version.
        required version: String = "advertiseVersion", "version";
    }
}

message! {
    /// The platform emits a frame.
    pub struct EmitEnvelope("GguiControlEmitEnvelope", open) {
        /// The channel.
        required channel: String = "channel", "channel-name";
        /// What to send.
        required payload: Value = "payload", "payload";
    }
}

wire_enum! {
    /// A member of a session that a kit reads.
    pub enum Field("GguiControlField", closed) {
        /// What a client knows about its host.
        HostContext = "hostContext",
        /// The app.
        AppId = "appId",
    }
}

impl Step {
    /// Reads a step.
    ///
    /// Clauses: GGUI-CONTROL-SETUP.
    ///
    /// # Errors
    /// When the document is no step, or one that only a browser can take.
    pub fn read(mut document: Object) -> Result<Self, Failure> {
        let kind = document.shift_remove("kind");
        let kind = kind.as_ref().and_then(Value::as_str).unwrap_or_default();
        let document = Value::Object(document);
        Ok(match kind {
            "create-session" => Self::CreateSession(CreateSession::from_document(document)?),
            "server-version-override" => {
                Self::VersionOverride(VersionOverride::from_document(document)?)
            }
            "emit-envelope" => Self::EmitEnvelope(EmitEnvelope::from_document(document)?),
            _ => {
                let message = "the kind is one of create-session, server-version-override, \
                               emit-envelope";
                return Err(Failure::new(Code::WireFieldValue, message).at("/kind"));
            }
        })
    }
}

/// Begins a session for a kit. `earlier` is the stored session of the id, expired or not.
///
/// # Errors
/// When the actions are no valid contract.
pub fn create_session(
    step: &CreateSession,
    earlier: Option<&Session>,
    at: At<'_>,
) -> Result<(Session, Content, Delta), Failure> {
    let mut ui = Object::from_iter([("componentCode".to_owned(), Value::from(""))]);
    if let Some(spec) = &step.action_spec {
        ui.insert("actionSpec".into(), Value::Object(labelled(spec)));
    }
    let contract = crate::tools::compile(&ui, None)?;
    let default = AppId::new(DEFAULT_APP)?;
    let app_id = step.app_id.as_ref().unwrap_or(&default);
    let rendering = Rendering {
        session_id: &step.session_id,
        app_id,
        earlier,
        ui,
        props: Object::new(),
        contract: &contract,
        asked_by: None,
    };
    Ok(render(rendering, at))
}

/// The actions, each with a label.
fn labelled(spec: &Object) -> Object {
    let mut spec = spec.clone();
    for (name, entry) in spec.iter_mut() {
        if let Value::Object(entry) = entry {
            entry.entry("label").or_insert_with(|| name.as_str().into());
        }
    }
    spec
}

impl Field {
    /// The value of the member; `None` if the session has none.
    ///
    /// Clauses: GGUI-CONTROL-READ.
    pub fn read(self, session: &Session, content: &Content) -> Option<Value> {
        match self {
            Self::HostContext => content.host_context.clone().map(Value::Object),
            Self::AppId => Some(session.app_id.as_str().into()),
        }
    }
}
