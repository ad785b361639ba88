//! How many live sockets there are, and how many were turned away.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use accord_contract::{Code, Failure};
use accord_live_core::limits::Limits;

use accord_serving::{Permit, Permits};

/// The sockets of a host. A clone has the same ones.
#[derive(Clone)]
pub(crate) struct Sockets {
    open: Permits,
    /// Sockets that are not subscribed yet; `None` without a limit. Those of clients that have
    /// shown a credential of this server, and the others: a stranger cannot keep out who is known.
    pending: Option<[Permits; 2]>,
    rejections: Arc<[AtomicU64; 3]>,
}

/// Why a socket that was not subscribed yet was closed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Rejection {
    /// A frame was too large.
    Payload,
    /// It was not subscribed in time.
    Idle,
    /// There were too many.
    Connection,
}

impl Sockets {
    pub(crate) fn new(most: usize, limits: &Limits) -> Self {
        let pending = limits.pre_subscribe_sockets;
        Self {
            open: Permits::new(most),
            pending: (pending > 0).then(|| [Permits::new(pending), Permits::new(pending)]),
            rejections: Arc::default(),
        }
    }

    pub(crate) fn open(&self) -> Result<Permit, Failure> {
        self.open.try_take().ok_or_else(|| {
            let most = self.open.limit();
            let message = format!("{most} live sockets are open, which is the limit");
            Failure::new(Code::LiveTooManySockets, message)
        })
    }

    /// The right to stay open without a subscription, for a client that has shown a credential of
    /// this server or for another one. `Err` if there are too many such sockets.
    pub(crate) fn wait(&self, is_known: bool) -> Result<Option<Permit>, ()> {
        match &self.pending {
            None => Ok(None),
            Some(pending) => pending[usize::from(is_known)].try_take().map(Some).ok_or(()),
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.open.taken()
    }

    pub(crate) fn rejected(&self, why: Rejection) {
        self.rejections[why as usize].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn rejections(&self, why: Rejection) -> u64 {
        self.rejections[why as usize].load(Ordering::Relaxed)
    }
}
