//! One operation in progress: the lock is held, configuration and state are loaded.

use std::cell::Cell;
use std::path::Path;

use accord_contract::{Code, Failure, Time, Value};
use accord_runs_core::accept::{self, CheckpointReason, Commit, Record, Write};
use accord_runs_core::run::{Change, Refused};
use accord_runs_core::{
    Baseline, Config, HookBatch, HookPhase, HookReport, Ids, RepoPath, Result, RuntimeType, State,
    Status, Turn, TurnId, dispatch, event, hooks,
};

use crate::operations::RunUpdate;
use crate::run_marker::RunMarker;
use crate::runs::Runs;
use crate::{Environment, Git, LockedRepository, RecordFile, Repository};

/// The index of dispatched turns for other runners.
const DISPATCH_INDEX: &str = ".agentxchain/dispatch/index.json";
/// The largest index that is read.
const MAX_INDEX: u64 = 16 * 1024 * 1024;

pub(crate) struct Operation<'a> {
    pub(crate) environment: &'a Environment,
    pub(crate) locked: LockedRepository,
    pub(crate) config: Config,
    pub(crate) state: State,
    pub(crate) ids: Ids,
    /// The latest time in the records of this run.
    latest: Cell<Time>,
}

impl<'a> Operation<'a> {
    pub(crate) fn begin(runs: &'a Runs) -> Result<Self> {
        let environment = &runs.environment;
        // Before the lock is taken: an invalid configuration must not delay other processes.
        let mut config = runs.config()?;
        let locked = runs.repository().lock(environment.lock_timeout())?;
        environment.report_recovered(&locked);
        let state = match locked.settle()? {
            Some(in_force) => {
                config = runs.read_config(&in_force.config)?;
                Some(Repository::read_state(&in_force.state)?)
            }
            None => locked.state()?,
        };
        let state = state.unwrap_or_else(|| State::idle(&config));
        // Another process, or another machine with a clock ahead of ours, may have written it.
        let latest = locked.last_lines(RecordFile::Events, 1)?;
        let latest = latest.last().and_then(event::timestamp).unwrap_or(Time::MIN);
        let (ids, latest) = (environment.ids(), Cell::new(latest));
        Ok(Self { environment, locked, config, state, ids, latest })
    }

    /// The time now; it never goes back.
    pub(crate) fn now(&self) -> Time {
        self.latest.set(self.latest.get().max(self.environment.now()));
        self.latest.get()
    }

    pub(crate) fn root(&self) -> &Path {
        self.locked.root()
    }

    /// Writes a change as one commit.
    pub(crate) fn commit(&mut self, change: &Change, mut further: Vec<Write>) -> Result<()> {
        let now = self.now();
        // The protocol wants one line per outcome, not one per commit of a run that is over.
        if change.state.status() != self.state.status()
            && matches!(change.state.status(), Status::Completed | Status::Blocked)
        {
            let index = self.locked.index(change.state.run_id())?;
            let record = accept::run_record(&change.state, &self.config, &index, now);
            further.extend(record.map(|line| Write::Append { record: Record::RunHistory, line }));
        }
        let commit = Commit::of_change_with(&self.state, change, further, &mut self.ids, now);
        self.locked.commit(&commit)?;
        self.state = change.state.clone();
        self.note_run();
        Ok(())
    }

    /// Notes the run where a stash of everything does not reach it. A failure is only reported.
    fn note_run(&self) {
        let Some(marker) = RunMarker::of(self.root()) else { return };
        let noted = marker.note(&self.state).map_err(|error| {
            let message = format!("the run could not be noted in git's folder: {error}");
            Failure::new(Code::XchainFileSystemFailed, message)
        });
        self.environment.report(noted);
    }

    /// Writes a change and returns it as an answer.
    pub(crate) fn commit_update(&mut self, change: Change) -> Result<RunUpdate> {
        self.commit(&change, Vec::new())?;
        Ok(RunUpdate { state: change.state, events: change.events })
    }

    /// Writes the records of a refusal and returns the refusal.
    pub(crate) fn commit_refusal(&mut self, refused: Refused) -> Failure {
        if let Some(record) = refused.record {
            if let Err(failure) = self.commit(&record, Vec::new()) {
                return failure;
            }
            // After the commit: a hook that is killed or fails must not undo the block.
            self.run_escalation_hooks(None, Some(&refused.failure.message));
            self.save_session(CheckpointReason::Blocked, None);
        }
        refused.failure
    }

    /// Runs hooks, if there are any.
    pub(crate) fn hooks(
        &self,
        batch: Option<HookBatch>,
        phase: HookPhase,
        extra: &[String],
    ) -> Result<HookReport> {
        crate::hooks::run_any(batch, phase, &self.locked, self.environment, extra)
    }

    /// Runs the hooks for a blocked run. They are advisory: their answers have no effect.
    pub(crate) fn run_escalation_hooks(&self, turn: Option<&Turn>, error: Option<&str>) {
        if self.state.status() != Status::Blocked {
            return;
        }
        let phase = HookPhase::OnEscalation;
        let payload = hooks::on_escalation(&self.state, turn, error);
        let run = self.state.run_id().map(ToString::to_string);
        let batch = HookBatch::new(phase, self.config.hooks(phase), payload, run);
        self.environment.report(self.hooks(batch, phase, &[]));
    }

    /// Writes `session.json` for other runners. A failure is only reported, because no operation
    /// depends on the file.
    pub(crate) fn save_session(&mut self, reason: CheckpointReason, turn: Option<&Turn>) {
        let now = self.now();
        let session = format!("session_{}", self.ids.hex(8));
        let runtime = turn.and_then(|turn| self.config.runtime(turn.runtime_id()?));
        let place = self.git().ok().flatten().and_then(|git| git.place().ok());
        let place = place.unwrap_or_default();
        let adapter = runtime.map(|runtime| runtime.kind.as_str());
        let at = accept::Checkpoint { reason, turn, adapter, place: &place };
        let noted = self.locked.session().and_then(|previous| {
            // A session belongs to one run.
            let previous = previous.filter(|session| self.state.owns_line(session));
            let document = accept::session(previous.as_ref(), &session, &self.state, &at, now);
            self.locked.save_session(&document)
        });
        self.environment.report(noted);
    }

    /// Writes the index of dispatched turns for other runners, as `save_session` does.
    pub(crate) fn save_dispatch_index(&self) {
        let noted = own_path(DISPATCH_INDEX).and_then(|path| {
            let previous = self.locked.read(&path, MAX_INDEX)?;
            // An index that cannot be parsed is replaced.
            let previous = previous.and_then(|bytes| accord_canon::read(&bytes).ok());
            let previous = previous.as_ref().and_then(Value::as_object);
            let document = dispatch::index(previous, &self.state, &self.config, self.now());
            Ok(self.locked.write_document(&path, &document)?)
        });
        self.environment.report(noted);
    }

    /// The version control of the repository.
    pub(crate) fn git(&self) -> Result<Option<Git>> {
        self.environment.git(self.root())
    }

    /// Whether a person does a turn.
    pub(crate) fn is_by_hand(&self, turn: &Turn) -> bool {
        let runtime = turn.runtime_id().and_then(|id| self.config.runtime(id));
        runtime.is_some_and(|runtime| runtime.kind == RuntimeType::Manual)
    }

    /// What the core must know about the repository.
    pub(crate) fn baseline(&self) -> Result<Baseline> {
        let git = self.git()?;
        let changes = git.map(|git| git.reading_contents().changes()).transpose()?;
        Ok(changes.map_or_else(without_git, |it| it.baseline()))
    }

    pub(crate) fn target(&self, turn: Option<&TurnId>) -> Result<Turn> {
        self.state.target(turn).cloned()
    }
}

/// The baseline of a repository without version control.
pub(crate) fn without_git() -> Baseline {
    Baseline { clean: true, ..Baseline::default() }
}

/// A path that is a constant of this crate or comes from the core.
pub(crate) fn own_path(text: &str) -> Result<RepoPath> {
    let failed =
        |error| Failure::new(Code::XchainPathOutsideRepository, format!("{text}: {error}"));
    RepoPath::parse(text).map_err(failed)
}
