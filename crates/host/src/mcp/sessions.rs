//! The MCP sessions of an HTTP endpoint: their owners, and limits on their number.
//!
//! `initialize` starts a session; a header names it from then on. Sessions live in memory. A
//! session that is idle for too long ends, and its client must start another.
//!
//! Invariants:
//! - Only the caller who started a session can use it.
//! - The number of sessions is limited. A caller who reaches the limit per caller loses the session
//!   that was idle the longest.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use accord_contract::codes::{Code, Failure};
use futures_util::Stream;
use parking_lot::{Mutex, MutexGuard};
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError,
};
use rmcp::transport::streamable_http_server::session::{
    ServerSseMessage, SessionId, SessionManager,
};

/// Limits on the number of MCP sessions and their idle time.
#[derive(Clone, Copy, Debug)]
pub struct SessionLimits {
    /// The most sessions.
    pub total: usize,
    /// The most sessions of one caller.
    pub per_caller: usize,
    /// How long a session may be idle.
    pub idle: Duration,
}

impl Default for SessionLimits {
    fn default() -> Self {
        Self { total: 1_000, per_caller: 100, idle: Duration::from_secs(60 * 60) }
    }
}

/// The sessions of one endpoint.
#[derive(Debug)]
pub(super) struct Sessions {
    local: LocalSessionManager,
    limits: SessionLimits,
    open: Mutex<HashMap<SessionId, OpenSession>>,
    /// Held while a session starts, so that concurrent starts are counted.
    starting: tokio::sync::Mutex<()>,
}

#[derive(Clone, Debug)]
struct OpenSession {
    owner: String,
    used: Instant,
}

tokio::task_local! {
    /// The request that is being answered.
    static CURRENT: Arc<CurrentRequest>;
}

/// The request that is being answered.
#[derive(Debug)]
pub(super) struct CurrentRequest {
    caller: String,
    refusal: Mutex<Option<Failure>>,
}

/// Why a session cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum SessionsError {
    #[error(transparent)]
    Local(#[from] LocalSessionManagerError),
    #[error("there is no such session")]
    Unknown,
    #[error("the limit of sessions is reached")]
    Full,
}

impl CurrentRequest {
    pub(super) fn new(caller: &str) -> Arc<Self> {
        Arc::new(Self { caller: caller.to_owned(), refusal: Mutex::new(None) })
    }

    /// Runs the code that answers the request.
    pub(super) async fn scope<T>(self: &Arc<Self>, answer: impl Future<Output = T>) -> T {
        CURRENT.scope(Arc::clone(self), answer).await
    }

    /// Why the request was refused, if a limit on sessions refused it.
    pub(super) fn refusal(&self) -> Option<Failure> {
        self.refusal.lock().take()
    }

    fn refuse(&self, failure: Failure) {
        *self.refusal.lock() = Some(failure);
    }
}

impl Sessions {
    pub(super) fn new(limits: SessionLimits) -> Self {
        let mut local = LocalSessionManager::default();
        local.session_config.keep_alive = Some(limits.idle);
        // Answers that were sent are not kept: an idle session would hold them in memory. So
        // clients are not invited to resume (sse_retry).
        local.session_config.completed_cache_ttl = Duration::ZERO;
        local.session_config.sse_retry = None;
        Self {
            local,
            limits,
            open: Mutex::new(HashMap::new()),
            starting: tokio::sync::Mutex::new(()),
        }
    }

    /// Ends all sessions.
    pub(super) async fn end(&self) {
        let ids: Vec<SessionId> = self.open().keys().cloned().collect();
        for id in ids {
            drop(self.close(&id).await);
        }
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.open().len()
    }

    fn open(&self) -> MutexGuard<'_, HashMap<SessionId, OpenSession>> {
        self.open.lock()
    }

    /// Whether the current request may use a session. Code of the transport that runs outside any
    /// request may use all sessions.
    fn may_use(&self, id: &SessionId) -> bool {
        let mut open = self.open();
        let Some(session) = open.get_mut(id) else {
            return false;
        };
        let is_owner = CURRENT.try_with(|request| request.caller == session.owner);
        if is_owner == Ok(true) {
            session.used = Instant::now();
        }
        is_owner.unwrap_or(true)
    }

    fn check(&self, id: &SessionId) -> Result<(), SessionsError> {
        if !self.may_use(id) {
            return Err(SessionsError::Unknown);
        }
        Ok(())
    }

    /// The session that must end so that `owner` can start another, if one must.
    fn session_to_end(&self, owner: &str) -> Result<Option<SessionId>, SessionsError> {
        let open = self.open();
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

    async fn close(&self, id: &SessionId) -> Result<(), SessionsError> {
        self.open().remove(id);
        Ok(self.local.close_session(id).await?)
    }
}

impl SessionManager for Sessions {
    type Error = SessionsError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), SessionsError> {
        let request = CURRENT.try_with(Arc::clone).map_err(|_| SessionsError::Unknown)?;
        let _guard = self.starting.lock().await;
        match self.session_to_end(&request.caller) {
            Ok(None) => {}
            Ok(Some(oldest)) => self.close(&oldest).await?,
            Err(full) => {
                let message =
                    format!("{} MCP sessions are open, which is the limit", self.limits.total);
                request.refuse(Failure::new(Code::McpTooManySessions, message));
                return Err(full);
            }
        }
        let (id, transport) = self.local.create_session().await?;
        let session = OpenSession { owner: request.caller.clone(), used: Instant::now() };
        self.open().insert(Arc::clone(&id), session);
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, SessionsError> {
        self.check(id)?;
        Ok(self.local.initialize_session(id, message).await?)
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
        Ok(self.local.create_stream(id, message).await?)
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
