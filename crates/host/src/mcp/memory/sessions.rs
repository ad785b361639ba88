//! Sessions: who works on what, from when to when.

use accord_base::SessionId;
use accord_contract::wire::{Object, Value};

use super::{ACTOR, PROJECT, pick};
use accord_mcp::budget::{PAGE_BUDGET, budget, whole};
use accord_mcp::{Argument, Ask, Effect, Memo, OpenSession, Output, Tool, ToolResult};

pub(super) const START: Tool = Tool {
    name: "memory_session_start",
    title: "Start a session",
    description: "Call this first, once. Says which project you work on and who you are, so that \
        later calls need neither, and gives your session a callsign that people can refer to. Then \
        call memory_orient.",
    arguments: &[
        Argument::project("The project to work on. It is created if it does not exist.")
            .example("website"),
        ACTOR,
        Argument::text("callsign", "Two words to remember the session by. Default: generated."),
    ],
    effect: Effect::Adds,
    output: Some(&[
        Output::text("session_id"),
        Output::text("project_id"),
        Output::text("actor_id"),
        Output::text("actor_type"),
        Output::text("callsign").or_null(),
        Output::text("started_at"),
        Output::text("next").optional(),
    ]),
    ask: |call| {
        let actor = call.starter()?;
        let mut body = call.members(&["callsign"]);
        body.insert("actor_id".into(), actor.id.as_str().into());
        body.insert("actor_type".into(), actor.kind.as_str().into());
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

pub(super) const END: Tool = Tool {
    name: "memory_session_end",
    title: "End the session",
    description: "Call this last, after memory_deposit. Ends your session and says how many \
        packages were deposited in it.",
    arguments: &[Argument::text("session_id", "The session to end. Default: the one you started.")],
    effect: Effect::AddsOnce,
    output: Some(&[
        Output::text("session_id"),
        Output::text("project_id"),
        Output::text("callsign").or_null(),
        Output::text("started_at"),
        Output::text("ended_at"),
        Output::count("package_count"),
    ]),
    ask: |call| {
        let mut body = Object::new();
        body.insert("ended_at".into(), call.now().to_string().into());
        Ok(Ask::patch(&["v1", "sessions", call.session()?], body))
    },
    answer: |call, answer| {
        let session = answer.object()?;
        let deposited =
            session.get("packages_deposited").and_then(Value::as_array).map_or(0, Vec::len);
        let names = ["session_id", "project_id", "callsign", "started_at", "ended_at"];
        let mut receipt = pick(session, &names);
        receipt.insert("package_count".into(), deposited.into());
        let ended = SessionId::new(call.session()?)?;
        Ok(ToolResult::receipt(receipt).remembering(Memo::Ended(ended)))
    },
    null_on: None,
};

pub(super) const SESSIONS: Tool = Tool {
    name: "memory_sessions",
    title: "List sessions",
    description: "Who worked, or works, on a project: sessions, newest first, with callsign, \
        actor, times and the packages that each deposited. Read what one did with memory_pull \
        (session_id).",
    arguments: &[
        PROJECT,
        Argument::text("callsign", "Only the sessions of this callsign.").example("amber-otter"),
        Argument::flag("active", "Only the sessions that have not ended."),
        Argument::integer("limit", 1, 200, "The most sessions.").default_number(20),
        Argument::text("cursor", "next_cursor of the page before."),
        PAGE_BUDGET,
    ],
    effect: Effect::Reads,
    output: None,
    ask: |call| {
        Ok(Ask::get(&["v1", "projects", call.project()?, "sessions"])
            .query("callsign", call.text("callsign"))
            .query("active", call.flag("active"))
            .query("limit", call.number("limit").or(Some(20)))
            .query("cursor", call.text("cursor"))
            .recent_query("max_tokens", Some(budget(call))))
    },
    answer: |call, answer| whole(answer.text(), budget(call)).map(ToolResult::document),
    null_on: None,
};
