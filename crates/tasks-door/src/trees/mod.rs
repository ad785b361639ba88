//! The task trees of a host: which folder holds the tasks of a project.
//!
//! The tree of a project is in the data folder, below `projects/`, or in a folder that is linked to
//! the project. A tree is opened once, and everything in this process shares it.
//!
//! Invariants:
//! - a project has one tree, and a tree is never used under two projects;
//! - a reader creates no tree, and neither does a change that is refused;
//! - nothing here opens the store.
//!
//! Every function here can block on the disk: handlers call them on a thread for blocking work.

mod discover;
pub mod links;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use accord_base::{By, ProjectId};
use accord_contract::{Code, Failure};
use accord_tasks::{Environment, Tree, Watching};
use accord_tasks_core::aof_project_id;
use accord_tasks_core::operations::{
    CreateManyAnswer, CreateManyRequest, CreateRequest, InitAnswer, InitRequest, TaskAnswer,
};
use parking_lot::Mutex;
use tempfile::TempDir;

use accord_serving::folder;

/// The folder of the task trees in a data folder.
pub const PROJECTS: &str = "projects";

/// A tree that is open for longer than this is watched.
const WATCH_AFTER: Duration = Duration::from_millis(500);

/// The folder that makes a folder a tree.
const TASKS: &str = "tasks";
/// What Accord wrote about a tree.
const OWN: &str = accord_tasks::layout::OWN;

/// The task trees of a host. A clone is the same trees.
#[derive(Clone)]
pub struct TaskTrees(Arc<Shared>);

struct Shared {
    /// Where trees are that have no folder of their own.
    projects: PathBuf,
    environment: Environment,
    state: Mutex<State>,
    /// Removed with the last clone.
    _temporary: Option<TempDir>,
}

#[derive(Default)]
struct State {
    /// The folders of projects whose trees are elsewhere.
    linked: BTreeMap<ProjectId, PathBuf>,
    open: BTreeMap<ProjectId, Open>,
}

/// A tree, and the folder that it was opened in.
struct Open {
    tree: Tree,
    folder: FolderId,
    since: Instant,
    watching: Option<Watching>,
}

/// Identifies a folder for as long as it exists, wherever it is moved.
#[derive(Clone, Copy, Eq, PartialEq)]
struct FolderId {
    device: u64,
    inode: u64,
}

impl TaskTrees {
    /// The trees of a data folder.
    pub fn new(data: &Path, environment: Environment) -> Self {
        Self::below(data.join(PROJECTS), environment, None)
    }

    /// Trees that are removed when the last clone is dropped.
    pub fn temporary(environment: Environment) -> Result<Self, Failure> {
        let folder = temporary()?;
        Ok(Self::below(folder.path().to_owned(), environment, Some(folder)))
    }

    fn below(projects: PathBuf, environment: Environment, temporary: Option<TempDir>) -> Self {
        let state = Mutex::default();
        Self(Arc::new(Shared { projects, environment, state, _temporary: temporary }))
    }

    /// Uses a folder elsewhere as the tree of a project, or the data folder's again.
    pub fn link(&self, project: &ProjectId, folder: Option<PathBuf>) {
        let mut state = self.0.state.lock();
        let was = match &folder {
            Some(folder) => state.linked.insert(project.clone(), folder.clone()),
            None => state.linked.remove(project),
        };
        if was != folder {
            state.open.remove(project);
        }
    }

    /// The folder of a project's tree, whether or not it exists.
    pub fn folder(&self, project: &ProjectId) -> PathBuf {
        let linked = self.0.state.lock().linked.get(project).cloned();
        linked.unwrap_or_else(|| self.0.projects.join(aof_project_id(project.as_str())))
    }

    /// The projects with folders elsewhere.
    pub fn linked(&self) -> Vec<(ProjectId, PathBuf)> {
        let state = self.0.state.lock();
        state.linked.iter().map(|(project, folder)| (project.clone(), folder.clone())).collect()
    }

    /// The tree of a project, if it has one.
    pub fn find(&self, project: &ProjectId) -> Result<Option<Tree>, Failure> {
        let folder = self.folder(project);
        let Some(id) = tree_folder(&folder)? else {
            self.0.state.lock().open.remove(project);
            return Ok(None);
        };
        let mut state = self.0.state.lock();
        if let Some(open) = state.open.get_mut(project)
            && open.folder == id
        {
            // A process that stays must notice what others change after the start.
            if open.watching.is_none() && open.since.elapsed() >= WATCH_AFTER {
                open.watching = open.tree.watch().ok();
            }
            return Ok(Some(open.tree.clone()));
        }
        let tree = Tree::open(&folder, project.as_str(), self.0.environment.clone())?;
        let (since, watching) = (Instant::now(), None);
        let open = Open { tree: tree.clone(), folder: id, since, watching };
        state.open.insert(project.clone(), open);
        Ok(Some(tree))
    }

    /// The tree of a project. Fails with `no_task_tree` when the project has none.
    pub fn get(&self, project: &ProjectId) -> Result<Tree, Failure> {
        self.find(project)?.ok_or_else(|| {
            let message = format!("the project {:?} has no tasks yet", project.as_str());
            Failure::new(Code::AofNoTaskTree, message).with("project_id", project.as_str())
        })
    }

    /// Creates a task, and the tree of its project if it has none.
    pub fn create(
        &self,
        project: &ProjectId,
        request: &CreateRequest,
        by: &By,
    ) -> Result<TaskAnswer, Failure> {
        match self.find(project)? {
            Some(tree) => tree.create(request, by),
            None => self.make(project, |tree| {
                tree.init(&InitRequest::default(), by)?;
                tree.create(request, by)
            }),
        }
    }

    /// Creates many tasks, and the tree of the project if there is none. A trial creates nothing.
    pub fn create_many(
        &self,
        project: &ProjectId,
        request: &CreateManyRequest,
        by: &By,
    ) -> Result<CreateManyAnswer, Failure> {
        match self.find(project)? {
            Some(tree) => tree.create_many(request, by),
            None if request.dry_run == Some(true) => self.get(project)?.create_many(request, by),
            None => self.make(project, |tree| {
                tree.init(&InitRequest::default(), by)?;
                tree.create_many(request, by)
            }),
        }
    }

    /// Creates the tree of a project, or changes its settings.
    pub fn init(&self, of: &ProjectId, init: &InitRequest, by: &By) -> Result<InitAnswer, Failure> {
        match self.find(of)? {
            Some(tree) => tree.init(init, by),
            None => self.make(of, |tree| tree.init(init, by)),
        }
    }

    /// Creates the tree of a project by its first operation. The operation is done in a temporary
    /// folder first: one that is refused leaves nothing behind.
    fn make<T>(
        &self,
        project: &ProjectId,
        operation: impl Fn(&Tree) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let open = |folder: &Path| Tree::open(folder, project.as_str(), self.0.environment.clone());
        let trial = temporary()?;
        operation(&open(trial.path())?)?;
        let folder = self.folder(project);
        if let Some(data) = self.0.projects.parent().filter(|data| folder.starts_with(data)) {
            folder::create(data).map_err(|error| unavailable(data, &error))?;
        }
        fs::create_dir_all(&folder).map_err(|error| unavailable(&folder, &error))?;
        operation(&open(&folder)?)
    }
}

impl std::fmt::Debug for TaskTrees {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let projects = &self.0.projects;
        formatter.debug_struct("TaskTrees").field("projects", projects).finish_non_exhaustive()
    }
}

/// The id of a folder that holds a tree; `None` if there is no tree.
fn tree_folder(folder: &Path) -> Result<Option<FolderId>, Failure> {
    let found = |path: &Path| match fs::metadata(path) {
        Ok(found) => Ok(found.is_dir().then_some(found)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unavailable(path, &error)),
    };
    // Without its tasks it is still a tree, if Accord wrote to it: it says that they are gone.
    if found(&folder.join(TASKS))?.is_none() && found(&folder.join(OWN))?.is_none() {
        return Ok(None);
    }
    let id = |found: fs::Metadata| FolderId { device: found.dev(), inode: found.ino() };
    Ok(found(folder)?.map(id))
}

/// A folder that is removed when it is dropped.
fn temporary() -> Result<TempDir, Failure> {
    TempDir::with_prefix("accord-tasks-")
        .map_err(|error| unavailable(&std::env::temp_dir(), &error))
}

fn unavailable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(Code::AofTaskTreeUnavailable, format!("{}: {error}", path.display()))
}
