//! What an agent reads.

use accord_live_core::operations::tools::GguiBlueprintSearchEnvelope;
use accord_live_core::operations::tools::{self, GguiBlueprintListEnvelope, SearchBlueprints};
use accord_live_core::operations::tools::{GguiGadgetListEnvelope, GguiRenderSourceEnvelope};
use accord_live_core::operations::tools::{GguiSessionEnvelope, GguiSessionListEnvelope};

use super::{PROJECT, SESSION, any_object, in_project, of_session, receipt};
use accord_mcp::{Argument, Tool};

const LIMIT: Argument = Argument::integer("limit", 1, 200, "");

pub(super) const GET_SESSION: Tool = Tool {
    description: "A session: props, contract, code, times.",
    arguments: &[SESSION],
    ..of_session::<tools::GetSession, _>(receipt::<GguiSessionEnvelope>)
};

pub(super) const LIST_SESSIONS: Tool = Tool {
    description: "Open sessions, newest first.",
    arguments: &[
        Argument::text("hostName", ""),
        Argument::text("hostSessionId", ""),
        LIMIT,
        PROJECT,
    ],
    ..in_project::<tools::ListSessions, _>(receipt::<GguiSessionListEnvelope>)
};

pub(super) const GET_RENDER_SOURCE: Tool = Tool {
    description: "Code and contract of a session's UI.",
    arguments: &[SESSION],
    ..of_session::<tools::GetRenderSource, _>(receipt::<GguiRenderSourceEnvelope>)
};

pub(super) const LIST_GADGETS: Tool = Tool {
    description: "Gadgets for clientCapabilities.",
    arguments: &[],
    ..of_session::<tools::ListGadgets, _>(receipt::<GguiGadgetListEnvelope>)
};

pub(super) const LIST_THEMES: Tool = Tool {
    description: "Themes for themeId.",
    arguments: &[],
    ..of_session::<tools::ListThemes, _>(receipt::<tools::GguiThemeListEnvelope>)
};

pub(super) const SEARCH_BLUEPRINTS: Tool = Tool {
    description: "Earlier UIs, by words of their intent or by contract.",
    arguments: &[
        Argument::text("query", ""),
        Argument::object("contract", any_object, ""),
        LIMIT,
        PROJECT,
    ],
    ..in_project::<SearchBlueprints, _>(receipt::<GguiBlueprintSearchEnvelope>)
};

pub(super) const LIST_FEATURED_BLUEPRINTS: Tool = Tool {
    description: "The ten last UIs.",
    arguments: &[PROJECT],
    ..in_project::<tools::ListFeaturedBlueprints, _>(receipt::<GguiBlueprintListEnvelope>)
};
