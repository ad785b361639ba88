//! What operations take from outside: the time, random bytes, patience, and who listens.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use accord_contract::codes::{Code, Failure};
use accord_contract::time::Time;
use accord_process::Cancel;
use accord_runs_core::hooks::{Action, HookPhase};
use accord_runs_core::{Ids, TurnId};

/// How long a repository's lock is waited for when nothing is said.
const PATIENCE: Duration = Duration::from_secs(5);

/// Who is told what is under way.
type Listener = dyn Fn(&Notice) + Send + Sync;

/// The surroundings of every operation; a copy is the same surroundings.
#[derive(Clone)]
pub struct World {
    clock: Arc<dyn Fn() -> Time + Send + Sync>,
    random: Arc<dyn Fn() -> [u8; 32] + Send + Sync>,
    listener: Option<Arc<Listener>>,
    patience: Duration,
    cancel: Option<Cancel>,
}

/// Something that an operation tells while it is under way.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Notice {
    /// What an earlier process left half done was brought to its end, or dropped.
    Recovered {
        /// The journal that it had left.
        journal: String,
        /// Whether somebody had gone on without it, so that it was dropped.
        dropped: bool,
    },
    /// A hook begins.
    HookStarted {
        /// When it runs.
        phase: HookPhase,
        /// Its name.
        name: String,
    },
    /// A hook ended.
    HookEnded {
        /// When it ran.
        phase: HookPhase,
        /// Its name.
        name: String,
        /// What its answer led to.
        action: Action,
    },
    /// A command of a gate, or of a declared verification, begins.
    CommandStarted {
        /// The command.
        command: String,
    },
    /// A turn was given to a role.
    Assigned {
        /// The turn.
        turn: TurnId,
        /// The role.
        role: String,
    },
    /// Files changed while no worker had the turn that is handed out now; it does not answer for
    /// them.
    Spared {
        /// The files.
        files: Vec<String>,
    },
    /// A turn's worker begins.
    Dispatched {
        /// The turn.
        turn: TurnId,
        /// The role.
        role: String,
        /// What carries it.
        runtime: String,
        /// Which try it is.
        attempt: u64,
    },
    /// A turn's worker wrote something.
    Output {
        /// The turn.
        turn: TurnId,
        /// Whether that was on standard error.
        error: bool,
        /// What.
        bytes: Vec<u8>,
    },
    /// A turn's worker was ended after it had staged its result.
    WorkerEnded {
        /// The turn.
        turn: TurnId,
        /// Why it was ended.
        failure: Failure,
    },
    /// A turn's worker came to no result.
    WorkerFailed {
        /// The turn.
        turn: TurnId,
        /// Why.
        failure: Failure,
    },
    /// A turn was accepted.
    Accepted {
        /// The turn.
        turn: TurnId,
        /// The role.
        role: String,
        /// What was done, in the worker's words.
        summary: String,
    },
    /// A turn was rejected.
    Rejected {
        /// The turn.
        turn: TurnId,
        /// Why.
        reason: String,
        /// Whether it is tried again.
        again: bool,
    },
    /// What accepted turns changed was committed to git.
    Checkpointed {
        /// The commit.
        commit: String,
    },
    /// A gate was passed.
    Approved {
        /// The gate, where it has a name.
        gate: Option<String>,
    },
    /// Something of no consequence for the operation did not work.
    Trouble(Failure),
}

impl World {
    /// The system's clock and randomness; nobody listens.
    pub fn system() -> Self {
        Self::new(accord_system::now, accord_system::random::<32>)
    }

    /// A world with a clock and randomness of its own.
    pub fn new(
        clock: impl Fn() -> Time + Send + Sync + 'static,
        random: impl Fn() -> [u8; 32] + Send + Sync + 'static,
    ) -> Self {
        Self {
            clock: Arc::new(clock),
            random: Arc::new(random),
            listener: None,
            patience: PATIENCE,
            cancel: None,
        }
    }

    /// Sets how long the repository's lock is waited for.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Has notices told to somebody.
    #[must_use]
    pub fn listener(mut self, listener: impl Fn(&Notice) + Send + Sync + 'static) -> Self {
        self.listener = Some(Arc::new(listener));
        self
    }

    /// Has the programs of an operation ended as soon as somebody gives this word.
    #[must_use]
    pub fn cancel(mut self, cancel: Cancel) -> Self {
        self.cancel = Some(cancel);
        self
    }

    /// The time by now.
    pub fn now(&self) -> Time {
        (self.clock)()
    }

    /// A fresh source of ids, for one operation.
    pub fn ids(&self) -> Ids {
        Ids::new((self.random)())
    }

    /// The word that ends programs early, where somebody may give it.
    pub fn cancel_word(&self) -> Option<&Cancel> {
        self.cancel.as_ref()
    }

    /// Refuses to go on once somebody gave the word.
    pub(crate) fn check_word(&self) -> Result<(), Failure> {
        match self.cancel.as_ref().is_some_and(Cancel::is_cancelled) {
            false => Ok(()),
            true => Err(given_up()),
        }
    }

    /// How long the repository's lock is waited for.
    pub fn lock_patience(&self) -> Duration {
        self.patience
    }

    /// Tells whoever listens.
    pub fn tell(&self, notice: &Notice) {
        if let Some(listener) = &self.listener {
            listener(notice);
        }
    }
}

impl fmt::Debug for World {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = formatter.debug_struct("World");
        debug
            .field("patience", &self.patience)
            .finish_non_exhaustive()
    }
}

/// The command was told to end.
pub(crate) fn given_up() -> Failure {
    let message = "the command was told to end before it was done";
    Failure::new(Code::XchainGivenUp, message)
}
