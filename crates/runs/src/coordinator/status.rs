//! The status of an initiative and its next steps. It takes no lock and writes nothing.

use std::path::PathBuf;

use accord_contract::{Code, Object};
use accord_process::Cancel;
use accord_runs_core::coordinator::{
    Barriers, Choice, CoordinatorConfig, CoordinatorState, CoordinatorStatus, Divergence,
    Initiative, InitiativeFacts, NextAction, Obstacle, RepoViews, diverging, next_actions,
    pending_gate, phase_send_backs, phase_turns, prospects,
};
use accord_runs_core::facts::Scope;
use accord_runs_core::operations::answers::RunFacts;
use accord_runs_core::{EvidenceDigest, Result};

use super::gate::evidence;
use super::repos::{ChildRepo, When, views};
use super::session::none_begun;
use super::{COORDINATOR_CONFIG, Coordinator};
use crate::operations::{Finding, NextStep, Overview, Waiting, mistyped_findings, stray_findings};
use crate::repository::{LockHolder, RecordFile};

#[derive(Debug)]
pub struct CoordinatorOverview {
    pub root: PathBuf,
    /// The project of the initiative, as its configuration names it.
    pub project: String,
    /// The initiative; `None` before it starts.
    pub state: Option<CoordinatorState>,
    pub barriers: Barriers,
    pub repos: Vec<RepoOverview>,
    /// What each workstream of the phase can do now, or what it waits for.
    pub prospects: Vec<(String, Result<Choice, Obstacle>)>,
    pub divergence: Vec<Divergence>,
    /// Members of the configuration that have no effect.
    pub findings: Vec<Finding>,
    pub next: Vec<NextAction>,
    pub holder: Option<LockHolder>,
    /// Pending journals, which the next writer finishes.
    pub journals: Vec<String>,
    pub waiting: Option<Waiting>,
}

#[derive(Debug)]
pub struct RepoOverview {
    pub id: String,
    pub place: PathBuf,
    pub run: Option<String>,
    /// The status of its own run, or why it cannot be read.
    pub overview: Result<Overview, String>,
    /// What was observed, while a gate waits for a person.
    pub facts: Option<RunFacts>,
}

impl RepoOverview {
    fn next_step(&self) -> Option<&NextStep> {
        self.overview.as_ref().ok()?.next.first()
    }
}

pub(super) struct Snapshot {
    config: CoordinatorConfig,
    state: CoordinatorState,
    barriers: Barriers,
    history: Vec<Object>,
    pub(super) views: RepoViews,
    children: Vec<ChildRepo>,
}

impl Snapshot {
    pub(super) fn initiative(&self) -> Initiative<'_> {
        let Self { config, state, barriers, history, .. } = self;
        Initiative { config, state, barriers, history }
    }

    pub(super) fn evidence(&self, cancel: Option<&Cancel>) -> Result<EvidenceDigest> {
        evidence(&self.initiative(), &self.children, &self.views, cancel)
    }

    /// What was observed in each repository about its turns of the phase.
    pub(super) fn facts(&self) -> Vec<(String, Result<RunFacts>)> {
        let facts = |child: &ChildRepo| {
            let runs = child.runs.as_ref().ok()?;
            let turns = Scope::Turns(phase_turns(&self.history, &child.repo.id));
            let facts = || {
                let mut facts = runs.facts_about(&runs.config()?, &runs.state()?, &turns)?;
                facts.send_backs.extend(phase_send_backs(&self.history, &child.repo.id));
                Ok(facts)
            };
            Some((child.repo.id.clone(), facts()))
        };
        self.children.iter().filter_map(facts).collect()
    }
}

impl Coordinator {
    pub fn status(&self) -> Result<CoordinatorOverview> {
        let config = self.config()?;
        let journals = self.workspace.pending_journals()?;
        let mut overview = CoordinatorOverview {
            root: self.root().to_path_buf(),
            project: config.project_id().to_owned(),
            state: None,
            barriers: Barriers::default(),
            repos: Vec::new(),
            prospects: Vec::new(),
            divergence: Vec::new(),
            findings: config_findings(&config),
            next: Vec::new(),
            holder: self.workspace.lock_holder()?,
            journals: journals.into_iter().map(|waiting| waiting.path).collect(),
            waiting: None,
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
        let repos = overview.repos.iter().map(|repo| (repo.id.as_str(), repo.next_step()));
        overview.next = next_actions(&InitiativeFacts {
            initiative: seen.initiative(),
            views: &seen.views,
            prospects: &overview.prospects,
            divergence: &overview.divergence,
            repos: &repos.collect::<Vec<_>>(),
        });
        overview.waiting = pending_gate(&seen.state).ok().map(|_| Waiting {
            since: seen.state.waiting_since(),
            evidence: seen.evidence(self.environment.cancel_token()),
            facts: None,
        });
        if overview.waiting.is_some() {
            for (id, facts) in seen.facts() {
                let repo = overview.repos.iter_mut().find(|repo| repo.id == id);
                repo.into_iter().for_each(|repo| repo.facts = facts.clone().ok());
            }
        }
        overview.barriers = seen.barriers;
        overview.state = Some(seen.state);
        Ok(overview)
    }

    /// Reads everything, without a lock.
    pub(super) fn snapshot(&self) -> Result<Snapshot> {
        self.snapshot_with(self.config()?)
    }

    fn snapshot_with(&self, config: CoordinatorConfig) -> Result<Snapshot> {
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
                facts: None,
            }
        };
        children.iter().map(overview).collect()
    }
}

fn config_findings(config: &CoordinatorConfig) -> Vec<Finding> {
    let code = Code::XchainInvalidCoordinatorConfig;
    let mut findings = stray_findings(COORDINATOR_CONFIG, code, &config.unknown_members());
    findings.extend(mistyped_findings(COORDINATOR_CONFIG, code, &config.mistyped_members()));
    findings
}
