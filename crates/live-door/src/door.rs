//! The live sessions of a host: the services, the sockets that are open, and what runs for them
//! while the host serves.

use std::sync::{Arc, Weak};
use std::{ops::Deref, time::Duration};

use accord_base::{Caller, ProjectId};
use accord_contract::{Code, Failure};
use accord_live::{Live, LiveOptions};
use accord_live_core::{AppId, limits::Limits};
use accord_serving::{Serving, settings::Settings};
use accord_store::Store;
use futures_util::future::BoxFuture;

use crate::access_watch::{AccessWatch, AccessWatches};
use crate::metrics::{LiveNumbers, LiveValues};
use crate::{overrides::Overrides, sockets::Sockets, token_holder::TokenHolder};

/// How often expired sessions are looked for.
const SWEEP: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(15));

pub struct LiveParts {
    live: Live,
    sockets: Sockets,
    watches: AccessWatches,
    overrides: Overrides,
}

impl LiveParts {
    /// The live sessions of a store, unless the default project is no id of a project.
    pub fn new(store: Arc<dyn Store>, settings: &Settings) -> Result<Self, Failure> {
        let default_app = settings.live.default_project.as_deref().map(AppId::new).transpose();
        let default_app = default_app.map_err(|error| {
            Failure::new(Code::SettingInvalid, format!("live.default_project: {error}"))
        })?;
        let ttl_seconds = settings.live.session_ttl.as_secs().max(1);
        let options = LiveOptions {
            ttl_seconds: i64::try_from(ttl_seconds).unwrap_or(i64::MAX),
            default_app,
            version_policy: settings.live.version_policy,
            schema_policy: settings.live.schema_check,
            limits: limits(settings),
            renders_per_minute: settings.limits.live_renders,
            open_asks: settings.limits.live_asks,
            unread_seconds: i64::from(settings.live.unread_days) * 24 * 3600,
            ..LiveOptions::default()
        };
        Ok(Self {
            sockets: Sockets::new(settings.limits.live_sockets, &options.limits),
            live: Live::new(store, options),
            watches: AccessWatches::default(),
            overrides: Overrides::default(),
        })
    }

    /// What metrics say about them. It does not keep the store open.
    pub fn numbers(&self) -> LiveNumbers {
        let (live, sockets) = (self.live.downgrade(), self.sockets.clone());
        Box::new(move || {
            let live = live.upgrade()?;
            Some(LiveValues {
                sockets: sockets.count(),
                subscribers: live.sockets(),
                sessions: live.followed(),
                counts: live.counts(),
            })
        })
    }
}

fn limits(settings: &Settings) -> Limits {
    let settings = &settings.limits;
    let bytes = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
    let mut limits = Limits::default();
    limits.frame_bytes = bytes(settings.live_frame_bytes.0);
    limits.pre_subscribe_bytes = bytes(settings.live_pending_bytes.0);
    limits.pre_subscribe_idle_ms =
        u64::try_from(settings.live_pending_timeout.as_millis()).unwrap_or(u64::MAX);
    limits.pre_subscribe_sockets = settings.live_pending_sockets as usize;
    limits.subscriber_queue = settings.live_queue;
    limits
}

/// Ends the sessions that expire, until the host closes.
pub async fn sweep(host: LiveDoor) {
    let mut closed = std::pin::pin!(host.streams().closed());
    let (least, most) = SWEEP;
    let every = (host.settings().live.session_ttl / 4).clamp(least, most);
    loop {
        tokio::select! {
            () = &mut closed => return,
            () = tokio::time::sleep(every) => {}
        }
        if let Err(failure) = host.live().sweep().await {
            let code = failure.code;
            tracing::warn!(%code, "expired live sessions were not ended: {}", failure.message);
        }
    }
}

/// What live sessions need of the rest of a host.
pub trait Surroundings: Send + Sync {
    /// Creates a project that does not exist. Says whether it is new.
    fn ensure_project<'a>(
        &'a self,
        caller: &'a Caller,
        project: &'a ProjectId,
    ) -> BoxFuture<'a, Result<bool, Failure>>;

    /// The ids of the first projects; none if the caller may not list them.
    fn projects<'a>(&'a self, caller: &'a Caller, most: u32) -> BoxFuture<'a, Vec<String>>;

    /// Whether the disk takes writes to the store.
    fn can_write(&self) -> BoxFuture<'_, bool>;

    /// The names of all MCP tools.
    fn tool_names(&self) -> Vec<&'static str>;
}

/// The state of the handlers. A clone is the same.
#[derive(Clone)]
pub struct LiveDoor(Arc<Inner>);

/// The door, without keeping the store open.
#[derive(Clone)]
pub(crate) struct WeakLiveDoor(Weak<Inner>);

struct Inner {
    serving: Serving,
    parts: LiveParts,
    surroundings: Box<dyn Surroundings>,
}

impl LiveDoor {
    pub fn new(serving: Serving, parts: LiveParts, surroundings: Box<dyn Surroundings>) -> Self {
        Self(Arc::new(Inner { serving, parts, surroundings }))
    }

    pub fn live(&self) -> &Live {
        &self.0.parts.live
    }

    pub fn overrides(&self) -> &Overrides {
        &self.0.parts.overrides
    }

    pub(crate) fn sockets(&self) -> &Sockets {
        &self.0.parts.sockets
    }

    /// Notices that live sockets of a holder, subscribed to a session of an app, must end.
    pub(crate) fn watch_access(&self, holder: &TokenHolder, app: Option<&AppId>) -> AccessWatch {
        let weak = WeakLiveDoor(Arc::downgrade(&self.0));
        self.0.parts.watches.follow(weak, holder, app)
    }

    pub(crate) fn surroundings(&self) -> &dyn Surroundings {
        &*self.0.surroundings
    }
}

impl WeakLiveDoor {
    pub(crate) fn upgrade(&self) -> Option<LiveDoor> {
        self.0.upgrade().map(LiveDoor)
    }
}

impl Deref for LiveDoor {
    type Target = Serving;

    fn deref(&self) -> &Serving {
        &self.0.serving
    }
}
