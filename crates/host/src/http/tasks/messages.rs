//! Messages of AOF/1.

use accord_base::Need;
use accord_contract::codes::Code;
use accord_contract::wire::Value;
use accord_memory_core::query::Flag;
use accord_tasks_core::message::{Detected, Envelope, detect};
use axum::extract::{FromRequest, Request};
use bytes::Bytes;
use hyper::StatusCode;

use super::answers::{AofMessageEnvelope, respond};
use super::ask::{check_project, in_tree};
use super::{OF_CHANGES, OF_TASK};
use crate::http::body::{check_media_type, read_body};
use crate::http::routes::{InProject, Query};
use crate::http::table::{Content, Route};
use crate::http::{Context, Host, Refusal, Reply};
use crate::tasks::sending;

/// The largest message.
const MOST: u64 = 10 * 1024 * 1024;

/// The largest body that is read, so that a message that is a little too large is recorded.
const MOST_READ: u64 = MOST + 1024 * 1024;

/// Whether a message names tasks by parts of their ids.
const SHORT_IDS: Flag = Flag::new("short_ids");

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::post(
            "aof_message",
            "/accord/v1/projects/{project_id}/aof/messages",
            "Receives an AOF/1 message: the envelope, an event that carries it in `payload`, \
             `message` or `content`, or plain text that begins with `AOF/1 `. A key of an agent \
             sends only as that agent. A message whose move is not allowed is answered with \
             `applied: false`; a refused one with AOF's reason as the code, and an event records \
             it. An input that is not for the protocol changes nothing, and is no error.",
            receive,
        )
        .query(
            SHORT_IDS,
            "`taskId` and `parentTaskId` can be parts of ids, as in a path: the beginning or the \
             last numbers.",
        )
        .takes(Content::json::<Envelope>())
        .answers(200, "What the message did.", Content::json::<AofMessageEnvelope>())
        .refuses(OF_CHANGES)
        .refuses(OF_TASK)
        .refuses(&[
            Code::AgenticPayloadTooLarge,
            Code::AofInvalidJson,
            Code::AofInvalidEnvelope,
            Code::AofUnknownType,
            Code::AofTaskidMismatch,
            Code::AofParentNotFound,
            Code::AofNestedDelegation,
            Code::AofUnassignedTask,
            Code::AofUnauthorizedAgent,
            Code::AofStaleRun,
            Code::AofInvalidProjectId,
            Code::AofPathOutsideTask,
        ]),
    ]
}

/// An input, as it was sent.
struct Input(Bytes);

impl FromRequest<Host> for Input {
    type Rejection = Refusal;

    async fn from_request(request: Request, _: &Host) -> Result<Self, Refusal> {
        let is_known = |essence: &str| {
            essence == "application/json" || essence.ends_with("+json") || essence == "text/plain"
        };
        let takes = "this route accepts JSON or plain text";
        check_media_type(request.headers(), is_known, takes, "application/json")?;
        Ok(Self(read_body(request.into_body(), MOST_READ).await?))
    }
}

impl Input {
    /// The event that the service reads: a document, or a text that is none.
    fn event(&self) -> Value {
        let text = String::from_utf8_lossy(&self.0);
        if self.0.len() as u64 > MOST {
            // The service refuses a text of this size, and records that.
            return text.into();
        }
        accord_canon::read(&self.0).unwrap_or_else(|_| text.into())
    }
}

async fn receive(
    Context { host, caller, correlation }: Context,
    InProject(project): InProject,
    query: Query,
    input: Input,
) -> Reply {
    let mut event = input.event();
    if SHORT_IDS.read(&query.params()?)? {
        caller.access().may(Need::Write.verb(), &project)?;
        event = in_tree(&host, &project, move |tree| tree.with_whole_ids(event)).await?;
    }
    let detected = detect(&event);
    let sender = match &detected {
        Detected::Message(message) => Some(message.envelope.from_agent.as_str()),
        _ => None,
    };
    let by = sending(&caller, &project, sender)?;
    check_project(&host, &project).await?;
    let answer = in_tree(&host, &project, move |tree| tree.message(&event, &by)).await?;
    Ok(respond(StatusCode::OK, &correlation, answer))
}
