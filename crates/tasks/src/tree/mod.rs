//! A tree of tasks: its folder, its settings, and what its operations run through.

mod group;
mod unavailable;

use std::path::Path;
use std::sync::{Arc, Weak};

use accord_contract::{Code, Failure};
use accord_tasks_core::{TaskId, aof_project_id};
use accord_trees::wal::Wal;
use accord_trees::{Disk, Root, TreeError};
use parking_lot::{Condvar, Mutex, RwLock};

use crate::clock_watch::ClockWatch;
use crate::committed::State;
use crate::index::Index;
use crate::layout::OWN;
use crate::manifest::{Manifest, Settings};
use crate::watch::Changes;
use crate::work::Work;
use crate::writers::is_in_git;
use crate::{Environment, Result};
use group::Queue;
pub(crate) use unavailable::{failure, is_unavailable};

/// The tree of one project. A clone is the same tree.
#[derive(Clone)]
pub struct Tree(Arc<Shared>);

struct Shared {
    disk: Arc<dyn Disk>,
    environment: Environment,
    project: String,
    settings: RwLock<Arc<Settings>>,
    queue: Mutex<Queue>,
    /// As many callers wait as the leader wants.
    gathered: Condvar,
    /// The log and the index. Only the leader has it.
    store: Mutex<Store>,
    /// What others changed since the last group.
    changes: Mutex<Changes>,
    /// Whether the tree is in a work tree of git.
    is_in_git: bool,
}

/// A tree that may be closed by now.
pub(crate) struct WeakTree(Weak<Shared>);

impl WeakTree {
    pub(crate) fn upgrade(&self) -> Option<Tree> {
        self.0.upgrade().map(Tree)
    }
}

pub(crate) struct Store {
    wal: Wal<State>,
    index: Option<Index>,
    pace: ClockWatch,
}

impl Tree {
    /// Opens the tree in a folder. A folder without `project.yaml` has the default settings. Fails
    /// with `project_mismatch` if its `project.yaml` names another project.
    pub fn open(folder: &Path, project: &str, environment: Environment) -> Result<Self> {
        let disk: Arc<dyn Disk> = Arc::new(Root::open(folder).map_err(|error| failure(&error))?);
        Self::on(disk, project, environment)
    }

    /// The `project.yaml` in a folder, if it has one.
    pub fn manifest_in(folder: &Path) -> Result<Option<Manifest>> {
        let disk = Root::open(folder).map_err(|error| failure(&error))?;
        Ok(Settings::load(&disk)?.manifest)
    }

    /// The project that the `project.yaml` in a folder names; `no_task_tree` without one.
    pub fn project_in(folder: &Path) -> Result<String> {
        let disk: Arc<dyn Disk> = Arc::new(Root::open(folder).map_err(|error| failure(&error))?);
        let mut wal = Wal::new(disk.clone(), OWN, Environment::system().boot());
        let manifest = settings(disk.as_ref(), &mut wal)?.manifest;
        let named = manifest.map(|manifest| manifest.project().to_owned());
        named.ok_or_else(|| {
            let message = format!("{} has no project.yaml", folder.display());
            Failure::new(Code::AofNoTaskTree, message)
        })
    }

    /// The tree on a disk. Fails as for [`Tree::open`].
    pub fn on(disk: Arc<dyn Disk>, project: &str, environment: Environment) -> Result<Self> {
        let mut wal = Wal::new(disk.clone(), OWN, environment.boot());
        let settings = settings(disk.as_ref(), &mut wal)?;
        let manifest = settings.manifest.as_ref();
        let named = manifest.map_or(project, |manifest| manifest.project());
        if named != project && manifest.is_none_or(|manifest| manifest.id != project) {
            let message = format!("the tree belongs to the project {named}, not to {project}");
            return Err(Failure::new(Code::AofProjectMismatch, message)
                .with("expected", named)
                .with("received", project));
        }
        let project = named.to_owned();
        let is_in_git = is_in_git(disk.root_path());
        Ok(Self(Arc::new(Shared {
            is_in_git,
            disk,
            environment,
            project,
            settings: RwLock::new(Arc::new(settings)),
            queue: Mutex::default(),
            gathered: Condvar::new(),
            store: Mutex::new(Store { wal, index: None, pace: ClockWatch::default() }),
            changes: Mutex::default(),
        })))
    }

    /// The settings, as they held for the last group.
    pub fn settings(&self) -> Arc<Settings> {
        self.0.settings.read().clone()
    }

    /// Reads the settings again, if their files changed and can be read; else lint reports them.
    pub(crate) fn current_settings(&self) -> Arc<Settings> {
        let known = self.settings();
        if !known.is_outdated(self.disk()) {
            return known;
        }
        let Ok(fresh) = Settings::load(self.disk()) else { return known };
        let fresh = Arc::new(fresh.held_as(&known));
        *self.0.settings.write() = fresh.clone();
        fresh
    }

    /// The settings, with those that count only as set through Accord.
    fn held_settings(&self, state: &State) -> Arc<Settings> {
        let known = self.current_settings();
        let Some(held) = known.held_to(state.settings()) else { return known };
        let held = Arc::new(held);
        *self.0.settings.write() = held.clone();
        held
    }

    pub(crate) fn downgrade(&self) -> WeakTree {
        WeakTree(Arc::downgrade(&self.0))
    }

    /// Looks at the files of tasks, and of the settings, as if others had just changed them.
    pub fn look_at(&self, tasks: &[TaskId]) -> Result<()> {
        let tasks = tasks.iter().copied().collect();
        self.0.changes.lock().add(Changes { tasks, has_settings: true, is_unknown: false });
        self.change(|_| Ok(()))
    }

    /// Looks at what others changed.
    pub(crate) fn notice(&self, changes: Changes) {
        self.0.changes.lock().add(changes);
        // A tree that cannot be read now is read again by the next operation.
        drop(self.change(|_| Ok(())));
    }

    pub fn environment(&self) -> &Environment {
        &self.0.environment
    }

    pub(crate) fn disk(&self) -> &dyn Disk {
        self.0.disk.as_ref()
    }

    /// The files, for those who outlive a borrow of the tree.
    pub(crate) fn shared_disk(&self) -> Arc<dyn Disk> {
        Arc::clone(&self.0.disk)
    }

    /// The id of the project in AOF, which task files name.
    pub fn aof_id(&self) -> String {
        let settings = self.settings();
        let named = settings.manifest.as_ref().map(|manifest| manifest.id.clone());
        named.unwrap_or_else(|| aof_project_id(&self.0.project))
    }

    pub fn project(&self) -> &str {
        &self.0.project
    }

    /// Runs something on the folder of the tree while no process changes the tree through Accord
    /// and the files have everything that was committed. All others wait.
    pub fn hold<T: Send + 'static>(
        &self,
        run: impl FnOnce(&Path) -> T + Send + 'static,
    ) -> Result<T> {
        let disk = self.shared_disk();
        self.change(move |_| Ok(run(disk.root_path())))
    }

    /// Runs a decision, commits what it stages, then answers.
    /// Clauses: AOF-FILE-OTHERS, AOF-CRASH-KEPT, AOF-CRASH-RESUME.
    pub(crate) fn change<T: Send + 'static>(
        &self,
        decide: impl FnOnce(&mut Work<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.join_group(false, decide)
    }

    /// Answers what the tree says, as if what others changed had been judged. Nothing is written:
    /// what counts of an edit is written with the next change.
    pub(crate) fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&mut Work<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.join_group(true, read)
    }
}

/// The settings of a tree. A log that exists is completed first: until then files can be older
/// than what was committed, or damaged.
fn settings(disk: &dyn Disk, wal: &mut Wal<State>) -> Result<Settings> {
    if !has_log(disk) {
        return Settings::load(disk);
    }
    match wal.lock() {
        Ok(_locked) => return Settings::load(disk),
        Err(error) if is_unwritable(&error) => {}
        Err(error) => return Err(failure(&error)),
    }
    match wal.preview().map_err(|error| failure(&error))? {
        Some(preview) => Settings::load(preview.disk.as_ref()),
        None => Settings::load(disk),
    }
}

/// Whether Accord wrote to the tree. If not, a reader makes no lock either.
fn has_log(disk: &dyn Disk) -> bool {
    let entries = disk.list(OWN).ok().flatten().unwrap_or_default();
    entries.iter().any(|entry| entry.name.starts_with("log-"))
}

/// Whether a tree can be read and not be written.
fn is_unwritable(error: &TreeError) -> bool {
    error.is_read_only() || error.is_disk_full()
}
