//! Divergences: differences between a repository and the coordinator's records.

use std::collections::{BTreeMap, BTreeSet};

use accord_contract::{Extensible, Object, Value, wire_enum};

use super::history::{self, LineType};
use super::projection::Initiative;
use super::{RepoView, RepoViews};
use crate::history::is_accepted;
use crate::{State, Status, TurnId, TurnStatus, doc};

wire_enum! {
    pub enum DivergenceKind("DivergenceKind", closed) {
        RepoConfigMissing = "repo_config_missing",
        RepoStateMissing = "repo_state_missing",
        RunIdMismatch = "run_id_mismatch",
        /// The run has ended before the initiative.
        RepoCompletedUnexpectedly = "repo_completed_unexpectedly",
        RepoBlockedUnexpectedly = "repo_blocked_unexpectedly",
        TurnAcceptedUnprojected = "turn_accepted_unprojected",
        TurnRejectedUnprojected = "turn_rejected_unprojected",
        TurnDisappeared = "turn_disappeared",
    }
}

impl DivergenceKind {
    /// Whether recording what happened repairs it.
    pub fn is_repairable(self) -> bool {
        matches!(self, Self::TurnAcceptedUnprojected | Self::TurnRejectedUnprojected)
    }

    /// Whether a recovery report repairs it. The coordinator then adopts the repository as it is.
    pub(crate) fn is_accountable(self) -> bool {
        use DivergenceKind::{RepoCompletedUnexpectedly, RunIdMismatch, TurnDisappeared};
        matches!(self, RunIdMismatch | RepoCompletedUnexpectedly | TurnDisappeared)
    }

    /// Whether it blocks the initiative. A blocked repository does not block the others.
    pub fn is_fatal(self) -> bool {
        !self.is_repairable() && self != Self::RepoBlockedUnexpectedly
    }
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Divergence {
    pub kind: DivergenceKind,
    pub repo: String,
    pub turn: Option<String>,
    pub workstream: Option<String>,
}

pub fn diverging(initiative: &Initiative<'_>, repos: &RepoViews) -> Vec<Divergence> {
    let mut found = Vec::new();
    let empty = RepoView::default();
    for repo in initiative.state.repos() {
        let view = repos.get(repo).unwrap_or(&empty);
        let mut add = |kind| found.push(difference(kind, repo, None, None));
        if view.config.is_none() {
            add(DivergenceKind::RepoConfigMissing);
        }
        let Some(state) = &view.state else {
            add(DivergenceKind::RepoStateMissing);
            continue;
        };
        let run = state.run_id().map(crate::RunId::as_str);
        if initiative.state.repo_run(repo).is_some_and(|known| Some(known) != run) {
            add(DivergenceKind::RunIdMismatch);
            // The turns of another run say nothing about the dispatched ones.
            continue;
        }
        // In the last phase a completed run is what the initiative waits for.
        let last = initiative.config.next_phase(initiative.state.phase()).is_none();
        // The completion was adopted with an earlier report, so it is no surprise any more.
        let known = initiative.state.repo_run_status(repo) == Some("completed");
        if state.status() == Status::Completed && !last && !known {
            add(DivergenceKind::RepoCompletedUnexpectedly);
        }
        if state.status() == Status::Blocked {
            add(DivergenceKind::RepoBlockedUnexpectedly);
        }
        turns(initiative, repo, view, &mut found);
    }
    found
}

fn turns(initiative: &Initiative<'_>, repo: &str, view: &RepoView, found: &mut Vec<Divergence>) {
    let own = || {
        let of_repo = |line: &&Object| doc::MultiHistory::REPO_ID.get(line) == Some(repo);
        initiative.history.iter().filter(of_repo)
    };
    let recorded = |kinds: &[LineType]| -> BTreeSet<&str> {
        let of_kinds = own().filter(|line| kinds.iter().any(|kind| history::is(line, *kind)));
        of_kinds.filter_map(|line| doc::MultiHistory::REPO_TURN_ID.get(line)).collect()
    };
    let projected = recorded(&[LineType::AcceptanceProjection]);
    let rejected = recorded(&[LineType::TurnRejected, LineType::TurnDisappeared]);
    let run = initiative.state.repo_run(repo);
    let is_done = |line: &&Object| doc::History::RUN_ID.get(line) == run && is_accepted(line);
    let done = view.history.iter().filter(is_done);
    let accepted: BTreeSet<&str> = done.filter_map(|it| doc::History::TURN_ID.get(it)).collect();
    let replacements = withdrawn_turns(view, run);
    let dispatched = own().filter(|line| history::is(line, LineType::TurnDispatched));
    for line in dispatched {
        let Some(first) = doc::MultiHistory::REPO_TURN_ID.get(line) else { continue };
        // A repository may reissue a dispatched turn. The work continues under the new id.
        let turn = last_of(first, &replacements);
        let workstream = doc::MultiHistory::WORKSTREAM_ID.get(line);
        let mut add = |kind| found.push(difference(kind, repo, Some(turn), workstream));
        let active = TurnId::parse(turn).and_then(|id| view.state.as_ref()?.turn(&id));
        if projected.contains(turn) {
            continue;
        }
        if accepted.contains(turn) {
            add(DivergenceKind::TurnAcceptedUnprojected);
        } else if rejected.contains(turn) {
            continue;
        } else if let Some(active) = active {
            use TurnStatus::{Failed, Retrying};
            if matches!(active.status(), Extensible::Known(Failed | Retrying)) {
                add(DivergenceKind::TurnRejectedUnprojected);
            }
        } else if replacements.contains_key(turn) {
            // The turn was withdrawn, and no record names its replacement.
            add(DivergenceKind::TurnRejectedUnprojected);
        } else {
            add(DivergenceKind::TurnDisappeared);
        }
    }
}

/// The withdrawn turns of a run, each with its replacement where that is known.
type Replacements<'a> = BTreeMap<&'a str, Option<&'a str>>;

fn withdrawn_turns<'a>(view: &'a RepoView, run: Option<&str>) -> Replacements<'a> {
    let is_withdrawn = |it: &&Object| doc::History::RUN_ID.get(it) == run && !is_accepted(it);
    let pair = |line| Some((doc::History::TURN_ID.get(line)?, doc::History::REISSUED_AS.get(line)));
    let withdrawn = view.history.iter().filter(is_withdrawn);
    let mut replacements: Replacements<'_> = withdrawn.filter_map(pair).collect();
    // The line of a withdrawn turn may not name its replacement, but an active replacement names
    // the withdrawn turn.
    for turn in view.state.iter().flat_map(State::turns) {
        if let Some(from) = turn.value(doc::Turn::REISSUED_FROM).and_then(Value::as_str) {
            replacements.insert(from, Some(turn.id().as_str()));
        }
    }
    replacements
}

fn last_of<'a>(first: &'a str, replacements: &Replacements<'a>) -> &'a str {
    let mut turn = first;
    // A foreign record may contain a cycle.
    for _ in 0..replacements.len() {
        let Some(Some(next)) = replacements.get(turn) else { break };
        turn = next;
    }
    turn
}

fn difference(
    kind: DivergenceKind,
    repo: &str,
    turn: Option<&str>,
    workstream: Option<&str>,
) -> Divergence {
    Divergence {
        kind,
        repo: repo.to_owned(),
        turn: turn.map(str::to_owned),
        workstream: workstream.map(str::to_owned),
    }
}
