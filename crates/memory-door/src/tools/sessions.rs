//! Sessions: who works on what, from when to when.

use accord_api::{Call as OperationCall, Json, Maybe, NoParams, Verbatim};
use accord_base::SessionId;
use accord_contract::{Failure, Field, Object, Timestamp};
use accord_memory_core::Session;
use accord_memory_core::operations::{
    EndSession, ListSessions, OfSession, SessionParams, SessionWithin, StartSession,
};
use accord_memory_core::session::SessionEnd;

use super::{CURSOR, IN_SESSION, PROJECT, id, in_project, number, reading, text, tokens, written};
use accord_mcp::budget::{BUDGET, budget, whole};
use accord_mcp::{
    Answer, Argument, Call, Effect, HostRequest, Memo, OpenSession, Tool, ToolResult,
};

pub(super) const START: Tool = Tool {
    name: "memory_session_start",
    description: "Call first, once: names the project and who you are for later calls. Then call \
        memory_orient.",
    arguments: &[
        Argument::project("Created if it is new."),
        Argument::text("actor", "Such as agent:claude. Default: the client."),
        Argument::text("callsign", ""),
    ],
    effect: Effect::Adds,
    ask: |call| start(call, call.members(&["callsign"])),
    answer: |_, answer| started(answer),
    null_on: None,
};

pub(super) const END: Tool = Tool {
    name: "memory_session_end",
    description: "Call last, after memory_deposit.",
    arguments: &[IN_SESSION],
    effect: Effect::Adds,
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
        let mut receipt = answer.picked(&names)?;
        receipt.insert("package_count".into(), deposited.into());
        let ended = SessionId::new(call.session()?)?;
        Ok(ToolResult::receipt(receipt).remembering(Memo::Ended(ended)))
    },
    null_on: None,
};

pub(super) const SESSIONS: Tool = Tool {
    name: "memory_sessions",
    description: "Who works or worked on a project, with what they deposited.",
    arguments: &[
        PROJECT,
        Argument::text("callsign", ""),
        Argument::flag("active", ""),
        Argument::integer("limit", 1, 200, ""),
        CURSOR,
        BUDGET,
    ],
    effect: Effect::Reads,
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
