//! The scheduler of a server: looks at every tree that is due, takes events over, and notifies
//! people.
//!
//! One thread looks at the trees. It wakes a few times a second to see which logs grew and which
//! folders are new, and looks at a tree only if its log grew, something is due, an agent ended, or
//! a second has passed. Another thread sends notifications, so that a slow receiver delays nothing.
//! Each agent has a thread of its own.
//!
//! Invariants:
//! - a tree that is created while the server runs is scheduled within a second;
//! - a tree that cannot be read does not hold up the others;
//! - when the server closes, agents are ended and their leases released before the store closes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use accord_base::ProjectId;
use accord_base::worker::AttemptSockets;
use accord_contract::{Failure, Time};
use accord_process::{Cancel, SandboxRules};
use accord_serving::listen::AttemptSocket;
use accord_store::StoreExt as _;
use accord_tasks::Tree;
use accord_tasks::executor::{CommandExecutor, Executor, Manual};
use accord_tasks::notify::{CommandReceiver, Notifier, Receiver, Webhook};
use accord_tasks::schedule::Scheduler;
use accord_tasks::worker::{AgentCommand, WorkEnd, Worker, end_leftovers};
use accord_tasks_core::board::Limits;
use parking_lot::{Condvar, Mutex};
use tokio::runtime::Handle;

use super::takeover::take_over;
use crate::http::streams::Unfinished;
use crate::http::{Host, local_api};
use crate::inbox::{clear, refresh};
use crate::settings::{ExecutorKind, Settings};

/// How often the thread looks which trees changed.
const TICK: Duration = Duration::from_millis(200);
/// How often a tree is looked at although nothing is known to have changed: files can be edited by
/// people and other tools.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How long a tree that failed is left alone.
const PAUSE_AFTER_FAILURE: Duration = Duration::from_secs(5);
/// How many times in a row a tree is looked at while looking changes it.
const LOOKS_IN_A_ROW: usize = 16;

/// Starts the threads. They end when the host closes, and the store waits for them. Called in the
/// runtime of the host, which serves the sockets of agents.
pub(crate) fn start(host: &Host) {
    let work = host.streams().begin_work();
    let shared = Arc::new(Shared::default());
    let notices = notices(host, &shared);
    let (host, runtime) = (host.clone(), Handle::current());
    let run = move || Trees::new(host, shared, notices, &runtime).run(work);
    if let Err(error) = thread::Builder::new().name("tasks".to_owned()).spawn(run) {
        tracing::error!("no thread for the scheduler of tasks: {error}");
    }
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    woken: Condvar,
    cancel: Cancel,
}

#[derive(Default)]
struct State {
    /// An agent ended: all trees may start another one.
    is_free: bool,
    /// The trees with events that people may have to be notified about.
    changed: BTreeMap<ProjectId, Tree>,
    is_closing: bool,
}

impl Shared {
    fn wake(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state.lock());
        self.woken.notify_all();
    }
}

/// The trees of a host, while they are scheduled.
struct Trees {
    host: Host,
    executor: Arc<dyn Executor>,
    shared: Arc<Shared>,
    notices: Option<thread::JoinHandle<()>>,
    known: BTreeMap<ProjectId, Watched>,
    /// The state of the tree around the data folder, whose results are kept and which is not
    /// scheduled.
    around: Option<Mark>,
}

/// A tree that is scheduled.
struct Watched {
    scheduler: Scheduler,
    mark: Option<Mark>,
    due: Option<Time>,
    next: Instant,
    is_failing: bool,
}

/// What tells one state of a tree's log from another.
type Mark = (PathBuf, u64, SystemTime);

impl Trees {
    fn new(
        host: Host,
        shared: Arc<Shared>,
        notices: Option<thread::JoinHandle<()>>,
        runtime: &Handle,
    ) -> Self {
        let executor = executor(&host, &shared, runtime);
        Self { host, executor, shared, notices, known: BTreeMap::new(), around: None }
    }

    fn run(mut self, work: Unfinished) {
        self.clear_others();
        self.host.bell().schedule();
        while !self.host.streams().are_closing() {
            let is_free = std::mem::take(&mut self.shared.state.lock().is_free);
            self.discover();
            let projects: Vec<_> = self.known.keys().cloned().collect();
            for project in projects {
                self.look(&project, is_free);
            }
            self.look_around();
            let mut state = self.shared.state.lock();
            if !state.is_free {
                self.shared.woken.wait_for(&mut state, TICK);
            }
        }
        self.executor.shut_down();
        // What the agents left is in the stream before the store closes.
        super::takeover::take_over_all(self.host.memory(), self.host.tasks());
        self.host.keep_results();
        self.shared.cancel.cancel();
        self.shared.wake(|state| state.is_closing = true);
        if let Some(notices) = self.notices.take() {
            drop(notices.join());
        }
        // The host first: the store may be closed and opened again once the work is over.
        drop(self);
        drop(work);
    }

    /// Adds trees that are new and drops those that are gone.
    fn discover(&mut self) {
        let trees = self.host.tasks();
        let projects: BTreeSet<_> = trees.projects().into_iter().collect();
        let gone: Vec<_> =
            self.known.keys().filter(|project| !projects.contains(*project)).cloned().collect();
        for project in gone {
            self.known.remove(&project);
            self.clear_items(&project);
        }
        for project in projects {
            let tree = match trees.find(&project) {
                Ok(Some(tree)) => tree,
                Ok(None) => {
                    if self.known.remove(&project).is_some() {
                        self.clear_items(&project);
                    }
                    continue;
                }
                // The next look says what is wrong.
                Err(_) => continue,
            };
            if let Some(watched) = self.known.get_mut(&project) {
                // The folder may be another one now.
                watched.scheduler.worker.root = trees.folder(&project);
                watched.scheduler.worker.tree = tree;
                continue;
            }
            tracing::debug!(project = project.as_str(), "tasks are scheduled");
            let watched = self.watch(&project, tree);
            self.known.insert(project, watched);
        }
    }

    /// Removes the items of projects whose trees are gone since an earlier host made them.
    fn clear_others(&self) {
        let trees: BTreeSet<_> = self.host.tasks().projects().into_iter().collect();
        let all = self.host.memory().store().read(|unit| unit.project_ids());
        for project in all.unwrap_or_default() {
            if !trees.contains(&project) {
                self.clear_items(&project);
            }
        }
    }

    fn clear_items(&self, project: &ProjectId) {
        match clear(self.host.memory(), project) {
            Ok(true) => self.host.bell().ring(),
            Ok(false) => {}
            Err(failure) => {
                let (project, code) = (project.as_str(), failure.code);
                tracing::warn!(project, %code, "old items stay: {}", failure.message);
            }
        }
    }

    fn watch(&self, project: &ProjectId, tree: Tree) -> Watched {
        let root = self.host.tasks().folder(project);
        let worker = Worker::new(tree, root, project.as_str());
        match end_leftovers(&worker) {
            Ok(ended) => {
                for (task, end) in ended {
                    tracing::warn!(%task, "an agent outlived its worker and was ended: {end:?}");
                }
            }
            Err(failure) => {
                tracing::warn!(code = %failure.code, "agents may be left: {}", failure.message);
            }
        }
        let (executor, limits) = (Arc::clone(&self.executor), Limits::default());
        let (scheduler, next) = (Scheduler { worker, executor, limits }, Instant::now());
        Watched { scheduler, mark: None, due: None, next, is_failing: false }
    }

    fn look_around(&mut self) {
        let root = self.host.folder().canonicalize();
        let mark = root.ok().and_then(|folder| mark(folder.parent()?));
        if mark != self.around {
            self.host.keep_results_around();
            self.around = mark;
        }
    }

    fn look(&mut self, project: &ProjectId, is_free: bool) {
        let Some(watched) = self.known.get_mut(project) else { return };
        let worker = &watched.scheduler.worker;
        let (now, mark) = (worker.tree.environment().now(), mark(&worker.root));
        let has_changed = mark != watched.mark;
        let is_due = watched.due.is_some_and(|due| due <= now);
        let is_time = Instant::now() >= watched.next;
        let can_look = !watched.is_failing || is_time;
        if !can_look || !(has_changed || is_due || is_time || is_free) {
            return;
        }
        let looked = schedule(&watched.scheduler).and_then(|due| {
            if has_changed || self::mark(&worker.root) != mark {
                let taken = take_over(self.host.memory(), &worker.tree, project)?;
                self.host.keep_results_of(&worker.tree, project)?;
                self.host.metrics().events_taken_over(taken);
                if refresh(self.host.memory(), &worker.tree, project)? {
                    self.host.bell().ring();
                }
                let tree = worker.tree.clone();
                self.shared.wake(|state| drop(state.changed.insert(project.clone(), tree)));
            }
            Ok(due)
        });
        match looked {
            Ok(due) => {
                watched.due = due;
                watched.next = Instant::now() + LOOK_EVERY;
                // The mark from before: a change while the tree was looked at is seen next time.
                watched.mark = mark;
                watched.is_failing = false;
            }
            Err(failure) => {
                if !std::mem::replace(&mut watched.is_failing, true) {
                    let (project, code) = (project.as_str(), failure.code);
                    tracing::warn!(project, %code, "tasks wait: {}", failure.message);
                }
                watched.next = Instant::now() + PAUSE_AFTER_FAILURE;
            }
        }
    }
}

/// Looks at a tree until looking changes nothing.
fn schedule(scheduler: &Scheduler) -> Result<Option<Time>, Failure> {
    let mut looked = scheduler.look()?;
    for _ in 1..LOOKS_IN_A_ROW {
        for alert in &looked.polled.alerts {
            tracing::warn!(task = %alert.task_id, "a task needs a person: {}", alert.reason);
        }
        if looked.polled.moves.is_empty() && looked.started == 0 {
            break;
        }
        looked = scheduler.look()?;
    }
    Ok(looked.next_due)
}

/// The state of a tree's log: its newest file, with length and time.
fn mark(root: &Path) -> Option<Mark> {
    let entries = fs::read_dir(root.join("state/accord")).ok()?.flatten();
    let logs = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("log-"));
    let newest = logs.map(|entry| entry.path()).max()?;
    let about = fs::metadata(&newest).ok()?;
    Some((newest, about.len(), about.modified().ok()?))
}

fn executor(host: &Host, shared: &Arc<Shared>, runtime: &Handle) -> Arc<dyn Executor> {
    let settings = &host.settings().tasks;
    let command = settings.command.as_ref().filter(|_| settings.executor == ExecutorKind::Command);
    let Some(command) = command else { return Arc::new(Manual) };
    let mut agent = AgentCommand::new(command.words().to_vec());
    let real = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
    agent.cwd = settings.cwd.as_ref().map(real);
    agent.time_limit = settings.time_limit;
    let data = Some(host.folder().to_owned());
    agent.sandbox = SandboxRules { data, ..host.settings().sandbox_rules() };
    let (api, runtime) = (local_api(host), runtime.clone());
    agent.sockets = Some(AttemptSockets::new(move |attempt| {
        AttemptSocket::open(Arc::clone(&api), attempt, &runtime)
    }));
    let (shared, metrics) = (Arc::clone(shared), host.metrics().clone());
    Arc::new(CommandExecutor::new(agent, settings.max_agents, move |worker, task, end| {
        let project = worker.project.as_str();
        metrics.agent_ended(match end {
            Ok(WorkEnd::Reported(_)) => "reported",
            Ok(WorkEnd::Released) => "released",
            Ok(WorkEnd::Lost(_)) => "lost",
            Ok(_) => "failed",
            Err(_) => "unknown",
        });
        match end {
            Ok(WorkEnd::Failed { error, status, .. }) => {
                tracing::warn!(project, %task, %status, "an agent failed: {error}");
            }
            Ok(end) => tracing::info!(project, %task, "an agent ended: {end:?}"),
            Err(failure) => {
                tracing::warn!(project, %task, code = %failure.code, "{}", failure.message);
            }
        }
        shared.wake(|state| state.is_free = true);
    }))
}

/// The thread that notifies people, if there is a receiver.
fn notices(host: &Host, shared: &Arc<Shared>) -> Option<thread::JoinHandle<()>> {
    let receivers = receivers(host.settings());
    if receivers.is_empty() {
        return None;
    }
    let (shared, metrics) = (Arc::clone(shared), host.metrics().clone());
    let run = move || {
        let mut notifier = Notifier::new(receivers);
        loop {
            let changed = {
                let mut state = shared.state.lock();
                while state.changed.is_empty() && !state.is_closing {
                    shared.woken.wait(&mut state);
                }
                if state.is_closing {
                    return;
                }
                std::mem::take(&mut state.changed)
            };
            for (project, tree) in changed {
                match notifier.send(&tree, project.as_str(), &shared.cancel) {
                    Ok(sent) => metrics.notified(sent.delivered, sent.failed),
                    Err(failure) => {
                        let (project, code) = (project.as_str(), failure.code);
                        tracing::warn!(project, %code, "no notifications: {}", failure.message);
                    }
                }
            }
        }
    };
    let thread = thread::Builder::new().name("task notices".to_owned()).spawn(run);
    thread.map_err(|error| tracing::error!("no thread for notifications: {error}")).ok()
}

fn receivers(settings: &Settings) -> Vec<Box<dyn Receiver>> {
    let settings = &settings.tasks_notify;
    let mut receivers: Vec<Box<dyn Receiver>> = Vec::new();
    if let Some(command) = &settings.command {
        let mut receiver = CommandReceiver::new(command.words().to_vec());
        receiver.time_limit = settings.timeout;
        receivers.push(Box::new(receiver));
    }
    if let Some(url) = &settings.url {
        let mut receiver = Webhook::new(url.as_str());
        receiver.secret_file.clone_from(&settings.secret_file);
        receiver.time_limit = settings.timeout;
        receivers.push(Box::new(receiver));
    }
    receivers
}
