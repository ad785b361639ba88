//! Notices that the key of an open socket is revoked or expires.
//!
//! All sockets of a key share one task, because there may be thousands of them.

use std::collections::HashMap;
use std::sync::Arc;

use accord_base::Caller;
use parking_lot::Mutex;
use tokio::sync::watch;

use crate::keys::{CHECK_INTERVAL, Keys};

/// The keys of open sockets, by the labels of their callers.
#[derive(Clone, Default)]
pub(crate) struct KeyWatch(Arc<Mutex<HashMap<String, watch::Receiver<bool>>>>);

/// Says when a caller is no longer accepted.
pub(crate) struct Revoked(Option<watch::Receiver<bool>>);

impl KeyWatch {
    /// Watches the key of a caller until the result is dropped.
    pub(crate) fn follow(&self, keys: &Keys, caller: &Caller) -> Revoked {
        if !caller.is_local() && caller.key_id().is_none() {
            return Revoked::never();
        }
        let label = caller.label().to_owned();
        let mut watched = self.0.lock();
        if let Some(state) = watched.get(&label) {
            return Revoked(Some(state.clone()));
        }
        let (sender, state) = watch::channel(false);
        watched.insert(label.clone(), state.clone());
        drop(watched);
        tokio::spawn(self.clone().check(label, keys.clone(), caller.clone(), sender));
        Revoked(Some(state))
    }

    async fn check(self, label: String, keys: Keys, caller: Caller, sender: watch::Sender<bool>) {
        loop {
            tokio::time::sleep(CHECK_INTERVAL).await;
            // A store that cannot be read is no reason to close a socket.
            let is_accepted = keys.accepts(&caller).await.unwrap_or(true);
            let mut watched = self.0.lock();
            // The map has one receiver itself.
            if !is_accepted || sender.receiver_count() <= 1 {
                watched.remove(&label);
                sender.send_replace(!is_accepted);
                return;
            }
        }
    }
}

impl Revoked {
    /// The holder of a token, or the owner of the data folder.
    pub(crate) fn never() -> Self {
        Self(None)
    }

    /// Returns when the caller is no longer accepted.
    pub(crate) async fn wait(&mut self) {
        let Some(state) = &mut self.0 else { return std::future::pending().await };
        // The sender is dropped only when nobody waits.
        if state.wait_for(|revoked| *revoked).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
