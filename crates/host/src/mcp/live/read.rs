//! What an agent reads.

use accord_contract::wire::Value;
use serde_json::json;

use super::{PROJECT, SESSION, post, post_in_project, receipt, tools};
use accord_mcp::{Argument, Effect, Output, Tool};

const LIMIT: Argument = Argument::integer("limit", 1, 200, "The most of them.").default_number(50);

const BLUEPRINTS: &[Output] = &[Output::list("blueprints"), Output::flag("hasMore")];

tools! {
    GET_SESSION = "ggui_get_session" (post) {
        title: "Show a session",
        description: "A session with its props, contract, code, counters and times.",
        arguments: &[SESSION],
        effect: Effect::Reads,
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
        answer: |_, answer| receipt(answer),
    }

    LIST_SESSIONS = "ggui_list_sessions" (post_in_project) {
        title: "List sessions",
        description: "The sessions of a project that have not expired, the newest first: id, what \
            each is for (prompt), and its times.",
        arguments: &[
            Argument::text("hostName", "Only sessions of this host."),
            Argument::text("hostSessionId", "Only sessions of this conversation of a host."),
            LIMIT,
            PROJECT,
        ],
        effect: Effect::Reads,
        output: Some(&[Output::list("sessions"), Output::flag("hasMore")]),
        answer: |_, answer| receipt(answer),
    }

    GET_RENDER_SOURCE = "ggui_get_render_source" (post) {
        title: "Show the source of a UI",
        description: "The component code and the contract of the UI of a session.",
        arguments: &[SESSION],
        effect: Effect::Reads,
        output: Some(&[
            Output::text("sessionId"),
            Output::text("componentCode"),
            Output::text("codeHash").optional(),
            Output::object("contract"),
        ]),
        answer: |_, answer| receipt(answer),
    }

    LIST_GADGETS = "ggui_list_gadgets" (post) {
        title: "List gadgets",
        description: "The packages of gadgets that clientCapabilities of a contract can name.",
        arguments: &[],
        effect: Effect::Reads,
        output: Some(&[Output::list("gadgets")]),
        answer: |_, answer| receipt(answer),
    }

    LIST_THEMES = "ggui_list_themes" (post) {
        title: "List themes",
        description: "The themes that ggui_render can name as themeId.",
        arguments: &[],
        effect: Effect::Reads,
        output: Some(&[Output::list("themes")]),
        answer: |_, answer| receipt(answer),
    }

    SEARCH_BLUEPRINTS = "ggui_search_blueprints" (post_in_project) {
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
        effect: Effect::Reads,
        output: Some(BLUEPRINTS),
        answer: |_, answer| receipt(answer),
    }

    LIST_FEATURED_BLUEPRINTS = "ggui_list_featured_blueprints" (post_in_project) {
        title: "List recent UIs",
        description: "The ten UIs of the project that were rendered last.",
        arguments: &[PROJECT],
        effect: Effect::Reads,
        output: Some(BLUEPRINTS),
        answer: |_, answer| receipt(answer),
    }
}

fn any_object() -> Value {
    json!({"type": "object"})
}
