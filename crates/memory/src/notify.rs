//! Wakes the followers of a project after a commit.
//!
//! A follower learns that there are new events, and then reads them from the store by number. So a
//! slow follower costs one number, however far it lags behind.

use std::collections::HashMap;
use std::sync::Arc;

use accord_base::ProjectId;
use accord_store::{Advance, Listener};
use parking_lot::Mutex;
use tokio::sync::{broadcast, watch};

/// How many commits a watcher may lag behind before it looks at all projects.
const LAG: usize = 1_024;

#[derive(Debug)]
pub(super) struct Notifier {
    /// The newest event number of each project that has followers.
    projects: Mutex<HashMap<ProjectId, watch::Sender<u64>>>,
    /// The projects that commits changed, for watchers of several projects.
    all: broadcast::Sender<ProjectId>,
}

impl Default for Notifier {
    fn default() -> Self {
        Self { projects: Mutex::default(), all: broadcast::Sender::new(LAG) }
    }
}

/// One follower's subscription to a project.
#[derive(Debug)]
pub(super) struct Subscription {
    notifier: Arc<Notifier>,
    project: ProjectId,
    newest: Option<watch::Receiver<u64>>,
}

/// Tells of commits to a project.
#[derive(Debug)]
pub struct ProjectCommits {
    subscription: Subscription,
    seen: u64,
}

impl ProjectCommits {
    /// Waits until events are new since this was called last, or since it was subscribed.
    pub async fn next(&mut self) {
        self.subscription.changed_after(self.seen).await;
        self.seen = self.subscription.newest();
    }
}

impl Notifier {
    /// The commits to a project from now on.
    pub(super) fn commits(self: &Arc<Self>, project: &ProjectId) -> ProjectCommits {
        let subscription = self.subscribe(project);
        let seen = subscription.newest();
        ProjectCommits { subscription, seen }
    }

    /// The projects that commits change from now on.
    pub(super) fn changes(&self) -> broadcast::Receiver<ProjectId> {
        self.all.subscribe()
    }

    /// Subscribes to a project. Every commit from now on is noticed.
    pub(super) fn subscribe(self: &Arc<Self>, project: &ProjectId) -> Subscription {
        let mut projects = self.projects.lock();
        let sender = projects.entry(project.clone());
        let newest = sender.or_insert_with(|| watch::Sender::new(0)).subscribe();
        Subscription { notifier: Arc::clone(self), project: project.clone(), newest: Some(newest) }
    }
}

impl Listener for Notifier {
    fn committed(&self, advances: &[Advance]) {
        let projects = self.projects.lock();
        for advance in advances {
            // Fails while nobody watches.
            let _ = self.all.send(advance.project_id.clone());
            if let Some(sender) = projects.get(&advance.project_id) {
                sender.send_replace(advance.through);
            }
        }
    }
}

impl Subscription {
    /// The newest number that is known.
    fn newest(&self) -> u64 {
        self.newest.as_ref().map_or(0, |newest| *newest.borrow())
    }

    /// Waits until there may be an event after `seen`.
    pub(super) async fn changed_after(&mut self, seen: u64) {
        let newest = self.newest.as_mut().expect("the receiver is dropped only in drop");
        // The sender lives as long as its subscriptions.
        drop(newest.wait_for(|newest| *newest > seen).await);
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        // The count below must not include this subscription.
        self.newest = None;
        let mut projects = self.notifier.projects.lock();
        // Under the lock, so that no new subscriber appears between the check and the removal.
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
    async fn followers_are_woken_and_forgotten() {
        let notifier = Arc::new(Notifier::default());
        let (atlas, borealis) =
            ("atlas".parse().expect("an id"), "borealis".parse().expect("an id"));
        let mut subscription = notifier.subscribe(&atlas);
        let second = notifier.subscribe(&atlas);
        let advance =
            |project: &ProjectId, through| Advance { project_id: project.clone(), through };
        notifier.committed(&[advance(&borealis, 7), advance(&atlas, 3)]);
        subscription.changed_after(2).await;
        let waits = tokio::time::timeout(
            std::time::Duration::from_millis(20),
            subscription.changed_after(3),
        );
        assert!(waits.await.is_err(), "nothing is behind 3");
        let mut commits = notifier.commits(&atlas);
        notifier.committed(&[advance(&borealis, 8)]);
        let waits = tokio::time::timeout(std::time::Duration::from_millis(20), commits.next());
        assert!(waits.await.is_err(), "only another project changed");
        notifier.committed(&[advance(&atlas, 4)]);
        commits.next().await;
        drop(commits);
        drop(subscription);
        assert_eq!(notifier.projects.lock().len(), 1);
        drop(second);
        assert!(notifier.projects.lock().is_empty());
    }
}
