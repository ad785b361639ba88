//! Operations as routes.
//!
//! An entry of a list of routes names the operation, what it needs of its caller, and its path. One
//! handler serves them all: it reads the request, finds out who acts, checks the project, runs the
//! operation on a thread for blocking work, and puts the answer into its envelope.

use std::sync::Arc;

use accord_base::{Need, ProjectId};
use accord_contract::codes::{Code, Failure};
use accord_contract::wire::{Message, Value, Wire};
use accord_memory_core::query::Params;
use accord_tasks::Tree;
use accord_tasks_core::{By, Door};
use axum::extract::{FromRequest as _, Request};
use bytes::Bytes;
use hyper::{Method, StatusCode};

use super::answers::Answered;
use super::ask::{ABOUT_ACTOR, ABOUT_DOOR, ACTOR, DOOR, Target, Who, blocking, check_project};
use super::{OF_CHANGES, OF_TASK};
use crate::http::body::Document;
use crate::http::routes::Query;
use crate::http::table::{Content, Route};
use crate::http::{Context, Host, Reply};
use crate::tasks::{TaskTrees, service};

/// A request, before an operation reads it.
pub(super) struct Asked<'a> {
    pub(super) host: &'a Host,
    pub(super) target: &'a Target,
    pub(super) params: &'a Params<'a>,
    body: &'a Document,
}

impl Asked<'_> {
    /// The request in the body. An empty body is a request without members.
    pub(super) fn body<R: Wire>(&self) -> Result<R, Failure> {
        match self.body.0.is_empty() {
            true => Ok(R::from_document(no_members())?),
            false => self.body.read(),
        }
    }
}

fn no_members() -> Value {
    Value::Object(serde_json::Map::new())
}

type Run<R, A> = dyn Fn(&TaskTrees, &Target, &R, &By) -> Result<A, Failure> + Send + Sync;

/// An operation: what it reads from a request, what it needs, and what it does.
pub(super) struct Operation<R, A> {
    needs: Need,
    read: fn(&Asked<'_>) -> Result<R, Failure>,
    run: Box<Run<R, A>>,
    /// The body that is read, and whether it must be sent.
    body: Option<(Content, bool)>,
    /// The actor that the request names in another way than by the parameter `actor`.
    actor: fn(&R) -> Option<&str>,
    /// Whether the project must have a tree.
    needs_tree: bool,
    status: StatusCode,
}

/// An operation on one task, with its request in the body.
pub(super) fn on_task<R: Message + Send + Sync + 'static, A: Answered>(
    needs: Need,
    run: fn(&Tree, &str, &R, &By) -> Result<A, Failure>,
) -> Operation<R, A> {
    let run =
        move |tree: &Tree, target: &Target, asked: &R, by: &By| run(tree, &target.task, asked, by);
    Operation::new(needs, |asked| asked.body(), run).takes::<R>()
}

/// An operation on a tree, with its request in the body.
pub(super) fn on_tree<R: Message + Send + Sync + 'static, A: Answered>(
    needs: Need,
    run: fn(&Tree, &R, &By) -> Result<A, Failure>,
) -> Operation<R, A> {
    let run = move |tree: &Tree, _: &Target, asked: &R, by: &By| run(tree, asked, by);
    Operation::new(needs, |asked| asked.body(), run).takes::<R>()
}

/// An operation that can create the tree of a project, with its request in the body.
pub(super) fn on_project<R: Message + Send + Sync + 'static, A: Answered>(
    needs: Need,
    run: fn(&TaskTrees, &ProjectId, &R, &By) -> Result<A, Failure>,
) -> Operation<R, A> {
    let run = move |trees: &TaskTrees, target: &Target, asked: &R, by: &By| {
        run(trees, &target.project, asked, by)
    };
    let operation = Operation::over_trees(needs, |asked| asked.body(), Box::new(run)).takes::<R>();
    Operation { needs_tree: false, ..operation }
}

impl<R: Send + Sync + 'static, A: Answered> Operation<R, A> {
    /// An operation on a tree that reads its request in its own way.
    pub(super) fn new(
        needs: Need,
        read: fn(&Asked<'_>) -> Result<R, Failure>,
        run: impl Fn(&Tree, &Target, &R, &By) -> Result<A, Failure> + Send + Sync + 'static,
    ) -> Self {
        let run = move |trees: &TaskTrees, target: &Target, asked: &R, by: &By| {
            run(&trees.get(&target.project)?, target, asked, by)
        };
        Self::over_trees(needs, read, Box::new(run))
    }

    fn over_trees(
        needs: Need,
        read: fn(&Asked<'_>) -> Result<R, Failure>,
        run: Box<Run<R, A>>,
    ) -> Self {
        let status = StatusCode::OK;
        Self { needs, read, run, body: None, actor: |_| None, needs_tree: true, status }
    }

    /// Sets the body. It may be empty if its message has no required members.
    pub(super) fn takes<B: Message>(mut self) -> Self {
        let is_required = B::from_document(no_members()).is_err();
        self.body = Some((Content::json::<B>(), is_required));
        self
    }

    /// Sets who acts, if neither the parameter `actor` nor the key says it.
    pub(super) fn acting_as(mut self, actor: fn(&R) -> Option<&str>) -> Self {
        self.actor = actor;
        self
    }

    /// Sets the status of the answer.
    pub(super) fn answers(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }

    /// The route, with the parameters, the body, the answers and the codes that follow from this.
    pub(super) fn route(
        self,
        method: Method,
        name: &'static str,
        path: &'static str,
        summary: &'static str,
    ) -> Route {
        let (needs, body, needs_tree, status) =
            (self.needs, self.body, self.needs_tree, self.status);
        let operation = Arc::new(self);
        let handler = move |context: Context, target: Target, query: Query, request: Request| {
            let operation = Arc::clone(&operation);
            async move {
                let body = match body {
                    Some(_) => Document::from_request(request, &context.host).await?,
                    None => Document(Bytes::new()),
                };
                operation.reply(&context, target, &query, &body).await
            }
        };
        let mut route = Route::new(name, method, path, summary, handler);
        if needs != Need::Read {
            route = route.query(ACTOR, ABOUT_ACTOR).query(DOOR, ABOUT_DOOR).refuses(OF_CHANGES);
        }
        route = match body {
            Some((content, true)) => route.takes(content),
            Some((content, false)) => route.may_take(content),
            None => route,
        };
        if path.contains("{task_id}") {
            route = route.refuses(OF_TASK);
        } else if needs_tree {
            route = route.refuses(&[Code::AofNoTaskTree]);
        }
        A::describe(route, status)
    }

    /// A route that reads.
    pub(super) fn get(self, name: &'static str, path: &'static str, about: &'static str) -> Route {
        self.route(Method::GET, name, path, about)
    }

    /// A route that writes.
    pub(super) fn post(self, name: &'static str, path: &'static str, about: &'static str) -> Route {
        self.route(Method::POST, name, path, about)
    }

    async fn reply(
        self: Arc<Self>,
        context: &Context,
        target: Target,
        query: &Query,
        body: &Document,
    ) -> Reply {
        let Context { host, caller, correlation } = context;
        let project = target.project.clone();
        // A wrong parameter is named before a wrong body.
        let who = match self.needs {
            Need::Read => {
                caller.access().may(Need::Read.verb(), &project)?;
                None
            }
            _ => Some(Who::read(caller, &query.params()?)?),
        };
        let params = &query.params()?;
        let asked = (self.read)(&Asked { host, target: &target, params, body })?;
        let by = match who {
            None => service(Door::Http),
            Some(who) => {
                let by = who.acting(caller, &project, self.needs, (self.actor)(&asked))?;
                check_project(host, &project).await?;
                by
            }
        };
        let (trees, status) = (host.tasks().clone(), self.status);
        let answer = blocking(move || (self.run)(&trees, &target, &asked, &by)).await?;
        Ok(answer.respond(status, correlation))
    }
}
