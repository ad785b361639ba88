//! Synchronizes the coordinator's records with its repositories.

use accord_contract::{Code, Failure, Object, Time, Value};

use super::history::{self, LineType};
use super::projection::{Initiative, Offer, project};
use super::{
    Barriers, CoordinatorChange, CoordinatorDecision, CoordinatorLedger, CoordinatorState,
    CoordinatorStatus, Divergence, DivergenceKind, Effect, RepoView, RepoViews, diverging,
    recovery_report_path,
};
use crate::{Ids, Result, RunId, doc};

/// Whether a person reported how a blocked initiative was repaired.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Account<'a> {
    /// No report: only accepted and rejected turns are recorded.
    None,
    /// The report of a person. The repositories are adopted as they are.
    Report(&'a str),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Resync {
    /// The new state. It is blocked when a remaining divergence needs a person.
    pub state: CoordinatorState,
    /// The barriers after the change.
    pub barriers: Barriers,
    pub history: Vec<Object>,
    pub ledger: Vec<Object>,
    /// The projected acceptances, each with its barrier changes.
    pub projected: Vec<(Object, Vec<Effect>)>,
    pub repaired: Vec<Divergence>,
    pub left: Vec<Divergence>,
    pub resumed: bool,
    report: Option<String>,
    before: Option<String>,
}

/// Records what happened in the repositories since the last synchronization. Fails like
/// [`project`]: a turn that wrote outside its repository is not projected.
pub fn resync(
    initiative: &Initiative<'_>,
    repos: &RepoViews,
    account: Account<'_>,
    ids: &mut Ids,
    now: Time,
) -> Result<Resync> {
    let accounted = account != Account::None;
    let is_repaired = |found: &Divergence| {
        found.kind.is_repairable() || (accounted && found.kind.is_accountable())
    };
    let (repaired, left) = diverging(initiative, repos).into_iter().partition(is_repaired);
    let mut resync = Resync {
        state: initiative.state.clone(),
        barriers: initiative.barriers.clone(),
        history: Vec::new(),
        ledger: Vec::new(),
        projected: Vec::new(),
        repaired,
        left,
        resumed: false,
        report: match account {
            Account::None => None,
            Account::Report(report) => Some(report.to_owned()),
        },
        before: initiative.state.blocked_reason().map(str::to_owned),
    };
    for found in resync.repaired.clone() {
        resync.repair(initiative, repos, &found, ids, now)?;
    }
    let blocked = resync.settle(now);
    if !resync.repaired.is_empty() || blocked || resync.resumed {
        resync.account_for(initiative, now);
    }
    Ok(resync)
}

/// Checks the report that a person writes before a blocked initiative is resumed. Fails with
/// `coordinator_diverged` when a section is missing or empty.
pub fn check_recovery_report(report: &str) -> Result<()> {
    let placeholder = |line: &str| line.starts_with('(') && line.ends_with(')');
    let has_content = |section| crate::gate::section_has_content(report, section, placeholder);
    let mut empty = vec!["## Trigger", "## Impact", "## Mitigation"];
    empty.retain(|section| !has_content(section));
    if empty.is_empty() {
        return Ok(());
    }
    let (path, empty) = (recovery_report_path(), empty.join(", "));
    let message = format!("the initiative is blocked, and {path} has no content under {empty}");
    Err(Failure::new(Code::XchainCoordinatorDiverged, message).with("report", path))
}

pub fn recovery_report(reason: &str) -> String {
    format!(
        "# Recovery report\n\n## Trigger\n\n{reason}\n\n\
         ## Impact\n\n(Say what the initiative lost or risks by it.)\n\n\
         ## Mitigation\n\n(Say what was done, and why it is safe to go on.)\n"
    )
}

impl Resync {
    pub fn is_empty(&self) -> bool {
        self.history.is_empty()
    }

    /// The change to write. A used report is copied into the history. A new block adds the template
    /// of a report, unless one exists.
    pub fn into_change(
        self,
        has_report: bool,
        ledger: &mut CoordinatorLedger,
        now: Time,
    ) -> CoordinatorChange {
        let (before, reason) = (self.before, self.state.blocked_reason().map(str::to_owned));
        let mut change = CoordinatorChange::of_state(self.state, self.barriers);
        change.history = self.history;
        change.barrier_ledger = self.ledger;
        if self.resumed {
            let status = change.state.status().as_str();
            let statement = format!("the initiative goes on, {status}");
            let about =
                [("from", "blocked".into()), ("to", status.into()), ("reason", before.into())];
            let category = CoordinatorDecision::Recovery;
            let line = ledger.line(&change.state, category, &statement, about, now);
            change.decisions.push(line);
        }
        match reason {
            Some(reason) if !has_report => {
                change.documents.push((recovery_report_path(), recovery_report(&reason)));
            }
            None if self.resumed => change.removed.push(recovery_report_path()),
            _ => {}
        }
        change
    }

    fn repair(
        &mut self,
        initiative: &Initiative<'_>,
        repos: &RepoViews,
        found: &Divergence,
        ids: &mut Ids,
        now: Time,
    ) -> Result<()> {
        let view = repos.get(&found.repo);
        let kind = match found.kind {
            DivergenceKind::TurnAcceptedUnprojected => {
                return self.take_over(initiative, view, found, ids, now);
            }
            DivergenceKind::RunIdMismatch => {
                let run = view.and_then(|view| view.state.as_ref()?.run_id());
                let run = run.map_or("", RunId::as_str).to_owned();
                self.state.set_of_repo(&found.repo, doc::RepoRun::RUN_ID, &run);
                LineType::RepoRunAdopted
            }
            DivergenceKind::RepoCompletedUnexpectedly => {
                self.state.set_of_repo(&found.repo, doc::RepoRun::STATUS, "completed");
                LineType::RepoCompletionAdopted
            }
            DivergenceKind::TurnDisappeared => LineType::TurnDisappeared,
            _ => LineType::TurnRejected,
        };
        let members = [
            doc::MultiHistory::REPO_ID.to(found.repo.as_str()),
            // The adopted run is in the new state; the old one names the lost run.
            doc::MultiHistory::REPO_RUN_ID.to(self.state.repo_run(&found.repo)),
            doc::MultiHistory::WORKSTREAM_ID.to(found.workstream.clone()),
            doc::MultiHistory::REPO_TURN_ID.to(found.turn.clone()),
        ];
        self.history.push(history::line(kind, initiative.state, now, members));
        Ok(())
    }

    fn take_over(
        &mut self,
        initiative: &Initiative<'_>,
        view: Option<&RepoView>,
        found: &Divergence,
        ids: &mut Ids,
        now: Time,
    ) -> Result<()> {
        let turn = found.turn.as_deref();
        let lines = view.map_or(&[][..], |view| &view.history);
        let accepted = lines.iter().find(|line| doc::History::TURN_ID.get(line) == turn);
        let Some(accepted) = accepted else { return Ok(()) };
        // Without the earlier repairs, which are not written yet, a turn could be projected twice.
        let known = [initiative.history, &self.history].concat();
        let initiative = Initiative { barriers: &self.barriers, history: &known, ..*initiative };
        let workstream = found.workstream.as_deref().unwrap_or_default();
        let offer = Offer { repo: &found.repo, workstream, root: None, accepted };
        let projection = project(&initiative, &offer, ids, now)?;
        self.ledger.extend(projection.ledger);
        self.barriers = projection.barriers;
        if let Some(line) = projection.line {
            self.history.push(line.clone());
            self.projected.push((line, projection.effects));
        }
        Ok(())
    }

    /// Blocks the initiative when a remaining divergence is fatal, and resumes it when none is.
    /// Returns whether it is newly blocked.
    fn settle(&mut self, now: Time) -> bool {
        let status = self.state.status();
        // Repositories go on after the end of an initiative. That does not concern it any more.
        if status == CoordinatorStatus::Completed {
            return false;
        }
        let waits = self.state.pending_gate().is_some();
        // The pending gate checked its repositories when it was requested. If one was blocked
        // since, an approval would rest on outdated facts.
        let stops = |found: &&Divergence| found.kind.is_fatal() || waits;
        let fatal = self.left.iter().filter(stops);
        let texts: Vec<String> =
            fatal.map(|found| format!("{}: {}", found.repo, found.kind)).collect();
        if texts.is_empty() {
            // A blocked initiative is resumed only with a report.
            if status == CoordinatorStatus::Blocked && self.report.is_some() {
                // The gate is still pending, so the initiative waits for its approval again.
                use CoordinatorStatus::{Active, Paused};
                let next = if waits { Paused } else { Active };
                self.state.set_status(next, now);
                self.state.clear(doc::Coordinator::BLOCKED_REASON);
                self.state.clear(doc::Coordinator::DIVERGENCE);
                self.resumed = true;
            }
            return false;
        }
        self.state.set_status(CoordinatorStatus::Blocked, now);
        self.state.set(doc::Coordinator::BLOCKED_REASON, texts.join("; "));
        self.state.set(doc::Coordinator::DIVERGENCE, &texts);
        status != CoordinatorStatus::Blocked
    }

    fn account_for(&mut self, initiative: &Initiative<'_>, now: Time) {
        let mut repos: Vec<&str> = self.repaired.iter().map(|found| found.repo.as_str()).collect();
        repos.dedup();
        let effects = self.projected.iter().flat_map(|(_, effects)| effects);
        let effects: Vec<Value> = effects.map(|effect| effect.document().into()).collect();
        let members = [
            doc::MultiHistory::RESYNCED_REPOS.to(&repos),
            doc::MultiHistory::BARRIER_CHANGES.to(effects),
            doc::MultiHistory::BLOCKED_REASON.to(self.state.blocked_reason()),
        ];
        let state = initiative.state;
        self.history.push(history::line(LineType::StateResynced, state, now, members));
        if self.resumed {
            let members = [
                doc::MultiHistory::FROM.to("blocked"),
                doc::MultiHistory::TO.to(self.state.status().as_str()),
                doc::MultiHistory::BLOCKED_REASON.to(self.before.clone()),
                doc::MultiHistory::RECOVERY_REPORT.to(self.report.clone()),
            ];
            self.history.push(history::line(LineType::BlockedResolved, state, now, members));
        }
    }
}
