//! What an agent does: handshake, render, consume, change, emit.

use accord_api::{Json, Operation as _};
use accord_contract::{Failure, Object, Value};
use accord_live_core::operations::tools::{self, GguiConsumeEnvelope, GguiEmitEnvelope};
use accord_live_core::operations::tools::{GguiHandshakeEnvelope, GguiPropsEnvelope};
use serde_json::json;

use super::{PROJECT, SESSION, actor, any_object, arguments, ask, in_project, of_session, query};
use super::{contract::blueprint_draft, json_body, receipt, received, runtime::MOST_SEQUENCE};
use accord_mcp::{Answer, Argument, Call, Effect, HostRequest, Tool, ToolResult};

const KIND: Argument = Argument::word("kind", &["replace", "merge"], "").required();

const NEW_PROPS: Argument = Argument::object("props", any_object, "");

const PATCH: Argument = Argument::object("patch", any_object, "");

const THEME: Argument = Argument::text("themeId", "");

pub(super) const HANDSHAKE: Tool = Tool {
    description: "Checks a UI; gives handshakeId for one ggui_render, and propsSchema. \
        blueprintDraft: {contract: {propsSpec: {properties: {text: {schema: {type: string}, \
        required: true}}}, actionSpec: {reject: {label: Reject, schema: {type: object, properties: \
        {why: {type: string}}}}}}}. An action without a schema is a button.",
    arguments: &[
        Argument::text("intent", "For the person.").required(),
        Argument::object("blueprintDraft", blueprint_draft, "").required(),
        Argument::flag("forceCreate", ""),
        PROJECT,
    ],
    effect: Effect::Adds,
    ..in_project::<tools::Handshake, _>(proposed)
};

pub(super) const RENDER: Tool = Tool {
    description: "Begins a session. If refused, correct and use the same handshakeId.",
    arguments: &[
        Argument::text("handshakeId", "").required(),
        Argument::object("props", any_object, "As propsSchema has it.").required(),
        THEME,
        Argument::object("override", any_object, ""),
        Argument::object("infra", any_object, ""),
        Argument::text("x-componentCode", "Leave out."),
    ],
    effect: Effect::Adds,
    ask: |call| {
        let mut arguments = call.arguments().clone();
        // A host finds the sessions of a conversation again.
        if let Some(host_session) = call.meta("ai.ggui/host-session") {
            arguments.insert("x-hostSession".to_owned(), host_session.clone());
        }
        Ok(ask::<tools::Render>(query(call), json_body(arguments)))
    },
    ..of_session::<tools::Render, _>(rendered)
};

pub(super) const RENDER_BLUEPRINT: Tool = Tool {
    description: "Begins a session with a UI of ggui_search_blueprints.",
    arguments: &[
        Argument::text("blueprintId", "").required(),
        Argument::object("props", any_object, "").required(),
        THEME,
        PROJECT,
    ],
    effect: Effect::Adds,
    ..in_project::<tools::RenderBlueprint, _>(rendered)
};

pub(super) const CONSUME: Tool = Tool {
    description: "Takes new events, or waits up to timeout seconds: intent (the action), \
        actionData, x-by, x-person (false: no decision of a person). Empty: call again, unless \
        x-askEnded.",
    arguments: &[SESSION, Argument::integer("timeout", 0, 25, ""), AFTER],
    effect: Effect::Adds,
    name: tools::Consume::NAME,
    ask: |call| {
        let actor = actor(call);
        let query = tools::ConsumeQuery { actor, ..Default::default() };
        if call.confirms() && call.value(AFTER.name()).is_none() {
            // Nothing is confirmed before it was written.
            let mut asked = call.arguments().clone();
            asked.insert(AFTER.name().into(), 0.into());
            return Ok(ask::<tools::Consume>(query, json_body(asked)));
        }
        Ok(ask::<tools::Consume>(query, arguments(call)))
    },
    answer: consumed,
    null_on: None,
};

const AFTER: Argument =
    Argument::integer("x-after", 0, MOST_SEQUENCE, "x-cursor that you handled; first 0.");

pub(super) const UPDATE: Tool = Tool {
    description: "Changes what a page shows, as a new epoch: kind replace takes props, merge \
        takes patch (null deletes).",
    arguments: &[SESSION, KIND, NEW_PROPS, PATCH],
    effect: Effect::Adds,
    ..of_session::<tools::Update, _>(receipt::<GguiPropsEnvelope>)
};

pub(super) const AMEND: Tool = Tool {
    description: "As ggui_update, in place: what the person has entered stays.",
    arguments: &[SESSION, KIND, NEW_PROPS, PATCH],
    effect: Effect::Adds,
    ..of_session::<tools::Amend, _>(receipt::<GguiPropsEnvelope>)
};

pub(super) const EMIT: Tool = Tool {
    description: "Sends on a channel of streamSpec.",
    arguments: &[
        SESSION,
        Argument::text("channel", "").required(),
        Argument::any("payload", "").required(),
        Argument::flag("complete", ""),
    ],
    effect: Effect::Adds,
    ..of_session::<tools::Emit, _>(receipt::<GguiEmitEnvelope>)
};

/// The receipt of a handshake, with what the server found in the contract.
fn proposed(_: &Call<'_>, answer: &Answer) -> Result<ToolResult, Failure> {
    let result = answer.read::<Json<GguiHandshakeEnvelope>>()?.0.result;
    let findings = result.findings().take(NOTED).map(|finding| {
        let text = |name: &str| finding[name].as_str().unwrap_or_default();
        format!("- {} at {}: {}", text("severity"), text("path"), text("message"))
    });
    let lines: Vec<String> = findings.collect();
    let receipt = received(&result);
    Ok(match lines.is_empty() {
        true => receipt,
        false => receipt.noting(format!(
            "Findings about the contract:\n{}\nCorrect the contract and call ggui_handshake again, \
             unless you mean it so.",
            lines.join("\n")
        )),
    })
}

/// How many findings a note has. The result has all of them.
const NOTED: usize = 10;

/// The receipt of a render, with what to do next.
fn rendered(_: &Call<'_>, answer: &Answer) -> Result<ToolResult, Failure> {
    let tools::GguiRenderEnvelope { result, page_url, slice, .. } = answer.read::<Json<_>>()?.0;
    let session = result.session_id.as_str();
    let link = match page_url {
        Some(url) => format!("Give the person this link: {url}"),
        None => format!(
            "No server with pages runs here. Ask the person to start `accord serve` and then to \
             run `accord live open {session}`, or to answer with `accord live answer {session}`."
        ),
    };
    let next = match &result.next_step {
        Some(step) => format!(
            "Then call {} with sessionId \"{session}\" and timeout 25, until events has the \
             answer.",
            step.tool
        ),
        None => format!(
            "The contract has no actions, so there is nothing to wait for. Change the page with \
             ggui_update, sessionId \"{session}\"."
        ),
    };
    let receipt = received(&result).noting(format!("{link}\n{next}"));
    // The list of tools names a shell; this is the session in it.
    let receipt = receipt.with_meta("ui", json!({"resourceUri": result.resource_uri}));
    Ok(match slice {
        Some(slice) => receipt.with_meta("ai.ggui/render", Value::Object(slice)),
        None => receipt,
    })
}

/// The receipt of a consume. An empty one says how to go on.
fn consumed(call: &Call<'_>, answer: &Answer) -> Result<ToolResult, Failure> {
    let result = answer.read::<Json<GguiConsumeEnvelope>>()?.0.result;
    let session = call.text("sessionId").unwrap_or_default();
    let receipt = received(&result);
    let cursor = result.cursor.filter(|_| call.confirms() && call.value(AFTER.name()).is_none());
    Ok(match result.events.is_empty() {
        true => receipt.noting(format!(
            "There is no new answer yet. Call ggui_consume again with sessionId \"{session}\" and \
             timeout 25, or stop and come back later: the answer is kept until the session expires."
        )),
        false => match cursor {
            Some(cursor) => receipt.confirming(confirmation(session, cursor, None)),
            None => receipt,
        },
    })
}

/// The request that confirms what was given. It names the project if the session may have ended.
pub(super) fn confirmation(session: &str, cursor: u64, project: Option<&str>) -> HostRequest {
    let project = project.and_then(|project| project.parse().ok());
    let query = tools::ConsumeQuery { confirm: true, project, ..Default::default() };
    let (session, cursor) = (Value::from(session), Value::from(cursor));
    let members = [("sessionId".to_owned(), session), (AFTER.name().to_owned(), cursor)];
    ask::<tools::Consume>(query, json_body(Object::from_iter(members)))
}
