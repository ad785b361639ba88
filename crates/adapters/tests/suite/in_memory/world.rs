//! A fixture's setup as a repository in memory.

use accord_adapters::agentxchain::expand;
use accord_contract::{Failure, Time};
use accord_runs_core::accept::{
    Acceptance, Answer, Conclusion, Inputs, Observation, Options, Want,
};
use accord_runs_core::config::Config;
use accord_runs_core::hooks::HookReport;
use accord_runs_core::ledger::DecisionIds;
use accord_runs_core::repo_decisions::RepoDecisions;
use accord_runs_core::state::State;
use accord_runs_core::testing::MemoryRepository;
use accord_runs_core::{Ids, RepoPath, TurnId, dispatch, result};
use serde_json::Value;

use super::{Fixture, object, objects, text};

/// A governed repository, and what it was before the operation.
pub(crate) struct World {
    pub(crate) repository: MemoryRepository,
    pub(crate) config_document: Value,
    state_before: State,
}

impl World {
    pub(crate) fn set_up(fixture: &Fixture) -> Result<Self, String> {
        let setup = &fixture.setup;
        let config_document = expand::config(&object(setup, "config"));
        let state = expand::state(&object(setup, "state"), &config_document);
        let state = State::read(state.into()).map_err(|error| error.to_string())?;
        let config = Config::lenient(config_document.clone());
        let mut repository = MemoryRepository::new(config, state.clone());
        repository.history = objects(setup, "history");
        repository.ledger = objects(setup, "ledger");
        for (path, content) in object(setup, "filesystem") {
            let path = RepoPath::parse(&path).map_err(|error| format!("{path}: {error}"))?;
            let content = content.as_str().ok_or(format!("{path} is no text"))?;
            repository.files.insert(path.to_string(), content.to_owned());
        }
        let result = setup.get("turn_result").or_else(|| fixture.args.get("turn_result"));
        if let Some(result) = result {
            let staged = dispatch::FLAT_STAGING_PATH.to_owned();
            repository.files.insert(staged, result.to_string());
        }
        repository
            .repo_decisions()
            .map_err(|failure| format!("{}: {failure}", RepoDecisions::path()))?;
        Ok(Self { repository, config_document: config_document.into(), state_before: state })
    }

    pub(crate) fn state_unchanged(&self) -> bool {
        self.repository.state.document() == self.state_before.document()
    }

    /// The ids in the ledger, all of which are of one run.
    pub(crate) fn decision_ids(&self) -> DecisionIds {
        let ledger = self.repository.ledger.iter();
        ledger.filter_map(|line| text(line, "id")).collect()
    }

    /// The staged result.
    pub(crate) fn staged(&self) -> Result<Value, String> {
        match self.repository.files.get(dispatch::FLAT_STAGING_PATH) {
            Some(text) => result::read_staged(text.as_bytes()),
            None => Err("there is no staged result".into()),
        }
    }

    /// Accepts a turn, without hooks and without version control.
    pub(crate) fn accept(
        &mut self,
        turn: Option<&TurnId>,
        ids: Ids,
        now: Time,
    ) -> Result<Conclusion, Failure> {
        let repository = &mut self.repository;
        let inputs = Inputs {
            config: repository.config.clone(),
            state: repository.state.clone(),
            index: repository.index(),
            repo_decisions: repository.repo_decisions()?,
        };
        let mut machine = Acceptance::begin(inputs, turn, Options::default(), ids, now)?;
        loop {
            let answer = match machine.want().clone() {
                Want::Staging(paths) => Answer::Staging(paths.into_iter().find_map(|path| {
                    let bytes = repository.files.get(&path)?.clone().into_bytes();
                    Some((path, bytes))
                })),
                Want::Hooks(batch) => Answer::Hooks(HookReport::none(batch.phase)),
                Want::Clean(paths) => {
                    for path in paths {
                        repository.files.remove(path.as_str());
                    }
                    Answer::Cleaned
                }
                Want::Observe { .. } => Answer::Observed(Observation::default()),
                Want::Files(paths) => {
                    let found = paths.iter().filter_map(|path| {
                        let text = repository.files.get(path.as_str())?;
                        Some((path.to_string(), text.clone()))
                    });
                    Answer::Files(found.collect())
                }
                Want::Replay(commands) => Answer::Replayed(vec![None; commands.len()]),
                Want::Commit(commit) => {
                    repository.apply(&commit)?;
                    Answer::Committed
                }
                Want::Done(outcome) => return Ok(*outcome),
            };
            machine.answer(answer, now)?;
        }
    }
}
