//! Who waits for the events of which project, and how they are woken.
//!
//! A waiting stream is told that there is something new, never what: it reads that from the store, by
//! sequence, when it gets to it. So a slow reader costs a number, however far it lags behind.

use std::collections::HashMap;
use std::sync::Arc;

use accord_base::ProjectId;
use accord_store::{Advance, Listener};
use parking_lot::Mutex;
use tokio::sync::watch;

/// Those who wait.
#[derive(Debug, Default)]
pub(super) struct Live {
    /// The newest number of each project that somebody waits for.
    projects: Mutex<HashMap<ProjectId, watch::Sender<u64>>>,
}

/// Somebody who waits.
#[derive(Debug)]
pub(super) struct Wake {
    live: Arc<Live>,
    project: ProjectId,
    newest: Option<watch::Receiver<u64>>,
}

impl Live {
    /// Begins to wait for the events of a project. Whatever is committed from now on is noticed.
    pub(super) fn wait_for(self: &Arc<Self>, project: &ProjectId) -> Wake {
        let mut projects = self.projects.lock();
        let sender = projects.entry(project.clone());
        let newest = sender.or_insert_with(|| watch::Sender::new(0)).subscribe();
        Wake {
            live: Arc::clone(self),
            project: project.clone(),
            newest: Some(newest),
        }
    }
}

impl Listener for Live {
    fn committed(&self, advances: &[Advance]) {
        let projects = self.projects.lock();
        for advance in advances {
            if let Some(sender) = projects.get(&advance.project_id) {
                sender.send_replace(advance.through);
            }
        }
    }
}

impl Wake {
    /// Returns when there is an event behind `seen`, or may be.
    pub(super) async fn behind(&mut self, seen: u64) {
        let newest = self.newest.as_mut().expect("it is let go on drop alone");
        // The sender stays as long as somebody waits.
        drop(newest.wait_for(|newest| *newest > seen).await);
    }
}

impl Drop for Wake {
    fn drop(&mut self) {
        self.newest = None;
        let mut projects = self.live.projects.lock();
        let alone = projects.get(&self.project);
        if alone.is_some_and(|sender| sender.receiver_count() == 0) {
            projects.remove(&self.project);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn those_who_wait_are_woken_and_forgotten() {
        let live = Arc::new(Live::default());
        let (atlas, borealis) = (
            "atlas".parse().expect("an id"),
            "borealis".parse().expect("an id"),
        );
        let mut wake = live.wait_for(&atlas);
        let second = live.wait_for(&atlas);
        let advance = |project: &ProjectId, through| Advance {
            project_id: project.clone(),
            through,
        };
        live.committed(&[advance(&borealis, 7), advance(&atlas, 3)]);
        wake.behind(2).await;
        let waits = tokio::time::timeout(std::time::Duration::from_millis(20), wake.behind(3));
        assert!(waits.await.is_err(), "nothing is behind 3");
        drop(wake);
        assert_eq!(live.projects.lock().len(), 1);
        drop(second);
        assert!(live.projects.lock().is_empty());
    }
}
