//! A turn is assigned to a role.

use std::collections::BTreeMap;

use accord_contract::codes::{Code, Failure};
use accord_contract::wire::{Object, Value};
use accord_runs_core::accept::Write;
use accord_runs_core::config::Config;
use accord_runs_core::hooks::HookPhase;
use accord_runs_core::next_step::due_role;
use accord_runs_core::run::{BaselineCheck, check_assignment};
use accord_runs_core::state::{State, Turn};

use super::RunUpdate;
use crate::Runs;
use crate::git::{Changes, Git};
use crate::operation::without_git;
use crate::repository::{RecordFile, Repository};

/// A turn that was assigned.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Assigned {
    /// The turn.
    pub turn: Turn,
    /// The run that it belongs to.
    pub update: RunUpdate,
}

impl Runs {
    /// Assigns a turn to a role; to the role that is due if none is named.
    ///
    /// # Errors
    /// The code of the guard that refuses; `runtime_not_supported` or `runtime_unavailable` if the
    /// runtime of the role cannot be used here. A hook that refuses blocks the run.
    pub fn assign(&self, role: Option<&str>) -> Result<Assigned, Failure> {
        let mut operation = self.begin()?;
        let role = match role {
            Some(role) => role.to_owned(),
            None => due_role(&operation.state, &operation.config).ok_or_else(|| {
                let message = format!("the phase {} names no next role", operation.state.phase());
                Failure::new(Code::XchainUnknownRole, message).suggesting("name the role")
            })?,
        };
        let check = check_baseline(&operation.locked, &operation.state, operation.git()?.as_ref())?;
        let history = operation.locked.index(operation.state.run_id())?.length();
        let assignable =
            check_assignment(&operation.state, &operation.config, &role, check, history)?;
        // After the guards, whose order is that of the protocol, and before the hooks: they must
        // not run for a turn that cannot be worked on.
        self.check_able(&operation.config, &role)?;
        let report = operation.hooks(assignable.hooks(), HookPhase::BeforeAssignment, &[])?;
        let now = operation.now();
        let (change, turn) = match assignable.confirm(&report, &mut operation.ids, now) {
            Ok(assigned) => assigned,
            Err(refused) => return Err(operation.commit_refusal(refused)),
        };
        operation.commit(&change, Vec::<Write>::new())?;
        operation.save_session("turn_assigned", Some(&turn));
        Ok(Assigned { turn, update: RunUpdate { state: change.state, events: change.events } })
    }
}

impl Runs {
    /// Refuses a turn if the runtime of the role cannot be used here.
    pub(super) fn check_able(&self, config: &Config, role: &str) -> Result<(), Failure> {
        // Fixtures test rules and name programs that do not exist.
        if !self.is_for_people() {
            return Ok(());
        }
        let runtime = config.role(role).and_then(|role| role.runtime.as_deref());
        let runtime = runtime.and_then(|id| config.runtime(id));
        // The assignment itself reports an unknown role or runtime.
        runtime.map_or(Ok(()), |runtime| self.check_runtime(runtime))
    }
}

/// What an assignment must know about the repository.
pub(super) fn check_baseline(
    repository: &Repository,
    state: &State,
    git: Option<&Git>,
) -> Result<BaselineCheck, Failure> {
    let Some(git) = git else {
        return Ok(BaselineCheck::Clean(without_git()));
    };
    let changes = git.changes()?;
    let baseline = changes.baseline();
    if baseline.clean {
        return Ok(BaselineCheck::Clean(baseline));
    }
    let accepted = accepted_work(repository, state, &changes)?;
    let foreign: Vec<String> =
        changes.attributable().filter(|path| !accepted.contains_key(*path)).cloned().collect();
    if !foreign.is_empty() {
        return Ok(BaselineCheck::Dirty(baseline, foreign));
    }
    let last = accepted.into_values().max_by_key(|done| done.sequence);
    let turn = last.map_or_else(String::new, |done| done.turn);
    Ok(BaselineCheck::Uncheckpointed(baseline, turn))
}

/// The accepted turn that last changed a file.
#[derive(Clone, Debug)]
pub(super) struct AcceptedWork {
    pub(super) turn: String,
    pub(super) role: String,
    pub(super) summary: String,
    sequence: u64,
}

/// The uncommitted files that are unchanged since an accepted turn of this run.
pub(super) fn accepted_work(
    repository: &Repository,
    state: &State,
    changes: &Changes,
) -> Result<BTreeMap<String, AcceptedWork>, Failure> {
    let mut found: BTreeMap<String, AcceptedWork> = BTreeMap::new();
    for line in repository.objects(RecordFile::History)? {
        let line = line?;
        if !state.owns_line(&line) {
            continue;
        }
        let Some(marks) = accord_runs_core::history::file_markers(&line) else {
            continue;
        };
        for (path, mark) in marks {
            // The marker of the latest turn counts.
            found.remove(path);
            if changes.dirty.get(path).map(String::as_str) == mark.as_str() {
                found.insert(path.clone(), work_of(&line));
            }
        }
    }
    Ok(found)
}

fn work_of(line: &Object) -> AcceptedWork {
    let text = |name: &str| {
        let text = line.get(name).and_then(Value::as_str);
        text.unwrap_or_default().to_owned()
    };
    AcceptedWork {
        turn: text("turn_id"),
        role: text("role"),
        summary: text("summary"),
        sequence: line.get("accepted_sequence").and_then(Value::as_u64).unwrap_or(0),
    }
}
