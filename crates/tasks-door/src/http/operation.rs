//! Serving the operations on tasks.
//!
//! A route binds an operation to the service that carries it out ([`on_task`], [`on_tree`],
//! [`on_project`], [`bind`]). All of them take one way, which is compiled once: it finds out who
//! acts, checks the project, runs the operation on a thread for blocking work, and answers. The
//! types of an operation stand in two small functions: one decodes a request, the other runs it and
//! encodes its answer.

use std::sync::Arc;

use accord_api::body::{AnswerBody, Reply as Encoded};
use accord_api::parameter::{ParamSet as _, Params};
use accord_api::{Call, Declaration, Envelope, Json, Need, Operation};
use accord_base::{By, Door, ProjectId};
use accord_contract::Failure;
use accord_contract::wire::Message;
use accord_tasks::Tree;
use accord_tasks_core::operations::{InProject, OfTask};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use super::requests::blocking;
use crate::{Context, Route, TaskTrees, TasksDoor};
use accord_serving::Reply;
use accord_serving::acting::{Who, service};
use accord_serving::operation::{self, Exchange, respond};

/// What an operation is run with.
pub(super) struct Scene<'a> {
    trees: &'a TaskTrees,
    project: &'a ProjectId,
    pub(super) by: &'a By,
    pub(super) correlation: &'a str,
    /// Whether the scheduler of this host polls the trees.
    pub(super) has_scheduler: bool,
}

impl Scene<'_> {
    /// The tree of the project, which must have one.
    pub(super) fn tree(&self) -> Result<Tree, Failure> {
        self.trees.get(self.project)
    }
}

type Answer<O> = Result<<O as Operation>::Answer, Failure>;
type Run<O> = dyn Fn(&Scene<'_>, &Call<O>) -> Answer<O> + Send + Sync;

/// An operation, and the service that carries it out.
pub(super) struct Bound<O: Operation> {
    run: Box<Run<O>>,
    actor: fn(&Call<O>) -> Option<&str>,
}

/// The service of an operation on one task.
type OnTask<R, A> = fn(&Tree, &str, &R, &By) -> Result<A, Failure>;

/// The service of an operation that can create the tree of a project.
type OnProject<R, A> = fn(&TaskTrees, &ProjectId, &R, &By) -> Result<A, Failure>;

/// An operation on one task, with its request in the body.
pub(super) fn on_task<O, R, E>(run: OnTask<R, E::Result>) -> Bound<O>
where
    O: Operation<Path = OfTask, Query: Send, Body = Json<R>, Answer = Json<E>>,
    R: Message + Send + 'static,
    E: Envelope + 'static,
{
    bind(move |scene, call: &Call<O>| {
        let answer = run(&scene.tree()?, &call.path.task, &call.body.0, scene.by)?;
        Ok(Json(E::wrap(answer, scene.correlation)))
    })
}

/// An operation on a tree, with its request in the body.
pub(super) fn on_tree<O, R, E>(run: fn(&Tree, &R, &By) -> Result<E::Result, Failure>) -> Bound<O>
where
    O: Operation<Path = InProject, Query: Send, Body = Json<R>, Answer = Json<E>>,
    R: Message + Send + 'static,
    E: Envelope + 'static,
{
    bind(move |scene, call: &Call<O>| {
        let answer = run(&scene.tree()?, &call.body.0, scene.by)?;
        Ok(Json(E::wrap(answer, scene.correlation)))
    })
}

/// An operation that can create the tree of a project, with its request in the body.
pub(super) fn on_project<O, R, E>(run: OnProject<R, E::Result>) -> Bound<O>
where
    O: Operation<Path = InProject, Query: Send, Body = Json<R>, Answer = Json<E>>,
    R: Message + Send + 'static,
    E: Envelope + 'static,
{
    bind(move |scene, call: &Call<O>| {
        let answer = run(scene.trees, scene.project, &call.body.0, scene.by)?;
        Ok(Json(E::wrap(answer, scene.correlation)))
    })
}

/// An operation with a service of its own.
pub(super) fn bind<O: Operation>(
    run: impl Fn(&Scene<'_>, &Call<O>) -> Result<O::Answer, Failure> + Send + Sync + 'static,
) -> Bound<O> {
    Bound { run: Box::new(run), actor: |_| None }
}

impl<O> Bound<O>
where
    O: Operation<Path: Send, Query: Send, Body: Send, Answer: AnswerBody>,
{
    /// Sets who acts, if neither the parameter `actor` nor the key says it.
    pub(super) fn acting_as(mut self, actor: fn(&Call<O>) -> Option<&str>) -> Self {
        self.actor = actor;
        self
    }

    pub(super) fn route(self) -> Route {
        let bound = Arc::new(self);
        let decode = move |path: &Params<'_>, query: &Params<'_>, body: &[u8]| {
            let call = Call::decode(path, query, body)?;
            Ok(Box::new(Ready { bound: Arc::clone(&bound), call }) as Box<dyn Decoded>)
        };
        route(O::declared(), O::NEED, Box::new(decode))
    }
}

/// A request that was decoded.
trait Decoded: Send {
    /// The actor that it names in another way than by the parameter `actor`.
    fn actor(&self) -> Option<&str>;

    /// Runs the operation, and encodes its answer.
    fn run(&self, scene: &Scene<'_>) -> Result<Encoded, Failure>;
}

struct Ready<O: Operation> {
    bound: Arc<Bound<O>>,
    call: Call<O>,
}

impl<O> Decoded for Ready<O>
where
    O: Operation<Path: Send, Query: Send, Body: Send, Answer: AnswerBody>,
{
    fn actor(&self) -> Option<&str> {
        (self.bound.actor)(&self.call)
    }

    fn run(&self, scene: &Scene<'_>) -> Result<Encoded, Failure> {
        Ok((self.bound.run)(scene, &self.call)?.encode())
    }
}

type DecodeResult = Result<Box<dyn Decoded>, Failure>;
type Decode = dyn Fn(&Params<'_>, &Params<'_>, &[u8]) -> DecodeResult + Send + Sync;

/// An operation without its types.
struct Service {
    need: Need,
    status: u16,
    decode: Box<Decode>,
}

fn route(declared: Declaration, need: Need, decode: Box<Decode>) -> Route {
    let status = declared.answers.first().map_or(200, |answer| answer.status);
    let service = Service { need, status, decode };
    operation::route(declared, Box::new(move |exchange, path| service.start(exchange, path)))
}

impl Service {
    /// Checks who asks, decodes the request, and starts the operation.
    fn start(
        &self,
        exchange: Exchange<TasksDoor>,
        path: &Params<'_>,
    ) -> Result<BoxFuture<'static, Reply>, Failure> {
        let Exchange { context: Context { host, caller, correlation }, query, body, .. } = exchange;
        let (need, status) = (self.need, self.status);
        let project = InProject::read(path)?.project;
        let params = query.params()?;
        // A wrong parameter is named before a wrong body.
        let who = match need {
            Need::Read => {
                caller.access().may(Need::Read.verb(), &project)?;
                None
            }
            _ => Some(Who::read(&caller, &params)?),
        };
        let decoded = (self.decode)(path, &params, &body)?;
        let reply = async move {
            let by = match who {
                None => service(Door::Http),
                Some(who) => {
                    let by = who.acting(&caller, &project, need, decoded.actor())?;
                    host.check_project(&project).await?;
                    by
                }
            };
            let (trees, has_scheduler) = (host.trees().clone(), host.has_scheduler());
            let answer = blocking(move || {
                let (trees, correlation) = (&trees, correlation.as_str());
                let scene = Scene { trees, project: &project, by: &by, correlation, has_scheduler };
                decoded.run(&scene)
            });
            Ok(respond(status, answer.await?))
        };
        Ok(reply.boxed())
    }
}
