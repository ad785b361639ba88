//! What the handlers of one host share.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use accord_contract::codes::{Code, Failure};
use accord_memory::{Memory, MemoryOptions};
use accord_store::{Engine, StoreError, StoreErrorKind};
use axum::Router;

use super::metrics::Metrics;
use super::permits::Permits;
use super::streams::Streams;
use crate::engine;
use crate::keys::Keys;
use crate::mcp::{TOOLSETS, Toolbox};
use crate::settings::Settings;
use crate::upkeep::create_folder;

/// The folder of blobs in a data folder.
pub const BLOBS: &str = "blobs";

/// A host: its services, and what its doors need. A clone is the same host; when the last is
/// dropped, the store is closed.
#[derive(Clone)]
pub struct Host(Arc<Parts>);

struct Parts {
    folder: PathBuf,
    settings: Settings,
    engine: Arc<dyn Engine>,
    memory: Memory,
    keys: Keys,
    metrics: Metrics,
    streams: Streams,
    connections: Permits,
    /// Weak, because a router holds the host.
    router: Mutex<Weak<Router>>,
}

impl Host {
    /// Opens the host of a data folder, which is created where it is not there.
    ///
    /// # Errors
    /// When the store cannot be opened, or two tools for agents have the same name.
    pub fn open(folder: &Path, settings: Settings) -> Result<Self, Failure> {
        // Where the folder cannot be created, the store says so below, with a code.
        drop(create_folder(folder));
        let engine = engine::open(folder).map_err(|error| explain(folder, &error))?;
        Self::over(engine, folder, settings)
    }

    /// A host over an engine, which other hosts may use too.
    ///
    /// # Errors
    /// When the keys cannot be read, or two tools for agents have the same name.
    pub fn over(
        engine: Arc<dyn Engine>,
        folder: &Path,
        settings: Settings,
    ) -> Result<Self, Failure> {
        Toolbox::join(TOOLSETS)?;
        let memory = Memory::new(
            Arc::clone(&engine) as _,
            MemoryOptions {
                strict_projects: settings.strict_projects,
                folder: Some(folder.to_owned()),
                blobs: settings.blobs.enabled.then(|| folder.join(BLOBS)),
                ..MemoryOptions::default()
            },
        );
        let keys = Keys::new(&memory);
        let streams = Streams::new(settings.limits.event_streams);
        // Not the store itself: whoever still looks at the metrics must not keep it open.
        let watched = Arc::downgrade(&engine);
        let connections = Permits::new(settings.limits.connections);
        let metrics = Metrics::new(streams.clone(), connections.clone(), move || {
            watched.upgrade().map(|engine| engine.statistics())
        });
        Ok(Self(Arc::new(Parts {
            folder: folder.to_owned(),
            settings,
            engine,
            memory,
            keys,
            metrics,
            streams,
            connections,
            router: Mutex::default(),
        })))
    }

    /// The data folder.
    pub fn folder(&self) -> &Path {
        &self.0.folder
    }

    /// The settings that hold.
    pub fn settings(&self) -> &Settings {
        &self.0.settings
    }

    /// The engine, for its upkeep.
    pub fn engine(&self) -> &Arc<dyn Engine> {
        &self.0.engine
    }

    /// The services of the Agentic Protocol.
    pub fn memory(&self) -> &Memory {
        &self.0.memory
    }

    /// The keys.
    pub fn keys(&self) -> &Keys {
        &self.0.keys
    }

    /// What was counted.
    pub fn metrics(&self) -> &Metrics {
        &self.0.metrics
    }

    /// The open event streams.
    pub fn streams(&self) -> &Streams {
        &self.0.streams
    }

    /// The permits for connections from the network.
    pub(crate) fn connections(&self) -> &Permits {
        &self.0.connections
    }

    /// The host's router: the same for all who ask while somebody has it.
    pub(crate) fn router(&self) -> Arc<Router> {
        let mut kept = (self.0.router.lock()).unwrap_or_else(PoisonError::into_inner);
        kept.upgrade().unwrap_or_else(|| {
            let router = Arc::new(super::router(self.clone()));
            *kept = Arc::downgrade(&router);
            router
        })
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let folder = &self.0.folder;
        f.debug_struct("Host")
            .field("folder", folder)
            .finish_non_exhaustive()
    }
}

/// Why the store of a folder cannot be opened, for whoever wants to open it and knows the folder.
fn explain(folder: &Path, error: &StoreError) -> Failure {
    let what = match folder.is_dir() {
        true => error.to_string(),
        false => "no data folder can be made in that place".to_owned(),
    };
    let mut message = format!("{}: {what}", folder.display());
    if !error.detail().is_empty() && !error.detail().contains(&*folder.to_string_lossy()) {
        message = format!("{message} ({})", error.detail());
    }
    // It would have been made: where there is none now, there can be none.
    let can_be_none = !folder.is_dir()
        && !matches!(
            error.kind(),
            StoreErrorKind::ReadOnly | StoreErrorKind::Full
        );
    let code = match can_be_none {
        true => Code::StoreFolderUnusable,
        false => error.code(),
    };
    Failure::new(code, message)
}
