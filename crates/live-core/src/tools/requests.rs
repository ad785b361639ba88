//! What the tools for agents take.

use accord_contract::{Limits, Object, TextForm, Value, message};

use crate::limits::{COMPONENT_CODE_BYTES, CONSUME_WAIT_SECONDS};
use crate::{HandshakeId, SessionId, limits::SESSIONS_PAGE};

const NAME: TextForm = TextForm::ANY.not_empty();
const CODE: TextForm = TextForm::ANY.bytes(COMPONENT_CODE_BYTES);

/// The largest integer that every JSON parser reads exactly.
const MOST_ASKED: i64 = (1 << 53) - 1;

message! {
    // Clauses: GGUI-TOOL-HANDSHAKE.
    /// The arguments of `ggui_handshake`.
    pub struct HandshakeRequest("GguiHandshakeRequest", open) {
        /// What the agent wants to show, and for what.
        required intent: String = "intent", "text", Limits::text(NAME);
        /// The UI that it proposes.
        required blueprint_draft: BlueprintDraft = "blueprintDraft", "blueprint-draft";
        /// Whether a UI that was made before is not to be used.
        optional force_create: bool = "forceCreate", "flag";
    }

    /// A UI that an agent proposes.
    pub struct BlueprintDraft("GguiBlueprintDraft", open) {
        /// The contract.
        required contract: Object = "contract", "contract";
        /// What varies between UIs of one contract.
        optional variance: Object = "variance", "variance";
        /// What would make the UI.
        optional generator: Value = "generator", "generator";
    }

    // Clauses: GGUI-TOOL-RENDER.
    /// The arguments of `ggui_render`.
    pub struct RenderRequest("GguiRenderRequest", open) {
        /// The handshake.
        required handshake_id: HandshakeId = "handshakeId", "handshake-id";
        /// The props.
        required props: Object = "props", "props";
        /// The theme.
        optional theme_id: String = "themeId", "theme-id";
        /// Wishes for a generator, which is never called.
        optional infra: Object = "infra", "infra";
        /// What differs from the handshake.
        optional overrides: Override = "override", "override";
        /// The conversation of the host in which it is shown: `hostName` and `hostSessionId`.
        optional host_session: Object = "x-hostSession", "host-session";
        /// The code of the component, for hosts that mount it.
        optional component_code: String = "x-componentCode", "component-code",
            Limits::text(CODE);
    }

    /// What a render changes of its handshake. It has at least one member.
    pub struct Override("GguiRenderOverride", closed) {
        /// Another contract.
        optional contract: Object = "contract", "contract";
        /// Another variance.
        optional variance: Object = "variance", "variance";
    }

    // Clauses: GGUI-TOOL-UPDATE.
    /// The arguments of `ggui_update` and `ggui_amend`: `props` with the kind `replace`, `patch`
    /// with the kind `merge`.
    pub struct PropsRequest("GguiPropsRequest", open) {
        /// The session.
        required session_id: SessionId = "sessionId", "live-session-id";
        /// What happens to the props: `replace` or `merge`.
        optional kind: Value = "kind", "props-change";
        /// The new props.
        optional props: Value = "props", "props";
        /// A merge patch (RFC 7396).
        optional patch: Value = "patch", "merge-patch";
    }

    // Clauses: GGUI-TOOL-CONSUME.
    /// The arguments of `ggui_consume`.
    pub struct ConsumeRequest("GguiConsumeRequest", open) {
        /// The session.
        required session_id: SessionId = "sessionId", "live-session-id";
        /// How long to wait for an event, in seconds.
        optional timeout: u64 = "timeout", "duration:seconds",
            Limits::whole(0, CONSUME_WAIT_SECONDS as i64);
        /// Confirms the events up to this `x-cursor`. Those after it are given, also those that
        /// were given before. Without it, an event is given once.
        optional after: u64 = "x-after", "ledger-seq";
    }

    // Clauses: GGUI-TOOL-EMIT.
    /// The arguments of `ggui_emit`.
    pub struct EmitRequest("GguiEmitRequest", open) {
        /// The session.
        required session_id: SessionId = "sessionId", "live-session-id";
        /// The channel.
        required channel: String = "channel", "channel-name", Limits::text(NAME);
        /// What to send.
        required payload: Value = "payload", "payload";
        /// Whether it is the last one of the channel.
        optional complete: bool = "complete", "flag";
    }

    /// The arguments of `ggui_get_session` and `ggui_get_render_source`.
    pub struct SessionRequest("GguiSessionRequest", open) {
        /// The session.
        required session_id: SessionId = "sessionId", "live-session-id";
    }

    /// The arguments of `ggui_list_sessions`.
    pub struct ListSessionsRequest("GguiListSessionsRequest", open) {
        /// Only those of this host.
        optional host_name: String = "hostName", "host-name";
        /// Only those of this session of a host.
        optional host_session_id: String = "hostSessionId", "host-session-id";
        /// The most sessions.
        optional limit: u64 = "limit", "count", Limits::whole(1, SESSIONS_PAGE.0 as i64);
    }

    /// The arguments of `ggui_search_blueprints`.
    pub struct SearchBlueprintsRequest("GguiSearchBlueprintsRequest", open) {
        /// A part of the intent.
        optional query: String = "query", "text";
        /// Exactly this contract.
        optional contract: Object = "contract", "contract";
        /// The most of them.
        optional limit: u64 = "limit", "count", Limits::whole(1, SESSIONS_PAGE.0 as i64);
    }

    /// The arguments of `ggui_render_blueprint`.
    pub struct RenderBlueprintRequest("GguiRenderBlueprintRequest", open) {
        /// The id of the UI.
        required blueprint_id: String = "blueprintId", "blueprint-id";
        /// The props.
        required props: Object = "props", "props";
        /// The theme.
        optional theme_id: String = "themeId", "theme-id";
    }

    // Clauses: GGUI-TOOL-PULL.
    /// The arguments of `ggui_runtime_pull`.
    pub struct PullRequest("GguiPullRequest", open) {
        /// The session.
        required session_id: SessionId = "sessionId", "live-session-id";
        /// Events after this number; 0 if it is absent.
        nullable since_sequence: Value = "sinceSequence", "ledger-seq";
        /// The most events; at most 100 are given.
        optional limit: u64 = "limit", "count", Limits::whole(1, MOST_ASKED);
        /// How long to wait for an event, in seconds; at most 20.
        optional wait: u64 = "wait", "duration:seconds", Limits::whole(0, MOST_ASKED);
    }
}

impl ConsumeRequest {
    /// The same without a wait.
    #[must_use]
    pub fn at_once(&self) -> Self {
        Self { timeout: None, ..self.clone() }
    }
}

impl PullRequest {
    /// The same without a wait.
    #[must_use]
    pub fn at_once(&self) -> Self {
        Self { wait: None, ..self.clone() }
    }
}

impl SearchBlueprintsRequest {
    pub fn newest(limit: u64) -> Self {
        Self { query: None, contract: None, limit: Some(limit), extra: Object::new() }
    }
}

accord_contract::contract_messages! {
    Request;
    HandshakeRequest = "ggui-handshake-request",
    RenderRequest = "ggui-render-request",
    PropsRequest = "ggui-props-request",
    ConsumeRequest = "ggui-consume-request",
    EmitRequest = "ggui-emit-request",
    SessionRequest = "ggui-session-request",
    ListSessionsRequest = "ggui-list-sessions-request",
    SearchBlueprintsRequest = "ggui-search-blueprints-request",
    RenderBlueprintRequest = "ggui-render-blueprint-request",
    PullRequest = "ggui-pull-request",
}
