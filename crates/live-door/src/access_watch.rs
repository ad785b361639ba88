//! Notices that an open socket must end: its key is revoked or expires, the login of its page ends,
//! or the project of its session is archived.
//!
//! All sockets of a holder and a project share one task, because there may be thousands of them.

use std::{collections::HashMap, sync::Arc};

use accord_contract::{Code, Failure};
use accord_live_core::{AppId, frame::Close, refuse};
use parking_lot::Mutex;
use tokio::sync::watch;

use super::TokenHolder;
use crate::{LiveDoor, WeakLiveDoor};
use accord_serving::keys::CHECK_INTERVAL;

/// What the sockets of a host stand on, by the label of the caller, the login and the app.
#[derive(Clone, Default)]
pub(crate) struct AccessWatches(Arc<Mutex<HashMap<Place, watch::Receiver<Option<Lost>>>>>);

type Place = (String, Option<String>, Option<AppId>);

/// Why a socket must end.
#[derive(Clone, Debug)]
pub(crate) struct Lost {
    pub(crate) failure: Failure,
    pub(crate) close: Close,
}

pub(crate) struct AccessWatch(watch::Receiver<Option<Lost>>);

impl Lost {
    /// The key of the caller is no longer valid.
    pub(crate) fn key() -> Self {
        Self::rights("the key is no longer valid; connect with another")
    }

    fn rights(message: &str) -> Self {
        Self { failure: refuse::unauthenticated(message), close: Close::UNAUTHENTICATED }
    }
}

impl AccessWatches {
    /// Watches the rights of a holder, and the project of an app, until the result is dropped.
    pub(crate) fn follow(
        &self,
        host: WeakLiveDoor,
        holder: &TokenHolder,
        app: Option<&AppId>,
    ) -> AccessWatch {
        let label = holder.caller.label().to_owned();
        let place = (label, holder.login.clone(), app.cloned());
        let mut watched = self.0.lock();
        if let Some(state) = watched.get(&place) {
            return AccessWatch(state.clone());
        }
        let (sender, state) = watch::channel(None);
        watched.insert(place.clone(), state.clone());
        drop(watched);
        accord_system::spawn(self.clone().watch(place, host, holder.clone(), sender));
        AccessWatch(state)
    }

    async fn watch(
        self,
        place: Place,
        host: WeakLiveDoor,
        holder: TokenHolder,
        sender: watch::Sender<Option<Lost>>,
    ) {
        loop {
            tokio::time::sleep(CHECK_INTERVAL).await;
            let Some(host) = host.upgrade() else { return };
            let lost = lost(&host, &holder, place.2.as_ref()).await;
            let mut watched = self.0.lock();
            // The map has one receiver itself.
            if lost.is_some() || sender.receiver_count() <= 1 {
                watched.remove(&place);
                sender.send_replace(lost);
                return;
            }
        }
    }
}

/// Why a socket must end. A store that cannot be read is no reason to close it.
async fn lost(host: &LiveDoor, holder: &TokenHolder, app: Option<&AppId>) -> Option<Lost> {
    if !host.keys().accepts(&holder.caller).await.unwrap_or(true) {
        return Some(Lost::key());
    }
    if let Some(login) = &holder.login
        && !host.logins().is_open(login, host.live().now()).await.unwrap_or(true)
    {
        return Some(Lost::rights("the login of this page has ended; sign in again"));
    }
    let refused = host.live().check_open(app?).await.err();
    let failure = refused.filter(|failure| failure.code == Code::AgenticProjectArchived)?;
    Some(Lost { failure, close: Close::PROJECT_ARCHIVED })
}

impl AccessWatch {
    /// Returns when the socket must end.
    pub(crate) async fn lost(&mut self) -> Lost {
        // The sender is dropped only when nobody waits.
        let lost = self.0.wait_for(Option::is_some).await.ok().and_then(|lost| lost.clone());
        match lost {
            Some(lost) => lost,
            None => std::future::pending().await,
        }
    }
}
