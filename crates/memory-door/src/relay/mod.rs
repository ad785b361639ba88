//! The tools of Relay, the protocol's reference tool, for agents whose prompts name them.
//!
//! They have Relay's names and arguments, and ask the same routes as the tools of the memory.
//! Results are those of Accord: packages and facts in the protocol's words, receipts of writes.
//! What Relay does on the agent's machine (reading git, tracking what was pulled) is not done here.

mod facts;
mod overview;
mod packages;
mod sessions;

use accord_contract::{Code, Protocol};

use accord_mcp::{Advice, Argument, Toolset, Visibility};

pub static TOOLSET: Toolset = Toolset {
    name: "relay",
    protocol: Protocol::Agentic,
    instructions: "Memory with Relay's tools (relay_*): relay_session_start once with the \
        project, then relay_session_orient. relay_pull_context (mode relevant) before you decide. \
        relay_deposit when something is done or decided, and before you stop: decisions, \
        open_questions, handoff_note. relay_assert_fact for current truths.",
    details: "",
    tools: &[
        sessions::START,
        packages::PULL,
        packages::DEPOSIT,
        overview::STATUS,
        facts::ASSERT,
        facts::INVALIDATE,
        facts::QUERY,
        overview::ORIENT,
        overview::ORCHESTRATE,
    ],
    prompts: &[],
    resources: None,
    advice: &[
        Advice::about(
            Code::McpArgumentMissing,
            "project_id",
            "Pass project_id, or call relay_session_start once with it.",
        ),
        Advice::on(
            Code::McpSessionNeeded,
            "Call relay_session_start once, and pass the session_id that it returns with every \
             call that writes; or pass actor, such as agent:claude.",
        ),
        Advice::on(
            Code::AgenticPackageNotFound,
            "Check package_id: relay_pull_context lists packages with their ids.",
        ),
        Advice::on(
            Code::AgenticProjectArchived,
            "Nothing was stored. Ask a person to restore the project; reading it still works.",
        ),
        Advice::on(Code::AccessDenied, "Do not retry; ask a person for a key that covers this."),
    ],
    visibility: |_| Visibility::Model,
    is_cancellable: false,
};

/// The project of a tool that works on one.
const PROJECT: Argument = Argument::text(
    "project_id",
    "The project. Default: that of relay_session_start, or the server's.",
);

/// Who does it. Relay has no such argument: it knows one actor.
const ACTOR: Argument = Argument::text(
    "actor",
    "Who you are, as type:id with the type human, agent or script. Default: that of \
     relay_session_start, of the key, or the client's name.",
);
