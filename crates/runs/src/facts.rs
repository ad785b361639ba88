//! Gathers the facts that a person is shown beside what agents say.

use accord_runs_core::operations::answers::RunFacts;
use accord_runs_core::{Config, Result, RuntimeType, State, Turn, facts};

use crate::{RecordFile, Runs};

/// How many of the newest lines of a record are searched.
const RECENT: usize = 256;

impl Runs {
    /// What Accord observed about the turns that a decision is about: the accepted turns of the
    /// phase, and what active turns have left in the repository. Fails if the records or git cannot
    /// be read.
    pub fn facts(&self) -> Result<RunFacts> {
        self.facts_in(&self.config()?, &self.state()?)
    }

    pub(crate) fn facts_in(&self, config: &Config, state: &State) -> Result<RunFacts> {
        let repository = self.repository();
        let history = repository.last_lines(RecordFile::History, RECENT)?;
        let ledger = repository.last_lines(RecordFile::Ledger, RECENT)?;
        let gathered = facts::gather(state, &history, &ledger);
        let mut facts = gathered.facts;
        for path in &gathered.declared {
            // Something that cannot be read is not what was declared.
            if !repository.stat(path).is_ok_and(|stat| stat.is_some()) {
                facts.missing.push(path.to_string());
            }
        }
        for turn in state.turns().filter(|turn| turn.worker_sandbox().is_some()) {
            facts::add_sandbox(&mut facts.sandbox, turn.worker_sandbox());
        }
        let git = self.environment.git(repository.root())?;
        let Some(git) = git else { return Ok(facts) };
        let mut base = gathered.base;
        for turn in state.turns() {
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
        if let Some(base) = base {
            facts.commits = git.titles(&base)?;
            facts.diff_command = Some(format!("git diff --no-ext-diff --no-textconv {base}"));
        }
        Ok(facts)
    }
}

pub(crate) fn is_by_hand(config: &Config, turn: &Turn) -> bool {
    let runtime = turn.runtime_id().and_then(|id| config.runtime(id));
    runtime.is_some_and(|runtime| runtime.kind == RuntimeType::Manual)
}
