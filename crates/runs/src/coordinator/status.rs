//! Where an initiative stands, and what is to be done next. Looks only: no lock, no write.

use std::collections::BTreeMap;
use std::path::PathBuf;

use accord_contract::codes::{Code, Failure};
use accord_contract::wire::Object;
use accord_runs_core::coordinator::{
    Barriers, BlockerKind, Choice, CoordinatorConfig, CoordinatorState, CoordinatorStatus,
    Divergence, Initiative, Obstacle, ObstacleReason, RepoView, diverging, gate_blockers,
    prospects, recovery_report_path,
};

use super::repos::{ChildRepo, When, views};
use super::session::none_begun;
use super::{COORDINATOR_CONFIG, Coordinator};
use crate::operations::{Finding, NextStep, Overview, stray_findings};
use crate::repository::{LockHolder, RecordFile};

/// Where an initiative stands.
#[derive(Debug)]
#[non_exhaustive]
pub struct CoordinatorOverview {
    /// The workspace.
    pub root: PathBuf,
    /// The initiative; `None` before it begins.
    pub state: Option<CoordinatorState>,
    /// Its barriers.
    pub barriers: Barriers,
    /// Its repositories, in their order.
    pub repos: Vec<RepoOverview>,
    /// What each workstream of the phase can do now, or what it waits for.
    pub prospects: Vec<(String, Result<Choice, Obstacle>)>,
    /// Where repositories are no longer as the initiative knows them.
    pub divergence: Vec<Divergence>,
    /// Members of the configuration that have no effect.
    pub findings: Vec<Finding>,
    /// What is to be done next, the first first.
    pub next: Vec<NextAction>,
    /// Who works on the workspace just now.
    pub holder: Option<LockHolder>,
    /// Journals that the next writer brings to their end.
    pub journals: Vec<String>,
}

/// A repository of the initiative.
#[derive(Debug)]
#[non_exhaustive]
pub struct RepoOverview {
    /// Its id.
    pub id: String,
    /// Where it is.
    pub place: PathBuf,
    /// The run that belongs to the initiative.
    pub run: Option<String>,
    /// Its own run, or why it cannot be seen.
    pub overview: Result<Overview, String>,
}

/// What is to be done next.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum NextAction {
    /// Begin an initiative.
    Init,
    /// Take a step.
    Step,
    /// A person opens a gate.
    ApproveGate {
        /// The gate.
        gate: String,
    },
    /// A person accounts for what went wrong there, then resynchronises.
    Account {
        /// The report, from the workspace.
        report: String,
    },
    /// Work goes on in a repository: see its own next step.
    Repository {
        /// Its id.
        id: String,
        /// Where it is.
        place: PathBuf,
    },
}

/// What is seen of an initiative at one moment.
pub(super) struct Snapshot {
    config: CoordinatorConfig,
    state: CoordinatorState,
    barriers: Barriers,
    history: Vec<Object>,
    pub(super) views: BTreeMap<String, RepoView>,
    children: Vec<ChildRepo>,
}

impl Snapshot {
    pub(super) fn initiative(&self) -> Initiative<'_> {
        Initiative {
            config: &self.config,
            state: &self.state,
            barriers: &self.barriers,
            history: &self.history,
        }
    }
}

impl Coordinator {
    /// Where the initiative stands.
    pub fn status(&self) -> Result<CoordinatorOverview, Failure> {
        let config = self.config()?;
        let journals = self.workspace.pending_journals()?;
        let mut overview = CoordinatorOverview {
            root: self.root().to_path_buf(),
            state: None,
            barriers: Barriers::default(),
            repos: Vec::new(),
            prospects: Vec::new(),
            divergence: Vec::new(),
            findings: stray_findings(
                COORDINATOR_CONFIG,
                Code::XchainInvalidCoordinatorConfig,
                &config.unknown_members(),
            ),
            next: Vec::new(),
            holder: self.workspace.lock_holder()?,
            journals: journals.into_iter().map(|waiting| waiting.path).collect(),
        };
        if self.workspace.coordinator_state()?.is_none() {
            overview.repos = self.repos(&self.children(&config), None);
            overview.next.push(NextAction::Init);
            return Ok(overview);
        }
        let seen = self.snapshot_with(config)?;
        overview.divergence = diverging(&seen.initiative(), &seen.views);
        if seen.state.status() == CoordinatorStatus::Active {
            overview.prospects = prospects(&seen.initiative(), &seen.views);
        }
        overview.repos = self.repos(&seen.children, Some(&seen.state));
        overview.next = next(&seen, &overview);
        overview.barriers = seen.barriers;
        overview.state = Some(seen.state);
        Ok(overview)
    }

    /// Reads everything, without a lock.
    pub(super) fn snapshot(&self) -> Result<Snapshot, Failure> {
        self.snapshot_with(self.config()?)
    }

    fn snapshot_with(&self, config: CoordinatorConfig) -> Result<Snapshot, Failure> {
        let state = self.workspace.coordinator_state()?.ok_or_else(none_begun)?;
        let children = self.children(&config);
        Ok(Snapshot {
            barriers: self.barriers()?,
            history: self.lines(RecordFile::CoordinatorHistory, &state)?,
            views: views(&children, Some(&state), When::During)?,
            config,
            state,
            children,
        })
    }

    fn repos(&self, children: &[ChildRepo], state: Option<&CoordinatorState>) -> Vec<RepoOverview> {
        let overview = |child: &ChildRepo| {
            let run = state.and_then(|state| state.repo_run(&child.repo.id));
            RepoOverview {
                run: run.map(str::to_owned),
                overview: match &child.runs {
                    Ok(runs) => runs.status().map_err(|failure| failure.message),
                    Err(problem) => Err(problem.to_string()),
                },
                id: child.repo.id.clone(),
                place: child.place.clone(),
            }
        };
        children.iter().map(overview).collect()
    }
}

fn next(seen: &Snapshot, overview: &CoordinatorOverview) -> Vec<NextAction> {
    let mut moves = match seen.state.status() {
        // A repository may still wait at its own end.
        CoordinatorStatus::Completed => {
            let mut moves = moves_in(overview, waits_for_a_person);
            moves.push(NextAction::Init);
            return moves;
        }
        CoordinatorStatus::Blocked => {
            return vec![NextAction::Account {
                report: recovery_report_path(),
            }];
        }
        CoordinatorStatus::Paused => {
            let gate = seen.state.pending_gate();
            let gate = gate.and_then(|gate| gate.get("gate")?.as_str());
            return vec![NextAction::ApproveGate {
                gate: gate.unwrap_or_default().to_owned(),
            }];
        }
        CoordinatorStatus::Active => moves_in(overview, |repo| holds_up(&repo.id, overview)),
    };
    let can = overview.prospects.iter().any(|(_, found)| found.is_ok());
    let mut behind = overview.divergence.iter();
    let behind = behind.any(|found| found.kind.is_repairable());
    let shut = gate_blockers(&seen.initiative(), &seen.views);
    if can || behind || shut.is_empty() {
        moves.insert(0, NextAction::Step);
        return moves;
    }
    // A step would change nothing: what keeps the gate shut is done in the repositories. Those that
    // are not at their end are left alone while a workstream may still have work for them.
    let works = shut
        .iter()
        .any(|found| found.kind == BlockerKind::BarrierUnsatisfied);
    let keeps_shut = |repo: &RepoOverview| {
        shut.iter().any(|found| {
            let here = found.about.as_ref() == Some(&repo.id);
            let early = works && found.kind == BlockerKind::RepoNotCompletionReady;
            here && is_done_there(found.kind) && !early
        })
    };
    let further = moves_in(overview, |repo| {
        keeps_shut(repo) || waits_for_a_person(repo)
    });
    for there in further {
        if !moves.contains(&there) {
            moves.push(there);
        }
    }
    if moves.is_empty() {
        moves.push(NextAction::Step);
    }
    moves
}

/// Whether a workstream waits for the repository.
fn holds_up(repo: &str, overview: &CoordinatorOverview) -> bool {
    overview.prospects.iter().any(|(_, prospect)| {
        prospect.as_ref().is_err_and(|found| {
            let there = matches!(
                found.reason,
                ObstacleReason::RepoBusy | ObstacleReason::RepoBlocked
            );
            there && found.repo.as_deref() == Some(repo)
        })
    })
}

/// Whether what keeps a gate shut is mended by work in the repository that it names.
fn is_done_there(kind: BlockerKind) -> bool {
    matches!(
        kind,
        BlockerKind::RepoBlocked
            | BlockerKind::RepoActiveTurns
            | BlockerKind::RepoPendingGate
            | BlockerKind::RepoNotCompletionReady
    )
}

/// Whether nobody but a person lets the repository go on.
fn waits_for_a_person(repo: &RepoOverview) -> bool {
    let own = repo.overview.as_ref().ok();
    let step = own.and_then(|own| own.next.first());
    step.is_some_and(|step| {
        matches!(
            step,
            NextStep::ApproveTransition { .. }
                | NextStep::ApproveCompletion { .. }
                | NextStep::Resolve { .. }
        )
    })
}

fn moves_in(
    overview: &CoordinatorOverview,
    meant: impl Fn(&RepoOverview) -> bool,
) -> Vec<NextAction> {
    let there = |repo: &RepoOverview| NextAction::Repository {
        id: repo.id.clone(),
        place: repo.place.clone(),
    };
    let repos = overview.repos.iter();
    repos.filter(|repo| meant(repo)).map(there).collect()
}
