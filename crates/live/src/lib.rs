//! The services of live sessions, one file per operation.
//!
//! An operation loads the row of its session in one unit of the store, asks the core
//! (`accord_live_core`) to decide, and writes rows and events in the same unit. Doors see [`Live`]
//! and nothing below it.
//!
//! Invariants:
//! - an operation is answered when its unit is durable;
//! - a subscriber gets every frame once: those before its snapshot from the store, those after it
//!   from the tail of the session (`hub`), which has them in the order of their commits;
//! - a contract is compiled outside of the units that write, and kept in a bounded cache;
//! - a session of another app is the same as none.
//!
//! ```
//! use std::sync::Arc;
//!
//! use accord_live::{Live, LiveOptions};
//! use accord_store::ModelStore;
//!
//! let live = Live::new(Arc::new(ModelStore::new()), LiveOptions::default());
//! assert_eq!(live.sockets(), 0);
//! ```

mod action;
mod answer;
mod ask_person;
mod asks;
mod catalogs;
mod channel;
mod conformance;
mod consume;
mod context;
mod contracts;
mod counts;
mod emit;
pub mod faults;
mod handshake;
mod host_context;
mod hub;
mod overview;
mod page;
mod props;
mod pull;
mod rates;
mod reads;
mod render;
mod rows;
mod submit;
mod subscribe;
mod subscriber;
mod sweep;
mod taken;
mod telemetry;
mod tokens;
mod unit;
mod unread;
mod watch;

use std::sync::{Arc, OnceLock, Weak};
use std::{collections::BTreeMap, fmt};

use accord_base::{Author, Caller, Need, ProjectId};
use accord_contract::{Failure, Time, Value};
use accord_live_core::limits::{
    Limits, OPEN_ASKS, RENDERS_PER_MINUTE, SESSION_TTL_SECONDS, UNREAD_SECONDS,
};
use accord_live_core::{AppId, gadgets::GadgetDescriptor, refuse, subset::Policy, token::Secret};
use accord_live_core::{tools::ThemeDocument, version::VersionPolicy};
use accord_store::{Listener, Store};
use accord_system::Clock;
use tokio::sync::Semaphore;

use self::{catalogs::Catalogs, contracts::Contracts, counts::Counters, hub::Hub, rates::Rates};

pub use self::ask_person::CheckedQuestion;
pub use self::channel::{LocalTools, Polled, ToolCall, ToolError};
pub use self::consume::{Consumed, Waiting};
pub use self::counts::Counts;
pub use self::overview::PageQuery;
pub use self::page::{PageAnswer, PageFacts};
pub use self::reads::Found;
pub use self::subscribe::Subscription;
pub use self::subscriber::{Delivery, End, Frame, Subscriber};
pub use self::taken::Taken;
pub use self::watch::Watcher;
pub use accord_live_core::tools;

/// Contracts that are compiled at once.
const COMPUTING: usize = 2;

#[derive(Clone, Debug)]
pub struct LiveOptions {
    /// Seconds that a session lives after its last activity.
    pub ttl_seconds: i64,
    /// The key of tokens. Without it there are none until [`Live::open_secret`].
    pub secret: Option<Secret>,
    /// The app of subscribers that name none, on a host without keys.
    pub default_app: Option<AppId>,
    pub version_policy: VersionPolicy,
    /// What happens to a contract that does not fit the tools of the server.
    pub schema_policy: Policy,
    /// The input schemas of the tools of the server.
    pub tools: BTreeMap<String, Value>,
    pub themes: Vec<ThemeDocument>,
    pub gadgets: Vec<GadgetDescriptor>,
    /// The most renders of an app in a minute; 0 for no limit.
    pub renders_per_minute: u32,
    /// The most questions that one actor may have open in a project; 0 for no limit.
    pub open_asks: u32,
    /// Seconds that the unread answers of a session are kept after it has ended.
    pub unread_seconds: i64,
    pub limits: Limits,
}

impl Default for LiveOptions {
    fn default() -> Self {
        Self {
            ttl_seconds: SESSION_TTL_SECONDS,
            secret: None,
            default_app: None,
            version_policy: VersionPolicy::Reject,
            schema_policy: Policy::Reject,
            tools: BTreeMap::new(),
            themes: vec![
                ThemeDocument::of_mode("light", "Light", "Dark text on a light ground"),
                ThemeDocument::of_mode("dark", "Dark", "Light text on a dark ground"),
            ],
            gadgets: Vec::new(),
            renders_per_minute: RENDERS_PER_MINUTE,
            open_asks: OPEN_ASKS,
            unread_seconds: UNREAD_SECONDS,
            limits: Limits::default(),
        }
    }
}

/// The services of live sessions over a store. A clone shares its state.
#[derive(Clone)]
pub struct Live {
    inner: Arc<Inner>,
}

#[derive(Clone, Debug)]
pub struct WeakLive(Weak<Inner>);

impl WeakLive {
    pub fn upgrade(&self) -> Option<Live> {
        self.0.upgrade().map(|inner| Live { inner })
    }
}

struct Inner {
    store: Arc<dyn Store>,
    options: LiveOptions,
    secret: OnceLock<Secret>,
    tools: OnceLock<Arc<dyn LocalTools>>,
    clock: Clock,
    contracts: Contracts,
    catalogs: Catalogs,
    rates: Rates,
    counters: Counters,
    hub: Arc<Hub>,
    computing: Arc<Semaphore>,
}

impl Live {
    pub fn new(store: Arc<dyn Store>, options: LiveOptions) -> Self {
        let hub = Arc::new(Hub::new(options.limits.subscriber_queue));
        store.subscribe(Arc::downgrade(&hub) as Weak<dyn Listener>);
        let secret = OnceLock::new();
        if let Some(given) = &options.secret {
            drop(secret.set(given.clone()));
        }
        Self {
            inner: Arc::new(Inner {
                store,
                options,
                secret,
                tools: OnceLock::new(),
                clock: Clock::default(),
                contracts: Contracts::default(),
                catalogs: Catalogs::default(),
                rates: Rates::default(),
                counters: Counters::default(),
                hub,
                computing: Arc::new(Semaphore::new(COMPUTING)),
            }),
        }
    }

    /// The services, without keeping their store open.
    pub fn downgrade(&self) -> WeakLive {
        WeakLive(Arc::downgrade(&self.inner))
    }

    pub fn options(&self) -> &LiveOptions {
        &self.inner.options
    }

    pub fn now(&self) -> Time {
        self.inner.clock.now()
    }

    pub fn sockets(&self) -> usize {
        self.inner.hub.subscribers()
    }

    /// The number of sessions that have subscribers, or agents that wait for events.
    pub fn followed(&self) -> usize {
        self.inner.hub.followed()
    }

    /// Refuses a change of an app whose project is archived.
    pub async fn check_open(&self, app: &AppId) -> Result<(), Failure> {
        let project = project_of(app)?;
        let read = self.read(move |unit| unit::check_open(unit, &project));
        Ok(read.await?)
    }

    /// The project of an app, if the caller has the right in it. A caller whose own actor is an
    /// agent answers as that agent.
    fn enter(&self, caller: &Caller, app: &AppId, need: Need) -> Result<ProjectId, Failure> {
        let project = project_of(app)?;
        caller.authorize(need, &project, Author::unnamed())?;
        Ok(project)
    }
}

/// The project of an app: they have the same id. Fails with `APP_MISMATCH` when the text is no id
/// of a project.
fn project_of(app: &AppId) -> Result<ProjectId, Failure> {
    ProjectId::new(app.as_str()).map_err(|_| refuse::app_mismatch("there is no such app"))
}

impl fmt::Debug for Live {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Live").finish_non_exhaustive()
    }
}
