//! What every door of a host shares.

use std::fmt;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use accord_store::Units;
use prometheus_client::collector::Collector;

use crate::keys::Keys;
use crate::logins::Logins;
use crate::metrics::Metrics;
use crate::people::People;
use crate::permits::Permits;
use crate::settings::Settings;
use crate::streams::Streams;

/// The settings of a host, its keys, logins and people, and what it counts. A clone is the same.
#[derive(Clone)]
pub struct Serving(Arc<Parts>);

struct Parts {
    folder: PathBuf,
    settings: Settings,
    keys: Keys,
    logins: Logins,
    people: People,
    metrics: Metrics,
    streams: Streams,
    connections: Permits,
    /// The address at which browsers reach it, from the moment that it is served.
    url: OnceLock<String>,
}

/// The state of the handlers of a door: what all doors share, and the services of its own.
pub trait Door: Deref<Target = Serving> + Clone + Send + Sync + 'static {}

impl<D: Deref<Target = Serving> + Clone + Send + Sync + 'static> Door for D {}

impl Serving {
    /// What the doors of the host of a data folder share. `values` are metrics that are read when
    /// they are requested.
    pub fn new(
        folder: &Path,
        settings: Settings,
        units: &Units,
        values: Vec<Box<dyn Collector>>,
    ) -> Self {
        let keys = Keys::new(units);
        let logins = Logins::new(folder, units);
        let people = People::new(units);
        let streams = Streams::new(settings.limits.event_streams);
        let connections = Permits::new(settings.limits.connections);
        let metrics = Metrics::new(streams.clone(), connections.clone(), values);
        let (folder, url) = (folder.to_owned(), OnceLock::new());
        Self(Arc::new(Parts {
            folder,
            settings,
            keys,
            logins,
            people,
            metrics,
            streams,
            connections,
            url,
        }))
    }

    pub fn folder(&self) -> &Path {
        &self.0.folder
    }

    pub fn settings(&self) -> &Settings {
        &self.0.settings
    }

    pub fn keys(&self) -> &Keys {
        &self.0.keys
    }

    pub fn logins(&self) -> &Logins {
        &self.0.logins
    }

    pub fn people(&self) -> &People {
        &self.0.people
    }

    pub fn metrics(&self) -> &Metrics {
        &self.0.metrics
    }

    pub fn streams(&self) -> &Streams {
        &self.0.streams
    }

    /// The permits for connections from the network.
    pub fn connections(&self) -> &Permits {
        &self.0.connections
    }

    /// The address at which browsers reach it, if it is served over the network.
    pub fn url(&self) -> Option<&str> {
        self.0.url.get().map(String::as_str)
    }

    /// Sets the address at which browsers reach it. The first one counts.
    pub fn set_url(&self, url: &str) {
        self.0.url.get_or_init(|| url.to_owned());
    }
}

impl fmt::Debug for Serving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serving").field("folder", &self.0.folder).finish_non_exhaustive()
    }
}
