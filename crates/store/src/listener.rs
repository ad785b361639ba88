//! Listeners, which are notified of commits.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Weak;

use accord_base::ProjectId;
use parking_lot::RwLock;

use crate::LiveAdvance;

/// New events of a project.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Advance {
    /// The project.
    pub project_id: ProjectId,
    /// The sequence number of its newest event.
    pub through: u64,
}

/// Is notified which projects have new events.
pub trait Listener: Send + Sync {
    /// Events were committed. This is called on the thread that commits, so it must be quick.
    fn committed(&self, advances: &[Advance]);

    /// Rows of live sessions were committed, the last version of each. As above.
    fn live_committed(&self, _advances: &[LiveAdvance]) {}
}

impl<F: Fn(&[Advance]) + Send + Sync> Listener for F {
    fn committed(&self, advances: &[Advance]) {
        self(advances);
    }
}

/// The listeners of an engine. A listener that was dropped is forgotten.
#[derive(Default)]
pub struct Listeners(RwLock<Vec<Weak<dyn Listener>>>);

impl Listeners {
    /// Adds a listener. The list does not keep it alive.
    pub fn add(&self, listener: Weak<dyn Listener>) {
        let mut listeners = self.0.write();
        listeners.retain(|listener| listener.strong_count() > 0);
        listeners.push(listener);
    }

    /// Notifies every listener of events. A listener that panics does not stop the others.
    pub fn notify(&self, advances: &[Advance]) {
        if !advances.is_empty() {
            self.each(|listener| listener.committed(advances));
        }
    }

    /// Notifies every listener of live sessions.
    pub fn notify_live(&self, advances: &[LiveAdvance]) {
        if !advances.is_empty() {
            self.each(|listener| listener.live_committed(advances));
        }
    }

    fn each(&self, call: impl Fn(&dyn Listener)) {
        for listener in self.0.read().iter().filter_map(Weak::upgrade) {
            drop(catch_unwind(AssertUnwindSafe(|| call(&*listener))));
        }
    }
}
