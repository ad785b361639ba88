//! The live sessions of a host: the services, the sockets that are open, and what runs for them
//! while the host serves.

mod overrides;
mod slice;
mod sockets;
mod standing;
mod token_holder;
mod tools;

use std::sync::Arc;
use std::time::Duration;

use accord_contract::codes::{Code, Failure};
use accord_live::{Live, LiveOptions};
use accord_live_core::AppId;
use accord_live_core::limits::Limits;
use accord_store::Store;

use crate::http::{Host, LiveNumbers, LiveValues};
use crate::settings::Settings;

pub(crate) use self::overrides::Overrides;
pub(crate) use self::slice::slice;
pub(crate) use self::sockets::{Rejection, Sockets};
pub(crate) use self::standing::{Lost, Standing, Standings};
pub(crate) use self::token_holder::{TokenHolder, granted};
pub(crate) use self::tools::HostTools;

/// How often expired sessions are looked for.
const SWEEP: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(15));

/// The live sessions of a host.
pub(crate) struct LiveParts {
    pub(crate) live: Live,
    pub(crate) sockets: Sockets,
    pub(crate) standings: Standings,
    pub(crate) overrides: Overrides,
}

impl LiveParts {
    /// The live sessions of a store.
    ///
    /// # Errors
    /// When the default project is no id of a project.
    pub(crate) fn new(store: Arc<dyn Store>, settings: &Settings) -> Result<Self, Failure> {
        let default_app = settings.live.default_project.as_deref().map(AppId::new).transpose();
        let default_app = default_app.map_err(|error| {
            let message = format!("live.default_project: {error}");
            Failure::new(Code::SettingInvalid, message)
        })?;
        let options = LiveOptions {
            ttl_seconds: i64::try_from(settings.live.session_ttl.as_secs().max(1))
                .unwrap_or(i64::MAX),
            default_app,
            version_policy: settings.live.version_policy,
            schema_policy: settings.live.schema_check,
            limits: limits(settings),
            renders_per_minute: settings.limits.live_renders,
            ..LiveOptions::default()
        };
        Ok(Self {
            sockets: Sockets::new(settings.limits.live_sockets, &options.limits),
            live: Live::new(store, options),
            standings: Standings::default(),
            overrides: Overrides::default(),
        })
    }
}

impl LiveParts {
    /// What metrics say about them. It does not keep the store open.
    pub(crate) fn numbers(&self) -> LiveNumbers {
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
pub(crate) async fn sweep(host: Host) {
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
