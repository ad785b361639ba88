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
mod mount;
mod read;
mod runtime;

use accord_api::{Envelope, Json, Operation, Verbatim, body::AnswerBody as _, parameter::Params};
use accord_contract::{Failure, wire::Message};
use futures_util::FutureExt as _;

use self::ask::Asked;
pub(crate) use self::ask::{acting, asked_by};
pub(crate) use self::mount::page_url;
use crate::{Exchange, Route};
use accord_serving::operation::{self, respond};
use accord_serving::{Reply, body::Document, reply::unstored};

pub fn routes() -> Vec<Route> {
    let files = [agent::routes(), read::routes(), runtime::routes(), mount::routes()];
    files.into_iter().flatten().collect()
}

fn tool<O, R, E, F>(_: O, run: fn(Asked, R) -> F) -> Route
where
    O: Operation<Body = Verbatim<R>, Answer = Json<E>>,
    R: Message + Send + 'static,
    E: Envelope<Result: Send> + 'static,
    F: Future<Output = Result<E::Result, Failure>> + Send + 'static,
{
    responding::<O, R, _>(move |asked, request| async move {
        let correlation = asked.correlation.clone();
        let answer = run(asked, request).await?;
        Ok(unstored(respond(200, Json(E::wrap(answer, correlation.as_str())).encode())))
    })
}

/// The route of a tool that writes its response itself. Who asks is checked before the arguments.
fn responding<O, R, F>(run: impl Fn(Asked, R) -> F + Send + Sync + 'static) -> Route
where
    O: Operation<Body = Verbatim<R>>,
    R: Message,
    F: Future<Output = Reply> + Send + 'static,
{
    let handle = move |exchange: Exchange, _: &Params<'_>| {
        let asked = Asked::read(&exchange)?;
        Ok(run(asked, Document(exchange.body).read()?).boxed())
    };
    operation::route(O::declared(), Box::new(handle))
}
