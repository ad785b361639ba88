//! The lifecycle of a package: flag, review, resubmit, complete, and its log.

use accord_api::{Call, Operation};
use accord_base::{Door, ProjectId};
use accord_contract::Failure;
use accord_memory_core::lifecycle::{self, Change, Move};
use accord_memory_core::operations::{
    CompletePackage, FlagPackage, ListRevisions, OfPackage, PackageWithin, ResubmitPackage,
    ReviewPackage,
};
use accord_serving::acting::door_of;
use accord_serving::operation::serve_response;
use hyper::StatusCode;
use hyper::header::IF_MATCH;

use super::answer::{self, List};
use crate::{Context, Exchange, Route};
use accord_serving::Reply;

pub fn routes() -> Vec<Route> {
    vec![
        change::<FlagPackage>(plain, lifecycle::flag),
        change::<ReviewPackage>(|query| (query.project, query.door), lifecycle::review),
        change::<ResubmitPackage>(plain, |sent| lifecycle::plain(Change::Resubmit, sent)),
        change::<CompletePackage>(plain, |sent| lifecycle::plain(Change::Complete, sent)),
        serve_response(revisions),
    ]
}

/// A project, and a door.
type Within = (Option<ProjectId>, Option<Door>);

/// The query of a change that is no decision.
fn plain(query: PackageWithin) -> Within {
    (query.project, None)
}

/// The route of a change; `read` reads what is asked for.
fn change<O>(within: fn(O::Query) -> Within, read: fn(&[u8]) -> Result<Move, Failure>) -> Route
where
    O: Operation<Path = OfPackage>,
{
    serve_response(move |asked: Exchange, call: Call<O>| {
        let (id, (within, door)) = (call.path.package, within(call.query));
        async move {
            let Context { host, caller, .. } = asked.context;
            let mut change = read(&asked.body)?;
            let tags = asked.headers.get(IF_MATCH).map(|sent| sent.to_str().unwrap_or_default());
            change.tags = tags.map(str::to_owned);
            let door = door_of(&caller, door);
            let moved = host.memory().transition(&caller, door, within, id, change).await?;
            Reply::Ok(answer::package(StatusCode::OK, moved))
        }
    })
}

async fn revisions(asked: Exchange, call: Call<ListRevisions>) -> Reply {
    let Context { host, caller, .. } = asked.context;
    let log = host.memory().revisions(&caller, call.query.project, call.path.package).await?;
    Ok(List::new("revisions", log.iter().map(String::as_str)).answer())
}
