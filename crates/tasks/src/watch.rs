//! Noticing what others change in a tree, in a process that keeps it open.
//!
//! The system reports changes in the folders of statuses, and in the folders of the runs of tasks
//! in progress: a tree in which nothing happens costs nothing. Where the system cannot do that, the
//! files of open tasks are compared with what they were. Where it watches no more folders, the
//! artifacts of the other runs are compared. So the cost depends on how many tasks are open, and
//! not on how many there are.

use std::collections::{BTreeSet, HashMap};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use accord_contract::{Code, Failure};
use accord_tasks_core::{Status, TaskId};
use accord_trees::wal::digest;
use accord_trees::watch::{Added, FolderChanges, FolderWatch, wait_for};
use accord_trees::{Disk, Kind, read_file};

use crate::layout::{MANIFEST, RunLayout, status_folder, task_file};
use crate::scan::{MAX_FILE, is_file_of_task};
use crate::tree::WeakTree;
use crate::writers::git_writes;
use crate::{Result, Tree};

/// The folders that those of runs are in.
const RUN_FOLDERS: [&str; 2] = ["runs", "state/runs"];
/// The artifacts of a run that decide about its task while it is in progress.
const ARTIFACTS: [&str; 2] = ["run.json", "run_heartbeat.json"];

/// How often files are compared. A change is noticed within a second.
const INTERVAL: Duration = Duration::from_millis(400);

/// How long a process waits while git writes the work tree, in rounds. A lock that git left behind
/// when it was killed is waited for once for each change.
const ROUND: Duration = Duration::from_millis(50);
const MAX_ROUNDS: usize = 600;
/// For how many rounds no more files may go or come before those that are gone count as deleted.
const STEADY: usize = 5;

#[derive(Debug, Default)]
pub(crate) struct Changes {
    pub(crate) tasks: BTreeSet<TaskId>,
    pub(crate) has_settings: bool,
    /// Whether anything may have changed.
    pub(crate) is_unknown: bool,
}

impl Changes {
    fn is_empty(&self) -> bool {
        self.tasks.is_empty() && !self.has_settings && !self.is_unknown
    }

    pub(crate) fn add(&mut self, more: Self) {
        self.tasks.extend(more.tasks);
        self.has_settings |= more.has_settings;
        self.is_unknown |= more.is_unknown;
    }
}

/// A tree that is watched until this value is dropped.
#[derive(Debug)]
#[must_use = "the tree is watched only while this value exists"]
pub struct Watching {
    /// Closing it ends the thread.
    stop: Option<UnixStream>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

impl Tree {
    /// Notices what others change in the files, within a second, until the value is dropped.
    pub fn watch(&self) -> Result<Watching> {
        let failed = |error: std::io::Error| {
            Failure::new(Code::AofTaskTreeUnavailable, format!("the tree is not watched: {error}"))
        };
        let (stop, stopped) = UnixStream::pair().map_err(failed)?;
        let (tree, disk) = (self.downgrade(), self.shared_disk());
        // Before the thread runs: a change after this call is noticed.
        let statuses = Status::ALL.iter().map(|status| status_folder(*status));
        let folders = [String::new()].into_iter().chain(statuses);
        let folders: Vec<String> = folders.chain(RUN_FOLDERS.map(str::to_owned)).collect();
        let folders = FolderWatch::start(disk.root_path(), &folders);
        let (files, followed, compared) = (HashMap::new(), BTreeSet::new(), BTreeSet::new());
        let mut watch = Watch { disk, folders, followed, compared, files };
        watch.follow_all();
        drop(watch.compare());
        let thread = std::thread::Builder::new().name("task-watch".into());
        let thread = thread.spawn(move || watch.run(&tree, &stopped)).map_err(failed)?;
        Ok(Watching { stop: Some(stop), thread: Some(thread) })
    }
}

struct Watch {
    disk: Arc<dyn Disk>,
    folders: Option<FolderWatch>,
    /// Tasks in progress whose runs the system watches.
    followed: BTreeSet<TaskId>,
    /// Tasks in progress whose runs are compared.
    compared: BTreeSet<TaskId>,
    /// What the compared files were.
    files: HashMap<String, Stamp>,
}

/// What tells one version of a file from another.
#[derive(Clone, Debug, Eq, PartialEq)]
enum Stamp {
    Content(String),
    Stat(u64, i64),
}

impl Watch {
    fn run(&mut self, tree: &WeakTree, stop: &UnixStream) {
        // What changed before the watch began is found by reading everything again.
        if let Some(tree) = tree.upgrade() {
            tree.notice(Changes { is_unknown: true, ..Changes::default() });
        }
        loop {
            let mut changes = match &mut self.folders {
                Some(folders) => {
                    let noticed = folders.wait(INTERVAL, stop);
                    if noticed.is_over {
                        return;
                    }
                    self.read(&noticed)
                }
                None if wait_for(stop, INTERVAL) => return,
                None => Changes::default(),
            };
            changes.add(self.compare());
            if changes.is_empty() {
                continue;
            }
            // Half of what git writes looks as if tasks were deleted.
            let mut rounds = 0;
            while rounds < MAX_ROUNDS && git_writes(self.disk.root_path()) {
                if wait_for(stop, ROUND) {
                    return;
                }
                rounds += 1;
            }
            if rounds > 0 {
                changes = Changes { is_unknown: true, has_settings: true, ..changes };
            }
            // So does half of what somebody removes, moves away, or brings back.
            let (mut gone, mut same) = (self.gone(&changes), 0);
            while !gone.is_empty() && same < STEADY && rounds < MAX_ROUNDS {
                if wait_for(stop, ROUND) {
                    return;
                }
                rounds += 1;
                if let Some(folders) = &mut self.folders {
                    let noticed = folders.wait(Duration::ZERO, stop);
                    if noticed.is_over {
                        return;
                    }
                    changes.add(self.read(&noticed));
                }
                changes.add(self.compare());
                let before = std::mem::replace(&mut gone, self.gone(&changes));
                same = if gone == before { same + 1 } else { 0 };
            }
            let Some(tree) = tree.upgrade() else { return };
            tree.notice(changes);
        }
    }

    /// The tasks among those that changed that have no file any more.
    fn gone(&self, changes: &Changes) -> Vec<TaskId> {
        let is_gone = |id: &TaskId| matches!(is_file_of_task(self.disk.as_ref(), *id), Ok(false));
        changes.tasks.iter().copied().filter(is_gone).collect()
    }

    fn read(&mut self, noticed: &FolderChanges) -> Changes {
        let mut changes = Changes { is_unknown: noticed.is_unknown, ..Changes::default() };
        if noticed.is_unknown {
            self.follow_all();
        }
        let running = status_folder(Status::InProgress);
        for (folder, name) in &noticed.names {
            let is_run_folder = RUN_FOLDERS.contains(&folder.as_str());
            if folder.is_empty() {
                changes.has_settings |= name == MANIFEST;
            } else if let Some(id) = id_in(folder) {
                // Other artifacts are read when they are needed.
                let is_watched = name.is_empty() || ARTIFACTS.contains(&name.as_str());
                changes.tasks.extend(Some(id).filter(|_| is_watched));
                if name.is_empty() {
                    self.follow(id);
                }
            } else if let Some(id) = id_in(name) {
                if is_run_folder || *folder == running {
                    self.follow(id);
                }
                // A run of a task that is not in progress decides nothing.
                if !is_run_folder || self.followed.contains(&id) {
                    changes.tasks.insert(id);
                }
            }
        }
        changes
    }

    /// Follows the runs of all tasks in progress.
    fn follow_all(&mut self) {
        let known: Vec<TaskId> = self.followed.union(&self.compared).copied().collect();
        let running = self.names(Status::InProgress);
        known.into_iter().chain(running).for_each(|id| self.follow(id));
    }

    /// Follows the run of a task if that is in progress, and otherwise no more.
    fn follow(&mut self, id: TaskId) {
        let Some(folders) = &mut self.folders else { return };
        let runs = [RunLayout::Guide, RunLayout::Reference].map(|layout| layout.folder(id));
        let stat = self.disk.stat(&task_file(Status::InProgress, id));
        if stat.is_ok_and(|stat| stat.is_none()) {
            runs.iter().for_each(|folder| folders.remove(folder));
            self.followed.remove(&id);
            self.compared.remove(&id);
            return;
        }
        // A folder that is made later is noticed in the folder that it is in.
        self.compared.remove(&id);
        if runs.iter().any(|folder| folders.add(folder) == Added::Refused) {
            self.compared.insert(id);
        }
        self.followed.insert(id);
    }

    fn compare(&mut self) -> Changes {
        let mut found: HashMap<String, (Option<TaskId>, Stamp)> = HashMap::new();
        let running = match &self.folders {
            Some(_) => self.compared.iter().copied().collect(),
            None => self.names(Status::InProgress),
        };
        for id in running {
            for layout in [RunLayout::Guide, RunLayout::Reference] {
                for name in ARTIFACTS {
                    let path = format!("{}/{name}", layout.folder(id));
                    if let Ok(Some(bytes)) = read_file(self.disk.as_ref(), &path, MAX_FILE) {
                        found.insert(path, (Some(id), Stamp::Content(digest(&bytes))));
                    }
                }
            }
        }
        if self.folders.is_none() {
            self.stat_files(&mut found);
        }
        let mut changes = Changes::default();
        for (path, (id, stamp)) in &found {
            if self.files.get(path) != Some(stamp) {
                changes.has_settings |= path == MANIFEST;
                changes.is_unknown |= id.is_none() && path != MANIFEST;
                changes.tasks.extend(*id);
            }
        }
        let gone = self.files.keys().filter(|path| !found.contains_key(*path));
        for path in gone {
            changes.has_settings |= path == MANIFEST;
            changes.tasks.extend(id_in(path));
        }
        self.files = found.into_iter().map(|(path, (_, stamp))| (path, stamp)).collect();
        changes
    }

    fn names(&self, status: Status) -> Vec<TaskId> {
        let entries = self.disk.list(&status_folder(status)).ok().flatten().unwrap_or_default();
        let names = entries.iter().filter(|entry| entry.kind != Kind::Folder);
        names.filter_map(|entry| TaskId::parse(entry.name.strip_suffix(".md")?).ok()).collect()
    }

    /// The files of open tasks, the folders of finished ones and `project.yaml`, by their stats.
    fn stat_files(&self, found: &mut HashMap<String, (Option<TaskId>, Stamp)>) {
        let mut add = |path: String, id: Option<TaskId>| {
            if let Ok(Some(stat)) = self.disk.stat(&path) {
                found.insert(path, (id, Stamp::Stat(stat.length, stat.modified_ms)));
            }
        };
        add(MANIFEST.to_owned(), None);
        for &status in Status::ALL {
            // Finished tasks may be many: a change of their folder is enough to look again.
            if status.is_final() {
                add(status_folder(status), None);
            } else {
                self.names(status).into_iter().for_each(|id| add(task_file(status, id), Some(id)));
            }
        }
    }
}

fn id_in(path: &str) -> Option<TaskId> {
    path.split('/').find_map(|name| TaskId::parse(name.strip_suffix(".md").unwrap_or(name)).ok())
}
