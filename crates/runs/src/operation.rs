//! An operation at work: the lock is held, configuration and state are read.

use std::cell::Cell;
use std::path::Path;

use accord_contract::codes::Failure;
use accord_contract::time::Time;
use accord_contract::wire::Value;
use accord_runs_core::accept::{self, Commit, Record, Write};
use accord_runs_core::config::Config;
use accord_runs_core::hooks::{self, HookBatch, HookPhase, HookReport};
use accord_runs_core::run::{Change, Refused};
use accord_runs_core::state::{Baseline, State, Status, Turn};
use accord_runs_core::{Ids, RepoPath, TurnId, dispatch};

use crate::environment::{Environment, Notice};
use crate::git::Git;
use crate::operations::RunUpdate;
use crate::repository::{LockedRepository, RecordFile};
use crate::runs::Runs;

/// Where other runners look for the turns that are out.
const DISPATCH_INDEX: &str = ".agentxchain/dispatch/index.json";
/// The most bytes that are read of it.
const MAX_INDEX: u64 = 16 * 1024 * 1024;

pub(crate) struct Operation<'a> {
    pub(crate) environment: &'a Environment,
    pub(crate) locked: LockedRepository,
    pub(crate) config: Config,
    pub(crate) state: State,
    pub(crate) ids: Ids,
    /// The latest time that this run has seen.
    latest: Cell<Time>,
}

impl<'a> Operation<'a> {
    pub(crate) fn begin(runs: &'a Runs) -> Result<Self, Failure> {
        let environment = &runs.environment;
        // A configuration that cannot be read is no reason to hold others up.
        let config = runs.config()?;
        let locked = runs.repository().lock(environment.lock_timeout())?;
        for replayed in locked.recovered() {
            environment.notify(&Notice::Recovered {
                journal: replayed.path.to_string(),
                dropped: replayed.detail.superseded,
            });
        }
        let state = locked.state()?.unwrap_or_else(|| State::idle(&config));
        let last = locked.last_lines(RecordFile::Events, 1)?;
        let last = last
            .last()
            .and_then(|event| event.get("timestamp")?.as_str());
        let last = last.and_then(Time::parse_iso).unwrap_or(Time::MIN);
        Ok(Self {
            environment,
            locked,
            config,
            state,
            ids: environment.ids(),
            latest: Cell::new(last),
        })
    }

    /// The time by now; it never goes back.
    pub(crate) fn now(&self) -> Time {
        self.latest
            .set(self.latest.get().max(self.environment.now()));
        self.latest.get()
    }

    pub(crate) fn root(&self) -> &Path {
        self.locked.root()
    }

    /// Writes a change as one.
    pub(crate) fn commit(
        &mut self,
        change: &Change,
        mut further: Vec<Write>,
    ) -> Result<(), Failure> {
        let now = self.now();
        if change.state.status() != self.state.status()
            && matches!(change.state.status(), Status::Completed | Status::Blocked)
        {
            let index = self.locked.index(change.state.run_id())?;
            let record = accept::run_record(&change.state, &self.config, &index, now);
            further.extend(record.map(|line| Write::Append {
                record: Record::RunHistory,
                line,
            }));
        }
        let commit = Commit::of_change_with(&self.state, change, further, &mut self.ids, now);
        self.locked.commit(&commit)?;
        self.state = change.state.clone();
        Ok(())
    }

    /// Writes a change, and gives it as an answer.
    pub(crate) fn commit_update(&mut self, change: Change) -> Result<RunUpdate, Failure> {
        self.commit(&change, Vec::new())?;
        Ok(RunUpdate {
            state: change.state,
            events: change.events,
        })
    }

    /// Writes what records a refusal, and gives the refusal.
    pub(crate) fn commit_refusal(&mut self, refused: Refused) -> Failure {
        if let Some(record) = refused.record {
            if let Err(failure) = self.commit(&record, Vec::new()) {
                return failure;
            }
            self.run_escalation_hooks(None, Some(&refused.failure.message));
            self.save_session("blocked", None);
        }
        refused.failure
    }

    /// Runs hooks, where there are any.
    pub(crate) fn hooks(
        &self,
        batch: Option<HookBatch>,
        phase: HookPhase,
        extra: &[String],
    ) -> Result<HookReport, Failure> {
        crate::hooks::run_any(batch, phase, &self.locked, self.environment, extra)
    }

    /// Tells the hooks that wait for it that the run is blocked. They are advisory: what comes of
    /// them changes nothing.
    pub(crate) fn run_escalation_hooks(&self, turn: Option<&Turn>, error: Option<&str>) {
        if self.state.status() != Status::Blocked {
            return;
        }
        let phase = HookPhase::OnEscalation;
        let payload = hooks::on_escalation(&self.state, turn, error);
        let run = self.state.run_id().map(ToString::to_string);
        let batch = HookBatch::new(phase, self.config.hooks(phase), payload, run);
        if let Err(failure) = self.hooks(batch, phase, &[]) {
            self.environment.notify(&Notice::NotDone(failure));
        }
    }

    /// Notes for other runners where the work stands. That it cannot be noted is told and no
    /// more: nothing depends on it.
    pub(crate) fn save_session(&mut self, reason: &str, turn: Option<&Turn>) {
        let now = self.now();
        let session = format!("session_{}", self.ids.hex(8));
        let runtime = turn.and_then(|turn| self.config.runtime(turn.runtime_id()?));
        // It is looked up once a turn: asking git costs more than all the rest.
        let branch = match reason == "turn_assigned" {
            true => self.git().ok().flatten().and_then(|git| git.branch()),
            false => None,
        };
        let at = accept::Checkpoint {
            reason,
            turn,
            adapter: runtime.map(|runtime| runtime.kind.as_str()),
            branch: branch.as_deref(),
        };
        let noted = self.locked.session().and_then(|previous| {
            // A session belongs to one run.
            let previous = previous
                .filter(|session| session.get("run_id") == Some(&self.state.member("run_id")));
            let document = accept::session(previous.as_ref(), &session, &self.state, &at, now);
            self.locked.save_session(&document)
        });
        if let Err(error) = noted {
            self.environment.notify(&Notice::NotDone(error.into()));
        }
    }

    /// Notes for other runners which turns are out; as [`Work::note`].
    pub(crate) fn save_dispatch_index(&self) {
        let noted = own_path(DISPATCH_INDEX).and_then(|path| {
            let previous = self.locked.read(&path, MAX_INDEX)?;
            // One that cannot be read holds nothing that could be kept.
            let previous = previous.and_then(|bytes| accord_canon::read(&bytes).ok());
            let previous = previous.as_ref().and_then(Value::as_object);
            let document = dispatch::index(previous, &self.state, &self.config, self.now());
            Ok(self.locked.write_document(&path, &document)?)
        });
        if let Err(failure) = noted {
            self.environment.notify(&Notice::NotDone(failure));
        }
    }

    /// The version control of the repository.
    pub(crate) fn git(&self) -> Result<Option<Git>, Failure> {
        Git::find(self.root(), self.environment.cancel_token())
    }

    /// What the repository is like now.
    pub(crate) fn baseline(&self) -> Result<Baseline, Failure> {
        match self.git()? {
            Some(git) => Ok(git.changes()?.baseline()),
            None => Ok(without_git()),
        }
    }

    /// The turn that is meant.
    pub(crate) fn target(&self, turn: Option<&TurnId>) -> Result<Turn, Failure> {
        self.state.target(turn).cloned()
    }

    pub(crate) fn run_member(&self) -> Value {
        self.state.member("run_id")
    }
}

/// The baseline of a repository without version control.
pub(crate) fn without_git() -> Baseline {
    Baseline {
        head_ref: None,
        clean: true,
        dirty: Vec::new(),
        ..Baseline::default()
    }
}

/// A path that this crate itself wrote down, or that the core made.
pub(crate) fn own_path(text: &str) -> Result<RepoPath, Failure> {
    RepoPath::parse(text).map_err(|error| {
        let message = format!("{text}: {error}");
        Failure::new(
            accord_contract::codes::Code::XchainPathOutsideRepository,
            message,
        )
    })
}
