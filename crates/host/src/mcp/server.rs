//! The MCP server: what a connection is told, and how a call walks.
//!
//! A call walks: the tool is found; its arguments are checked; with what the connection remembers
//! they become a request; the host answers; the answer becomes a result.
//!
//! Invariants:
//! - whatever a host refuses is a result that a model can read, never a protocol error; those are for
//!   calls that name no tool;
//! - a call is made as the caller of the request that it came with, whoever began the connection.

use std::sync::{Arc, Mutex, PoisonError};

use accord_base::{ActorKey, Caller};
use accord_contract::codes::{Code, Failure};
use accord_contract::wire::Object;
use hyper::http::request::Parts;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, Implementation, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool as Described,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};

use super::argument::{self, Schemas};
use super::ask::Ask;
use super::call::{Call, Standing};
use super::outcome::{Memo, OpenSession, Trouble, nothing};
use super::toolset::{Offered, Toolbox};
use crate::Api;

/// Gives the host as one caller may use it.
pub type ApiFor = Arc<dyn Fn(&Caller) -> Arc<dyn Api> + Send + Sync>;

/// How a server reaches the host.
#[derive(Clone)]
pub(super) enum Reach {
    /// As whoever sent the HTTP request that a call came with.
    Caller(ApiFor),
    /// Always in the same way.
    Always(Arc<dyn Api>),
}

/// The server of one connection, or of one request where a client keeps no connection.
pub(super) struct Server {
    toolbox: Arc<Toolbox>,
    reach: Reach,
    defaults: Standing,
    session: Mutex<Option<OpenSession>>,
}

impl Server {
    pub(super) fn new(toolbox: Arc<Toolbox>, reach: Reach, defaults: Standing) -> Self {
        Self {
            toolbox,
            reach,
            defaults,
            session: Mutex::new(None),
        }
    }

    /// The session that was started over this connection, and not ended.
    pub(super) fn open_session(&self) -> Option<OpenSession> {
        let session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        session.clone()
    }

    async fn call(
        &self,
        offered: Offered,
        arguments: Object,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResult, Trouble> {
        let tool = offered.tool;
        let visit = Visit::of(&self.reach, context)?;
        let mut standing = self.defaults.clone();
        standing.session = self.open_session();
        standing.actor = visit.actor.or(standing.actor);
        standing.client = visit.client;
        // A session knows its project, so a call that follows needs none.
        let schemas = Schemas {
            project: standing.project.clone(),
        };
        let arguments = argument::check(arguments, tool.arguments, &schemas)?;
        let call = Call::new(&arguments, &standing, accord_system::now());
        let ask: Ask = (tool.ask)(&call)?;
        let answer = match ask.send(&*visit.api).await {
            Ok(answer) => answer,
            Err(trouble) if tool.nothing.is_some_and(|code| trouble.is(code)) => {
                return Ok(nothing(&trouble));
            }
            Err(trouble) => return Err(trouble),
        };
        let outcome = (tool.answer)(&call, &answer)?;
        let outcome = match (&outcome.memo, visit.remembers) {
            (Memo::Started(_), false) => outcome.with("next", PASS_IT_ON),
            (memo, _) => {
                self.remember(memo);
                outcome
            }
        };
        Ok(outcome.result())
    }

    fn remember(&self, memo: &Memo) {
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        match memo {
            Memo::Nothing => {}
            Memo::Started(started) => *session = Some(started.clone()),
            Memo::Ended(ended) => {
                if session
                    .as_ref()
                    .is_some_and(|open| open.session_id == *ended)
                {
                    *session = None;
                }
            }
        }
    }
}

/// What a model is told that started a session over a door which keeps no connection.
const PASS_IT_ON: &str = "This client keeps no connection: pass project_id, session_id and actor \
                          with the calls that follow.";

/// What is known of a call from the message that it came with.
struct Visit {
    api: Arc<dyn Api>,
    /// The actor of the key.
    actor: Option<ActorKey>,
    /// What the client calls itself.
    client: Option<String>,
    /// Whether the server will be there at the next call.
    remembers: bool,
}

impl Visit {
    fn of(reach: &Reach, context: &RequestContext<RoleServer>) -> Result<Self, Failure> {
        let parts = context.extensions.get::<Parts>();
        let client = context.client_info().map(|client| client.name);
        let (api, actor) = match reach {
            Reach::Always(api) => (Arc::clone(api), None),
            Reach::Caller(api_for) => {
                let caller = parts.and_then(|parts| parts.extensions.get::<Caller>());
                let unknown = || Failure::new(Code::AuthRequired, "nobody is known who calls");
                let caller = caller.ok_or_else(unknown)?;
                (api_for(caller), caller.access().actor().cloned())
            }
        };
        let remembers = parts.is_none_or(|parts| parts.headers.contains_key("mcp-session-id"));
        Ok(Self {
            api,
            actor,
            client,
            remembers,
        })
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let accord = Implementation::new("accord", env!("CARGO_PKG_VERSION")).with_title("Accord");
        ServerConfig::new(capabilities)
            .with_server_info(accord)
            .with_instructions(self.toolbox.instructions())
    }

    fn get_tool(&self, name: &str) -> Option<Described> {
        let offered = self.toolbox.find(name).ok()?;
        Some(offered.tool.described(&self.schemas()))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.toolbox.described(&self.schemas());
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let offered = self.toolbox.find(&request.name).map_err(no_such_tool)?;
        let arguments = request.arguments.unwrap_or_default();
        let result = self.call(offered, arguments, &context).await;
        Ok(result
            .unwrap_or_else(|trouble| trouble.result(offered.set))
            .into())
    }
}

impl Server {
    fn schemas(&self) -> Schemas {
        Schemas {
            project: self.defaults.project.clone(),
        }
    }
}

fn no_such_tool(failure: Failure) -> ErrorData {
    let suggestion = failure.suggestion.unwrap_or_default();
    let message = format!(
        "{}: {}. {suggestion}",
        failure.code.as_str(),
        failure.message
    );
    ErrorData::invalid_params(message, None)
}
