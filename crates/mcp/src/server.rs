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
use rmcp::model::{self, CallToolResult, PaginatedRequestParams, Tool as Described};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};

use super::progress::reporting;
use super::prompt::{self, Prompt};
use super::resource::{ListRequest, ResourceSet, protocol_error};
use super::toolset::{Resources, ToolEntry, Toolset};
use super::{Call, CallContext, HostRequest, Memo, OpenSession, ToolError, Toolbox, Visibility};
use super::{argument, call::id, connection::Connection, malformed, tool_result::null_result};
use accord_serving::Api;

/// Returns the host as a caller may use it.
pub type ApiFor = Arc<dyn Fn(&Caller) -> Arc<dyn Api> + Send + Sync>;

#[derive(Clone)]
pub(crate) enum ApiSource {
    /// As the caller of the HTTP request that a call came with.
    Caller(ApiFor),
    /// Always as the same caller.
    Always(Arc<dyn Api>),
}

/// The server of one connection, or of one request if the client has no session.
pub(crate) struct Server {
    pub(crate) toolbox: Arc<Toolbox>,
    pub(crate) api_source: ApiSource,
    pub(crate) defaults: CallContext,
    pub(crate) connection: Arc<Connection>,
}

impl Server {
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
        standing.has_key |= origin.has_key;
        standing.client = origin.client.clone();
        standing.stateless = stateless;
        standing.meta = context.meta.0.0.clone();
        let arguments = match entry.visibility() {
            // A session has a project, so later calls need none, also those of other sets.
            Visibility::Model | Visibility::Shown(_) => {
                let session = standing.session.as_ref().map(|session| session.project_id.as_str());
                let project = session.or(standing.project.as_deref());
                argument::check(arguments, tool.arguments, project)?
            }
            // A page may be newer than the server, and the host reads the whole message anyway.
            Visibility::App => argument::with_integers(arguments, tool.arguments),
        };
        if stateless && tool.belongs_to_session() {
            standing.session = origin.named_session(&arguments).await?;
        }
        let call = Call::new(&arguments, &standing, accord_system::now());
        let ask = (tool.ask)(&call)?;
        self.connection.confirmations.settled().await;
        let answer = match reporting(context, ask.send(&*origin.api)).await {
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
        if let Some(confirmation) = result.confirmation.take()
            && !context.ct.is_cancelled()
        {
            let (id, api) = (context.id.clone(), Arc::clone(&origin.api));
            self.connection.confirmations.insert(id, confirmation, api);
        }
        match result.memo.clone() {
            Memo::Nothing => {}
            Memo::Started(_) if stateless => result = result.with("next", PASS_IT_ON),
            Memo::Started(started) => self.connection.start(started, origin.api).await,
            Memo::Ended(ended) => self.connection.forget(&ended),
        }
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
    /// Whether the caller has a key, or is known as a worker.
    has_key: bool,
    /// What the client calls itself.
    client: Option<String>,
}

impl CallOrigin {
    fn of(api_source: &ApiSource, context: &RequestContext<RoleServer>) -> Result<Self, Failure> {
        let parts = context.extensions.get::<Parts>();
        let client = context.client_info().map(|client| client.name);
        let (api, actor, has_key) = match api_source {
            ApiSource::Always(api) => (Arc::clone(api), None, false),
            ApiSource::Caller(api_for) => {
                let caller = parts.and_then(|parts| parts.extensions.get::<Caller>());
                let unknown = || Failure::new(Code::AuthRequired, "the call has no caller");
                let caller = caller.ok_or_else(unknown)?;
                let has_key = caller.key_id().is_some() || caller.is_worker();
                (api_for(caller), caller.access().actor().cloned(), has_key)
            }
        };
        Ok(Self { api, actor, has_key, client })
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
    fn get_info(&self) -> model::ServerConfig {
        let mut capabilities = model::ServerCapabilities::builder().enable_tools().build();
        if !self.toolbox.prompts().is_empty() {
            capabilities.prompts = Some(model::PromptsCapability::default());
        }
        if !self.toolbox.resources().is_empty() {
            capabilities.resources = Some(model::ResourcesCapability::default());
        }
        let accord = model::Implementation::new("accord", env!("CARGO_PKG_VERSION"));
        model::ServerConfig::new(capabilities)
            .with_server_info(accord.with_title("Accord"))
            .with_instructions(self.toolbox.instructions(self.defaults.project.as_deref()))
    }

    fn get_tool(&self, name: &str) -> Option<Described> {
        Some(self.toolbox.find(name).ok()?.described(self.defaults.project.as_deref(), true))
    }

    async fn list_tools(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<model::ListToolsResult, ErrorData> {
        one_page(page)?;
        let with_pages = shows_pages(context.client_capabilities().as_ref());
        let tools = self.toolbox.described(self.defaults.project.as_deref(), with_pages);
        Ok(model::ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: model::CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<model::CallToolResponse, ErrorData> {
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
    ) -> Result<model::ListPromptsResult, ErrorData> {
        let prompts = self.toolbox.prompts();
        if prompts.is_empty() {
            return Err(malformed::no_method("prompts/list"));
        }
        one_page(page)?;
        let described = prompts.into_iter().map(Prompt::described).collect();
        Ok(model::ListPromptsResult::with_all_items(described))
    }

    async fn get_prompt(
        &self,
        request: model::GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<model::GetPromptResponse, ErrorData> {
        let prompts = self.toolbox.prompts();
        let Some(set) = prompts.first().and_then(|prompt| self.toolbox.set_of(prompt)) else {
            return Err(malformed::no_method("prompts/get"));
        };
        let prompt = prompt::find(&prompts, &request.name).map_err(refused(set))?;
        let origin = CallOrigin::of(&self.api_source, &context).map_err(refused(set))?;
        let standing = CallContext { session: self.connection.session(), ..self.defaults.clone() };
        let sent = request.arguments.unwrap_or_default();
        let result = prompt.get(sent, &standing, &*origin.api).await.map_err(refused(set))?;
        Ok(model::GetPromptResponse::Complete(result))
    }

    async fn list_resource_templates(
        &self,
        page: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<model::ListResourceTemplatesResult, ErrorData> {
        let sets = self.resources("resources/templates/list")?;
        one_page(page)?;
        let described = sets.iter().flat_map(|(_, resources)| resources.described()).collect();
        Ok(model::ListResourceTemplatesResult::with_all_items(described))
    }

    async fn list_resources(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<model::ListResourcesResult, ErrorData> {
        let sets = self.resources("resources/list")?;
        let cursor = page.and_then(|page| page.cursor);
        let mut result = model::ListResourcesResult::with_all_items(Vec::new());
        for (set, resources) in sets {
            let origin = CallOrigin::of(&self.api_source, &context).map_err(refused(set))?;
            let project = self.defaults.project.as_deref();
            let asked = ListRequest { api: &*origin.api, project, cursor: cursor.as_deref() };
            let page = (resources.list)(asked).await.map_err(refused(set))?;
            result.resources.extend(page.resources);
            // At most one set has several pages.
            result.next_cursor = result.next_cursor.or(page.next_cursor);
        }
        Ok(result)
    }

    async fn read_resource(
        &self,
        request: model::ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<model::ReadResourceResponse, ErrorData> {
        let sets = self.resources("resources/read")?;
        let has = |(_, resources): &&(_, &ResourceSet)| (resources.read)(&request.uri).is_some();
        // If none has it, the first one says what its resources look like.
        let found = sets.iter().find(has).or(sets.first());
        let (set, resources) = *found.ok_or_else(|| malformed::no_method("resources/read"))?;
        let origin = CallOrigin::of(&self.api_source, &context).map_err(refused(set))?;
        let result = resources.get(&request.uri, &*origin.api).await.map_err(|error| {
            if let Some(own) = (resources.refused)(&error) {
                return own;
            }
            let mut error = protocol_error(error, set);
            if let Some(data) = &mut error.data {
                data["uri"] = request.uri.as_str().into();
            }
            error
        })?;
        Ok(model::ReadResourceResponse::Complete(result))
    }

    async fn on_custom_request(
        &self,
        request: model::CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<model::CustomResult, ErrorData> {
        // Without a connection, there is nothing to initialize: the revision has no such method.
        if request.method == "initialize" && !self.connection.lasts() {
            return Err(malformed::no_method(&request.method));
        }
        Err(malformed::error(&request.method, request.params.as_ref()))
    }
}

impl Server {
    fn resources(&self, method: &str) -> Result<Resources, ErrorData> {
        let found = self.toolbox.resources();
        if found.is_empty() { Err(malformed::no_method(method)) } else { Ok(found) }
    }
}

/// Whether a client says that it shows pages to people (MCP Apps).
fn shows_pages(capabilities: Option<&model::ClientCapabilities>) -> bool {
    let extensions = capabilities.and_then(|client| client.extensions.as_ref());
    extensions.is_some_and(|extensions| extensions.contains_key("io.modelcontextprotocol/ui"))
}

/// Makes the protocol error of a failure, as the set has it.
fn refused<E: Into<ToolError>>(set: &Toolset) -> impl Fn(E) -> ErrorData {
    move |error| protocol_error(error.into(), set)
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
