//! Conformance control v1: how a kit brings live sessions into the state that a case needs, and
//! reads what became of them.
//!
//! `POST /setup` applies a step, `GET /session-field` reads a member of a session. Every step can
//! be repeated.
//!
//! Invariants:
//! - it has a listener of its own, and nothing is answered without the token;
//! - a project that a step names is created.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use accord_base::Caller;
use accord_contract::{Code, Failure, Object, Protocol, Value};
use accord_live_core::control::{DEFAULT_APP, EmitEnvelope, Field, MintToken, Step};
use accord_live_core::session::NewFrame;
use accord_live_core::token::TokenKind;
use accord_live_core::{AppId, SessionId, refuse};
use accord_live_door::{LiveDoor, page_link};
use accord_serving::query::Query;
use futures_util::future::BoxFuture;
use hyper::header::{AUTHORIZATION, HeaderValue};
use hyper::{Method, StatusCode, Uri};
use parking_lot::Mutex;
use serde_json::json;

use super::{Authenticated, Service, ServiceLimits, ServiceServer};
use crate::http::body::read_body;
use crate::http::reply::json as answer;
use crate::http::{Holder, Host};
use crate::{Request, Response};

const LIMITS: ServiceLimits =
    ServiceLimits { connections: 64, lifetime: Duration::from_secs(60), protocol: Protocol::Ggui };

/// The project of sessions for which a step, or a subscriber, names none.
pub const CONTROL_PROJECT: &str = DEFAULT_APP;
/// The largest step.
const STEP_BYTES: u64 = 2 * 1024 * 1024;

/// Says whether the header `Authorization` of a request carries the token.
pub type IsAuthorized = dyn Fn(Option<&HeaderValue>) -> bool + Send + Sync;

/// The conformance control of a host, which listens and has not begun to answer.
pub struct ControlServer(ServiceServer);

impl ControlServer {
    /// Listens on an address. Fails when it cannot listen there, or the default project cannot be
    /// created.
    pub async fn bind(
        host: Host,
        address: SocketAddr,
        is_authorized: Box<IsAuthorized>,
    ) -> Result<Self, Failure> {
        create_project(&host, CONTROL_PROJECT).await?;
        let control =
            Control { door: host.live_door(), host, is_authorized, last: Mutex::default() };
        Ok(Self(ServiceServer::bind(address, Arc::new(control), LIMITS).await?))
    }

    pub fn address(&self) -> SocketAddr {
        self.0.address()
    }

    /// Answers until `end`.
    pub async fn run(self, end: impl Future<Output = ()>) {
        self.0.run(end).await;
    }
}

struct Control {
    host: Host,
    door: LiveDoor,
    is_authorized: Box<IsAuthorized>,
    /// The session that was created last.
    last: Mutex<Option<SessionId>>,
}

impl Service for Control {
    fn answer<'a>(
        &'a self,
        request: Request,
        connection: &'a Authenticated,
    ) -> BoxFuture<'a, Result<Response, Failure>> {
        Box::pin(self.try_answer(request, connection))
    }
}

impl Control {
    async fn try_answer(
        &self,
        request: Request,
        connection: &Authenticated,
    ) -> Result<Response, Failure> {
        // Before the route is looked up: a stranger learns nothing about the server.
        if !(self.is_authorized)(request.headers().get(AUTHORIZATION)) {
            return Err(Failure::new(Code::Unauthorized, "the token is missing or wrong"));
        }
        connection.set();
        let expected = match request.uri().path() {
            "/setup" => Method::POST,
            "/session-field" => Method::GET,
            path => {
                let message = format!("there is no route {path}");
                return Err(Failure::new(Code::HttpRouteUnknown, message));
            }
        };
        if *request.method() != expected {
            let message = format!("this route accepts only {expected}");
            let failure = Failure::new(Code::HttpMethodNotAllowed, message);
            return Err(failure.with("allow", expected.as_str()));
        }
        let document = match expected {
            Method::POST => {
                let body = read_body(request.into_body(), STEP_BYTES).await?;
                let Value::Object(step) = accord_canon::read(&body).map_err(Failure::from)? else {
                    return Err(Failure::new(Code::WireFieldType, "a step is a JSON object"));
                };
                self.apply(Step::read(step)?).await?
            }
            _ => json!({"value": self.read(request.uri()).await?}),
        };
        Ok(answer(StatusCode::OK, document.to_string()))
    }

    /// Applies a step.
    /// Clauses: GGUI-CONTROL-SETUP.
    async fn apply(&self, step: Step) -> Result<Value, Failure> {
        let live = self.host.live();
        let session = match step {
            Step::CreateSession(step) => {
                let (app, ui) = (step.app_id(), step.ui());
                self.begin(app, step.session_id.clone(), ui, Object::new()).await?
            }
            Step::RenderSession(step) => {
                let (app, ui) = (step.app_id(), step.ui());
                let props = step.props.unwrap_or_default();
                self.begin(app, step.session_id, ui, props).await?
            }
            Step::ExpireSession(step) => {
                live.expire_now(&step.session_id).await?;
                step.session_id
            }
            Step::MintToken(step) => return self.mint(&step),
            Step::PageUrl(step) => return self.page_url(&step.session_id).await,
            Step::VersionOverride(step) => {
                live.advertise(&step.session_id, Some(step.version));
                step.session_id
            }
            Step::EmitEnvelope(step) => self.emit(step).await?,
            Step::RendererUrl(step) => {
                let session = self.target(step.session_id)?;
                let overrides = self.door.overrides();
                overrides.change(&session, |changed| changed.renderer_url = Some(step.url));
                session
            }
            Step::UiInitialize(step) => {
                let session = self.target(step.session_id)?;
                let overrides = self.door.overrides();
                overrides.change(&session, |changed| changed.ui_initialize = Some(step.response));
                session
            }
        };
        Ok(json!({"sessionId": session.as_str()}))
    }

    /// Begins a session. One that exists begins again, without overrides.
    async fn begin(
        &self,
        app: AppId,
        session: SessionId,
        ui: Object,
        props: Object,
    ) -> Result<SessionId, Failure> {
        let live = self.host.live();
        create_project(&self.host, app.as_str()).await?;
        live.seed(&app, &session, ui, props).await?;
        live.advertise(&session, None);
        self.door.overrides().clear(&session);
        *self.last.lock() = Some(session.clone());
        Ok(session)
    }

    /// Makes a token.
    fn mint(&self, step: &MintToken) -> Result<Value, Failure> {
        let live = self.host.live();
        let seconds = step.expires_in.unwrap_or(TokenKind::Ws.ttl_seconds());
        let minted = live.mint_token_expiring(&step.session_id, &step.app_id, seconds);
        let missing = || refuse::bootstrap_not_supported("this server issues no tokens");
        let minted = minted.ok_or_else(missing)?;
        Ok(json!({"wsToken": minted.text}))
    }

    /// The address of the page of a session, which signs its reader in, as a path of this server.
    async fn page_url(&self, session: &SessionId) -> Result<Value, Failure> {
        // A page of no session is of no use to a kit.
        self.app_of(session).await?;
        let (path, _) = page_link(&self.door, Holder::Owner.into(), session);
        Ok(json!({"url": path}))
    }

    async fn emit(&self, step: EmitEnvelope) -> Result<SessionId, Failure> {
        let session = self.target(step.session_id)?;
        let app = self.app_of(&session).await?;
        let EmitEnvelope { channel, payload, .. } = step;
        let frame = NewFrame { channel, payload, complete: false };
        self.host.live().emit_as_platform(&app, &session, frame).await?;
        Ok(session)
    }

    /// The session that a step names, or the one that was created last.
    fn target(&self, named: Option<SessionId>) -> Result<SessionId, Failure> {
        let last = || self.last.lock().clone();
        named.or_else(last).ok_or_else(|| refuse::session_not_found("create a session first"))
    }

    async fn app_of(&self, session: &SessionId) -> Result<AppId, Failure> {
        let found = self.host.live().found(session, None).await?;
        let missing = || refuse::session_not_found("there is no such session");
        Ok(found.ok_or_else(missing)?.session.app_id)
    }

    /// A member of a session.
    /// Clauses: GGUI-CONTROL-READ.
    async fn read(&self, uri: &Uri) -> Result<Value, Failure> {
        let query = Query::of(uri)?;
        let params = query.params()?;
        let missing = |name: &str| {
            let message = format!("the query parameter {name} is missing or not valid");
            Failure::new(Code::WireFieldValue, message).at(format!("/{name}"))
        };
        let session = params.text("sessionId").and_then(|id| SessionId::new(id).ok());
        let session = session.ok_or_else(|| missing("sessionId"))?;
        let field = params.text("field").and_then(Field::parse).ok_or_else(|| missing("field"))?;
        let found = self.host.live().found(&session, None).await?;
        let value = found.and_then(|found| field.read(&found.session, &found.content));
        value.ok_or_else(|| refuse::session_not_found("the session has no such member"))
    }
}

/// Creates the project of an app, if there is none.
async fn create_project(host: &Host, id: &str) -> Result<(), Failure> {
    let document = json!({"project_id": id, "name": id});
    host.memory().create_project(&Caller::owner(), document.to_string().as_bytes()).await?;
    Ok(())
}
