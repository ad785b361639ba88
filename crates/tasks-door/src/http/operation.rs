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
use accord_base::evidence::EvidenceDigest;
use accord_base::{By, Door, ProjectId};
use accord_contract::wire::Message;
use accord_contract::{Code, Failure};
use accord_tasks::Tree;
use accord_tasks_core::operations::{Deciding, InProject, OfTask};
use axum::http::HeaderValue;
use axum::http::header::{ETAG, IF_MATCH};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use super::requests::blocking;
use crate::{Context, Route, TaskTrees, TasksDoor};
use accord_serving::Reply;
use accord_serving::acting::{Who, service};
use accord_serving::operation::{self, Exchange, respond};
use accord_serving::reply::naming_new;

/// What an operation is run with.
pub(super) struct Scene<'a> {
    trees: &'a TaskTrees,
    project: &'a ProjectId,
    pub(super) by: &'a By,
    pub(super) correlation: &'a str,
    /// Whether the scheduler of this host polls the trees.
    pub(super) has_scheduler: bool,
    /// The header If-Match: the entity tag of what the person saw.
    expected: Option<&'a str>,
}

impl Scene<'_> {
    /// The tree of the project, which must have one.
    pub(super) fn tree(&self) -> Result<Tree, Failure> {
        self.trees.get(self.project)
    }

    /// A decision with what the person saw, in the body or as an entity tag.
    fn deciding<R: Deciding + Clone>(&self, request: &R) -> Result<R, Failure> {
        let mut request = request.clone();
        let Some(tag) = self.expected.map(str::trim).filter(|tag| *tag != "*") else {
            return Ok(request);
        };
        let wrong = |why: &str| Failure::new(Code::WireFieldValue, why).at("/if-match");
        let digest = tag.strip_prefix('"').and_then(|tag| tag.strip_suffix('"'));
        let digest = digest.filter(|digest| EvidenceDigest::parse(digest).is_some());
        let digest = digest.ok_or_else(|| {
            wrong("If-Match takes one entity tag, as the answer with the task had it")
        })?;
        let expect = request.expect();
        if expect.as_ref().is_some_and(|expect| !digest.starts_with(expect.as_str())) {
            return Err(wrong("If-Match and expect name different evidence"));
        }
        *expect = Some(digest.to_owned());
        Ok(request)
    }
}

type Answer<O> = Result<<O as Operation>::Answer, Failure>;
type Run<O> = dyn Fn(&Scene<'_>, &Call<O>) -> Answer<O> + Send + Sync;

/// An operation, and the service that carries it out.
pub(super) struct Bound<O: Operation> {
    run: Box<Run<O>>,
    actor: fn(&Call<O>) -> Option<&str>,
    tag: fn(&O::Answer) -> Option<&str>,
    is_refused_to_workers: fn(&Call<O>) -> bool,
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

/// A decision of a person about one task.
pub(super) fn deciding<O, R, E>(run: OnTask<R, E::Result>) -> Bound<O>
where
    O: Operation<Path = OfTask, Query: Send, Body = Json<R>, Answer = Json<E>>,
    R: Message + Deciding + Clone + Send + 'static,
    E: Envelope + 'static,
{
    bind(move |scene, call: &Call<O>| {
        let request = scene.deciding(&call.body.0)?;
        let answer = run(&scene.tree()?, &call.path.task, &request, scene.by)?;
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
    Bound { run: Box::new(run), actor: |_| None, tag: |_| None, is_refused_to_workers: |_| false }
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

    /// Sets which requests a worker may not send, in whatever name.
    pub(super) fn not_for_workers(mut self, is_refused: fn(&Call<O>) -> bool) -> Self {
        self.is_refused_to_workers = is_refused;
        self
    }

    /// Sets what identifies the state of the answer, as its entity tag.
    pub(super) fn tagged(mut self, tag: fn(&O::Answer) -> Option<&str>) -> Self {
        self.tag = tag;
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

    /// Whether a worker may not send it.
    fn is_refused_to_workers(&self) -> bool;

    /// Runs the operation, and encodes its answer with its entity tag.
    fn run(&self, scene: &Scene<'_>) -> Result<(Encoded, Option<HeaderValue>), Failure>;
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

    fn is_refused_to_workers(&self) -> bool {
        (self.bound.is_refused_to_workers)(&self.call)
    }

    fn run(&self, scene: &Scene<'_>) -> Result<(Encoded, Option<HeaderValue>), Failure> {
        let answer = (self.bound.run)(scene, &self.call)?;
        let tag = (self.bound.tag)(&answer).map(|tag| format!("\"{tag}\""));
        let tag = tag.and_then(|tag| HeaderValue::try_from(tag).ok());
        Ok((answer.encode(), tag))
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
        let Exchange { context, query, body, headers } = exchange;
        let Context { host, caller, correlation } = context;
        let expected = headers.get(IF_MATCH).map(|sent| sent.to_str().unwrap_or_default());
        let expected = expected.map(str::to_owned);
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
        if decoded.is_refused_to_workers() {
            caller.refuse_worker()?;
        }
        let reply = async move {
            let (by, is_known) = match who {
                None => (service(Door::Http), true),
                Some(who) => {
                    let by = who.acting(&caller, &project, need, decoded.actor())?;
                    (by, host.check_project(&project).await?)
                }
            };
            let changed = project.clone();
            let (trees, has_scheduler) = (host.trees().clone(), host.has_scheduler());
            let answer = blocking(move || {
                let (trees, correlation) = (&trees, correlation.as_str());
                let (project, expected) = (&project, expected.as_deref());
                // The store learns of a new project a moment after its tree is made.
                let is_known = is_known || !matches!(trees.find(project), Ok(None));
                let scene = Scene { trees, project, by: &by, correlation, has_scheduler, expected };
                Ok((decoded.run(&scene)?, is_known))
            });
            let ((answer, tag), is_known) = answer.await?;
            let mut response = respond(status, answer);
            response.headers_mut().extend(tag.map(|tag| (ETAG, tag)));
            // A change of a project that nobody knows made its tasks.
            Ok(naming_new(response, !is_known, &changed))
        };
        Ok(reply.boxed())
    }
}
