//! Sessions.

use super::ACTOR;
use crate::tools::{start, started};
use accord_mcp::{Argument, Effect, Tool};

pub(super) const START: Tool = Tool {
    name: "relay_session_start",
    description: "Starts a session: later calls belong to it and need no project_id. Returns its \
        id and callsign. Call relay_session_orient next.",
    arguments: &[
        Argument::project("The project to work on. It is created if it does not exist."),
        Argument::text("agent_description", "What you are, for people who read the session."),
        ACTOR,
    ],
    effect: Effect::Adds,
    ask: |call| {
        let mut body = call.members(&[]);
        if let Some(description) = call.text("agent_description") {
            body.insert("x-agent_description".into(), description.into());
        }
        start(call, body)
    },
    answer: |_, answer| started(answer),
    null_on: None,
};
