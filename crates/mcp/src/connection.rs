//! What one MCP connection remembers: the sessions of the memory that were started over it.
//!
//! Invariant: a session that was started over a connection ends with the connection, whatever ends
//! that: its client, the idle time, a limit, a revoked key or the end of the host. So do the calls
//! that wait for something: nobody gets their answers.

use std::{fmt, sync::Arc};

use accord_api::{Call, Maybe};
use accord_base::SessionId;
use accord_memory_core::operations::{EndSession, OfSession, SessionWithin};
use parking_lot::Mutex;
use tokio::sync::watch;

use super::{HostRequest, OpenSession, confirmation::Confirmations};
use accord_serving::Api;

/// The memory of one connection, or of one request if the client has no session.
#[derive(Default)]
pub(crate) struct Connection {
    state: Mutex<State>,
    is_abandoned: watch::Sender<bool>,
    pub(crate) confirmations: Confirmations,
}

#[derive(Default)]
struct State {
    /// The session to which calls belong.
    current: Option<OpenSession>,
    /// Every session that was started and has not ended, and how its starter reaches the host.
    started: Vec<(OpenSession, Arc<dyn Api>)>,
    /// Whether later calls reach the same connection.
    lasts: bool,
    ended: bool,
}

impl Connection {
    /// A connection that later calls reach, too.
    pub(crate) fn lasting() -> Arc<Self> {
        let connection = Self::default();
        connection.keep();
        Arc::new(connection)
    }

    pub(crate) fn keep(&self) {
        self.state.lock().lasts = true;
    }

    pub(crate) fn lasts(&self) -> bool {
        self.state.lock().lasts
    }

    /// The session that was started last, unless it has ended.
    pub(crate) fn session(&self) -> Option<OpenSession> {
        self.state.lock().current.clone()
    }

    pub(crate) async fn start(&self, session: OpenSession, api: Arc<dyn Api>) {
        let is_late = {
            let mut state = self.state.lock();
            state.current = Some(session.clone());
            state.started.push((session, api));
            state.ended
        };
        // The connection ended while the session was started.
        if is_late {
            self.end().await;
        }
    }

    pub(crate) fn forget(&self, ended: &SessionId) {
        let mut state = self.state.lock();
        state.started.retain(|(open, _)| open.session_id != *ended);
        if state.current.as_ref().is_some_and(|open| open.session_id == *ended) {
            state.current = None;
        }
    }

    /// Says that nobody gets the answers of its calls any more.
    pub(crate) fn abandon(&self) {
        self.is_abandoned.send_replace(true);
    }

    /// Waits until nobody gets the answers of its calls any more.
    pub(crate) async fn abandoned(&self) {
        let mut is_abandoned = self.is_abandoned.subscribe();
        // The sender lives as long as the connection.
        drop(is_abandoned.wait_for(|is_abandoned| *is_abandoned).await);
    }

    pub(crate) async fn end(&self) {
        self.abandon();
        let left = {
            let mut state = self.state.lock();
            state.ended = true;
            state.current = None;
            std::mem::take(&mut state.started)
        };
        for (session, api) in left {
            let path = OfSession { session: session.session_id.clone() };
            let within = SessionWithin { project: session.project_id.parse().ok() };
            let ask = HostRequest::operation(&Call::<EndSession>::new(path, within, Maybe(None)));
            if ask.send(&*api).await.is_err() {
                tracing::warn!(session = %session.session_id, "the session could not be ended");
            }
        }
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state.lock();
        f.debug_struct("Connection").field("current", &state.current).finish_non_exhaustive()
    }
}
