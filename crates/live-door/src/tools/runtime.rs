//! The tools of pages. A host hides them from its model and relays the calls of its pages. A
//! refusal of the protocol is a result, because a page does not see errors of its host.

use accord_live_core::operations::tools::{AccordRuntimePageEnvelope, RuntimePage};
use accord_live_core::operations::tools::{DeclareToolCatalog, GguiCatalogEnvelope};
use accord_live_core::operations::tools::{GguiPullEnvelope, Pull};
use accord_live_core::operations::tools::{GguiRuntimeEnvelope, RefreshWsToken, SubmitAction};
use accord_live_core::operations::tools::{SyncContext, Telemetry};

use super::{PROJECT, any_object, in_project, of_session, receipt};
use accord_mcp::{Argument, Effect, Tool};

const SESSION: Argument = Argument::text("sessionId", "The session of the page.").required();
const APP: Argument = Argument::text("appId", "The app of the session.").required();

/// The largest integer that every JSON parser reads exactly.
pub(super) const MOST_SEQUENCE: i64 = (1 << 53) - 1;

pub(super) const SUBMIT_ACTION: Tool = Tool {
    description: "For pages: records what the person did, for the agent of the session.",
    arguments: &[
        Argument::text("kind", "dispatch, openLink or requestDisplayMode.").required(),
        Argument::object(
            "payload",
            any_object,
            "dispatch: intent, actionData, uiContext. openLink: url. requestDisplayMode: mode.",
        )
        .required(),
        SESSION,
        APP,
        Argument::text("actionId", "The id of the action. Twice the same is one.").required(),
        Argument::text("firedAt", "When the person acted, in ISO 8601.").required(),
        Argument::text("x-expect", "The digest of what the person was shown."),
    ],
    effect: Effect::Adds,
    ..of_session::<SubmitAction, _>(receipt::<GguiRuntimeEnvelope>)
};

pub(super) const SYNC_CONTEXT: Tool = Tool {
    description: "For pages: records the values of the context slots.",
    arguments: &[
        SESSION,
        APP,
        Argument::object("snapshot", any_object, "The value of each slot.").required(),
    ],
    effect: Effect::Adds,
    ..of_session::<SyncContext, _>(receipt::<GguiRuntimeEnvelope>)
};

pub(super) const PULL: Tool = Tool {
    description: "For pages without a channel: the events of the session after a number.",
    arguments: &[
        SESSION,
        Argument::integer("sinceSequence", 0, MOST_SEQUENCE, "Events after this number."),
        Argument::integer("limit", 1, MOST_SEQUENCE, "The most events, at most 100."),
        Argument::integer(
            "wait",
            0,
            MOST_SEQUENCE,
            "How many seconds to wait for an event, at most 20.",
        ),
    ],
    ..of_session::<Pull, _>(receipt::<GguiPullEnvelope>)
};

pub(super) const REFRESH_WS_TOKEN: Tool = Tool {
    description: "For pages: makes a new wsToken from an old one.",
    arguments: &[Argument::text("envelope", "The old wsToken.").required()],
    effect: Effect::Adds,
    ..of_session::<RefreshWsToken, _>(receipt::<GguiRuntimeEnvelope>)
};

pub(super) const TELEMETRY: Tool = Tool {
    description: "For pages: writes what the page observed to the log of the server.",
    arguments: &[
        Argument::objects("events", any_object, "What was observed, at most 40.").required()
    ],
    effect: Effect::Adds,
    ..of_session::<Telemetry, _>(receipt::<GguiRuntimeEnvelope>)
};

pub(super) const DECLARE_TOOL_CATALOG: Tool = Tool {
    description: "For runtimes of agents: says which servers the tools of the agent belong to.",
    arguments: &[
        Argument::object(
            "toolCatalog",
            any_object,
            "The server of each tool, by the name of the tool: name, version.",
        )
        .required(),
        PROJECT,
    ],
    effect: Effect::Adds,
    ..in_project::<DeclareToolCatalog, _>(receipt::<GguiCatalogEnvelope>)
};

pub(super) const RUNTIME_PAGE: Tool = Tool {
    description: "For pages: the fragments of the page of a session, and its messages after a \
        number.",
    arguments: &[
        SESSION,
        Argument::integer("fromSeq", 0, MOST_SEQUENCE, "Messages after this number."),
    ],
    ..of_session::<RuntimePage, _>(receipt::<AccordRuntimePageEnvelope>)
};
