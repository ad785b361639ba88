//! The steps of "conformance control v1": how a kit brings sessions into the state that a case
//! needs. A host offers them on a listener of their own, with a token.
//!
//! A step can be repeated: a session that exists begins again, and its counters go on.

use accord_contract::{Code, Failure, Object, Value, message, wire_enum};

use crate::session::{Content, Session};
use crate::{AppId, SessionId, tools::read};

/// The app of a session for which a step names none.
pub const DEFAULT_APP: &str = "conformance";

#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    CreateSession(Box<CreateSession>),
    RenderSession(RenderSession),
    ExpireSession(ExpireSession),
    MintToken(MintToken),
    PageUrl(PageUrl),
    VersionOverride(VersionOverride),
    EmitEnvelope(EmitEnvelope),
    RendererUrl(RendererUrlOverride),
    UiInitialize(UiInitializeOverride),
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
        /// Its channels.
        optional stream_spec: Object = "streamSpec", "stream-spec";
        /// Its context slots.
        optional context_spec: Object = "contextSpec", "context-spec";
        /// The tools that its channels name.
        optional agent_capabilities: Object = "agentCapabilities", "agent-capabilities";
    }

    /// A session begins with a whole contract and props.
    pub struct RenderSession("GguiControlRenderSession", open) {
        /// Its id.
        required session_id: SessionId = "sessionId", "live-session-id";
        /// Its app.
        optional app_id: AppId = "appId", "app-id";
        /// Its contract.
        required contract: Object = "contract", "contract";
        /// Its props.
        optional props: Object = "props", "props";
    }

    /// A session expires.
    pub struct ExpireSession("GguiControlExpireSession", open) {
        /// The session.
        required session_id: SessionId = "sessionId", "live-session-id";
    }

    /// A token for the channel is made.
    pub struct MintToken("GguiControlMintToken", open) {
        /// The session, which need not exist.
        required session_id: SessionId = "sessionId", "live-session-id";
        /// The app.
        required app_id: AppId = "appId", "app-id";
        /// In how many seconds it expires; negative if it has expired.
        optional expires_in: i64 = "expiresInSeconds", "duration:seconds";
    }

    /// The address of the page of a session is asked for.
    pub struct PageUrl("GguiControlPageUrl", open) {
        /// The session.
        required session_id: SessionId = "sessionId", "live-session-id";
    }

    /// A session advertises another version.
    pub struct VersionOverride("GguiControlVersionOverride", open) {
        /// The session.
        required session_id: SessionId = "sessionId", "live-session-id";
        /// The version.
        required version: String = "advertiseVersion", "version";
    }

    /// The platform emits a frame.
    pub struct EmitEnvelope("GguiControlEmitEnvelope", open) {
        /// The session; without it, the one that was created last.
        optional session_id: SessionId = "sessionId", "live-session-id";
        /// The channel.
        required channel: String = "channel", "channel-name";
        /// What to send.
        required payload: Value = "payload", "payload";
    }

    /// The page of a session loads its runtime from another URL.
    pub struct RendererUrlOverride("GguiControlRendererUrl", open) {
        /// The session; without it, the one that was created last.
        optional session_id: SessionId = "sessionId", "live-session-id";
        /// The URL.
        required url: String = "url", "url";
    }

    /// The host of a page answers `ui/initialize` with another document.
    pub struct UiInitializeOverride("GguiControlUiInitialize", open) {
        /// The session; without it, the one that was created last.
        optional session_id: SessionId = "sessionId", "live-session-id";
        /// The document.
        required response: Value = "response", "document";
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
    /// Clauses: GGUI-CONTROL-SETUP.
    pub fn read(mut document: Object) -> Result<Self, Failure> {
        let kind = document.shift_remove("kind");
        let kind = kind.as_ref().and_then(Value::as_str).unwrap_or_default();
        Ok(match kind {
            "create-session" => Self::CreateSession(Box::new(read(document)?)),
            "render-session" => Self::RenderSession(read(document)?),
            "expire-session" => Self::ExpireSession(read(document)?),
            "mint-ws-token" => Self::MintToken(read(document)?),
            "page-url" => Self::PageUrl(read(document)?),
            "server-version-override" => Self::VersionOverride(read(document)?),
            "emit-envelope" => Self::EmitEnvelope(read(document)?),
            "renderer-url-override" => Self::RendererUrl(read(document)?),
            "ui-initialize-response-override" => Self::UiInitialize(read(document)?),
            _ => {
                let message = "the kind is one of create-session, render-session, \
                               expire-session, mint-ws-token, page-url, \
                               server-version-override, emit-envelope, renderer-url-override, \
                               ui-initialize-response-override";
                return Err(Failure::new(Code::WireFieldValue, message).at("/kind"));
            }
        })
    }
}

impl CreateSession {
    pub fn app_id(&self) -> AppId {
        self.app_id.clone().unwrap_or_else(default_app)
    }

    pub fn ui(&self) -> Object {
        let mut ui = Object::from_iter([("componentCode".to_owned(), Value::from(""))]);
        let actions = self.action_spec.as_ref().map(labelled);
        for (name, spec) in [
            ("actionSpec", actions),
            ("streamSpec", self.stream_spec.clone()),
            ("contextSpec", self.context_spec.clone()),
            ("agentCapabilities", self.agent_capabilities.clone()),
        ] {
            if let Some(spec) = spec {
                ui.insert(name.into(), Value::Object(spec));
            }
        }
        ui
    }
}

impl RenderSession {
    pub fn app_id(&self) -> AppId {
        self.app_id.clone().unwrap_or_else(default_app)
    }

    pub fn ui(&self) -> Object {
        let mut ui = self.contract.clone();
        ui.insert("componentCode".into(), "".into());
        ui
    }
}

fn default_app() -> AppId {
    AppId::new(DEFAULT_APP).expect("the default is an id of an app")
}

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
