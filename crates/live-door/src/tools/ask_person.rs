//! A question to a person in one call.

use accord_api::parameter::InProject;
use accord_api::{Call as OperationCall, Json, Operation as _};
use accord_contract::{Failure, Value};
use accord_live_core::limits::{ANSWER_WITHIN_SECONDS, ASK_WAIT_SECONDS};
use accord_live_core::operations::ask_person::{AskPerson, AskPersonAnswer, AskPersonEnvelope};
use accord_live_core::operations::ask_person::{AskPersonQuery, AskPersonRequest, AskState};

use super::agent::confirmation;
use super::{actor, any_object, received};
use accord_mcp::{Answer, Argument, Call, Effect, HostRequest, Tool, ToolResult, call::id};

const QUESTION: Argument = Argument::text("question", "Markdown; the first line is the title.");
const OPTIONS: Argument = Argument::texts("options", "The first is yes. Default: yes, no.");
const FORM: Argument = Argument::object("form", any_object, "Object schema.");
const TO: Argument = Argument::text("to", "human:NAME");
const WITHIN: Argument = Argument::integer("within", 1, ANSWER_WITHIN_SECONDS, "Seconds.");
const ID: Argument = Argument::text("id", "");
const TIMEOUT: Argument = Argument::integer("timeout", 0, ASK_WAIT_SECONDS as i64, "");

pub(super) const ASK_PERSON: Tool = Tool {
    name: AskPerson::NAME,
    description: "Asks a person and waits. state waiting: repeat the same call; the person is \
        asked once. answered: accepted (the first option or the form), option, data. expired: no \
        answer.",
    arguments: &[
        QUESTION.required(),
        OPTIONS,
        FORM,
        TO,
        WITHIN,
        ID,
        TIMEOUT,
        Argument::project(""),
    ],
    effect: Effect::Adds,
    ask,
    answer: asked,
    null_on: None,
};

fn ask(call: &Call<'_>) -> Result<HostRequest, Failure> {
    let text = |argument: Argument| call.text(argument.name()).map(str::to_owned);
    let number = |argument: Argument| {
        call.number(argument.name()).and_then(|number| u64::try_from(number).ok())
    };
    let options = call
        .value(OPTIONS.name())
        .and_then(Value::as_array)
        .map(|options| options.iter().filter_map(Value::as_str).map(str::to_owned).collect());
    let request = AskPersonRequest {
        question: call.required(QUESTION.name())?.to_owned(),
        options,
        form: call.value(FORM.name()).and_then(Value::as_object).cloned(),
        to: text(TO),
        within_seconds: number(WITHIN),
        id: text(ID),
        work: call.work().map(str::to_owned),
        since: None,
        wait_seconds: Some(number(TIMEOUT).unwrap_or(ASK_WAIT_SECONDS)),
        keep: call.confirms().then_some(true),
    };
    let path = InProject { project: id("project_id", call.project()?)? };
    let query = AskPersonQuery { actor: actor(call) };
    Ok(HostRequest::operation(&OperationCall::<AskPerson>::new(path, query, Json(request))))
}

/// The receipt of a question, with what to do next.
fn asked(call: &Call<'_>, answer: &Answer) -> Result<ToolResult, Failure> {
    let result = answer.read::<Json<AskPersonEnvelope>>()?.0.result;
    let receipt = received(&result);
    let AskPersonAnswer { session_id, state, page_url, sequence, .. } = result;
    Ok(match state {
        AskState::Waiting => {
            let where_to = match page_url {
                Some(url) => format!("The person answers at {url}"),
                None => "The person answers in a terminal".to_owned(),
            };
            receipt.noting(format!(
                "Nobody has answered yet. {where_to}, or with `accord live answer {session_id}`. \
                 Call ask_person again with the same arguments to go on waiting."
            ))
        }
        AskState::Expired => receipt.noting(
            "Nobody answered in time, so nothing is decided. The same call asks again.".to_owned(),
        ),
        AskState::Answered => match sequence.filter(|_| call.confirms()) {
            Some(sequence) => {
                let project = call.known_project();
                receipt.confirming(confirmation(session_id.as_str(), sequence, project))
            }
            None => receipt,
        },
    })
}
