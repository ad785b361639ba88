//! Commits the changes of accepted turns to git, so that the next turn starts clean.

use std::collections::BTreeMap;

use accord_contract::{Code, Failure};
use accord_runs_core::{CheckpointReason, Result, State, TurnId, run};

use super::assign::{AcceptedWork, accepted_work, changed_work};
use crate::{Notice, Operation, Runs};

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Checkpoint {
    pub commit: String,
    pub files: Vec<String>,
    pub turns: Vec<String>,
    /// Files of accepted turns that changed since, and are not in the commit.
    pub changed: Vec<String>,
}

impl Runs {
    /// The accepted turns of the run with uncommitted changes, each with its role. Fails with
    /// `git_failed`, or `record_invalid` if a line of the history is damaged.
    pub fn uncommitted_turns(&self) -> Result<BTreeMap<String, String>> {
        let state = self.state()?;
        let git = self.environment.git(self.repository().root())?;
        let Some(git) = git else { return Ok(BTreeMap::new()) };
        let index = self.repository().index(state.run_id())?;
        let accepted = accepted_work(self.repository(), &index, &git.changes()?)?;
        Ok(accepted.into_values().map(|done| (done.turn, done.role)).collect())
    }

    /// The files of accepted turns that have changed since and are not committed, each with its
    /// turn. Fails like [`Runs::uncommitted_turns`].
    pub fn changed_since_acceptance(&self, state: &State) -> Result<Vec<(String, String)>> {
        let git = self.environment.git(self.repository().root())?;
        // An active turn may work on them.
        let Some(git) = git.filter(|_| state.turns().len() == 0) else { return Ok(Vec::new()) };
        let index = self.repository().index(state.run_id())?;
        changed_work(self.repository(), &index, &git.changes()?)
    }

    /// Commits the changes of all accepted turns of the run, or of one of them. Fails with
    /// `nothing_to_checkpoint`, or `git_failed` with the message of git.
    pub fn checkpoint(&self, turn: Option<&TurnId>) -> Result<Checkpoint> {
        let mut operation = self.begin()?;
        if let Some(made) = make(&mut operation, turn)? {
            return Ok(made);
        }
        let state = operation.state.clone();
        drop(operation);
        let changed = self.changed_since_acceptance(&state)?;
        Err(match &changed[..] {
            [] => nothing("no accepted turn has uncommitted changes"),
            changed => left(changed),
        })
    }
}

/// Commits the changes of accepted turns; `None` if they are committed already, for example by the
/// workers.
pub(super) fn make(
    operation: &mut Operation<'_>,
    turn: Option<&TurnId>,
) -> Result<Option<Checkpoint>> {
    let git = operation.git()?.ok_or_else(|| nothing("the repository does not use git"))?;
    let git = git.with_filters();
    let changes = git.changes()?;
    let index = operation.locked.index(operation.state.run_id())?;
    let mut accepted = accepted_work(&operation.locked, &index, &changes)?;
    let changed = changed_work(&operation.locked, &index, &changes)?;
    accepted.retain(|_, done| turn.is_none_or(|turn| done.turn == turn.as_str()));
    if accepted.is_empty() {
        return Ok(None);
    }
    let files: Vec<String> = accepted.keys().cloned().collect();
    let by_turn = accepted.values().map(|done| (done.turn.as_str(), done));
    let by_turn: BTreeMap<&str, &AcceptedWork> = by_turn.collect();
    // Git first: the event names the commit.
    let Some(commit) = git.commit(&files, &message(&by_turn))? else { return Ok(None) };
    if !changed.is_empty() {
        operation.environment.notify(&Notice::NotDone(left(&changed)));
    }
    let changed = changed.into_iter().map(|(path, _)| path).collect();
    let clean = git.changes()?.attributable().next().is_none();
    let turns: Vec<String> = by_turn.keys().map(|turn| (*turn).to_owned()).collect();
    for (turn, done) in &by_turn {
        let now = operation.now();
        let about = (*turn, done.role.as_str());
        let own = accepted.iter().filter(|(_, done)| done.turn == *turn);
        let own: Vec<String> = own.map(|(path, _)| path.clone()).collect();
        let Operation { state, ids, .. } = &mut *operation;
        let change = run::checkpoint(state, about, &commit, &own, clean, ids, now)?;
        operation.commit(&change, Vec::new())?;
    }
    // The commit has moved, which other runners would take for a change by a person.
    operation.save_session(CheckpointReason::TurnCheckpointed, None);
    Ok(Some(Checkpoint { commit, files, turns, changed }))
}

/// The failure for files that changed since they were accepted.
fn left(changed: &[(String, String)]) -> Failure {
    let names: Vec<String> =
        changed.iter().map(|(path, turn)| format!("{path} ({turn})")).collect();
    let message = format!(
        "not committed, because they changed since their turns were accepted: {}",
        names.join(", ")
    );
    let next = "look at them with git diff; then commit or restore them yourself";
    let files: Vec<&str> = changed.iter().map(|(path, _)| path.as_str()).collect();
    nothing(&message).with("files", files).suggesting(next)
}

fn nothing(why: &str) -> Failure {
    Failure::new(Code::XchainNothingToCheckpoint, why)
}

fn message(turns: &BTreeMap<&str, &AcceptedWork>) -> String {
    let line = |done: &AcceptedWork| format!("{}: {}", done.role, done.headline);
    let mut works = turns.values();
    match (works.next(), turns.len()) {
        (Some(only), 1) => format!("{}\n\nTurn: {}\n", line(only), only.turn),
        _ => {
            let lines = turns.values().map(|done| format!("- {} ({})", line(done), done.turn));
            let lines: Vec<String> = lines.collect();
            format!("Checkpoint of {} accepted turns\n\n{}\n", turns.len(), lines.join("\n"))
        }
    }
}
