//! Gathers the facts that a person is shown beside what agents say.

use accord_contract::{Code, Failure};
use accord_process::SHOW_DIFFERENCE;
use accord_runs_core::facts::Scope;
use accord_runs_core::operations::answers::RunFacts;
use accord_runs_core::{
    Config, RepoPath, Result, RuntimeType, State, Subject, Turn, facts, result,
};

use crate::git::added;
use crate::operations::staged;
use crate::repository::limits;
use crate::{RecordFile, Repository, Runs};

/// How many of the newest lines of a record are searched.
const RECENT: usize = 256;

impl Runs {
    /// What Accord observed about the turns that a decision is about. Fails if the records or git
    /// cannot be read.
    pub fn facts(&self, subject: &Subject<'_>) -> Result<RunFacts> {
        self.facts_in(&self.config()?, &self.state()?, subject)
    }

    /// The difference of a text to a commit; the whole text without a commit. Fails if the file or
    /// git cannot be read.
    pub fn difference(&self, base: Option<&str>, file: &str) -> Result<String> {
        let path = RepoPath::parse(file).map_err(|error| {
            Failure::new(Code::XchainPathOutsideRepository, error.to_string()).with("path", file)
        })?;
        let bytes = self.repository().read(&path, limits::GATE_FILE)?.unwrap_or_default();
        let now = String::from_utf8_lossy(&bytes);
        let git = self.environment.git(self.repository().root())?;
        match (git, base) {
            (Some(git), Some(base)) => git.difference(base, file, &now),
            _ => Ok(added(&now)),
        }
    }

    pub(crate) fn facts_in(
        &self,
        config: &Config,
        state: &State,
        subject: &Subject<'_>,
    ) -> Result<RunFacts> {
        self.facts_about(config, state, &scope(self.repository(), subject))
    }

    pub(crate) fn facts_about(
        &self,
        config: &Config,
        state: &State,
        scope: &Scope<'_>,
    ) -> Result<RunFacts> {
        let repository = self.repository();
        let (mut facts, mut base) = recorded(repository, state, scope)?;
        let active = || state.turns().filter(|turn| scope.has_active(turn));
        for turn in active().filter(|turn| turn.worker_sandbox().is_some()) {
            facts::add_sandbox(&mut facts.sandbox, turn.worker_sandbox());
        }
        let git = self.environment.git(repository.root())?;
        let Some(git) = git else { return Ok(facts) };
        for turn in active() {
            let observed = turn.baseline();
            match git.observe(observed.as_ref(), is_by_hand(config, turn)) {
                Ok(seen) => {
                    let own = seen.attributable(observed.as_ref());
                    facts.files.extend(own.iter().map(ToString::to_string));
                    facts.warnings.extend(seen.findings);
                }
                Err(failure) => facts.warnings.push(failure.message),
            }
            base = base.or_else(|| observed.and_then(|baseline| baseline.head_ref));
        }
        facts.files.sort();
        facts.files.dedup();
        // A change that is seen, of a file that is gone, is a deletion.
        if let Scope::Active(..) = scope {
            let RunFacts { missing, files, .. } = &mut facts;
            missing.retain(|path| !files.contains(path));
        }
        if let Some(base) = base {
            facts.commits = git.titles(&base)?;
            facts.diff_command = Some(format!("git {SHOW_DIFFERENCE} {base}"));
        }
        Ok(facts)
    }
}

/// The turns that a decision is about.
pub(crate) fn scope<'a>(repository: &Repository, subject: &Subject<'a>) -> Scope<'a> {
    match subject {
        Subject::Transition | Subject::Completion | Subject::Block | Subject::Run => Scope::Phase,
        Subject::Proposal(proposal) => Scope::Turns(vec![proposal.turn.to_string()]),
        Subject::Merge(turn) => {
            let staged = staged(repository, turn.id()).ok().flatten();
            let document = staged.and_then(|(_, bytes)| result::read_staged(&bytes).ok());
            Scope::Active(turn, document.and_then(|it| it.as_object().cloned()))
        }
    }
}

/// What the records have about the turns, and the commit before the first of them. No worker that
/// runs changes it, so the digest of the evidence covers it.
pub(crate) fn recorded(
    repository: &Repository,
    state: &State,
    scope: &Scope<'_>,
) -> Result<(RunFacts, Option<String>)> {
    let history = repository.last_lines(RecordFile::History, RECENT)?;
    let ledger = repository.last_lines(RecordFile::Ledger, RECENT)?;
    let gathered = facts::gather(state, scope, &history, &ledger);
    let mut facts = gathered.facts;
    for path in &gathered.declared {
        // Something that cannot be read is not what was declared.
        if !repository.stat(path).is_ok_and(|stat| stat.is_some()) {
            facts.missing.push(path.to_string());
        }
    }
    Ok((facts, gathered.base))
}

pub(crate) fn is_by_hand(config: &Config, turn: &Turn) -> bool {
    let runtime = turn.runtime_id().and_then(|id| config.runtime(id));
    runtime.is_some_and(|runtime| runtime.kind == RuntimeType::Manual)
}
