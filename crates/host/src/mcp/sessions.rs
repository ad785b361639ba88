//! The MCP sessions of an HTTP door: whose they are, and how many.
//!
//! A session is begun by `initialize` and named by a header from then on. It lives in memory; one that
//! is idle for long ends, and a client that names it afterwards is told to begin again.
//!
//! Invariants:
//! - a session is there for the caller who began it, and for nobody else;
//! - there are never more sessions than the limits say. A caller who has as many as one may have
//!   loses the one that was idle the longest.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use accord_contract::codes::{Code, Failure};
use futures_util::Stream;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError,
};
use rmcp::transport::streamable_http_server::session::{
    ServerSseMessage, SessionId, SessionManager,
};

/// How many MCP sessions there may be, and for how long one may be idle.
#[derive(Clone, Copy, Debug)]
pub struct SessionLimits {
    /// All callers together.
    pub most: usize,
    /// One caller.
    pub most_of_one: usize,
    /// How long a session may be idle.
    pub idle: Duration,
}

impl Default for SessionLimits {
    fn default() -> Self {
        Self {
            most: 1_000,
            most_of_one: 100,
            idle: Duration::from_secs(60 * 60),
        }
    }
}

/// The sessions of one door.
#[derive(Debug)]
pub(super) struct Sessions {
    local: LocalSessionManager,
    limits: SessionLimits,
    known: Mutex<HashMap<SessionId, Known>>,
    /// Held while a session begins, so that those that begin at once are counted, too.
    beginning: tokio::sync::Mutex<()>,
}

#[derive(Clone, Debug)]
struct Known {
    owner: String,
    used: Instant,
}

tokio::task_local! {
    /// The request that is being answered.
    static VISITOR: Arc<Visitor>;
}

/// Who sent the request that is being answered.
#[derive(Debug)]
pub(super) struct Visitor {
    name: String,
    refusal: Mutex<Option<Failure>>,
}

/// Why a session is not there.
#[derive(Debug, thiserror::Error)]
pub(super) enum SessionsError {
    #[error(transparent)]
    Local(#[from] LocalSessionManagerError),
    #[error("there is no such session")]
    Unknown,
    #[error("there are as many sessions as there may be")]
    Full,
}

impl Visitor {
    pub(super) fn new(name: &str) -> Arc<Self> {
        Arc::new(Self {
            name: name.to_owned(),
            refusal: Mutex::new(None),
        })
    }

    /// Answers a request of this visitor.
    pub(super) async fn asks<T>(self: &Arc<Self>, answer: impl Future<Output = T>) -> T {
        VISITOR.scope(Arc::clone(self), answer).await
    }

    /// Why the request was refused, where the sessions did.
    pub(super) fn refusal(&self) -> Option<Failure> {
        let mut refusal = self.refusal.lock().unwrap_or_else(PoisonError::into_inner);
        refusal.take()
    }

    fn refuse(&self, failure: Failure) {
        let mut refusal = self.refusal.lock().unwrap_or_else(PoisonError::into_inner);
        *refusal = Some(failure);
    }
}

impl Sessions {
    pub(super) fn new(limits: SessionLimits) -> Self {
        let mut local = LocalSessionManager::default();
        local.session_config.keep_alive = Some(limits.idle);
        // An answer that was sent is not kept: a session that is idle would hold on to it for as long as it
        // lives. So no client is invited to ask for it again.
        local.session_config.completed_cache_ttl = Duration::ZERO;
        local.session_config.sse_retry = None;
        Self {
            local,
            limits,
            known: Mutex::new(HashMap::new()),
            beginning: tokio::sync::Mutex::new(()),
        }
    }

    /// Ends all sessions.
    pub(super) async fn end(&self) {
        let ids: Vec<SessionId> = self.known().keys().cloned().collect();
        for id in ids {
            drop(self.close(&id).await);
        }
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.known().len()
    }

    fn known(&self) -> MutexGuard<'_, HashMap<SessionId, Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the visitor may use a session, which is noted as used. What the sessions do by themselves,
    /// outside any request, they may.
    fn admits(&self, id: &SessionId) -> bool {
        let mut known = self.known();
        let Some(session) = known.get_mut(id) else {
            return false;
        };
        let admitted = VISITOR.try_with(|visitor| visitor.name == session.owner);
        if admitted == Ok(true) {
            session.used = Instant::now();
        }
        admitted.unwrap_or(true)
    }

    fn admit(&self, id: &SessionId) -> Result<(), SessionsError> {
        match self.admits(id) {
            true => Ok(()),
            false => Err(SessionsError::Unknown),
        }
    }

    /// The session that must end so that `owner` may begin another, where one must.
    fn crowded_out(&self, owner: &str) -> Result<Option<SessionId>, SessionsError> {
        let known = self.known();
        let own = || known.iter().filter(|(_, session)| session.owner == owner);
        if own().count() >= self.limits.most_of_one {
            let oldest = own().min_by_key(|(_, session)| session.used);
            return Ok(oldest.map(|(id, _)| Arc::clone(id)));
        }
        match known.len() >= self.limits.most {
            true => Err(SessionsError::Full),
            false => Ok(None),
        }
    }

    async fn close(&self, id: &SessionId) -> Result<(), SessionsError> {
        self.known().remove(id);
        Ok(self.local.close_session(id).await?)
    }
}

impl SessionManager for Sessions {
    type Error = SessionsError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), SessionsError> {
        let visitor = VISITOR
            .try_with(Arc::clone)
            .map_err(|_| SessionsError::Unknown)?;
        let _turn = self.beginning.lock().await;
        match self.crowded_out(&visitor.name) {
            Ok(None) => {}
            Ok(Some(oldest)) => self.close(&oldest).await?,
            Err(full) => {
                let message = format!("{} MCP sessions are open already", self.limits.most);
                visitor.refuse(Failure::new(Code::McpTooManySessions, message));
                return Err(full);
            }
        }
        let (id, transport) = self.local.create_session().await?;
        let session = Known {
            owner: visitor.name.clone(),
            used: Instant::now(),
        };
        self.known().insert(Arc::clone(&id), session);
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, SessionsError> {
        self.admit(id)?;
        Ok(self.local.initialize_session(id, message).await?)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, SessionsError> {
        Ok(self.admits(id) && self.local.has_session(id).await?)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), SessionsError> {
        // To end what is not there, or not one's own, does nothing and tells nothing.
        match self.admits(id) {
            true => self.close(id).await,
            false => Ok(()),
        }
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionsError> {
        self.admit(id)?;
        Ok(self.local.create_stream(id, message).await?)
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), SessionsError> {
        self.admit(id)?;
        Ok(self.local.accept_message(id, message).await?)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionsError> {
        self.admit(id)?;
        Ok(self.local.create_standalone_stream(id).await?)
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionsError> {
        self.admit(id)?;
        Ok(self.local.resume(id, last_event_id).await?)
    }
}
