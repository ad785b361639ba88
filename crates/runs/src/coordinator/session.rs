//! One operation of a coordinator in progress: the lock is held, all documents are loaded.

use accord_base::Author;
use accord_contract::{Code, Failure, Object, Time};
use accord_runs_core::coordinator::{
    Account, Barriers, CoordinatorChange, CoordinatorConfig, CoordinatorLedger, CoordinatorState,
    CoordinatorStatus, Divergence, Effect, Initiative, RepoView, RepoViews, Resync, hooks,
    recovery_report_path, resync,
};
use accord_runs_core::operations::{LocalOperation, ReissueTurn};
use accord_runs_core::{
    Consent, HookBatch, HookPhase, HookReport, Ids, Result, Turn, TurnId, dispatch,
};

use super::repos::{ChildRepo, When, in_repo, views};
use super::{Coordinator, MAX_DOCUMENT};
use crate::caller::{authorize, running_workers};
use crate::hooks::{HookScope, run_in_scope};
use crate::{LockedRepository, RecordFile, Repository, own_path};

pub(super) struct CoordinatorSession<'a> {
    coordinator: &'a Coordinator,
    pub(super) locked: LockedRepository,
    pub(super) config: CoordinatorConfig,
    pub(super) state: CoordinatorState,
    pub(super) barriers: Barriers,
    pub(super) history: Vec<Object>,
    pub(super) ledger: CoordinatorLedger,
    pub(super) children: Vec<ChildRepo>,
    pub(super) views: RepoViews,
    pub(super) ids: Ids,
}

impl Coordinator {
    /// Takes the lock of the workspace and finishes pending journals.
    pub(super) fn lock(&self) -> Result<LockedRepository> {
        let locked = self.workspace.lock(self.environment.lock_timeout())?;
        self.environment.report_recovered(&locked);
        Ok(locked)
    }

    pub(super) fn refuse_worker(&self, views: &RepoViews) -> Result<()> {
        let states = views.values().filter_map(|view| view.state.as_ref());
        let (caller, workers) = (self.environment.caller(), running_workers(states));
        caller.attribute_beside(ReissueTurn::NEED, Author::unnamed(), &workers).map(drop)
    }

    pub(super) fn authorize<O: LocalOperation>(
        &self,
        views: &RepoViews,
        children: &[ChildRepo],
        consent: &Consent,
    ) -> Result<Consent> {
        let states = views.values().filter_map(|view| view.state.as_ref());
        let workers = running_workers(states);
        let roots = children.iter().map(|child| child.place.as_path());
        let person = authorize(&self.environment, O::NEED, &consent.person, &workers, roots)?;
        Ok(Consent { person, expect: consent.expect.clone() })
    }

    /// Begins an operation on an initiative. Fails with `no_initiative` if there is none.
    pub(super) fn open_session(&self) -> Result<CoordinatorSession<'_>> {
        let config = self.config()?;
        let children = self.children(&config);
        for child in &children {
            if let Ok(runs) = &child.runs {
                let repository = runs.repository();
                settle(repository, self).map_err(|failure| in_repo(&child.repo.id, failure))?;
            }
        }
        // The workspace may be one of the repositories, and its lock cannot be taken twice.
        let locked = self.lock()?;
        let state = locked.coordinator_state()?.ok_or_else(none_begun)?;
        let history = self.lines(RecordFile::CoordinatorHistory, &state)?;
        let ledger = ledger(&locked)?;
        Ok(CoordinatorSession {
            barriers: self.barriers()?,
            views: views(&children, Some(&state), When::During)?,
            ids: self.environment.ids(),
            coordinator: self,
            locked,
            config,
            state,
            history,
            ledger,
            children,
        })
    }
}

/// Finishes pending journals of a repository, so that an interrupted acceptance is visible.
fn settle(repository: &Repository, coordinator: &Coordinator) -> Result<()> {
    if !repository.pending_journals()?.is_empty() {
        drop(repository.lock(coordinator.environment.lock_timeout())?);
    }
    Ok(())
}

/// The decision ids of the workspace, of all initiatives.
pub(super) fn ledger(locked: &LockedRepository) -> Result<CoordinatorLedger> {
    let lines: Result<Vec<Object>, _> = locked.objects(RecordFile::CoordinatorLedger)?.collect();
    Ok(CoordinatorLedger::of(&lines?))
}

pub(super) fn none_begun() -> Failure {
    let message = "there is no initiative in this workspace";
    Failure::new(Code::XchainNoInitiative, message).suggesting("accord run coordinator init")
}

impl CoordinatorSession<'_> {
    pub(super) fn initiative(&self) -> Initiative<'_> {
        let Self { config, state, barriers, history, .. } = self;
        Initiative { config, state, barriers, history }
    }

    pub(super) fn now(&self) -> Time {
        self.coordinator.environment.now()
    }

    pub(super) fn workspace(&self) -> String {
        self.locked.root().to_string_lossy().into_owned()
    }

    pub(super) fn view(&self, repo: &str) -> RepoView {
        self.views.get(repo).cloned().unwrap_or_default()
    }

    pub(super) fn commit(&mut self, change: CoordinatorChange) -> Result<()> {
        let now = self.now();
        let commit = change.commit(Some(&self.state), &mut self.ids, now);
        self.locked.commit(&commit)?;
        // Keep the state as it was written: the next commit compares every member.
        self.state = self.locked.coordinator_state()?.ok_or_else(none_begun)?;
        self.barriers = change.barriers;
        self.history.extend(change.history);
        Ok(())
    }

    /// Runs hooks of the coordinator. The repositories are locked meanwhile.
    pub(super) fn hooks(&self, batch: Option<HookBatch>, phase: HookPhase) -> Result<HookReport> {
        let Some(batch) = batch else { return Ok(HookReport::none(phase)) };
        let environment = &self.coordinator.environment;
        let mut extra = hooks::protected_files();
        let mut others = Vec::new();
        for child in &self.children {
            let Ok(runs) = &child.runs else { continue };
            let repository = runs.repository();
            let turns = self.views.get(&child.repo.id);
            let turns = turns.and_then(|view| view.state.as_ref());
            let ids = turns.into_iter().flat_map(|state| state.turns());
            let bundles = bundles(repository, ids.map(Turn::id))?;
            // This is the workspace itself, whose lock is held already.
            if repository.root() == self.locked.root() {
                extra.extend(bundles);
                continue;
            }
            let locked = repository.lock(environment.lock_timeout());
            let locked = locked.map_err(|error| in_repo(&child.repo.id, error.into()))?;
            others.push((child.repo.path.clone(), locked, bundles));
        }
        let (locked, audit) = (&self.locked, RecordFile::CoordinatorHookAudit);
        let scope = HookScope { locked, extra: &extra, others: &others, audit };
        run_in_scope(batch, &scope, environment)
    }

    /// Projects what happened in the repositories, writes it, and runs the hooks. Returns what was
    /// found; it is an error if the initiative cannot continue.
    pub(super) fn catch_up(&mut self, account: Account<'_>) -> Result<Resync> {
        let (place, now) = (self.initiative(), self.now());
        let mut ids = self.ids.clone();
        let found = resync(&place, &self.views, account, &mut ids, now)?;
        self.ids = ids;
        let was = self.state.status();
        if !found.is_empty() {
            let has_report = self.report()?.is_some();
            let mut ledger = self.ledger;
            let change = found.clone().into_change(has_report, &mut ledger, now);
            self.commit(change)?;
            // Only now: ids of a commit that failed must be free again.
            self.ledger = ledger;
        }
        for (line, effects) in &found.projected {
            self.notify_accepted(line, effects)?;
        }
        if self.state.status() == CoordinatorStatus::Blocked {
            // The hooks run once per block, not at every command until it is resolved.
            if was != CoordinatorStatus::Blocked {
                self.notify_blocked();
            }
            return Err(diverged(&self.state, &found.left));
        }
        Ok(found)
    }

    pub(super) fn report(&self) -> Result<Option<String>> {
        let path = own_path(&recovery_report_path())?;
        let bytes = self.locked.read(&path, MAX_DOCUMENT)?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    fn notify_accepted(&self, line: &Object, effects: &[Effect]) -> Result<()> {
        let batch = hooks::after_acceptance(&self.initiative(), line, effects, &self.workspace());
        let report = self.hooks(batch, HookPhase::AfterAcceptance)?;
        let turn = line.get("repo_turn_id").and_then(|turn| turn.as_str());
        let lines = report.annotation_lines(turn.unwrap_or_default(), self.now());
        if !lines.is_empty() {
            self.locked.append(RecordFile::CoordinatorHookAnnotations, &lines)?;
        }
        Ok(())
    }

    /// Runs advisory hooks: their answers have no effect.
    fn notify_blocked(&self) {
        let batch = hooks::on_escalation(&self.initiative(), &self.workspace());
        self.coordinator.environment.report(self.hooks(batch, HookPhase::OnEscalation));
    }
}

pub(super) fn diverged(state: &CoordinatorState, left: &[Divergence]) -> Failure {
    let reason = state.blocked_reason().unwrap_or("it is blocked");
    let path = recovery_report_path();
    let message = format!("the initiative is blocked: {reason}");
    let left = left.iter().map(|found| format!("{}: {}", found.repo, found.kind));
    let next = format!("fix it, describe that in {path}, then run: accord run coordinator resync");
    Failure::new(Code::XchainCoordinatorDiverged, message)
        .with("divergence", left.collect::<Vec<String>>())
        .with("report", path.as_str())
        .suggesting(next)
}

fn bundles<'a>(
    repository: &Repository,
    turns: impl Iterator<Item = &'a TurnId>,
) -> Result<Vec<String>> {
    let mut files = Vec::new();
    for turn in turns {
        let folder = dispatch::bundle_folder(turn);
        let names = repository.bundle(turn)?.into_keys();
        files.extend(names.map(|name| format!("{folder}/{name}")));
    }
    Ok(files)
}
