//! The status of a run and its next steps. It takes no lock and writes nothing.

use std::path::{Path, PathBuf};

use accord_base::client_output::ClientOutput;
use accord_base::decision::DecisionRecord;
use accord_base::worker::StillRunning;
use accord_contract::{Code, Failure, Time};
use accord_runs_core::next_step::{
    AssignmentFacts, BaselineFact, NextStep, TurnView, assignment_steps, needs_baseline, next_steps,
};
use accord_runs_core::operations::answers::RunFacts;
use accord_runs_core::{
    Config, EvidenceDigest, Result, RunIndex, Runtime, State, Status, Subject, Turn, TurnId,
    dispatch, event,
};
use accord_trees::lock::still_runs;

use super::assign::check_baseline;
use super::output::LOG_FILE;
use super::{ProposalFilter, ProposalView};
use crate::caller::left_running;
use crate::guard::KeptChange;
use crate::repository::{LockHolder, RecordFile};
use crate::{Runs, own_path, runtime};

/// How many of the newest events are searched for the one that made a gate pending.
const RECENT_EVENTS: usize = 64;

/// How much of the output of a worker is read.
const LOG_END: u64 = 256 * 1024;

#[derive(Clone, Debug, PartialEq)]
pub struct Waiting {
    /// Since when, if the records say it.
    pub since: Option<Time>,
    /// The evidence, or why it cannot be gathered.
    pub evidence: Result<EvidenceDigest>,
    /// What was observed, if it can be; `None` for an initiative.
    pub facts: Option<RunFacts>,
}

/// A turn whose files conflict with those of other turns.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitingMerge {
    pub turn: TurnId,
    pub evidence: Result<EvidenceDigest>,
    pub facts: Option<RunFacts>,
}

#[derive(Debug)]
pub struct Overview {
    pub root: PathBuf,
    pub config: Result<Config>,
    pub state: Result<State>,
    pub turns: Vec<TurnView>,
    pub accepted_turns: u64,
    /// The next steps, in order; never empty.
    pub next: Vec<NextStep>,
    pub holder: Option<LockHolder>,
    /// Pending journals, which the next writer finishes.
    pub journals: Vec<String>,
    /// Warnings about the turn of the run that was accepted last, and about processes that workers
    /// left behind.
    pub last_warnings: Vec<String>,
    /// What the clients of running workers printed last, by turn.
    pub says: Vec<(TurnId, ClientOutput)>,
    /// Files of accepted turns that changed since and are not committed, each with its turn.
    pub changed: Vec<(String, String)>,
    /// Why checkpoints of accepted turns will fail.
    pub no_checkpoints: Option<Failure>,
    /// The gate or the block that a person must decide about.
    pub waiting: Option<Waiting>,
    pub merges: Vec<WaitingMerge>,
    pub proposals: Vec<ProposalView>,
    /// The last decision of a person about the run, from the record that counts.
    pub last_decision: Option<DecisionRecord>,
    /// Changes that were put back while a worker ran, and about which a person may decide.
    pub kept: Vec<KeptChange>,
}

impl Runs {
    /// The status of the run. Fails if the repository cannot be read; an invalid document is part
    /// of the answer.
    pub fn status(&self) -> Result<Overview> {
        let repository = self.repository();
        let config = self.config();
        let state = self.state();
        let mut turns = Vec::new();
        let mut index = RunIndex::default();
        if let Ok(state) = &state {
            let now = self.environment.now();
            index = repository.index(state.run_id())?;
            for turn in state.turns() {
                let config = config.as_ref().ok();
                let runtime = config.and_then(|config| config.runtime(turn.runtime_id()?));
                turns.push(TurnView {
                    has_worker: has_worker(turn),
                    runtime: runtime.map(|runtime| runtime.kind),
                    unable: runtime.and_then(|runtime| self.check_runtime(runtime).err()),
                    briefed: self.is_briefed(turn.id())?,
                    staged: self.is_staged(turn.id())?,
                    overdue: turn.deadline().is_some_and(|deadline| deadline < now),
                    accepted: index.contains(turn.id().as_str()),
                    turn: turn.clone(),
                });
            }
        }
        let mut journals = repository.pending_journals()?;
        let mut unusable: Option<Failure> = None;
        journals.retain(|journal| {
            let error = repository.check_journal(&journal.path).err();
            let is_usable = error.is_none();
            unusable = error.map(Failure::from).or(unusable.take());
            is_usable
        });
        let obstacles = journals.iter().map(|journal| repository.obstacle(&journal.path));
        let obstacle = obstacles.filter_map(Result::transpose).next().transpose()?;
        let in_the_way = unusable.or(obstacle.map(Failure::from));
        let proposals = self.proposals(ProposalFilter::Waiting)?;
        let undecided = self.undecided()?;
        let lost = undecided.lost.as_ref().filter(|_| undecided.trouble.is_none());
        let next = match (&config, &state, in_the_way) {
            // Every command that writes would refuse.
            _ if undecided.trouble.is_some() => {
                undecided.trouble.into_iter().map(NextStep::Adopt).collect()
            }
            (Err(failure), ..) | (_, Err(failure), _) => vec![NextStep::Examine(failure.clone())],
            // Nothing else is possible before that.
            (.., Some(failure)) => vec![NextStep::Examine(failure)],
            (Ok(config), Ok(state), None) => {
                let lost = lost.map(|run| lost_run(run, &undecided.folder));
                let steps = match self.check_records(state) {
                    Err(failure) => vec![NextStep::Examine(failure)],
                    Ok(()) => self.next_steps(config, state, &turns, &index),
                };
                lost.into_iter().map(NextStep::Adopt).chain(steps).collect()
            }
        };
        let no_checkpoints = self.check_identity(&state).err();
        let identity = || no_checkpoints.clone().map(NextStep::Examine);
        let first = |step: &NextStep| (*step == NextStep::Checkpoint).then(identity).flatten();
        let mut next: Vec<NextStep> =
            next.into_iter().flat_map(|step| first(&step).into_iter().chain([step])).collect();
        next.extend(proposals.iter().map(|view| NextStep::DecideProposal {
            turn: view.proposal.turn.clone(),
            files: view.proposal.files.len(),
        }));
        let mut last_warnings =
            state.as_ref().map_or(Ok(Vec::new()), |it| self.last_warnings(it))?;
        last_warnings.extend(left_running(repository.root()).map(|left| {
            let StillRunning { work, pid, .. } = left;
            format!("the process {pid} of {work} still runs; decisions wait until it has ended")
        }));
        let running = state.iter().flat_map(State::turns).filter(|turn| has_worker(turn));
        let says = running.filter_map(|turn| Some((turn.id().clone(), self.said(turn.id())?)));
        let says = says.collect();
        // What is wrong with git is reported where it is used.
        let changed = state.as_ref().ok().map(|state| self.changed_since_acceptance(state));
        let changed = changed.and_then(Result::ok).unwrap_or_default();
        let (mut waiting, mut merges) = (None, Vec::new());
        if let (Ok(config), Ok(state)) = (&config, &state) {
            waiting = self.waiting(config, state)?;
            merges = self.merges(config, state);
        }
        let state_run = state.as_ref().ok().and_then(|it| Some(it.run_id()?.to_string()));
        Ok(Overview {
            root: repository.root().to_owned(),
            config,
            state,
            turns,
            accepted_turns: index.total_turns(),
            next,
            holder: repository.lock_holder()?,
            journals: journals.into_iter().map(|journal| journal.path).collect(),
            last_warnings,
            says,
            changed,
            no_checkpoints,
            waiting,
            merges,
            last_decision: self.last_person_decision(state_run.as_deref()),
            proposals,
            kept: undecided.kept,
        })
    }

    fn last_person_decision(&self, run: Option<&str>) -> Option<DecisionRecord> {
        let is_own = |record: &DecisionRecord| {
            let (about, _) = record.subject.split_once('/').unwrap_or((&record.subject, ""));
            Some(about) == run
        };
        // A record that cannot be read must not prevent the status.
        self.person_decisions().ok()?.into_iter().rfind(is_own)
    }

    /// The end of what the worker of a turn printed.
    fn said(&self, turn: &TurnId) -> Option<ClientOutput> {
        let log = format!("{}/{LOG_FILE}", dispatch::bundle_folder(turn));
        let log = self.repository().disk().open(&log).ok()??;
        let begin = log.length().ok()?.saturating_sub(LOG_END);
        let mut output = ClientOutput::default();
        output.feed(false, &log.read_at(begin, LOG_END as usize).ok()?);
        output.finish();
        Some(output)
    }

    fn waiting(&self, config: &Config, state: &State) -> Result<Option<Waiting>> {
        let Some(subject) = Subject::of(state) else { return Ok(None) };
        let since = match state.waiting_since() {
            // Another runner, or an earlier version, did not write it to the state.
            None if state.pending().is_some() => {
                let events = self.repository().last_lines(RecordFile::Events, RECENT_EVENTS)?;
                event::gate_pending_at(&events, state)
            }
            since => since,
        };
        let evidence = self.evidence_in(config, state, &subject);
        Ok(Some(Waiting { since, evidence, facts: self.facts_in(config, state, &subject).ok() }))
    }

    fn merges(&self, config: &Config, state: &State) -> Vec<WaitingMerge> {
        let conflicted = state.turns().filter(|turn| turn.conflict().is_some());
        let merge = |turn: &Turn| {
            let subject = Subject::Merge(turn);
            WaitingMerge {
                turn: turn.id().clone(),
                evidence: self.evidence_in(config, state, &subject),
                facts: self.facts_in(config, state, &subject).ok(),
            }
        };
        conflicted.map(merge).collect()
    }

    /// Checks that git knows who makes a commit, while a run goes on.
    fn check_identity(&self, state: &Result<State>) -> Result<()> {
        use Status::{Active, Blocked, Paused};
        match state.as_ref().map(State::status) {
            Ok(Active | Paused | Blocked) => self.check_committer(),
            _ => Ok(()),
        }
    }

    /// Checks that git knows who makes a commit, where git is used.
    pub(super) fn check_committer(&self) -> Result<()> {
        let git = self.environment.git(self.repository().root());
        // What else is wrong with git is reported where it is used.
        git.ok().flatten().map_or(Ok(()), |git| git.check_identity())
    }

    pub(super) fn check_runtime(&self, runtime: &Runtime) -> Result<()> {
        runtime::check_all(runtime, self.repository().root())
    }

    fn is_briefed(&self, turn: &TurnId) -> Result<bool> {
        let prompt = own_path(&format!("{}/PROMPT.md", dispatch::bundle_folder(turn)))?;
        Ok(self.repository().stat(&prompt)?.is_some())
    }

    fn last_warnings(&self, state: &State) -> Result<Vec<String>> {
        let lines = self.repository().last_lines(RecordFile::History, 1)?;
        let last = lines.last().filter(|line| state.owns_line(line));
        Ok(last.map(accord_runs_core::history::warnings).unwrap_or_default())
    }

    fn next_steps(
        &self,
        config: &Config,
        state: &State,
        turns: &[TurnView],
        index: &RunIndex,
    ) -> Vec<NextStep> {
        let (mut steps, due) = next_steps(config, state, turns);
        if let Some(role) = due {
            let facts = self.assignment_facts(config, index, &role);
            steps.extend(assignment_steps(config, state, role, facts));
        }
        steps
    }

    /// What the core must know about an assignment to a role.
    fn assignment_facts(&self, config: &Config, index: &RunIndex, role: &str) -> AssignmentFacts {
        let git = || self.environment.git(self.repository().root());
        let baseline = match needs_baseline(config, role).then(git) {
            None => BaselineFact::NotNeeded,
            Some(Err(failure)) => BaselineFact::Unavailable(failure),
            Some(Ok(git)) => {
                BaselineFact::Checked(check_baseline(self.repository(), index, git.as_ref()))
            }
        };
        let runtime = config.role(role).and_then(|role| role.runtime.as_deref());
        let runtime = runtime.and_then(|id| config.runtime(id));
        let runtime = runtime.map_or(Ok(()), |runtime| self.check_runtime(runtime));
        AssignmentFacts { baseline, runtime }
    }
}

/// The copies have a run that the repository does not have any more.
fn lost_run(run: &str, folder: &Path) -> Failure {
    let folder = folder.display();
    let message = format!("{run} is not in the repository any more; its copies are in {folder}");
    Failure::new(Code::XchainRunLost, message)
        .suggesting("`accord run adopt --undo --yes` puts it back from the copies")
}

pub(crate) fn has_worker(turn: &Turn) -> bool {
    (turn.worker_pid().zip(turn.worker_started_at()))
        .is_some_and(|(pid, started)| still_runs(pid, started.unix_millis()))
}
