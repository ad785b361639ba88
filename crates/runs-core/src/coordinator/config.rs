//! `agentxchain-multi.json` as types.

use accord_contract::{Object, Value};

use super::BarrierType;
use super::validate::{problems, refusal};
use super::vocabulary::DOCUMENT;
use crate::config::DEFAULT_PHASES;
use crate::hooks::{Hook, HookPhase, hooks_of};
use crate::members::{self, texts};
use crate::mistyped_members::{MistypedMember, mistyped_members};
use crate::unknown_members::{UnknownMember, unknown_members};
use crate::{Result, doc};

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Repo {
    pub id: String,
    /// Its path, relative to the workspace.
    pub path: String,
    pub default_branch: String,
    /// Whether the initiative cannot be completed without it.
    pub required: bool,
}

/// Work in one or several repositories.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Workstream {
    pub id: String,
    pub phase: String,
    pub repos: Vec<String>,
    pub entry_repo: String,
    pub depends_on: Vec<String>,
    pub barrier: BarrierType,
    /// The required decisions of each repository, where the barrier has any.
    pub decision_ids: Vec<(String, Vec<String>)>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CoordinatorGate {
    pub id: String,
    pub requires_human_approval: bool,
    /// The repositories that it checks; by default the required ones.
    pub requires_repos: Option<Vec<String>>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct CoordinatorConfig {
    document: Object,
    repos: Vec<Repo>,
    workstreams: Vec<Workstream>,
    gates: Vec<CoordinatorGate>,
    hooks: Vec<Hook>,
}

impl CoordinatorConfig {
    /// Reads a configuration. Fails with `workstream_cycle` when a cycle is the first problem, and
    /// with `invalid_coordinator_config` otherwise. The failure lists all problems.
    pub fn read(document: Value) -> Result<Self> {
        let found = problems(&document);
        match document {
            Value::Object(members) if found.is_empty() => Ok(Self::extract(members)),
            _ => Err(refusal(&found)),
        }
    }

    fn extract(document: Object) -> Self {
        let streams = doc::MultiConfig::WORKSTREAMS.entries(&document);
        Self {
            repos: doc::MultiConfig::REPOS.entries(&document).filter_map(repo).collect(),
            workstreams: streams.filter_map(workstream).collect(),
            gates: doc::MultiConfig::GATES.entries(&document).filter_map(gate).collect(),
            hooks: hooks_of(&document),
            document,
        }
    }

    /// The document as it was read.
    pub fn document(&self) -> &Object {
        &self.document
    }

    /// The members without effect, like [`crate::Config::unknown_members`].
    pub fn unknown_members(&self) -> Vec<UnknownMember> {
        unknown_members(&self.document, &DOCUMENT)
    }

    /// The members that have another type than the declared one, and so read as absent.
    pub fn mistyped_members(&self) -> Vec<MistypedMember> {
        mistyped_members(&self.document, &DOCUMENT)
    }

    pub fn project_id(&self) -> &str {
        let project = doc::MultiConfig::PROJECT.get(&self.document);
        project.and_then(|project| doc::Project::ID.get(project)).unwrap_or_default()
    }

    pub fn repos(&self) -> &[Repo] {
        &self.repos
    }

    pub fn repo(&self, id: &str) -> Option<&Repo> {
        self.repos.iter().find(|repo| repo.id == id)
    }

    pub fn required_repos(&self) -> Vec<String> {
        let required = self.repos.iter().filter(|repo| repo.required);
        required.map(|repo| repo.id.clone()).collect()
    }

    pub fn workstreams(&self) -> &[Workstream] {
        &self.workstreams
    }

    pub fn workstream(&self, id: &str) -> Option<&Workstream> {
        self.workstreams.iter().find(|workstream| workstream.id == id)
    }

    pub fn gate(&self, id: &str) -> Option<&CoordinatorGate> {
        self.gates.iter().find(|gate| gate.id == id)
    }

    pub fn hooks(&self, phase: HookPhase) -> Vec<Hook> {
        self.hooks.iter().filter(|hook| hook.phase == phase).cloned().collect()
    }

    /// The phases in order: those of the routing, or else the default ones that have workstreams.
    pub fn phases(&self) -> Vec<&str> {
        match doc::MultiConfig::ROUTING.get(&self.document).filter(|routing| !routing.is_empty()) {
            Some(routing) => routing.keys().map(String::as_str).collect(),
            None => {
                let used = |phase: &&str| self.workstreams.iter().any(|w| w.phase == *phase);
                DEFAULT_PHASES.into_iter().filter(used).collect()
            }
        }
    }

    /// The phase after `phase`.
    pub fn next_phase(&self, phase: &str) -> Option<&str> {
        let phases = self.phases();
        let at = phases.iter().position(|name| *name == phase)?;
        phases.get(at + 1).copied()
    }

    fn route(&self, phase: &str) -> Option<&Object> {
        members::object(doc::MultiConfig::ROUTING.get(&self.document)?, phase)
    }

    pub fn exit_gate(&self, phase: &str) -> Option<&str> {
        doc::Route::EXIT_GATE.get(self.route(phase)?)
    }

    /// The workstreams of a phase, the entry workstream first.
    pub(crate) fn workstreams_of(&self, phase: &str) -> Vec<&Workstream> {
        let route = self.route(phase);
        let entry = route.and_then(|route| doc::Route::ENTRY_WORKSTREAM.get(route));
        let streams = self.workstreams.iter();
        let mut found: Vec<_> = streams.filter(|workstream| workstream.phase == phase).collect();
        // The sort is stable, so the other workstreams keep the order of the document.
        found.sort_by_key(|workstream| Some(workstream.id.as_str()) != entry);
        found
    }
}

impl Workstream {
    pub(super) fn decisions_of(&self, repo: &str) -> Vec<String> {
        let found = self.decision_ids.iter().find(|(name, _)| name == repo);
        found.map_or_else(Vec::new, |(_, ids)| ids.clone())
    }
}

fn repo((id, value): (&String, &Value)) -> Option<Repo> {
    let members = value.as_object()?;
    Some(Repo {
        id: id.clone(),
        path: doc::Repo::PATH.get(members)?.to_owned(),
        default_branch: doc::Repo::DEFAULT_BRANCH.get(members).unwrap_or("main").to_owned(),
        required: doc::Repo::REQUIRED.raw(members) != Some(&Value::Bool(false)),
    })
}

fn workstream((id, value): (&String, &Value)) -> Option<Workstream> {
    let members = value.as_object()?;
    let barrier = doc::Workstream::COMPLETION_BARRIER.get(members)?;
    let settings = barrier.settings().and_then(|name| members::object(members, name));
    let by_repo = settings.and_then(|it| doc::BarrierDecisions::DECISION_IDS_BY_REPO.get(it));
    let decisions = by_repo
        .into_iter()
        .flat_map(|by_repo| by_repo.keys().map(|repo| (repo.clone(), texts(by_repo, repo))));
    Some(Workstream {
        id: id.clone(),
        phase: doc::Workstream::PHASE.get(members)?.to_owned(),
        repos: doc::Workstream::REPOS.get(members),
        entry_repo: doc::Workstream::ENTRY_REPO.get(members)?.to_owned(),
        depends_on: doc::Workstream::DEPENDS_ON.get(members),
        barrier,
        decision_ids: decisions.collect(),
    })
}

fn gate((id, value): (&String, &Value)) -> Option<CoordinatorGate> {
    let members = value.as_object()?;
    // An empty list is a choice and differs from an absent one.
    let named = doc::GateConfig::REQUIRES_REPOS.raw(members).is_some_and(Value::is_array);
    let person = doc::GateConfig::REQUIRES_HUMAN_APPROVAL.raw(members);
    Some(CoordinatorGate {
        id: id.clone(),
        // Only an explicit false removes the person.
        requires_human_approval: person != Some(&Value::Bool(false)),
        requires_repos: named.then(|| doc::GateConfig::REQUIRES_REPOS.get(members)),
    })
}
