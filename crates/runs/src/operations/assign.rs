//! A turn is assigned to a role.

use std::collections::{BTreeMap, BTreeSet};

use accord_contract::{Code, Failure, Object, Value};
use accord_runs_core::history::{self, RunIndex, Touch};
use accord_runs_core::next_step::due_role;
use accord_runs_core::run::{BaselineCheck, check_assignment};
use accord_runs_core::{CheckpointReason, Config, HookPhase, RepoPath, Result, RunId, Turn, Write};

use super::RunUpdate;
use crate::git::{Changes, Git};
use crate::operation::{own_path, without_git};
use crate::{Repository, Runs, scaffold};

const MAX_IGNORE: u64 = 1024 * 1024;

#[derive(Clone, Debug, PartialEq)]
pub struct Assigned {
    pub turn: Turn,
    pub update: RunUpdate,
}

impl Runs {
    /// Assigns a turn to a role; to the role that is due if none is named. Fails with the code of
    /// the guard that refuses; `runtime_not_supported` or `runtime_unavailable` if the runtime of
    /// the role cannot be used here. A hook that refuses blocks the run.
    pub fn assign(&self, role: Option<&str>) -> Result<Assigned> {
        let mut operation = self.begin()?;
        let role = match role {
            Some(role) => role.to_owned(),
            None => due_role(&operation.state, &operation.config).ok_or_else(|| {
                let message = format!("the phase {} names no next role", operation.state.phase());
                Failure::new(Code::XchainUnknownRole, message).suggesting("name the role")
            })?,
        };
        let index = operation.locked.index(operation.state.run_id())?;
        let check = check_baseline(&operation.locked, &index, operation.git()?.as_ref())?;
        let (state, config) = (&operation.state, &operation.config);
        let assignable = check_assignment(state, config, &role, check, index.length())?;
        // After the guards, whose order is that of the protocol, and before the hooks: they must
        // not run for a turn that cannot be worked on.
        self.check_able(&operation.config, &role)?;
        let report = operation.hooks(assignable.hooks(), HookPhase::BeforeAssignment, &[])?;
        let now = operation.now();
        let assigned = assignable.confirm(&report, &mut operation.ids, now);
        let (change, turn) = assigned.map_err(|refused| operation.commit_refusal(refused))?;
        operation.commit(&change, Vec::<Write>::new())?;
        operation.save_session(CheckpointReason::TurnAssigned, Some(&turn));
        Ok(Assigned { turn, update: RunUpdate { state: change.state, events: change.events } })
    }

    pub(super) fn check_able(&self, config: &Config, role: &str) -> Result<()> {
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
    index: &RunIndex,
    git: Option<&Git>,
) -> Result<BaselineCheck> {
    let Some(git) = git else { return Ok(BaselineCheck::Clean(without_git())) };
    let changes = git.clone().with_filters().reading_contents().changes()?;
    let baseline = changes.baseline();
    if baseline.clean {
        return Ok(BaselineCheck::Clean(baseline));
    }
    let accepted = accepted_work(repository, index, &changes)?;
    let is_foreign = |path: &&String| !accepted.contains_key(*path);
    let mut foreign: Vec<String> = changes.attributable().filter(is_foreign).cloned().collect();
    let own = own_files(repository, git, &changes.head, &foreign)?;
    foreign.retain(|path| !own.contains(path));
    if !foreign.is_empty() {
        return Ok(BaselineCheck::Dirty(baseline, foreign));
    }
    if !changes.attributable().any(|path| accepted.contains_key(path)) {
        return Ok(BaselineCheck::Clean(baseline));
    }
    let last = accepted.into_values().max_by_key(|done| done.sequence);
    let turn = last.map_or_else(String::new, |done| done.turn);
    Ok(BaselineCheck::Uncheckpointed(baseline, turn))
}

/// The files that `init` wrote and that were never committed. They are no obstacle: the baseline of
/// a turn has their markers, so that only later changes are attributed to it.
fn own_files(
    repository: &Repository,
    git: &Git,
    head: &str,
    foreign: &[String],
) -> Result<BTreeSet<String>> {
    let is_own = |path: &&String| scaffold::has(path);
    let mut own: BTreeSet<String> = foreign.iter().filter(is_own).cloned().collect();
    if own.is_empty() {
        return Ok(own);
    }
    let candidates: Vec<String> = own.iter().cloned().collect();
    let committed = git.committed(head, &candidates)?;
    own.retain(|path| !committed.contains(path));
    if committed.contains(scaffold::IGNORE_FILE) {
        let before = git.content(head, scaffold::IGNORE_FILE)?.unwrap_or_default();
        let present = repository.read(&own_path(scaffold::IGNORE_FILE)?, MAX_IGNORE)?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let present = present.unwrap_or_default();
        if scaffold::only_ignores_more(&text(&before), &text(&present)) {
            own.insert(scaffold::IGNORE_FILE.to_owned());
        }
    }
    Ok(own)
}

#[derive(Clone, Debug)]
pub(super) struct AcceptedWork {
    pub(super) turn: String,
    pub(super) role: String,
    pub(super) headline: String,
    sequence: u64,
    /// Whether the file is as it was accepted.
    is_same: bool,
}

/// The uncommitted files that are unchanged since the accepted turn of this run that changed them
/// last. Only the lines of those turns are read.
pub(super) fn accepted_work(
    repository: &Repository,
    index: &RunIndex,
    changes: &Changes,
) -> Result<BTreeMap<String, AcceptedWork>> {
    let mut work = uncommitted_work(repository, index, changes)?;
    work.retain(|_, done| done.is_same);
    Ok(work)
}

/// The uncommitted files of accepted turns that have changed since, each with its turn. No
/// checkpoint commits them.
pub(super) fn changed_work(
    repository: &Repository,
    index: &RunIndex,
    changes: &Changes,
) -> Result<Vec<(String, String)>> {
    let work = uncommitted_work(repository, index, changes)?.into_iter();
    Ok(work.filter(|(_, done)| !done.is_same).map(|(path, done)| (path, done.turn)).collect())
}

fn uncommitted_work(
    repository: &Repository,
    index: &RunIndex,
    changes: &Changes,
) -> Result<BTreeMap<String, AcceptedWork>> {
    if let Some(found) = work_in(repository, index, changes)? {
        return Ok(found);
    }
    // Another program changed the middle of the history, which the stored index does not notice.
    let run = index.run_id().and_then(RunId::parse);
    let rebuilt = repository.rebuilt_index(run.as_ref())?;
    Ok(work_in(repository, &rebuilt, changes)?.unwrap_or_default())
}

/// `None` if the index does not match the history.
fn work_in(
    repository: &Repository,
    index: &RunIndex,
    changes: &Changes,
) -> Result<Option<BTreeMap<String, AcceptedWork>>> {
    /// The turn of a line, and the dirty files that it marked, each with its present mark.
    type Marked<'a> = (&'a Touch, Vec<(&'a String, &'a String)>);
    let mut by_line: BTreeMap<u64, Marked<'_>> = BTreeMap::new();
    for (path, mark) in &changes.dirty {
        let touch = RepoPath::parse(path).ok().and_then(|path| index.touch(&path));
        if let Some((touch, position)) = touch.and_then(|touch| Some((touch, touch.marked_at?))) {
            by_line.entry(position).or_insert((touch, Vec::new())).1.push((path, mark));
        }
    }
    let mut found = BTreeMap::new();
    for (position, (touch, files)) in by_line {
        let line = repository.history_line(position)?;
        let of_turn = |line: &Object| line.get("turn_id") == Some(&touch.turn_id.as_str().into());
        let Some(line) = line.filter(of_turn) else { return Ok(None) };
        let marks = history::file_markers(&line);
        for (path, mark) in files {
            let known = marks.and_then(|marks| marks.get(path)?.as_str());
            found.insert(path.clone(), work_of(&line, known == Some(mark)));
        }
    }
    Ok(Some(found))
}

fn work_of(line: &Object, is_same: bool) -> AcceptedWork {
    const MAX_CHARS: usize = 60;
    let text = |name: &str| line.get(name).and_then(Value::as_str).unwrap_or_default();
    let headline = text("summary").lines().next().unwrap_or_default();
    AcceptedWork {
        turn: text("turn_id").to_owned(),
        role: text("role").to_owned(),
        headline: headline.chars().take(MAX_CHARS).collect(),
        sequence: line.get("accepted_sequence").and_then(Value::as_u64).unwrap_or(0),
        is_same,
    }
}
