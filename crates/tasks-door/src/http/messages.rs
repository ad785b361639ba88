//! Messages of AOF/1.

use accord_api::body::AnswerBody as _;
use accord_api::parameter::ParamSet as _;
use accord_api::{Envelope as _, Json, Operation as _};
use accord_base::{Actor, ActorType, Author, By, Caller, Door, Need, ProjectId, Verb};
use accord_contract::{Failure, Value};
use accord_tasks_core::message::{Detected, detect};
use accord_tasks_core::operations::{AofMessageEnvelope, MessageQuery, SendMessage};
use axum::extract::{FromRequest, Request};
use bytes::Bytes;

use super::requests::in_tree;
use crate::{Context, Route};
use accord_serving::acting::service;
use accord_serving::body::{check_media_type, read_body};
use accord_serving::operation::respond;
use accord_serving::query::{InProject, Query};
use accord_serving::{Refusal, Reply};

/// The largest message.
const MOST: u64 = 10 * 1024 * 1024;

/// The largest body that is read, so that a message that is a little too large is recorded.
const MOST_READ: u64 = MOST + 1024 * 1024;

pub(super) fn routes() -> Vec<Route> {
    vec![Route::serving::<SendMessage, _>(receive)]
}

/// An input, as it was sent.
struct Input(Bytes);

impl<S: Sync> FromRequest<S> for Input {
    type Rejection = Refusal;

    async fn from_request(request: Request, _: &S) -> Result<Self, Refusal> {
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
    host.check_project(&project).await?;
    let answer = in_tree(&host, &project, move |tree| tree.message(&event, &by)).await?;
    let envelope = AofMessageEnvelope::wrap(answer, correlation.as_str());
    Ok(respond(200, Json(envelope).encode()))
}

/// Who passes a message on. An agent's key sends only as that agent, which the service checks, so
/// that an event records a refusal. Others pass on the messages of agents that they may act as.
fn sending(caller: &Caller, project: &ProjectId, sender: Option<&str>) -> Result<By, Failure> {
    let access = caller.access();
    access.may(Verb::Write, project)?;
    let sender = sender.filter(|sender| !sender.is_empty());
    let prove = |named: &By| {
        let author = Author::proven(Some(named.actor.clone()), "/fromAgent");
        caller.attribute(Need::Write, author)
    };
    if let Some(own) = access.actor() {
        let own = Actor::new(own.id.clone(), own.kind);
        let is_agent = own.kind == ActorType::Agent;
        let named = sender.map(|sender| By::parse(sender, Door::Message)).transpose()?;
        match named {
            Some(named) if access.attribute(Some(named.actor.clone()), "/fromAgent").is_ok() => {
                prove(&named)?;
                return Ok(named);
            }
            Some(named) if !is_agent => {
                access.attribute(Some(named.actor), "/fromAgent")?;
            }
            _ => {}
        }
        return Ok(By::new(own, Door::Message));
    }
    // What is no name of an actor is that of an agent, which the service looks for.
    if let Some(named) = sender.and_then(|sender| By::parse(sender, Door::Message).ok()) {
        prove(&named)?;
    }
    Ok(service(Door::Message))
}
