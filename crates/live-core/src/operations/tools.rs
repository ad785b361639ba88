//! The tools of ggui, and what a host mounts.
//!
//! A tool is a POST of its arguments, and answers with its result in an ALX envelope. Its
//! arguments are passed on as they were sent.

use accord_api::parameter::{ACTOR, Flag, Id, Text};
use accord_api::{Decision, Envelope, Json, Need, Verbatim, operation, params};
use accord_base::ProjectId;
use accord_contract::{Code, Object, TextForm, envelope, message};

use super::pages::LivePage;
use crate::tools::{
    BlueprintList, BlueprintSearch, ConsumeAnswer, ConsumeRequest, DeclareToolsAnswer,
    DeclareToolsRequest, EmitAnswer, EmitRequest, GadgetList, HandshakeAnswer, HandshakeRequest,
    ListSessionsRequest, PropsAnswer, PropsRequest, PullAnswer, PullRequest, RefreshTokenRequest,
    RenderAnswer, RenderBlueprintRequest, RenderRequest, RenderSource, RuntimeAnswer,
    RuntimePageRequest, SearchBlueprintsRequest, SessionDocument, SessionList, SessionRequest,
    SubmitActionRequest, SyncContextRequest, TelemetryRequest, ThemeList,
};

const PROJECT: Id<ProjectId> = Id::new("project_id");

params! {
    /// What a tool is called with beside its arguments.
    #[derive(Default)]
    pub struct ToolQuery {
        /// The project, which is the app. Default: that of the session, the handshake or the key.
        optional project: Id<ProjectId> = PROJECT;
        /// Who asks the person: `agent:NAME`, `human:NAME`, `script:NAME`, or the plain name of an
        /// agent. Default: the actor of the key.
        optional actor: Text = ACTOR;
    }

    /// The same for `ggui_consume`.
    #[derive(Default)]
    pub struct ConsumeQuery {
        /// The project, which is the app. Default: that of the session, the handshake or the key.
        optional project: Id<ProjectId> = PROJECT;
        /// Who asks the person: `agent:NAME`, `human:NAME`, `script:NAME`, or the plain name of an
        /// agent. Default: the actor of the key.
        optional actor: Text = ACTOR;
        /// Whether the call goes on with the wait of an earlier one, so that the page is not told
        /// again that an agent waits.
        flag goes_on: Flag = Flag::new("goes_on");
        /// Whether the call only confirms the events up to `x-after`, and takes none.
        flag confirm: Flag = Flag::new("confirm");
    }

    /// What a host mounts.
    pub struct ResourceQuery {
        /// The address of the resource.
        required uri: Text = Text::new("uri", URI);
    }
}

const URI: TextForm =
    TextForm::ANY.chars(1, 2000).example("ui://ggui/render/live_0a1b2c3d4e5f60718293a4b5c6d7e8f9");

message! {
    /// The arguments of a tool that takes none.
    pub struct NoArguments("GguiNoArguments", open) {}
}

accord_api::envelopes! {
    "The result of the tool.";
    /// A handshake.
    GguiHandshakeEnvelope("GguiHandshakeEnvelope") of HandshakeAnswer;
    /// What changing the props did.
    GguiPropsEnvelope("GguiPropsEnvelope") of PropsAnswer;
    /// The events that an agent took.
    GguiConsumeEnvelope("GguiConsumeEnvelope") of ConsumeAnswer;
    /// A frame that was sent.
    GguiEmitEnvelope("GguiEmitEnvelope") of EmitAnswer;
    /// A session.
    GguiSessionEnvelope("GguiSessionEnvelope") of SessionDocument;
    /// The sessions of a project.
    GguiSessionListEnvelope("GguiSessionListEnvelope") of SessionList;
    /// The code and the contract of a UI.
    GguiRenderSourceEnvelope("GguiRenderSourceEnvelope") of RenderSource;
    /// The UIs that were rendered last.
    GguiBlueprintListEnvelope("GguiBlueprintListEnvelope") of BlueprintList;
    /// The UIs that were found.
    GguiBlueprintSearchEnvelope("GguiBlueprintSearchEnvelope") of BlueprintSearch;
    /// The gadgets that a contract can use.
    GguiGadgetListEnvelope("GguiGadgetListEnvelope") of GadgetList;
    /// The themes that a render can name.
    GguiThemeListEnvelope("GguiThemeListEnvelope") of ThemeList;
    /// A page of the ledger, or why there is none.
    GguiPullEnvelope("GguiPullEnvelope") of PullAnswer;
    /// What a frame shows of a session.
    AccordRuntimePageEnvelope("AccordRuntimePageEnvelope") of LivePage;
    /// What a tool of pages did.
    GguiRuntimeEnvelope("GguiRuntimeEnvelope") of RuntimeAnswer;
    /// A catalog of tools that was taken.
    GguiCatalogEnvelope("GguiCatalogEnvelope") of DeclareToolsAnswer;
}

envelope! {
    /// A UI that was rendered.
    pub struct GguiRenderEnvelope("GguiRenderEnvelope") {
        /// The result of the tool.
        required result: RenderAnswer = "result", "answer";
        /// The address of the page on which a person answers, if the server has one.
        optional page_url: String = "page_url", "url";
        /// What a host mounts: the document `ai.ggui/render`, if the UI can be mounted.
        optional slice: Object = "slice", "ggui-slice";
    }
}

#[derive(Clone, Debug)]
pub struct RenderedUi {
    pub answer: RenderAnswer,
    pub page_url: Option<String>,
    pub slice: Option<Object>,
}

impl Envelope for GguiRenderEnvelope {
    type Result = RenderedUi;

    fn wrap(RenderedUi { answer, page_url, slice }: RenderedUi, correlation: &str) -> Self {
        Self {
            ok: accord_contract::wire::True,
            correlation_id: correlation.into(),
            protocol: accord_contract::alx::ProtocolInfo::ours(Default::default()),
            result: answer,
            page_url,
            slice,
            extra: Object::new(),
        }
    }

    fn result(self) -> RenderedUi {
        RenderedUi { answer: self.result, page_url: self.page_url, slice: self.slice }
    }
}

envelope! {
    /// What a host mounts.
    pub struct GguiMountEnvelope("GguiMountEnvelope") {
        /// The document `ai.ggui/render`; empty for the shell, which every session can use.
        required slice: Object = "slice", "ggui-slice";
        /// The address of the server, if it has one.
        optional origin: String = "origin", "url";
        /// What the session is for.
        required title: String = "title", "text";
        /// The address of the page on which a person answers, if the server has one.
        optional page_url: String = "page_url", "url";
    }
}

const COMMON: &[Code] = &[Code::AccessDenied, Code::GguiAppMismatch];

const CHANGES: &[Code] = &[Code::AgenticProjectArchived];

const NO_SESSION: &[Code] = &[Code::AgenticSessionNotFound];

const OF_CONTRACTS: &[Code] = &[
    Code::GguiToolContractSchemaInvalid,
    Code::GguiToolContractValidationFailed,
    Code::GguiToolCrossReferenceUnresolved,
    Code::GguiToolNameInvariantViolation,
    Code::GguiToolSchemaCompatIncompat,
];

const OF_RENDERS: &[Code] = &[
    Code::GguiToolHandshakeNotFound,
    Code::GguiToolContractViolation,
    Code::GguiRateLimitExceeded,
    Code::LiveTooManyAsks,
    Code::GguiSchemaMismatchError,
    Code::GguiToolDuplicateGadgetHook,
    Code::GguiToolGadgetNotRegistered,
    Code::GguiToolGadgetPackageMismatch,
    Code::GguiToolGadgetPublicEnvMissing,
];

const OF_PROPS: &[Code] = &[Code::AgenticSessionNotFound, Code::GguiToolContractViolation];
const OF_QUESTION: &[Code] = &[Code::LiveAskConflict];

/// Declares tools: name, arguments, envelope, need and codes.
macro_rules! tools {
    ($(
        $(#[doc = $about:literal])+
        $tool:ident($name:literal, $query:ident) of $request:ty => $envelope:ty,
            $need:expr, [$($codes:expr),*];
    )+) => {
        $(operation! {
            $(#[doc = $about])+
            pub struct $tool($name, Post concat!("/accord/v1/live/tools/", $name)) of Ggui {
                query $query;
                body Verbatim<$request>;
                needs $need;
                answers 200, Json<$envelope>;
                refuses [COMMON, $($codes),*];
            }
        })+
    };
}

// What an agent does.
tools! {
    /// Checks the contract of a UI and keeps it for one render, for ten minutes. A project that
    /// does not exist is created, unless the server forbids it.
    Handshake("ggui_handshake", ToolQuery) of HandshakeRequest => GguiHandshakeEnvelope,
        Need::Write, [OF_CONTRACTS, CHANGES, &[Code::AgenticProjectNotFound]];
    /// Begins a session with the UI of a handshake and its props. A render that is refused leaves
    /// the handshake usable.
    Render("ggui_render", ToolQuery) of RenderRequest => GguiRenderEnvelope,
        Need::Write, [OF_RENDERS, CHANGES, &[Code::GguiToolOverrideContractInvalid]];
    /// Begins a session with a UI that was rendered before, by its id.
    RenderBlueprint("ggui_render_blueprint", ToolQuery)
        of RenderBlueprintRequest => GguiRenderEnvelope,
        Need::Write, [OF_RENDERS, CHANGES, &[Code::GguiToolBlueprintNotFound]];
    /// Changes the props of a session. The page gets a new epoch.
    Update("ggui_update", ToolQuery) of PropsRequest => GguiPropsEnvelope,
        Need::Write, [CHANGES, OF_PROPS, OF_QUESTION];
    /// Changes the props of a session in place: the page keeps its epoch and its state.
    Amend("ggui_amend", ToolQuery) of PropsRequest => GguiPropsEnvelope,
        Need::Write, [CHANGES, OF_PROPS, OF_QUESTION];
    /// Takes the events out of the pipe of a session; where there are none, waits for one as long
    /// as the request says. A request that is cancelled takes nothing: its events stay for the next
    /// one.
    Consume("ggui_consume", ConsumeQuery) of ConsumeRequest => GguiConsumeEnvelope,
        Need::Write, [CHANGES, NO_SESSION, &[Code::GguiPipeNotFound]];
    /// Sends a payload on a channel of a session to its subscribers.
    Emit("ggui_emit", ToolQuery) of EmitRequest => GguiEmitEnvelope,
        Need::Write, [CHANGES, OF_PROPS];
}

// What an agent reads.
tools! {
    /// Shows a session: its counters and times, its UI with contract and code, its props.
    GetSession("ggui_get_session", ToolQuery) of SessionRequest => GguiSessionEnvelope,
        Need::Read, [NO_SESSION];
    /// Lists the sessions of a project that have not expired, the newest first, without what is
    /// large. Those of a conversation of a host (`hostSessionId`) are in its order.
    ListSessions("ggui_list_sessions", ToolQuery)
        of ListSessionsRequest => GguiSessionListEnvelope, Need::Read, [];
    /// Shows the component code and the contract of the UI of a session.
    GetRenderSource("ggui_get_render_source", ToolQuery)
        of SessionRequest => GguiRenderSourceEnvelope, Need::Read, [NO_SESSION];
    /// Lists the packages of gadgets that a contract can use.
    ListGadgets("ggui_list_gadgets", ToolQuery) of NoArguments => GguiGadgetListEnvelope,
        Need::Read, [];
    /// Lists the themes that a render can name.
    ListThemes("ggui_list_themes", ToolQuery) of NoArguments => GguiThemeListEnvelope,
        Need::Read, [];
    /// Finds UIs that were rendered before, by the words of their intent or by their contract.
    SearchBlueprints("ggui_search_blueprints", ToolQuery)
        of SearchBlueprintsRequest => GguiBlueprintSearchEnvelope, Need::Read, [];
    /// Lists the ten UIs that were rendered last.
    ListFeaturedBlueprints("ggui_list_featured_blueprints", ToolQuery)
        of NoArguments => GguiBlueprintListEnvelope, Need::Read, [];
}

// What pages do. A refusal of the protocol is a result, `{ok: false, code, message}`.
tools! {
    /// Records what a person did on a page, for the agent of the session. The same actionId is
    /// recorded once.
    SubmitAction("ggui_runtime_submit_action", ToolQuery)
        of SubmitActionRequest => GguiRuntimeEnvelope, Need::Decide(Decision::Answer), [CHANGES];
    /// Records the values of the context slots of a page. They replace those of before.
    SyncContext("ggui_runtime_sync_context", ToolQuery)
        of SyncContextRequest => GguiRuntimeEnvelope, Need::Write, [CHANGES];
    /// Reads the ledger of a session after a number; where there is nothing, waits as long as the
    /// request says.
    Pull("ggui_runtime_pull", ToolQuery) of PullRequest => GguiPullEnvelope,
        Need::Read, [NO_SESSION, &[Code::GguiInvalidSinceSequence]];
    /// Makes a new wsToken from an old one, for as long again as it was valid.
    RefreshWsToken("ggui_runtime_refresh_ws_token", ToolQuery)
        of RefreshTokenRequest => GguiRuntimeEnvelope, Need::Write, [CHANGES];
    /// Writes what a page observed about itself to the log of the server (level debug).
    Telemetry("ggui_runtime_telemetry", ToolQuery) of TelemetryRequest => GguiRuntimeEnvelope,
        Need::Write, [];
    /// Says which servers the tools of an agent belong to, by the names that the servers give
    /// themselves. Later handshakes of the project name them so in `agentCapabilities`. A catalog
    /// replaces the one before. It is kept in memory.
    DeclareToolCatalog("ggui_runtime_declare_tool_catalog", ToolQuery)
        of DeclareToolsRequest => GguiCatalogEnvelope, Need::Write,
        [CHANGES, &[Code::GguiInvalidMessage]];
    /// Shows what the frame of a host shows of a session: the fragments of its page, and the
    /// messages after a number.
    RuntimePage("accord_runtime_page", ToolQuery)
        of RuntimePageRequest => AccordRuntimePageEnvelope, Need::Read, [NO_SESSION];
}

operation! {
    /// Reads a `ui://ggui/render/` resource: what a host needs to mount a session. A session that
    /// the caller may not see is answered like one that does not exist.
    pub struct ReadResource("ggui_resource", Get "/accord/v1/live/resource") of Ggui {
        query ResourceQuery;
        needs Need::Read;
        answers 200 "What a host mounts.", Json<GguiMountEnvelope>;
        refuses [COMMON, &[
            Code::McpResourceUnknown,
            Code::GguiNotFound,
            Code::GguiBlueprintUnresolvable,
            Code::GguiNotMountable,
        ]];
    }
}
