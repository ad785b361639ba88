//! What an agent does: handshake, render, consume, change, emit.

use accord_api::{Json, Operation as _};
use accord_contract::{Failure, Object, Value};
use accord_live_core::operations::tools::{self, GguiConsumeEnvelope, GguiEmitEnvelope};
use accord_live_core::operations::tools::{GguiHandshakeEnvelope, GguiPropsEnvelope};
use serde_json::json;

use super::{PROJECT, SESSION, actor, any_object, arguments, ask, in_project, of_session, receipt};
use super::{contract::blueprint_draft, json_body, received, runtime::MOST_SEQUENCE};
use accord_mcp::{Answer, Argument, Call, Effect, HostRequest, Output, Tool, ToolResult};

const RENDERED: &[Output] = &[
    Output::text("sessionId"),
    Output::text("resourceUri"),
    Output::text("action"),
    Output::text("contractHash"),
    Output::text("blueprintId"),
    Output::text("variantKey"),
    Output::object("cache"),
    Output::object("nextStep").optional(),
];

const PROPS: &[Output] = &[
    Output::text("sessionId"),
    Output::flag("updated"),
    Output::text("resourceUri"),
    Output::count("epoch").optional(),
    Output::text("warning").optional(),
    Output::text("propsSchemaHash").optional(),
    Output::text("propsSchemaProfile").optional(),
];

const KIND: Argument = Argument::word(
    "kind",
    &["replace", "merge"],
    "replace: props are the new props. merge: patch is merged into them (null deletes a member).",
)
.required();

const NEW_PROPS: Argument =
    Argument::object("props", any_object, "With kind replace: all props, as propsSpec has them.");

const PATCH: Argument = Argument::object("patch", any_object, "With kind merge: what changes.");

const THEME: Argument = Argument::text("themeId", "A theme of ggui_list_themes.");

pub(super) const HANDSHAKE: Tool = Tool {
    title: "Propose a UI",
    description: "Checks what you want to show before you show it. The answer has \
        handshakeId, which ggui_render uses once, and propsSchema, which the props must \
        match. action reuse means that the same UI was rendered before. Example of \
        blueprintDraft: {\"contract\": {\"propsSpec\": {\"properties\": {\"text\": \
        {\"schema\": {\"type\": \"string\"}, \"required\": true}}}, \"actionSpec\": \
        {\"approve\": {\"label\": \"Approve\"}, \"reject\": {\"label\": \"Reject\", \
        \"schema\": {\"type\": \"object\", \"properties\": {\"reason\": {\"type\": \
        \"string\"}}, \"required\": [\"reason\"]}}}}}",
    arguments: &[
        Argument::text("intent", "What you ask the person for, in a sentence that they read.")
            .example("Approve the release notes of 1.4")
            .required(),
        Argument::object("blueprintDraft", blueprint_draft, "The UI that you propose.").required(),
        Argument::flag("forceCreate", "Make a new UI, also if the same one was rendered."),
        PROJECT,
    ],
    effect: Effect::Adds,
    output: Some(&[
        Output::text("handshakeId"),
        Output::text("action"),
        Output::object("suggestion"),
        Output::object("propsSchema").optional(),
        Output::text("propsSchemaHash").optional(),
        Output::text("propsSchemaProfile").optional(),
        Output::object("nextStep").optional(),
    ]),
    ..in_project::<tools::Handshake, _>(proposed)
};

pub(super) const RENDER: Tool = Tool {
    title: "Show a UI to a person",
    description: "Begins a session: the person sees your props and can use the actions of the \
        contract. Give the person the link in the result, then call ggui_consume with the \
        sessionId. If it is refused, correct the arguments and use the same handshakeId.",
    arguments: &[
        Argument::text("handshakeId", "The handshakeId of ggui_handshake.").required(),
        Argument::object("props", any_object, "What the page shows, as propsSchema has it.")
            .required(),
        THEME,
        Argument::object(
            "override",
            override_schema,
            "Another contract or variance than in the handshake.",
        ),
        Argument::object("infra", any_object, "Wishes for a generator. No model is called."),
        Argument::text(
            "x-componentCode",
            "The code of a component (an ES module), for hosts that mount it. The page of \
             Accord never runs it. Leave it out if you have none.",
        ),
    ],
    effect: Effect::Adds,
    output: Some(RENDERED),
    ..of_session::<tools::Render, _>(rendered)
};

pub(super) const RENDER_BLUEPRINT: Tool = Tool {
    title: "Show a known UI again",
    description: "Begins a session with a UI that was rendered before, without a handshake: \
        its blueprintId is in the answer of ggui_render and of ggui_search_blueprints. Then \
        go on as after ggui_render.",
    arguments: &[
        Argument::text("blueprintId", "The id of the UI.").required(),
        Argument::object("props", any_object, "What the page shows.").required(),
        THEME,
        PROJECT,
    ],
    effect: Effect::Adds,
    output: Some(RENDERED),
    ..in_project::<tools::RenderBlueprint, _>(rendered)
};

pub(super) const CONSUME: Tool = Tool {
    title: "Wait for the person's answer",
    description: "Gives what the person did since the last call, and takes it out of the \
        session: each event has intent (the action), actionData (what they entered), \
        uiContext, actionId and firedAt, and says who answered (x-by), through which door \
        (x-door), and whether it is a known person (x-person): an answer with x-person false \
        is no decision of a person. If there is nothing yet, it waits up to timeout \
        seconds; empty events mean that there is no new answer yet, so call it again, unless \
        x-askEnded says that the time to answer is over: then no answer comes, so go on \
        without one, or render again to ask anew. A call that is cancelled takes nothing. To \
        lose nothing in a crash of your own, pass x-after: \
        0 first, then the x-cursor of the last result that you handled. What came after it is \
        given again, with the same actionId: handle each actionId once.",
    arguments: &[
        SESSION,
        Argument::integer("timeout", 0, 25, "How many seconds to wait for an answer.")
            .default_number(0),
        AFTER,
    ],
    effect: Effect::Adds,
    output: Some(&[
        Output::list("events"),
        Output::text("status"),
        Output::object("client").optional(),
        Output::count("x-cursor").optional(),
        Output::text("x-askEnded").optional(),
    ]),
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

const AFTER: Argument = Argument::integer(
    "x-after",
    0,
    MOST_SEQUENCE,
    "The x-cursor of the last result that you handled; 0 at first. It is confirmed.",
);

pub(super) const UPDATE: Tool = Tool {
    title: "Change what a page shows",
    description: "Changes the props of a session; the page shows them at once, as a new \
        epoch. updated false means that they were the same.",
    arguments: &[SESSION, KIND, NEW_PROPS, PATCH],
    effect: Effect::AddsOnce,
    output: Some(PROPS),
    ..of_session::<tools::Update, _>(receipt::<GguiPropsEnvelope>)
};

pub(super) const AMEND: Tool = Tool {
    title: "Correct what a page shows",
    description: "As ggui_update, but in place: the epoch stays, and the page keeps what the \
        person has entered so far.",
    arguments: &[SESSION, KIND, NEW_PROPS, PATCH],
    effect: Effect::AddsOnce,
    output: Some(PROPS),
    ..of_session::<tools::Amend, _>(receipt::<GguiPropsEnvelope>)
};

pub(super) const EMIT: Tool = Tool {
    title: "Send on a channel",
    description: "Sends a payload on a channel of the contract's streamSpec to the page, for \
        example a line of progress.",
    arguments: &[
        SESSION,
        Argument::text("channel", "The name of the channel in streamSpec.").required(),
        Argument::any("payload", "What to send, as the schema of the channel has it.").required(),
        Argument::flag("complete", "Whether it is the last one, on a channel that allows it."),
    ],
    effect: Effect::Adds,
    output: Some(&[Output::flag("accepted"), Output::count("seq").optional()]),
    ..of_session::<tools::Emit, _>(receipt::<GguiEmitEnvelope>)
};

fn override_schema() -> Value {
    json!({
        "type": "object",
        "properties": {"contract": {"type": "object"}, "variance": {"type": "object"}},
        "minProperties": 1,
    })
}

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
            Some(cursor) => receipt.confirming(confirmation(session, cursor)),
            None => receipt,
        },
    })
}

/// The request that confirms what was given.
fn confirmation(session: &str, cursor: u64) -> HostRequest {
    let query = tools::ConsumeQuery { confirm: true, ..Default::default() };
    let (session, cursor) = (Value::from(session), Value::from(cursor));
    let members = [("sessionId".to_owned(), session), (AFTER.name().to_owned(), cursor)];
    ask::<tools::Consume>(query, json_body(Object::from_iter(members)))
}
