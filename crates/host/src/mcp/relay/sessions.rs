//! Sessions.

use super::ACTOR;
use accord_mcp::{Argument, Ask, Effect, Memo, OpenSession, Output, Tool, ToolResult};

pub(super) const START: Tool = Tool {
    name: "relay_session_start",
    title: "Start a session",
    description: "Starts a session: later calls belong to it and need no project_id. Returns its \
        id and callsign. Call relay_session_orient next.",
    arguments: &[
        Argument::project("The project to work on. It is created if it does not exist."),
        Argument::text("agent_description", "What you are, for people who read the session."),
        ACTOR,
    ],
    effect: Effect::Adds,
    output: Some(&[
        Output::text("session_id"),
        Output::text("project_id"),
        Output::text("actor_id"),
        Output::text("actor_type"),
        Output::text("callsign").or_null(),
        Output::text("started_at"),
    ]),
    ask: |call| {
        let actor = call.starter()?;
        let mut body = call.members(&[]);
        body.insert("actor_id".into(), actor.id.as_str().into());
        body.insert("actor_type".into(), actor.kind.as_str().into());
        if let Some(description) = call.text("agent_description") {
            body.insert("x-agent_description".into(), description.into());
        }
        Ok(Ask::post(&["v1", "projects", call.project()?, "sessions"], body))
    },
    answer: |_, answer| {
        let mut session = answer.object()?;
        let open = OpenSession::read(&session)?;
        session.remove("ended_at");
        session.remove("packages_deposited");
        Ok(ToolResult::receipt(session).remembering(Memo::Started(open)))
    },
    null_on: None,
};
