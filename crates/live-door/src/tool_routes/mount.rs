//! What a host mounts, and the page on which a person answers.

use accord_api::Call;
use accord_base::{Caller, ProjectId, Verb};
use accord_contract::{Code, Failure, Object, Value, text::percent_encoded};
use accord_live::Found;
use accord_live_core::operations::tools::{GguiMountEnvelope, ReadResource, RenderedUi};
use accord_live_core::resource::{
    Locator, ReadCode, ReadFacts, Readable, SHELL, Slice, Substrate, read,
};
use accord_live_core::{SessionId, tools::RenderAnswer};
use hyper::StatusCode;

use crate::{Context, Exchange, LiveDoor, Route, granted, slice};
use accord_serving::reply::{encoded, unstored};
use accord_serving::{Reply, alx_envelope, operation::serve_response};

/// What this server keeps of sessions: all of it, until they expire.
const SUBSTRATE: Substrate = Substrate { has_identities: true, has_blueprints: true };

pub(super) fn routes() -> Vec<Route> {
    vec![serve_response(resource)]
}

async fn resource(exchange: Exchange, call: Call<ReadResource>) -> Reply {
    if call.query.uri == SHELL {
        let (slice, title, page_url) = (Object::new(), String::new(), None);
        let origin = exchange.context.host.url().map(str::to_owned);
        let correlation = exchange.context.correlation;
        let envelope =
            alx_envelope!(correlation, GguiMountEnvelope { slice, origin, title, page_url });
        return Ok(unstored(encoded(StatusCode::OK, &envelope)));
    }
    let locator = Locator::parse(&call.query.uri).map_err(|_| {
        let message = "the address of a resource is ui://ggui/render/ with the id of a session";
        Failure::new(Code::McpResourceUnknown, message)
    })?;
    let Context { host, caller, correlation } = exchange.context;
    let found = host.live().found(&locator.session_id, locator.epoch).await?;
    // A session of a project that the key does not cover is none.
    let found = found.filter(|found| {
        let project = ProjectId::new(found.session.app_id.as_str());
        project.is_ok_and(|project| caller.access().may(Verb::Read, &project).is_ok())
    });
    let Some(found) = found else { return Err(ReadCode::NotFound.failure().into()) };
    let (title, page_url) = (title(&found), page_url(&host, &found.session.id));
    let claims = granted(&host, &caller, &found.session.app_id).await;
    let facts = ReadFacts {
        app_id: &found.session.app_id.clone(),
        substrate: SUBSTRATE,
        public: None,
        now: host.live().now(),
        found: Some(Readable {
            slice: slice(&host, host.url(), &found, claims),
            props_json: found.props_json,
            session: found.session,
        }),
    };
    let slice = read(&locator, facts).map_err(ReadCode::failure)?.document();
    let origin = host.url().map(str::to_owned);
    let envelope = alx_envelope!(correlation, GguiMountEnvelope { slice, origin, title, page_url });
    Ok(unstored(encoded(StatusCode::OK, &envelope)))
}

/// A UI that was rendered, with the address of its page and what a host mounts.
pub(super) async fn rendered(
    host: &LiveDoor,
    caller: &Caller,
    answer: RenderAnswer,
) -> Result<RenderedUi, Failure> {
    let slice = match host.live().found(&answer.session_id, None).await? {
        Some(found) => {
            let claims = granted(host, caller, &found.session.app_id).await;
            slice(host, host.url(), &found, claims)
        }
        None => None,
    };
    let slice = slice.filter(Slice::is_mountable).map(|slice| slice.document());
    Ok(RenderedUi { page_url: page_url(host, &answer.session_id), slice, answer })
}

/// The address of the page of a session, if the server knows its own address.
pub(crate) fn page_url(host: &LiveDoor, session: &SessionId) -> Option<String> {
    Some(format!("{}/live/{}", host.url()?, percent_encoded(session.as_str())))
}

fn title(found: &Found) -> String {
    found.content.ui.get("prompt").and_then(Value::as_str).unwrap_or_default().to_owned()
}
