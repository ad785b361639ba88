//! Sessions: who works on what, from when to when.

use accord_api::{Call as OperationCall, Json, Maybe, NoParams, Verbatim};
use accord_base::SessionId;
use accord_contract::{Failure, Field, Object, Timestamp};
use accord_memory_core::Session;
use accord_memory_core::operations::{
    EndSession, ListSessions, OfSession, SessionParams, SessionWithin, StartSession,
};
use accord_memory_core::session::SessionEnd;

use super::{ACTOR, PROJECT, id, in_project, number, pick, reading, text, tokens, written};
use accord_mcp::budget::{PAGE_BUDGET, budget, whole};
use accord_mcp::{
    Answer, Argument, Call, Effect, HostRequest, Memo, OpenSession, Output, Tool, ToolResult,
};

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
    ask: |call| start(call, call.members(&["callsign"])),
    answer: |_, answer| started(answer),
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
        let path = OfSession { session: id("session_id", call.session()?)? };
        let end = SessionEnd { ended_at: Field::Value(Timestamp::emit(call.now())) };
        let body = Maybe(Some(Verbatim::from(&end)));
        let within = SessionWithin::default();
        Ok(HostRequest::operation(&OperationCall::<EndSession>::new(path, within, body)))
    },
    answer: |call, answer| {
        let deposited = answer.read::<Json<Session>>()?.0.packages_deposited.len();
        let names = ["session_id", "project_id", "callsign", "started_at", "ended_at"];
        let mut receipt = pick(answer.object()?, &names);
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
        let asked = SessionParams {
            callsign: text(call, "callsign"),
            active: call.flag("active").is_some(),
            limit: number(call, "limit").or(Some(20)),
            cursor: text(call, "cursor"),
            max_tokens: tokens(budget(call)),
        };
        Ok(reading::<ListSessions>(in_project(call)?, asked).recently(&["max_tokens"]))
    },
    answer: |call, answer| whole(answer.text(), budget(call)).map(ToolResult::document),
    null_on: None,
};

/// Starts a session of the actor of the call.
pub(in super::super) fn start(call: &Call<'_>, mut body: Object) -> Result<HostRequest, Failure> {
    let actor = call.starter()?;
    body.insert("actor_id".into(), actor.id.as_str().into());
    body.insert("actor_type".into(), actor.kind.as_str().into());
    let (path, body) = (in_project(call)?, Maybe(Some(written(body))));
    Ok(HostRequest::operation(&OperationCall::<StartSession>::new(path, NoParams, body)))
}

/// The receipt of a session that was started.
pub(in super::super) fn started(answer: &Answer) -> Result<ToolResult, Failure> {
    let mut session = answer.object()?;
    let open = OpenSession::from(answer.read::<Json<Session>>()?.0);
    session.remove("ended_at");
    session.remove("packages_deposited");
    Ok(ToolResult::receipt(session).remembering(Memo::Started(open)))
}
