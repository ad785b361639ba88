//! The state that all handlers of a host share.

use std::fmt;
use std::ops::Deref;
use std::path::Path;
use std::sync::{Arc, Weak};

use accord_contract::{Code, Failure};
use accord_live::Live;
use accord_live_door::{LiveDoor, LiveParts};
use accord_memory::{Embedder, EmbeddingOptions, Memory, MemoryOptions};
use accord_memory_door::MemoryDoor;
use accord_process::user_state_folder;
use accord_runs_door::RunsDoor;
use accord_serving::Serving;
use accord_store::{Engine, Listener, StoreError, StoreErrorKind};
use accord_tasks::Environment;
use accord_tasks_door::TasksDoor;
use axum::Router;
use parking_lot::Mutex;

use super::local_tools::HostTools;
use super::metrics::ServiceValues;
use super::surroundings::HostSurroundings;
use crate::engine;
use crate::inbox::Bell;
use crate::mcp::{TOOLSETS, Toolbox};
use crate::runs::HostEdges;
use crate::settings::Settings;
use crate::tasks::takeover::take_over_all;
use crate::tasks::{TaskTrees, check_project, links};
use crate::upkeep::create_folder;

pub const BLOBS: &str = "blobs";

/// A host: its services and shared state. A clone is the same host. The store is closed when the
/// last clone is dropped.
#[derive(Clone)]
pub struct Host(Arc<Parts>);

/// A host, if it is still there.
#[derive(Clone)]
pub(crate) struct WeakHost(Weak<Parts>);

struct Parts {
    serving: Serving,
    engine: Arc<dyn Engine>,
    kind: HostKind,
    memory: Memory,
    tasks: TaskTrees,
    tasks_door: TasksDoor,
    runs_door: RunsDoor,
    live_door: LiveDoor,
    bell: Arc<Bell>,
    /// Weak, because the router has a clone of the host.
    router: Mutex<Weak<Router>>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum HostKind {
    /// A data folder, whose store it opened.
    Folder,
    /// A data folder, over an engine that other hosts may use.
    Shared,
    /// The task trees of a data folder, without its store.
    Tasks,
    Trial,
}

impl Host {
    /// Opens the host of a data folder, which is created if it does not exist.
    pub fn open(folder: &Path, settings: Settings) -> Result<Self, Failure> {
        let is_new = !folder.join(engine::DATABASE).exists();
        // If the folder cannot be created, opening the engine fails below, with a code.
        drop(create_folder(folder));
        let engine = engine::open(folder).map_err(|error| explain(folder, &error))?;
        if is_new {
            let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
            tracing::info!(folder = %folder.display(), "new data folder");
        }
        Self::new(engine, HostKind::Folder, folder, settings)
    }

    /// An empty host that lasts as long as the process. It has the settings of a data folder, and
    /// does not touch the folder. It knows the projects of the tasks in it; its own tasks are in a
    /// temporary folder.
    pub fn in_memory(folder: &Path, settings: Settings) -> Result<Self, Failure> {
        let host = Self::new(engine::in_memory(), HostKind::Trial, folder, settings)?;
        take_over_all(host.memory(), &TaskTrees::new(folder, Environment::system()));
        Ok(host)
    }

    /// A host for the task trees of a data folder alone: everything else is empty and lasts as long
    /// as the process. It neither opens nor creates the store.
    pub fn tasks_only(folder: &Path, settings: Settings) -> Result<Self, Failure> {
        Self::new(engine::in_memory(), HostKind::Tasks, folder, settings)
    }

    /// A host over an engine, which other hosts may use, too. It does not close the engine.
    pub fn over(engine: Arc<dyn Engine>, data: &Path, settings: Settings) -> Result<Self, Failure> {
        Self::new(engine, HostKind::Shared, data, settings)
    }

    fn new(
        engine: Arc<dyn Engine>,
        kind: HostKind,
        folder: &Path,
        settings: Settings,
    ) -> Result<Self, Failure> {
        // Checked here, where an error can be returned. The router relies on it.
        Toolbox::join(TOOLSETS)?;
        let memory = Memory::new(
            Arc::clone(&engine) as _,
            MemoryOptions {
                strict_projects: settings.strict_projects,
                folder: Some(folder.to_owned()),
                blobs: settings.blobs.enabled.then(|| folder.join(BLOBS)),
                embedder: embedder(&settings)?,
            },
        );
        let tasks = match kind {
            HostKind::Trial => TaskTrees::temporary(Environment::system())?,
            _ => {
                let system = Environment::system();
                TaskTrees::new(folder, system.with_state_folder(user_state_folder()))
            }
        };
        let live = LiveParts::new(Arc::clone(&engine) as _, &settings)?;
        let values = ServiceValues {
            embedder: memory.options().embedder.clone(),
            live: live.numbers(),
            engine: Arc::downgrade(&engine),
        };
        let serving = Serving::new(folder, settings, memory.units(), vec![Box::new(values)]);
        let has_store = matches!(kind, HostKind::Folder | HostKind::Shared);
        let strict = serving.settings().strict_projects;
        let check_project = has_store.then(|| check_project(&memory, strict));
        let tasks_door = TasksDoor::new(serving.clone(), tasks.clone(), check_project);
        let database = (kind == HostKind::Folder).then(|| folder.join(engine::DATABASE));
        let surroundings = HostSurroundings { memory: memory.clone(), database };
        let live_door = LiveDoor::new(serving.clone(), live, Box::new(surroundings));
        let bell = Arc::new(Bell::new());
        engine.subscribe(Arc::downgrade(&bell) as Weak<dyn Listener>);
        let edges = HostEdges { memory: memory.clone() };
        let runs_door = RunsDoor::new(serving.clone(), Arc::new(edges));
        let host = Self(Arc::new(Parts {
            serving,
            engine,
            kind,
            memory,
            tasks,
            tasks_door,
            runs_door,
            live_door,
            bell,
            router: Mutex::default(),
        }));
        host.open_trees();
        if host.settings().live.poll_tools {
            host.live().set_local_tools(Arc::new(HostTools(host.downgrade())));
        }
        Ok(host)
    }

    /// Reads which trees are linked, and takes over what happened in trees while no host had the
    /// store. A tree or link that cannot be read does not keep the store from being opened.
    fn open_trees(&self) {
        if !self.has_store() {
            return;
        }
        if let Err(failure) = links::load(self.tasks(), self.memory(), self.folder()) {
            let code = failure.code;
            tracing::warn!(%code, "linked task trees are not used: {}", failure.message);
        }
        take_over_all(self.memory(), self.tasks());
        self.keep_results();
        self.keep_answers();
    }

    /// Takes over what happened in the trees: for a host of tasks alone, which has no store.
    pub fn take_over_tasks(&self) {
        take_over_all(self.memory(), self.tasks());
    }

    fn downgrade(&self) -> WeakHost {
        WeakHost(Arc::downgrade(&self.0))
    }

    pub(crate) fn serving(&self) -> &Serving {
        &self.0.serving
    }

    /// The engine, for maintenance.
    pub fn engine(&self) -> &Arc<dyn Engine> {
        &self.0.engine
    }

    /// Whether the engine closes with this host.
    pub(crate) fn owns_engine(&self) -> bool {
        self.0.kind != HostKind::Shared
    }

    /// Whether it has the store of its data folder, and so knows the folder's projects.
    pub(crate) fn has_store(&self) -> bool {
        matches!(self.0.kind, HostKind::Folder | HostKind::Shared)
    }

    pub fn memory(&self) -> &Memory {
        &self.0.memory
    }

    pub(crate) fn memory_door(&self) -> MemoryDoor {
        MemoryDoor::new(self.0.serving.clone(), self.0.memory.clone())
    }

    pub fn tasks(&self) -> &TaskTrees {
        &self.0.tasks
    }

    pub(crate) fn tasks_door(&self) -> TasksDoor {
        self.0.tasks_door.clone()
    }

    pub(crate) fn runs_door(&self) -> RunsDoor {
        self.0.runs_door.clone()
    }

    pub(crate) fn live_door(&self) -> LiveDoor {
        self.0.live_door.clone()
    }

    /// Rings when something may have changed in the inbox.
    pub(crate) fn bell(&self) -> &Bell {
        &self.0.bell
    }

    pub fn live(&self) -> &Live {
        self.0.live_door.live()
    }

    /// The router, which all connections share.
    pub(crate) fn router(&self) -> Arc<Router> {
        let mut kept = self.0.router.lock();
        kept.upgrade().unwrap_or_else(|| {
            let router = Arc::new(super::router(self.clone()));
            *kept = Arc::downgrade(&router);
            router
        })
    }
}

impl Deref for Host {
    type Target = Serving;

    fn deref(&self) -> &Serving {
        &self.0.serving
    }
}

impl WeakHost {
    pub(crate) fn upgrade(&self) -> Option<Host> {
        self.0.upgrade().map(Host)
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host").field("folder", &self.folder()).finish_non_exhaustive()
    }
}

/// What makes vectors, if the settings name a server.
fn embedder(settings: &Settings) -> Result<Option<Arc<Embedder>>, Failure> {
    let embeddings = &settings.embeddings;
    let Some(url) = &embeddings.url else { return Ok(None) };
    let options = EmbeddingOptions {
        key_file: embeddings.key_file.clone(),
        dimensions: (embeddings.dimensions > 0).then_some(embeddings.dimensions),
        query_prefix: embeddings.query_prefix.clone(),
        passage_prefix: embeddings.passage_prefix.clone(),
        batch: embeddings.batch,
        timeout: embeddings.timeout,
        query_timeout: embeddings.query_timeout,
        memory: embeddings.memory.0,
        ..EmbeddingOptions::new(url.as_str(), &embeddings.model)
    };
    Ok(Some(Arc::new(Embedder::new(options)?)))
}

/// The failure to open the store of a folder. The caller knows the folder, so it may be named.
fn explain(folder: &Path, error: &StoreError) -> Failure {
    let what = if folder.is_dir() {
        error.to_string()
    } else {
        "no data folder can be created there".to_owned()
    };
    let mut message = format!("{}: {what}", folder.display());
    if !error.detail().is_empty() && !error.detail().contains(&*folder.to_string_lossy()) {
        message = format!("{message} ({})", error.detail());
    }
    // Opening creates the folder. If it does not exist now, it cannot be created.
    let is_unusable = !folder.is_dir() && error.kind() != StoreErrorKind::Full;
    let code = if is_unusable { Code::StoreFolderUnusable } else { error.code() };
    Failure::new(code, message)
}
