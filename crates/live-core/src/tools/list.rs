//! Every tool, and for which side it is.

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Tool {
    pub name: &'static str,
    pub audience: Audience,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Audience {
    Agent,
    /// For pages alone: a host hides it from the model.
    App,
}

impl Audience {
    /// The value of `_meta.ui.visibility`; `None` where the tool does not say it.
    ///
    /// Clauses: GGUI-TOOL-AUDIENCE.
    pub const fn visibility(self) -> Option<&'static [&'static str]> {
        match self {
            Self::Agent => None,
            Self::App => Some(&["app"]),
        }
    }
}

const fn agent(name: &'static str) -> Tool {
    Tool { name, audience: Audience::Agent }
}

const fn app(name: &'static str) -> Tool {
    Tool { name, audience: Audience::App }
}

/// Clauses: GGUI-TOOL-LIST.
pub const TOOLS: &[Tool] = &[
    agent("ggui_handshake"),
    agent("ggui_render"),
    agent("ggui_update"),
    agent("ggui_amend"),
    agent("ggui_consume"),
    agent("ggui_emit"),
    agent("ggui_get_session"),
    agent("ggui_list_sessions"),
    agent("ggui_get_render_source"),
    agent("ggui_list_gadgets"),
    agent("ggui_list_themes"),
    agent("ggui_search_blueprints"),
    agent("ggui_render_blueprint"),
    agent("ggui_list_featured_blueprints"),
    app("ggui_runtime_submit_action"),
    app("ggui_runtime_sync_context"),
    app("ggui_runtime_pull"),
    app("ggui_runtime_refresh_ws_token"),
    app("ggui_runtime_telemetry"),
    app("ggui_runtime_declare_tool_catalog"),
    app("accord_runtime_page"),
];
