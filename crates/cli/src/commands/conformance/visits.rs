//! The connections of a conformance server: how many there may be, and which of them goes when there are too many.
//!
//! Invariant: a connection that has not shown the token keeps nobody out. Where there is no room, the oldest of them goes.

use std::collections::VecDeque;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::task::{AbortHandle, JoinSet};

/// How many connections there may be; further ones wait, or take the place of one without a pass.
const CONNECTIONS: usize = 64;

/// What a connection is given once it has shown the token.
#[derive(Clone, Debug, Default)]
pub(super) struct Pass(Arc<AtomicBool>);

impl Pass {
    /// Lets the connection stay, whoever else comes.
    pub(super) fn grant(&self) {
        self.0.store(true, Ordering::Release);
    }

    fn is_granted(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// The connections that there are.
#[derive(Default)]
pub(super) struct Visits {
    tasks: JoinSet<()>,
    /// Those that had no pass when they came, the oldest first.
    strangers: VecDeque<(Pass, AbortHandle)>,
}

impl Visits {
    /// Whether one more may come.
    pub(super) fn has_room(&self) -> bool {
        let may_go = |(pass, task): &(Pass, AbortHandle)| !pass.is_granted() && !task.is_finished();
        self.tasks.len() < CONNECTIONS || self.strangers.iter().any(may_go)
    }

    /// Lets one come; the oldest without a pass goes, where there is no room. One that shows the token in this very moment
    /// stays, so that there may be one more than the limit.
    pub(super) async fn begin<V>(&mut self, visit: impl FnOnce(Pass) -> V)
    where
        V: Future<Output = ()> + Send + 'static,
    {
        self.strangers
            .retain(|(pass, task)| !pass.is_granted() && !task.is_finished());
        if self.tasks.len() >= CONNECTIONS
            && let Some((_, task)) = self.strangers.pop_front()
        {
            task.abort();
            self.one_ended().await;
        }
        let pass = Pass::default();
        let task = self.tasks.spawn(visit(pass.clone()));
        self.strangers.push_back((pass, task));
    }

    /// Waits until one has ended; `None` where there is none.
    pub(super) async fn one_ended(&mut self) -> Option<()> {
        self.tasks.join_next().await.map(drop)
    }

    /// Sends those away that have no pass, and waits until all others have ended.
    pub(super) async fn end(&mut self) {
        for (pass, task) in self.strangers.drain(..) {
            if !pass.is_granted() {
                task.abort();
            }
        }
        while self.one_ended().await.is_some() {}
    }
}
