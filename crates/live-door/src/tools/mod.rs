//! The tools of live sessions, with the names and arguments of ggui.
//!
//! An agent shows a person something and gets the answer: handshake, render, consume. The tools of
//! pages (`ggui_runtime_…`) are visible to pages alone. Each tool is made from the operation of its
//! name; the host decides, also about the project.

mod agent;
mod ask_person;
mod contract;
mod read;
mod resources;
mod runtime;

use accord_api::{Call as OperationCall, Envelope, Json, NoParams, Operation, Verbatim};
use accord_contract::{Code, Failure, Object, Protocol, Value, Wire};
use accord_live_core::operations::tools::ToolQuery;
use accord_live_core::resource::SHELL;
use accord_live_core::tools::{Audience, TOOLS};
use accord_mcp::{Advice, Answer, Argument, Call, Effect, HostRequest, Tool, ToolResult, Toolset};
use accord_mcp::{Visibility, call::id};

pub static TOOLSET: Toolset = Toolset {
    name: "live",
    protocol: Protocol::Ggui,
    instructions: "Live: get the answer of a person.\nA decision or a form: ask_person. Repeat the \
        call while state is waiting.\nA page of your own (ggui_*):\n1. ggui_handshake: intent and \
        contract (propsSpec: what is shown; actionSpec: buttons and forms). For a decision add \
        \"x-answeredBy\": \"person\", \"x-closesOn\": \"first\".\n2. ggui_render: handshakeId, \
        props. Give the person the link in the result.\n3. ggui_consume: sessionId, timeout 25; \
        repeat until events has the action. x-person false is no decision of a person. Act on each \
        actionId once.",
    details: "\"x-answerWithin\": SECONDS in the contract ends the time to answer; without it, \
        an answer is kept until the session expires. No UI code is needed: the page is made from \
        the contract, and what is entered is checked against actionSpec. In the same session, \
        ggui_update changes what is shown and ggui_emit sends on a channel of streamSpec.",
    tools: &[
        ask_person::ASK_PERSON,
        agent::HANDSHAKE,
        agent::RENDER,
        agent::CONSUME,
        agent::UPDATE,
        agent::AMEND,
        agent::EMIT,
        read::GET_SESSION,
        read::LIST_SESSIONS,
        read::GET_RENDER_SOURCE,
        read::LIST_GADGETS,
        read::LIST_THEMES,
        read::SEARCH_BLUEPRINTS,
        agent::RENDER_BLUEPRINT,
        read::LIST_FEATURED_BLUEPRINTS,
        runtime::SUBMIT_ACTION,
        runtime::SYNC_CONTEXT,
        runtime::PULL,
        runtime::REFRESH_WS_TOKEN,
        runtime::TELEMETRY,
        runtime::DECLARE_TOOL_CATALOG,
        runtime::RUNTIME_PAGE,
    ],
    prompts: &[],
    resources: Some(&resources::SESSIONS),
    advice: &[
        Advice::on(
            Code::GguiToolHandshakeNotFound,
            "A handshake is used once and lives for ten minutes: call ggui_handshake again.",
        ),
        Advice::on(
            Code::GguiToolBlueprintNotFound,
            "Find the blueprintId with ggui_search_blueprints, or propose a new UI with \
             ggui_handshake.",
        ),
        Advice::on(
            Code::AgenticSessionNotFound,
            "Check sessionId: ggui_list_sessions has those that have not expired. To ask again, \
             begin with ggui_handshake.",
        ),
        Advice::on(
            Code::LiveAskConflict,
            "Leave id out, or name another one for another question.",
        ),
        Advice::on(
            Code::LiveTooManyAsks,
            "Do not ask more: wait for answers with ggui_consume or ask_person, or go on without \
             them.",
        ),
        Advice::on(
            Code::GguiPipeNotFound,
            "The session was opened by a page and not rendered: use the sessionId that ggui_render \
             returned.",
        ),
        Advice::on(
            Code::GguiToolContractViolation,
            "Correct each of violations: field says where, keyword and expected say what. For \
             ggui_render, use the same handshakeId again.",
        ),
        Advice::on(
            Code::GguiToolContractValidationFailed,
            "Correct each of violations and call ggui_handshake again.",
        ),
        Advice::on(
            Code::GguiToolContractSchemaInvalid,
            "Correct each of violations: a schema needs type, oneOf or anyOf, and an array items.",
        ),
        Advice::on(
            Code::GguiSchemaMismatchError,
            "Narrow the schema of the action, or leave its nextStep out.",
        ),
        Advice::on(
            Code::AgenticProjectArchived,
            "Ask a person to restore the project; reading it still works.",
        ),
        Advice::on(Code::AccessDenied, "Do not retry; ask a person for a key that covers this."),
        Advice::on(
            Code::HostTimeout,
            "Call it again: an answer that did not arrive stays in the session.",
        ),
        Advice::on(
            Code::HostUnreachable,
            "Wait some seconds and call it again: sessions and answers are kept. If it fails for \
             longer, tell the person you work for.",
        ),
    ],
    visibility: |name| {
        let tool = TOOLS.iter().find(|tool| tool.name == name);
        match tool.map(|tool| tool.audience) {
            Some(Audience::App) => Visibility::App,
            _ if matches!(name, "ggui_render" | "ggui_render_blueprint") => {
                Visibility::Shown(SHELL)
            }
            Some(Audience::Agent) | None => Visibility::Model,
        }
    },
    // The answers of a call that is dropped stay in the session.
    is_cancellable: true,
};

/// The project of a tool that is about no session yet. Default: the server's, else the only one of
/// the key.
const PROJECT: Argument = Argument::text("project_id", "");

const SESSION: Argument = Argument::text("sessionId", "").required();

/// A tool about the session or the handshake of its arguments, without its words.
const fn of_session<O, R>(answer: fn(&Call<'_>, &Answer) -> Result<ToolResult, Failure>) -> Tool
where
    O: Operation<Path = NoParams, Query = ToolQuery, Body = Verbatim<R>>,
{
    Tool {
        name: O::NAME,
        description: "",
        arguments: &[],
        effect: Effect::Reads,
        ask: |call| Ok(ask::<O>(query(call), arguments(call))),
        answer,
        null_on: None,
    }
}

/// A tool about the project of the call, without its words.
const fn in_project<O, R>(answer: fn(&Call<'_>, &Answer) -> Result<ToolResult, Failure>) -> Tool
where
    O: Operation<Path = NoParams, Query = ToolQuery, Body = Verbatim<R>>,
{
    let ask = |call: &Call<'_>| {
        let project = call.known_project().map(|text| id("project_id", text)).transpose()?;
        Ok(ask::<O>(ToolQuery { project, ..query(call) }, arguments(call)))
    };
    Tool { ask, ..of_session::<O, R>(answer) }
}

fn ask<O: Operation<Path = NoParams>>(query: O::Query, body: O::Body) -> HostRequest {
    HostRequest::operation(&OperationCall::<O>::new(NoParams, query, body))
}

fn query(call: &Call<'_>) -> ToolQuery {
    ToolQuery { project: None, actor: actor(call) }
}

fn actor(call: &Call<'_>) -> Option<String> {
    call.starter().ok().map(|actor| format!("{}:{}", actor.kind, actor.id))
}

/// The arguments of a call, which are those of the operation.
fn arguments<R>(call: &Call<'_>) -> Verbatim<R> {
    let mut arguments = call.arguments().clone();
    arguments.remove("project_id");
    json_body(arguments)
}

fn json_body<R>(members: Object) -> Verbatim<R> {
    Verbatim::json(Value::Object(members).to_string())
}

fn receipt<E: Envelope<Result: Wire>>(_: &Call<'_>, reply: &Answer) -> Result<ToolResult, Failure> {
    Ok(received(&reply.read::<Json<E>>()?.0.result()))
}

fn any_object() -> Value {
    serde_json::json!({"type": "object"})
}

fn received(result: &impl Wire) -> ToolResult {
    match result.encode() {
        Value::Object(members) => ToolResult::receipt(members),
        _ => ToolResult::receipt(Object::new()),
    }
}
