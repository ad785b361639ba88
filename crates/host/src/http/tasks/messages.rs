//! Messages of AOF/1.

use accord_api::body::{AnswerBody as _, Json};
use accord_api::parameter::ParamSet as _;
use accord_api::{Envelope as _, Operation as _};
use accord_contract::wire::Value;
use accord_tasks_core::message::{Detected, detect};
use accord_tasks_core::operations::{AofMessageEnvelope, MessageQuery, SendMessage};
use axum::extract::{FromRequest, Request};
use bytes::Bytes;

use super::ask::{check_project, in_tree};
use crate::http::Route;
use crate::http::body::{check_media_type, read_body};
use crate::http::operation::respond;
use crate::http::routes::{InProject, Query};
use crate::http::{Context, Host, Refusal, Reply};
use crate::tasks::sending;

/// The largest message.
const MOST: u64 = 10 * 1024 * 1024;

/// The largest body that is read, so that a message that is a little too large is recorded.
const MOST_READ: u64 = MOST + 1024 * 1024;

pub(super) fn routes() -> Vec<Route> {
    vec![Route::serving::<SendMessage, _>(receive)]
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
    if MessageQuery::read(&query.params()?)?.short_ids {
        caller.access().may(SendMessage::NEED.verb(), &project)?;
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
    let envelope = AofMessageEnvelope::wrap(answer, correlation.as_str());
    Ok(respond(200, Json(envelope).encode()))
}
