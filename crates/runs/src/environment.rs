//! What operations take from outside: clock, random bytes, the calling process, lock timeout,
//! cancellation, listener.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use accord_base::policy::DecisionRules;
use accord_base::worker::{AttemptSockets, RUN_FILES, TASK_FILES};
use accord_base::{Caller, ProjectId};
use accord_contract::{Code, Failure, Time};
use accord_process::{
    Cancel, Confinement, GitAccess, Invocation, SandboxRules, StartError, user_state_folder,
};
use accord_runs_core::hooks::{Action, HookPhase};
use accord_runs_core::{HOME, Ids, Result, TurnId};

use crate::repository::CONFIG;
use crate::{Git, LockedRepository};

/// The default lock timeout.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);

type Listener = dyn Fn(&Notice) + Send + Sync;
type MemoryBriefing = Arc<dyn Fn() -> Option<String> + Send + Sync>;

/// The environment of an operation. A clone shares clock, randomness and listener.
#[derive(Clone)]
pub struct Environment {
    clock: Arc<dyn Fn() -> Time + Send + Sync>,
    random: Arc<dyn Fn() -> [u8; 32] + Send + Sync>,
    caller: Caller,
    listener: Option<Arc<Listener>>,
    lock_timeout: Duration,
    cancel: Option<Cancel>,
    state_folder: Option<PathBuf>,
    sockets: Option<(ProjectId, AttemptSockets)>,
    memory: Option<MemoryBriefing>,
    workers: SandboxRules,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Notice {
    // A commit that an earlier process left unfinished was finished, or dropped because another
    // runner had continued without it.
    Recovered { journal: String, dropped: bool },
    HookStarted { phase: HookPhase, name: String },
    HookEnded { phase: HookPhase, name: String, action: Action },
    // A command of a gate, or of a declared verification.
    CommandStarted { command: String },
    Assigned { turn: TurnId, role: String },
    // Files changed while no worker had the turn that is dispatched now; they are not counted as
    // changes of the turn.
    ChangesExcluded { files: Vec<String> },
    Dispatched { turn: TurnId, role: String, runtime: String, attempt: u64 },
    // `error`: it was written to standard error.
    Output { turn: TurnId, error: bool, bytes: Vec<u8> },
    // A turn's worker was stopped after it had staged its result.
    WorkerEnded { turn: TurnId, failure: Failure },
    WorkerFailed { turn: TurnId, failure: Failure },
    Accepted { turn: TurnId, role: String, summary: String },
    Rejected { turn: TurnId, reason: String, again: bool },
    Checkpointed { commit: String },
    // Files that changed while a worker ran were put back; the changed ones are in `kept`.
    PutBack { files: Vec<String>, kept: String },
    Approved { gate: Option<String> },
    // Something failed that does not affect the result of the operation.
    NotDone(Failure),
}

impl Environment {
    /// The system's clock and randomness, and this process as the caller, without a listener.
    pub fn system() -> Self {
        Self::new(accord_system::now, accord_system::random::<32>)
            .with_caller(Caller::owner().examined_by(crate::caller::this_process))
    }

    /// An environment with its own clock and randomness, and a person at a terminal as the caller,
    /// for tests and fixtures.
    pub fn new(
        clock: impl Fn() -> Time + Send + Sync + 'static,
        random: impl Fn() -> [u8; 32] + Send + Sync + 'static,
    ) -> Self {
        Self {
            clock: Arc::new(clock),
            random: Arc::new(random),
            caller: Caller::owner().saying_terminal(true),
            listener: None,
            lock_timeout: LOCK_TIMEOUT,
            cancel: None,
            state_folder: user_state_folder(),
            sockets: None,
            memory: None,
            workers: SandboxRules::default(),
        }
    }

    /// Sets the folder for the state of programs of the user, in which the copies are that judge
    /// turns.
    #[must_use]
    pub fn with_state_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.state_folder = Some(folder.into());
        self
    }

    /// The folder for the state of programs of the user; `None` if the user has none.
    pub fn state_folder(&self) -> Option<&Path> {
        self.state_folder.as_deref()
    }

    /// Sets the sandbox of workers; without it they have none.
    #[must_use]
    pub fn with_workers(mut self, rules: SandboxRules) -> Self {
        self.workers = rules;
        self
    }

    /// What a program may see and change that is started for a repository. It cannot change the
    /// files that judge.
    pub(crate) fn confinement(&self, root: &Path) -> Option<Confinement> {
        let state = self.state_folder.as_ref()?.join("accord");
        let mut confinement = self.workers.confine(root, GitAccess::Read, &state);
        let tree = confinement.tree.clone();
        confinement.protected.extend([CONFIG, HOME].map(|name| tree.join(name)));
        if tree.join(TASK_FILES[0]).exists() {
            let tasks = TASK_FILES.map(|name| tree.join(name)).into_iter();
            confinement.protected.extend(tasks.filter(|path| path.exists()));
        }
        let initiative = tree.join(RUN_FILES[1]);
        confinement.protected.extend(initiative.exists().then_some(initiative));
        Some(confinement)
    }

    /// The version control of a repository, whose filters run in a sandbox.
    pub(crate) fn git(&self, root: &Path) -> Result<Option<Git>> {
        let found = Git::find(root, self.cancel_token())?;
        found.map(|git| git.confined(self.confinement(root))).transpose()
    }

    /// A command of a gate, in a sandbox of its own unless the user opens gates. The person who
    /// approves may want it to commit.
    pub(crate) fn confined_gate(
        &self,
        command: Invocation,
        root: &Path,
    ) -> Result<Invocation, StartError> {
        match self.confinement(root).filter(|_| !self.workers.open_gates) {
            Some(mut confinement) => {
                confinement.git = self.workers.git.unwrap_or(GitAccess::Commit);
                Ok(confinement.apply(command)?.0)
            }
            None => Ok(command),
        }
    }

    /// A program for a repository, in a sandbox of its own.
    pub(crate) fn confined(
        &self,
        program: Invocation,
        root: &Path,
    ) -> Result<Invocation, StartError> {
        match self.confinement(root) {
            Some(confinement) => Ok(confinement.apply(program)?.0),
            None => Ok(program),
        }
    }

    #[must_use]
    pub fn with_lock_timeout(mut self, timeout: Duration) -> Self {
        self.lock_timeout = timeout;
        self
    }

    #[must_use]
    pub fn with_listener(mut self, listener: impl Fn(&Notice) + Send + Sync + 'static) -> Self {
        self.listener = Some(Arc::new(listener));
        self
    }

    #[must_use]
    pub fn with_caller(mut self, caller: Caller) -> Self {
        self.caller = caller;
        self
    }

    #[must_use]
    pub fn saying_terminal(mut self, says: bool) -> Self {
        self.caller = self.caller.saying_terminal(says);
        self
    }

    #[must_use]
    pub fn under(mut self, rules: DecisionRules) -> Self {
        self.caller = self.caller.under(rules);
        self
    }

    /// Lets workers reach a project of a host through sockets.
    #[must_use]
    pub fn with_sockets(mut self, project: ProjectId, sockets: AttemptSockets) -> Self {
        self.sockets = Some((project, sockets));
        self
    }

    /// Adds what the memory of the project says to the context of each turn.
    #[must_use]
    pub fn with_memory(
        mut self,
        briefing: impl Fn() -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.memory = Some(Arc::new(briefing));
        self
    }

    /// What the memory of the project says now.
    pub(crate) fn memory(&self) -> Option<String> {
        self.memory.as_ref().and_then(|briefing| briefing())
    }

    pub(crate) fn sockets(&self) -> Option<&(ProjectId, AttemptSockets)> {
        self.sockets.as_ref()
    }

    #[must_use]
    pub fn with_cancel(mut self, cancel: Cancel) -> Self {
        self.cancel = Some(cancel);
        self
    }

    pub fn now(&self) -> Time {
        (self.clock)()
    }

    pub fn ids(&self) -> Ids {
        Ids::new((self.random)())
    }

    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    pub fn cancel_token(&self) -> Option<&Cancel> {
        self.cancel.as_ref()
    }

    pub(crate) fn check_cancelled(&self) -> Result<()> {
        if self.cancel.as_ref().is_some_and(Cancel::is_cancelled) {
            return Err(cancelled());
        }
        Ok(())
    }

    pub fn lock_timeout(&self) -> Duration {
        self.lock_timeout
    }

    pub fn notify(&self, notice: &Notice) {
        if let Some(listener) = &self.listener {
            listener(notice);
        }
    }

    /// Reports a failure that does not affect the result of the operation.
    pub(crate) fn report<T, E: Into<Failure>>(&self, done: Result<T, E>) {
        if let Err(failure) = done {
            self.notify(&Notice::NotDone(failure.into()));
        }
    }

    pub(crate) fn report_recovered(&self, locked: &LockedRepository) {
        for replayed in locked.recovered() {
            let (journal, dropped) = (replayed.path.clone(), replayed.detail.superseded);
            self.notify(&Notice::Recovered { journal, dropped });
        }
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = formatter.debug_struct("Environment");
        debug.field("lock_timeout", &self.lock_timeout).finish_non_exhaustive()
    }
}

pub(crate) fn cancelled() -> Failure {
    let message = "the command was cancelled before it was done";
    Failure::new(Code::XchainGivenUp, message)
}
