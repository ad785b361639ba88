//! The tools of live sessions as routes, a file each for what belongs together.
//!
//! A tool of the protocol is a POST of its arguments, and answers with its result in an ALX
//! envelope. The MCP set `live` calls these routes; the services decide.
//!
//! The project of a call is its app. A call that names none is about the project of its session or
//! handshake, else about the only project of its key, else about the default of a host without
//! keys (`ask`).

mod agent;
mod ask;
mod envelopes;
mod mount;
mod read;
mod runtime;

use accord_contract::codes::{Code, Failure, Protocol};
use accord_contract::wire::Message;
use accord_memory_core::query::PROJECT_ID;
use axum::response::Response;
use futures_util::future::BoxFuture;
use hyper::StatusCode;

use self::ask::{ABOUT_ACTOR, ACTOR, Asked};
use self::envelopes::Enveloped;
use super::body::Document;
use super::reply::{encoded, unstored};
use super::routes::Query;
use super::{Context, Reply};
use crate::http::Route;
use accord_serving::table::Content;

/// Every route, file by file.
pub(super) fn routes() -> Vec<Route> {
    let files = [agent::routes(), read::routes(), runtime::routes(), mount::routes()];
    let routes = files.into_iter().flatten();
    routes.map(|route| route.of(Protocol::Ggui).refuses(COMMON)).collect()
}

/// The failure codes of every route that changes something.
const CHANGES: &[Code] = &[Code::AgenticProjectArchived];

/// The failure codes of every route.
const COMMON: &[Code] = &[Code::AgenticUnauthorized, Code::GguiAppMismatch];

/// The path of a tool.
macro_rules! tool {
    ($name:literal) => {
        concat!("/accord/v1/live/tools/", $name)
    };
}
use tool;

/// What a tool does with its arguments.
type Run<R, A> = fn(Asked, R) -> BoxFuture<'static, Result<A, Failure>>;

/// The route of a tool.
fn route<R: Message + Send + 'static, A: Enveloped>(
    name: &'static str,
    path: &'static str,
    summary: &'static str,
    run: Run<R, A>,
) -> Route {
    let handler = move |context: Context, query: Query, body: Document| async move {
        let asked = Asked::read(&context, &query)?;
        let answer = run(asked, body.read::<R>()?).await?;
        let response = encoded(StatusCode::OK, &answer.envelope(&context.correlation));
        Reply::<Response>::Ok(unstored(response))
    };
    described::<A>(Route::post(name, path, summary, handler)).takes(Content::json::<R>())
}

/// A route with the parameters and the answer of a tool.
fn described<A: Enveloped>(route: Route) -> Route {
    let about = A::Envelope::ABOUT.first().map_or("", |line| line.trim());
    route
        .query(
            PROJECT_ID,
            "The project, which is the app. Default: that of the session, the \
             handshake or the key.",
        )
        .query(ACTOR, ABOUT_ACTOR)
        .answers(200, about, Content::json::<A::Envelope>())
}
