//! The MCP sessions of an HTTP endpoint: their owners, and limits on their number.
//!
//! `initialize` starts a session; a header names it from then on. Sessions live in memory. A
//! session that is idle for too long ends, and its client must start another.
//!
//! Invariants:
//! - Only the caller who started a session can use it.
//! - The number of sessions is limited. A caller who reaches the limit per caller loses the session
//!   that was idle the longest.
//! - No two requests of a session without an answer have the same id.
//! - A request whose first message is its answer gets it as JSON. Only a request with more messages
//!   gets a stream of events.
//! - A request whose client hangs up, or ends its session, is cancelled: nobody can fetch its
//!   answer later, so it must take nothing.

use std::time::{Duration, Instant};
use std::{collections::HashMap, sync::Arc};

use accord_contract::{Code, Failure};
use futures_util::future::{BoxFuture, FutureExt as _};
use futures_util::stream::{self, Stream, StreamExt as _};
use parking_lot::Mutex;
use rmcp::model::{self, ClientJsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::{ServerSseMessage, local};
use rmcp::transport::streamable_http_server::{SessionId, SessionManager};
use tokio::sync::mpsc;

use super::in_flight::{InFlight, Pending};
use super::{boxed::BoxedTransport, connection::Connection};

/// Limits on the number of MCP sessions and their idle time.
#[derive(Clone, Copy, Debug)]
pub struct SessionLimits {
    pub total: usize,
    pub per_caller: usize,
    pub idle: Duration,
}

impl Default for SessionLimits {
    fn default() -> Self {
        Self { total: 1_000, per_caller: 100, idle: Duration::from_secs(60 * 60) }
    }
}

#[derive(Debug)]
pub(crate) struct Sessions {
    local: Arc<local::LocalSessionManager>,
    limits: SessionLimits,
    open: Mutex<HashMap<SessionId, OpenSession>>,
    /// Held while a session starts, so that concurrent starts are counted.
    starting: tokio::sync::Mutex<()>,
}

#[derive(Clone, Debug)]
struct OpenSession {
    owner: String,
    used: Instant,
    connection: Arc<Connection>,
    in_flight: InFlight,
}

tokio::task_local! {
    static CURRENT: Arc<CurrentRequest>;
}

#[derive(Debug, Default)]
pub(crate) struct CurrentRequest {
    caller: String,
    /// The memory of the connection that the request starts, if it starts one.
    connection: Arc<Connection>,
    outcome: Mutex<Option<Outcome>>,
}

/// What is answered instead of the response of the transport.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    Refused(Failure),
    /// The one message that answers the request.
    Answered(Arc<ServerJsonRpcMessage>),
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum SessionsError {
    #[error(transparent)]
    Local(#[from] local::LocalSessionManagerError),
    #[error("there is no such session")]
    Unknown,
    #[error("the limit of sessions is reached")]
    Full,
    #[error("a request with this id has no answer yet")]
    DuplicateId,
}

impl CurrentRequest {
    pub(crate) fn new(caller: &str) -> Arc<Self> {
        Arc::new(Self { caller: caller.to_owned(), ..Self::default() })
    }

    /// The memory for the server of the request that is being answered.
    pub(crate) fn connection() -> Arc<Connection> {
        CURRENT.try_with(|request| Arc::clone(&request.connection)).unwrap_or_default()
    }

    /// Runs the code that answers the request.
    pub(crate) async fn scope<T>(self: &Arc<Self>, answer: impl Future<Output = T>) -> T {
        CURRENT.scope(Arc::clone(self), answer).await
    }

    /// What to answer instead of the response of the transport.
    pub(crate) fn outcome(&self) -> Option<Outcome> {
        self.outcome.lock().take()
    }

    fn conclude(outcome: Outcome) {
        // Outside any request, nothing is answered.
        let _ = CURRENT.try_with(|request| *request.outcome.lock() = Some(outcome));
    }
}

impl Sessions {
    pub(crate) fn new(limits: SessionLimits) -> Self {
        let mut local = local::LocalSessionManager::default();
        local.session_config.keep_alive = Some(limits.idle);
        // Answers that were sent are not kept: an idle session would hold them in memory. So
        // clients are not invited to resume (sse_retry).
        local.session_config.completed_cache_ttl = Duration::ZERO;
        local.session_config.sse_retry = None;
        let (open, starting) = (Mutex::default(), tokio::sync::Mutex::default());
        Self { local: Arc::new(local), limits, open, starting }
    }

    pub(crate) async fn end(&self) {
        let ids: Vec<SessionId> = self.open.lock().keys().cloned().collect();
        for id in ids {
            drop(self.close(&id).await);
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.open.lock().len()
    }

    /// Whether the current request may use a session. Code of the transport that runs outside any
    /// request may use all sessions.
    fn may_use(&self, id: &SessionId) -> bool {
        let mut open = self.open.lock();
        let Some(session) = open.get_mut(id) else { return false };
        let is_owner = CURRENT.try_with(|request| request.caller == session.owner);
        if is_owner == Ok(true) {
            session.used = Instant::now();
        }
        is_owner.unwrap_or(true)
    }

    fn check(&self, id: &SessionId) -> Result<(), SessionsError> {
        self.may_use(id).then_some(()).ok_or(SessionsError::Unknown)
    }

    /// The session that must end so that `owner` can start another, if one must.
    fn session_to_end(&self, owner: &str) -> Result<Option<SessionId>, SessionsError> {
        let open = self.open.lock();
        let own = || open.iter().filter(|(_, session)| session.owner == owner);
        if own().count() >= self.limits.per_caller {
            let oldest = own().min_by_key(|(_, session)| session.used);
            return Ok(oldest.map(|(id, _)| Arc::clone(id)));
        }
        if open.len() >= self.limits.total {
            return Err(SessionsError::Full);
        }
        Ok(None)
    }

    /// Ends a session, and the sessions of the memory that were started over it.
    pub(crate) async fn close(&self, id: &SessionId) -> Result<(), SessionsError> {
        let open = self.open.lock().remove(id);
        if let Some(open) = &open {
            open.connection.abandon();
        }
        let closed = self.local.close_session(id).await;
        if let Some(open) = open {
            open.connection.end().await;
        }
        Ok(closed?)
    }

    fn begin(&self, id: &SessionId, request: &RequestId) -> Result<Pending, SessionsError> {
        let in_flight = self.open.lock().get(id).map(|open| open.in_flight.clone());
        in_flight.ok_or(SessionsError::Unknown)?.begin(request).map_err(|failure| {
            CurrentRequest::conclude(Outcome::Refused(failure));
            SessionsError::DuplicateId
        })
    }

    /// Cancels a request of a session, as its client would.
    fn cancel(&self, id: &SessionId, request: RequestId) -> BoxFuture<'static, ()> {
        let params = model::CancelledNotificationParam::new(Some(request), None);
        let cancelled = model::CancelledNotification::new(params);
        let notification = model::ClientNotification::CancelledNotification(cancelled);
        let notification = ClientJsonRpcMessage::notification(notification);
        let (local, id) = (Arc::clone(&self.local), Arc::clone(id));
        // A session that has ended has cancelled it already.
        async move { drop(local.accept_message(&id, notification).await) }.boxed()
    }
}

/// How many messages of an answer may wait for the client.
const WAITING: usize = 16;

/// Forwards the messages of an answer. The request is pending until its answer arrives, or until
/// `cancel` has cancelled it, because the client has gone.
fn forward(
    messages: impl Stream<Item = ServerSseMessage> + Send + 'static,
    mut pending: Option<Pending>,
    mut cancel: Option<BoxFuture<'static, ()>>,
) -> mpsc::Receiver<ServerSseMessage> {
    let (sender, receiver) = mpsc::channel(WAITING);
    accord_system::spawn(async move {
        let mut messages = std::pin::pin!(messages);
        loop {
            let message = tokio::select! {
                biased;
                message = messages.next() => message,
                () = sender.closed(), if cancel.is_some() => {
                    if let Some(cancel) = cancel.take() {
                        cancel.await;
                    }
                    continue;
                }
            };
            let Some(message) = message else { return };
            if answer_of(&message).is_some() {
                // Before it is sent: the client may use the id again as soon as it has the answer.
                drop(pending.take());
                cancel = None;
            }
            drop(sender.send(message).await);
        }
    });
    receiver
}

/// The message, if it answers a request.
fn answer_of(message: &ServerSseMessage) -> Option<&Arc<ServerJsonRpcMessage>> {
    let is_answer = |message: &&Arc<ServerJsonRpcMessage>| {
        matches!(***message, ServerJsonRpcMessage::Response(_) | ServerJsonRpcMessage::Error(_))
    };
    message.message.as_ref().filter(is_answer)
}

impl SessionManager for Sessions {
    type Error = SessionsError;
    type Transport = BoxedTransport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), SessionsError> {
        let request = CURRENT.try_with(Arc::clone).map_err(|_| SessionsError::Unknown)?;
        let _guard = self.starting.lock().await;
        match self.session_to_end(&request.caller) {
            Ok(None) => {}
            Ok(Some(oldest)) => self.close(&oldest).await?,
            Err(full) => {
                let most = self.limits.total;
                let message = format!("{most} MCP sessions are open, which is the limit");
                let failure = Failure::new(Code::McpTooManySessions, message);
                CurrentRequest::conclude(Outcome::Refused(failure));
                return Err(full);
            }
        }
        let (id, transport) = self.local.create_session().await?;
        request.connection.keep();
        let session = OpenSession {
            owner: request.caller.clone(),
            used: Instant::now(),
            connection: Arc::clone(&request.connection),
            in_flight: InFlight::default(),
        };
        self.open.lock().insert(Arc::clone(&id), session);
        Ok((id, BoxedTransport::new(transport)))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, SessionsError> {
        self.check(id)?;
        let answer = self.local.initialize_session(id, message).await?;
        CurrentRequest::conclude(Outcome::Answered(Arc::new(answer.clone())));
        Ok(answer)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, SessionsError> {
        Ok(self.may_use(id) && self.local.has_session(id).await?)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), SessionsError> {
        // Ending a session of another caller must look like ending one that does not exist.
        if !self.may_use(id) {
            return Ok(());
        }
        self.close(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionsError> {
        self.check(id)?;
        let request = match &message {
            ClientJsonRpcMessage::Request(request) => Some(request.id.clone()),
            _ => None,
        };
        let pending = request.as_ref().map(|request| self.begin(id, request)).transpose()?;
        let cancel = request.map(|request| self.cancel(id, request));
        let messages = self.local.create_stream(id, message).await?;
        let mut messages = forward(messages, pending, cancel);
        let mut first = messages.recv().await;
        if let Some(answer) = first.as_ref().and_then(answer_of) {
            CurrentRequest::conclude(Outcome::Answered(Arc::clone(answer)));
            first = None;
        } else if first.is_none() && !self.open.lock().contains_key(id) {
            // The session ended before the answer. Without an answer, a request that the client
            // cancelled gets an empty stream.
            let failure = Failure::new(Code::McpSessionUnknown, "there is no such MCP session");
            CurrentRequest::conclude(Outcome::Refused(failure));
        }
        let rest = stream::poll_fn(move |context| messages.poll_recv(context));
        Ok(stream::iter(first).chain(rest))
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), SessionsError> {
        self.check(id)?;
        Ok(self.local.accept_message(id, message).await?)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionsError> {
        self.check(id)?;
        Ok(self.local.create_standalone_stream(id).await?)
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionsError> {
        self.check(id)?;
        Ok(self.local.resume(id, last_event_id).await?)
    }
}
