//! What an agent reads.

use accord_live_core::operations::tools::{self, GguiBlueprintListEnvelope, SearchBlueprints};
use accord_live_core::operations::tools::{GguiGadgetListEnvelope, GguiRenderSourceEnvelope};
use accord_live_core::operations::tools::{GguiSessionEnvelope, GguiSessionListEnvelope};

use super::{PROJECT, SESSION, any_object, in_project, of_session, receipt};
use accord_mcp::{Argument, Output, Tool};

const LIMIT: Argument = Argument::integer("limit", 1, 200, "The most of them.").default_number(50);

const BLUEPRINTS: &[Output] = &[Output::list("blueprints"), Output::flag("hasMore")];

pub(super) const GET_SESSION: Tool = Tool {
    title: "Show a session",
    description: "A session with its props, contract, code, counters and times.",
    arguments: &[SESSION],
    output: Some(&[
        Output::text("id"),
        Output::text("appId"),
        Output::count("eventSequence"),
        Output::count("createdAt"),
        Output::count("lastActivityAt"),
        Output::count("expiresAt"),
        Output::text("status"),
        Output::count("epoch"),
    ]),
    ..of_session::<tools::GetSession, _>(receipt::<GguiSessionEnvelope>)
};

pub(super) const LIST_SESSIONS: Tool = Tool {
    title: "List sessions",
    description: "The sessions of a project that have not expired, the newest first: id, what \
        each is for (prompt), and its times.",
    arguments: &[
        Argument::text("hostName", "Only sessions of this host."),
        Argument::text("hostSessionId", "Only sessions of this conversation of a host."),
        LIMIT,
        PROJECT,
    ],
    output: Some(&[Output::list("sessions"), Output::flag("hasMore")]),
    ..in_project::<tools::ListSessions, _>(receipt::<GguiSessionListEnvelope>)
};

pub(super) const GET_RENDER_SOURCE: Tool = Tool {
    title: "Show the source of a UI",
    description: "The component code and the contract of the UI of a session.",
    arguments: &[SESSION],
    output: Some(&[
        Output::text("sessionId"),
        Output::text("componentCode"),
        Output::text("codeHash").optional(),
        Output::object("contract"),
    ]),
    ..of_session::<tools::GetRenderSource, _>(receipt::<GguiRenderSourceEnvelope>)
};

pub(super) const LIST_GADGETS: Tool = Tool {
    title: "List gadgets",
    description: "The packages of gadgets that clientCapabilities of a contract can name.",
    arguments: &[],
    output: Some(&[Output::list("gadgets")]),
    ..of_session::<tools::ListGadgets, _>(receipt::<GguiGadgetListEnvelope>)
};

pub(super) const LIST_THEMES: Tool = Tool {
    title: "List themes",
    description: "The themes that ggui_render can name as themeId.",
    arguments: &[],
    output: Some(&[Output::list("themes")]),
    ..of_session::<tools::ListThemes, _>(receipt::<tools::GguiThemeListEnvelope>)
};

pub(super) const SEARCH_BLUEPRINTS: Tool = Tool {
    title: "Find a UI",
    description: "UIs of the project that were rendered before, the newest first, with their \
        contracts: those whose intent has all words of query, or those with exactly this \
        contract. ggui_render_blueprint shows one again.",
    arguments: &[
        Argument::text("query", "Words of the intent."),
        Argument::object("contract", any_object, "Exactly this contract."),
        LIMIT,
        PROJECT,
    ],
    output: Some(BLUEPRINTS),
    ..in_project::<SearchBlueprints, _>(receipt::<GguiBlueprintListEnvelope>)
};

pub(super) const LIST_FEATURED_BLUEPRINTS: Tool = Tool {
    title: "List recent UIs",
    description: "The ten UIs of the project that were rendered last.",
    arguments: &[PROJECT],
    output: Some(BLUEPRINTS),
    ..in_project::<tools::ListFeaturedBlueprints, _>(receipt::<GguiBlueprintListEnvelope>)
};
