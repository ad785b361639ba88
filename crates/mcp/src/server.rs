//! The MCP server of a connection.
//!
//! A call takes these steps: find the tool, check the arguments, complete them with what the
//! connection remembers, send the request to the host, turn the answer into a result.
//!
//! Invariants:
//! - A refusal of the host is a result that a model can read, never a protocol error. Only a call
//!   of an unknown tool, or with params of another form, is a protocol error.
//! - A call has the rights of its HTTP request, not of the request that opened the connection.

use std::sync::Arc;

use accord_api::{Call as OperationCall, Json, NoBody};
use accord_base::{ActorKey, Caller};
use accord_contract::{Code, Failure, Object, Value};
use accord_memory_core::Session;
use accord_memory_core::operations::{OfSession, ReadSession, SessionWithin};
use hyper::http::request::Parts;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CustomRequest, CustomResult,
    GetPromptRequestParams, GetPromptResponse, Implementation, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    PromptsCapability, ReadResourceRequestParams, ReadResourceResponse, ResourcesCapability,
    ServerCapabilities, ServerConfig, Tool as Described,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};

use super::argument::{self, Schemas};
use super::call::{Call, CallContext, id};
use super::connection::Connection;
use super::host_request::HostRequest;
use super::malformed;
use super::prompt::{self, Prompt};
use super::resource::{ListRequest, ResourceSet, protocol_error};
use super::tool_result::{Memo, OpenSession, ToolError, null_result};
use super::toolset::{ToolEntry, Toolbox, Toolset, Visibility};
use accord_serving::Api;

/// Returns the host as a caller may use it.
pub type ApiFor = Arc<dyn Fn(&Caller) -> Arc<dyn Api> + Send + Sync>;

/// How a server reaches the host.
#[derive(Clone)]
pub(crate) enum ApiSource {
    /// As the caller of the HTTP request that a call came with.
    Caller(ApiFor),
    /// Always as the same caller.
    Always(Arc<dyn Api>),
}

/// The server of one connection, or of one request if the client has no session.
pub(crate) struct Server {
    toolbox: Arc<Toolbox>,
    api_source: ApiSource,
    defaults: CallContext,
    connection: Arc<Connection>,
}

impl Server {
    pub(crate) fn new(
        toolbox: Arc<Toolbox>,
        api_source: ApiSource,
        defaults: CallContext,
        connection: Arc<Connection>,
    ) -> Self {
        Self { toolbox, api_source, defaults, connection }
    }

    async fn call(
        &self,
        entry: ToolEntry,
        arguments: Object,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResult, ToolError> {
        let tool = entry.tool;
        let origin = CallOrigin::of(&self.api_source, context)?;
        let stateless = !self.connection.lasts();
        let mut standing = self.defaults.clone();
        standing.session = self.connection.session();
        // The actor of the key goes first, because the host may refuse a write as another one.
        standing.actor = origin.actor.clone().or(standing.actor);
        standing.client = origin.client.clone();
        standing.stateless = stateless;
        // A session has a project, so later calls need none.
        let schemas = Schemas { project: standing.project.clone() };
        let arguments = match entry.visibility() {
            Visibility::Model => argument::check(arguments, tool.arguments, &schemas)?,
            // A page may be newer than the server, and the host reads the whole message anyway.
            Visibility::App => arguments,
        };
        if stateless && tool.belongs_to_session() {
            standing.session = origin.named_session(&arguments).await?;
        }
        let call = Call::new(&arguments, &standing, accord_system::now());
        let ask: HostRequest = (tool.ask)(&call)?;
        let answer = match ask.send(&*origin.api).await {
            Ok(answer) => answer,
            Err(error) if tool.null_on.is_some_and(|code| error.is(code)) => {
                return Ok(null_result(&error));
            }
            Err(error) => return Err(error),
        };
        let mut result = (tool.answer)(&call, &answer)?;
        if let Some(project) = answer.new_project() {
            result = result.noting(format!(
                "The project {project:?} is new: this call created it. If you meant an existing \
                 project, its id is spelled differently."
            ));
        }
        if !answer.unknown().is_empty() {
            let unknown = answer.unknown().join(", ");
            result = result.noting(format!(
                "The host is older than this tool and does not know {unknown}: the answer is as \
                 without. To use it, update the host."
            ));
        }
        let result = match result.memo.clone() {
            Memo::Nothing => result,
            Memo::Started(_) if stateless => result.with("next", PASS_IT_ON),
            Memo::Started(started) => {
                self.connection.start(started, origin.api).await;
                result
            }
            Memo::Ended(ended) => {
                self.connection.forget(&ended);
                result
            }
        };
        Ok(result.result())
    }
}

/// The hint for a model that started a session without an MCP session.
const PASS_IT_ON: &str = "This client has no MCP session: pass session_id with every later call \
    that writes, and project_id with every call that reads.";

/// What the message of a call says about its caller.
struct CallOrigin {
    api: Arc<dyn Api>,
    /// The actor of the key.
    actor: Option<ActorKey>,
    /// What the client calls itself.
    client: Option<String>,
}

impl CallOrigin {
    fn of(api_source: &ApiSource, context: &RequestContext<RoleServer>) -> Result<Self, Failure> {
        let parts = context.extensions.get::<Parts>();
        let client = context.client_info().map(|client| client.name);
        let (api, actor) = match api_source {
            ApiSource::Always(api) => (Arc::clone(api), None),
            ApiSource::Caller(api_for) => {
                let caller = parts.and_then(|parts| parts.extensions.get::<Caller>());
                let unknown = || Failure::new(Code::AuthRequired, "the call has no caller");
                let caller = caller.ok_or_else(unknown)?;
                (api_for(caller), caller.access().actor().cloned())
            }
        };
        Ok(Self { api, actor, client })
    }

    /// The session that the arguments of a call name, as the host knows it.
    async fn named_session(&self, arguments: &Object) -> Result<Option<OpenSession>, ToolError> {
        let text = |name: &str| arguments.get(name).and_then(Value::as_str);
        let Some(named) = text("session_id").filter(|named| !named.is_empty()) else {
            return Ok(None);
        };
        let path = OfSession { session: id("session_id", named)? };
        let project = text("project_id").map(|given| id("project_id", given)).transpose()?;
        let within = SessionWithin { project };
        let ask = HostRequest::operation(&OperationCall::<ReadSession>::new(path, within, NoBody));
        let found = ask.send(&*self.api).await?.read::<Json<Session>>()?.0;
        let mut session = OpenSession::from(found);
        if let Some(actor) = &self.actor {
            session.actor = actor.clone();
        }
        Ok(Some(session))
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let mut capabilities = ServerCapabilities::builder().enable_tools().build();
        if !self.toolbox.prompts().is_empty() {
            capabilities.prompts = Some(PromptsCapability::default());
        }
        if !self.toolbox.resources().is_empty() {
            capabilities.resources = Some(ResourcesCapability::default());
        }
        let accord = Implementation::new("accord", env!("CARGO_PKG_VERSION")).with_title("Accord");
        ServerConfig::new(capabilities)
            .with_server_info(accord)
            .with_instructions(self.toolbox.instructions())
    }

    fn get_tool(&self, name: &str) -> Option<Described> {
        let entry = self.toolbox.find(name).ok()?;
        Some(entry.described(&self.schemas()))
    }

    async fn list_tools(
        &self,
        page: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        one_page(page)?;
        let tools = self.toolbox.described(&self.schemas());
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let entry = self.toolbox.find(&request.name).map_err(no_such_tool)?;
        let arguments = request.arguments.unwrap_or_default();
        let result = tokio::select! {
            // A call that is done counts, also if it was cancelled at the same time.
            biased;
            result = self.call(entry, arguments, &context) => result,
            // Its client waits for no answer. What the call waits for must not wait for it.
            () = context.ct.cancelled(), if entry.set.is_cancellable => Err(cancelled().into()),
            () = self.connection.abandoned(), if entry.set.is_cancellable => {
                Err(cancelled().into())
            }
        };
        Ok(result.unwrap_or_else(|error| error.result(entry.set)).into())
    }

    async fn list_prompts(
        &self,
        page: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let prompts = self.toolbox.prompts();
        if prompts.is_empty() {
            return Err(malformed::no_method("prompts/list"));
        }
        one_page(page)?;
        let described = prompts.into_iter().map(Prompt::described).collect();
        Ok(ListPromptsResult::with_all_items(described))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let prompts = self.toolbox.prompts();
        let Some(set) = prompts.first().and_then(|prompt| self.toolbox.set_of(prompt)) else {
            return Err(malformed::no_method("prompts/get"));
        };
        let refused = |error: ToolError| protocol_error(error, set);
        let prompt =
            prompt::find(&prompts, &request.name).map_err(|failure| refused(failure.into()))?;
        let origin = CallOrigin::of(&self.api_source, &context)
            .map_err(|failure| refused(failure.into()))?;
        let mut standing = self.defaults.clone();
        standing.session = self.connection.session();
        let sent = request.arguments.unwrap_or_default();
        let result = prompt.get(sent, &standing, &*origin.api).await.map_err(refused)?;
        Ok(GetPromptResponse::Complete(result))
    }

    async fn list_resource_templates(
        &self,
        page: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let sets = self.resources("resources/templates/list")?;
        one_page(page)?;
        let described = sets.iter().flat_map(|(_, resources)| resources.described()).collect();
        Ok(ListResourceTemplatesResult::with_all_items(described))
    }

    async fn list_resources(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let sets = self.resources("resources/list")?;
        let cursor = page.and_then(|page| page.cursor);
        let mut result = ListResourcesResult::with_all_items(Vec::new());
        for (set, resources) in sets {
            let refused = |error: ToolError| protocol_error(error, set);
            let origin = CallOrigin::of(&self.api_source, &context)
                .map_err(|failure| refused(failure.into()))?;
            let asked = ListRequest {
                api: &*origin.api,
                project: self.defaults.project.as_deref(),
                cursor: cursor.as_deref(),
            };
            let page = (resources.list)(asked).await.map_err(refused)?;
            result.resources.extend(page.resources);
            // At most one set has several pages.
            result.next_cursor = result.next_cursor.or(page.next_cursor);
        }
        Ok(result)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let sets = self.resources("resources/read")?;
        let has = |(_, resources): &&(_, &ResourceSet)| (resources.read)(&request.uri).is_some();
        // If none has it, the first one says what its resources look like.
        let found = sets.iter().find(has).or(sets.first());
        let (set, resources) = *found.ok_or_else(|| malformed::no_method("resources/read"))?;
        let refused = |error: ToolError| protocol_error(error, set);
        let origin = CallOrigin::of(&self.api_source, &context)
            .map_err(|failure| refused(failure.into()))?;
        let result = resources.contents(&request.uri, &*origin.api).await.map_err(|error| {
            if let Some(own) = (resources.refused)(&error) {
                return own;
            }
            let mut error = refused(error);
            if let Some(data) = &mut error.data {
                data["uri"] = request.uri.as_str().into();
            }
            error
        })?;
        Ok(ReadResourceResponse::Complete(result))
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        // Without a connection, there is nothing to initialize: the revision has no such method.
        if request.method == "initialize" && !self.connection.lasts() {
            return Err(malformed::no_method(&request.method));
        }
        Err(malformed::error(&request.method, request.params.as_ref()))
    }
}

impl Server {
    /// The resources, if there are any.
    fn resources(
        &self,
        method: &str,
    ) -> Result<Vec<(&'static Toolset, &'static ResourceSet)>, ErrorData> {
        let found = self.toolbox.resources();
        if found.is_empty() { Err(malformed::no_method(method)) } else { Ok(found) }
    }

    fn schemas(&self) -> Schemas {
        Schemas { project: self.defaults.project.clone() }
    }
}

/// Refuses a cursor of a list that is always complete.
fn one_page(page: Option<PaginatedRequestParams>) -> Result<(), ErrorData> {
    if page.is_some_and(|page| page.cursor.is_some()) {
        let message = "this list has one page; leave cursor out";
        return Err(ErrorData::invalid_params(message, None));
    }
    Ok(())
}

/// The failure of a call whose client cancelled it or has gone. The client does not read it.
fn cancelled() -> Failure {
    Failure::new(Code::McpCallCancelled, "the client cancelled the call")
}

fn no_such_tool(failure: Failure) -> ErrorData {
    let suggestion = failure.suggestion.unwrap_or_default();
    let message = format!("{}: {}. {suggestion}", failure.code.as_str(), failure.message);
    ErrorData::invalid_params(message, None)
}
