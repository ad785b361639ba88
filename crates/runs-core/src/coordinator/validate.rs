//! The rules of `agentxchain-multi.json`. The codes are defined by the protocol.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use accord_contract::{Code, Failure, Object, Value};

use super::{BarrierType, COORDINATOR_VERSION};
use crate::config::DEFAULT_PHASES;
use crate::hooks::{HookPhase, phase_problems};
use crate::members::{self, array, filled, texts};
use crate::patterns::{is_decision_id, is_name, is_phase};
use crate::{doc, rule};

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CoordinatorProblem {
    pub code: String,
    pub message: String,
}

impl CoordinatorProblem {
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        Self { code: code.to_owned(), message: message.into() }
    }
}

impl fmt::Display for CoordinatorProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.code, self.message)
    }
}

/// The failure for a list of problems. A cycle has its own code when it is the first problem.
pub fn refusal(problems: &[CoordinatorProblem]) -> Failure {
    let texts: Vec<String> = problems.iter().map(ToString::to_string).collect();
    let code = match problems.first() {
        Some(first) if first.code == "workstream_cycle" => Code::XchainWorkstreamCycle,
        _ => Code::XchainInvalidCoordinatorConfig,
    };
    let empty = || "config_invalid: it is not an object".into();
    let message = texts.first().cloned().unwrap_or_else(empty);
    Failure::new(code, message).with("errors", array(&texts))
}

/// Every problem of a configuration.
///
/// Clauses: AX-CO-CONFIG.
pub fn problems(document: &Value) -> Vec<CoordinatorProblem> {
    let mut found = Problems(Vec::new());
    let Some(document) = document.as_object() else {
        found.add("config_invalid", "the configuration must be a JSON object");
        return found.0;
    };
    if doc::MultiConfig::SCHEMA_VERSION.get(document) != Some(COORDINATOR_VERSION) {
        found.add("schema_version_invalid", "schema_version must be \"0.1\"");
    }
    match doc::MultiConfig::PROJECT.get(document) {
        None => found.add("project_invalid", "project must be an object with id and name"),
        Some(project) => {
            for (name, code) in [("id", "project_id_invalid"), ("name", "project_name_invalid")] {
                if filled(project, name).is_none() {
                    found.add(code, format!("project.{name} must be a non-blank text"));
                }
            }
        }
    }
    repos(document, &mut found);
    workstreams(document, &mut found);
    routing(document, &mut found);
    gates(document, &mut found);
    let phases = [
        HookPhase::BeforeAssignment,
        HookPhase::AfterAcceptance,
        HookPhase::BeforeGate,
        HookPhase::OnEscalation,
    ];
    for (_, message) in phase_problems(document, &phases) {
        found.add("hooks_invalid", message);
    }
    found.0
}

/// Whether a repository has the coordinator's phases in the same order.
pub(crate) fn phase_alignment(
    repo: &str,
    own: &[&str],
    coordinator: &[&str],
) -> Option<CoordinatorProblem> {
    (own != coordinator).then(|| {
        let (own, others) = (own.join(", "), coordinator.join(", "));
        let message = format!("{repo} has the phases {own}, the coordinator has {others}");
        CoordinatorProblem::new("repo_phase_alignment_invalid", message)
    })
}

struct Problems(Vec<CoordinatorProblem>);

impl Problems {
    fn add(&mut self, code: impl Into<String>, message: impl Into<String>) {
        self.0.push(CoordinatorProblem { code: code.into(), message: message.into() });
    }

    fn check_name(&mut self, code: &str, id: &str) {
        if !is_name(id) {
            self.add(code, format!("{id:?} may contain only a-z, 0-9, _ and -"));
        }
    }

    /// Checks the names of repositories, and returns them.
    fn check_repos<'a>(
        &mut self,
        (document, code): (&Object, &str),
        id: &str,
        repos: &'a [Value],
    ) -> BTreeSet<&'a str> {
        let mut seen = BTreeSet::new();
        for repo in repos {
            let Some(repo) = repo.as_str() else {
                self.add(format!("{code}_invalid"), format!("{id} must name its repositories"));
                continue;
            };
            if !seen.insert(repo) {
                self.add(format!("{code}_duplicate"), format!("{id} names {repo} twice"));
            }
            if !declared(document, "repos", repo) {
                let message = format!("{id} names {repo}, which is unknown");
                self.add(format!("{code}_unknown"), message);
            }
        }
        seen
    }
}

fn declared(document: &Object, name: &str, id: &str) -> bool {
    members::object(document, name).is_some_and(|all| all.contains_key(id))
}

fn repos(document: &Object, found: &mut Problems) {
    let repos = doc::MultiConfig::REPOS.get(document).filter(|repos| !repos.is_empty());
    let Some(repos) = repos else {
        found.add("repos_invalid", "repos must be an object with at least one repository");
        return;
    };
    for (id, value) in repos {
        found.check_name("repo_id_invalid", id);
        let Some(repo) = value.as_object() else {
            found.add("repo_invalid", format!("{id} must be an object"));
            continue;
        };
        if doc::Repo::PATH.filled(repo).is_none() {
            found.add("repo_path_invalid", format!("{id} must have a path"));
        }
        let branch = doc::Repo::DEFAULT_BRANCH;
        if branch.is_in(repo) && branch.filled(repo).is_none() {
            found.add("repo_default_branch_invalid", format!("{id} must name a branch"));
        }
        if doc::Repo::REQUIRED.raw(repo).is_some_and(|required| !required.is_boolean()) {
            found.add("repo_required_invalid", format!("{id}.required must be true or false"));
        }
    }
}

fn workstreams(document: &Object, found: &mut Problems) {
    let all = doc::MultiConfig::WORKSTREAMS.get(document).filter(|all| !all.is_empty());
    let Some(all) = all else {
        found.add("workstreams_invalid", "workstreams must be an object with at least one");
        return;
    };
    let phases: Vec<String> = match doc::MultiConfig::ROUTING.get(document) {
        Some(routing) if !routing.is_empty() => routing.keys().cloned().collect(),
        _ => DEFAULT_PHASES.map(str::to_owned).into(),
    };
    let before = found.0.len();
    for (id, value) in all {
        found.check_name("workstream_id_invalid", id);
        let Some(workstream) = value.as_object() else {
            found.add("workstream_invalid", format!("{id} must be an object"));
            continue;
        };
        let phase = doc::Workstream::PHASE.get(workstream).unwrap_or_default();
        if !phases.iter().any(|known| known == phase) {
            let message = format!("{id} is in {phase:?}, which is not a phase");
            found.add("workstream_phase_invalid", message);
        }
        workstream_repos(document, id, workstream, found);
        dependencies(document, id, workstream, found);
        match doc::Workstream::COMPLETION_BARRIER.get(workstream) {
            None => {
                let message = format!("{id} must have a completion_barrier that exists");
                found.add("workstream_completion_barrier_invalid", message);
            }
            Some(barrier) => barrier_settings(id, workstream, barrier, found),
        }
    }
    // The dependencies of invalid workstreams mean nothing, so no cycle is reported then.
    if found.0.len() == before
        && let Some(circle) = rule!(cycle(all); CircleAccepted => None)
    {
        let message = match circle.as_slice() {
            [alone] => format!("{alone} waits for itself"),
            several => format!("{} wait for each other", several.join(", ")),
        };
        found.add("workstream_cycle", message);
    }
}

fn workstream_repos(document: &Object, id: &str, workstream: &Object, found: &mut Problems) {
    let repos = doc::Workstream::REPOS.items(workstream);
    if rule!(repos.is_empty(); WorkstreamOfNothing => false) {
        found.add("workstream_repos_invalid", format!("{id} must have at least one repository"));
    }
    let seen = found.check_repos((document, "workstream_repo"), id, repos);
    match doc::Workstream::ENTRY_REPO.filled(workstream) {
        None => {
            found.add("workstream_entry_repo_invalid", format!("{id} must name its entry_repo"));
        }
        // A workstream without repositories is already reported.
        Some(entry) if !repos.is_empty() && !seen.contains(entry) => {
            let message = format!("{id} begins in {entry}, which is not one of its repositories");
            found.add("workstream_entry_repo_mismatch", message);
        }
        Some(_) => {}
    }
}

fn dependencies(document: &Object, id: &str, workstream: &Object, found: &mut Problems) {
    if !doc::Workstream::DEPENDS_ON.raw(workstream).is_some_and(Value::is_array) {
        found.add("workstream_depends_on_invalid", format!("{id} must have a list depends_on"));
    }
    for dependency in doc::Workstream::DEPENDS_ON.items(workstream) {
        let Some(name) = dependency.as_str() else {
            let message = format!("{id} must name what it waits for");
            found.add("workstream_dependency_invalid", message);
            continue;
        };
        if !declared(document, "workstreams", name) {
            let message = format!("{id} waits for {name}, which is unknown");
            found.add("workstream_dependency_unknown", message);
        }
    }
}

/// Barriers about decisions list them for every repository of the workstream and for no other.
///
/// Clauses: AX-CO-ALIGNMENT-CONFIG, AX-CO-NAMED-CONFIG.
fn barrier_settings(id: &str, workstream: &Object, barrier: BarrierType, found: &mut Problems) {
    let Some(name) = barrier.settings() else { return };
    let code = |what: &str| format!("workstream_{name}_{what}");
    let Some(settings) = members::object(workstream, name) else {
        found.add(code("invalid"), format!("{id} must have {name}"));
        return;
    };
    let Some(by_repo) = doc::BarrierDecisions::DECISION_IDS_BY_REPO.get(settings) else {
        let message = format!("{id}.{name} must have decision_ids_by_repo");
        found.add(code("decisions_invalid"), message);
        return;
    };
    let repos = doc::Workstream::REPOS.get(workstream);
    for repo in repos.iter().filter(|repo| !by_repo.contains_key(*repo)) {
        found.add(code("repo_missing"), format!("{id}.{name} has no entry for {repo}"));
    }
    for (repo, ids) in by_repo {
        if !repos.contains(repo) {
            let message = format!("{id}.{name} names {repo}, which is not in it");
            found.add(code("repo_unknown"), message);
        }
        let Some(ids) = ids.as_array().filter(|ids| !ids.is_empty()) else {
            let message = format!("{id}.{name}.{repo} must be a list of at least one decision");
            found.add(code("repo_invalid"), message);
            continue;
        };
        let mut seen = BTreeSet::new();
        for decision in ids {
            let decision = decision.as_str().unwrap_or_default();
            if !is_decision_id(decision) {
                let message = format!("{id}.{name}.{repo} must name decisions like DEC-001");
                found.add(code("decision_invalid"), message);
            } else if !seen.insert(decision) {
                let message = format!("{id}.{name}.{repo} names {decision} twice");
                found.add(code("decision_duplicate"), message);
            }
        }
    }
}

/// The workstreams of a dependency cycle, in order, without those that only depend on it.
///
/// Clauses: AX-CO-CYCLE.
fn cycle(all: &Object) -> Option<Vec<String>> {
    let waits = |(id, value): (_, &Value)| Some((id, texts(value.as_object()?, "depends_on")));
    let waits: BTreeMap<&String, Vec<String>> = all.iter().filter_map(waits).collect();
    // Removes workstreams whose dependencies are all removed, until nothing changes. Every
    // workstream that is left depends on another one that is left.
    let mut left: BTreeSet<&String> = waits.keys().copied().collect();
    loop {
        let is_bound = |id: &&String| {
            waits[*id].iter().any(|other| {
                let waits_on = left.contains(other);
                rule!(waits_on; WaitsForItself => waits_on && other != *id)
            })
        };
        let bound: BTreeSet<&String> = left.iter().copied().filter(is_bound).collect();
        if bound.len() == left.len() {
            break;
        }
        left = bound;
    }
    // Following the dependencies must therefore reach a workstream a second time.
    let mut way: Vec<&String> = Vec::new();
    let mut here = left.first().copied()?;
    loop {
        if let Some(begin) = way.iter().position(|id| *id == here) {
            return Some(way[begin..].iter().copied().cloned().collect());
        }
        way.push(here);
        // The answer is always found: a workstream that is left depends on one that is left.
        here = waits[here].iter().find_map(|other| left.get(other).copied())?;
    }
}

/// Clauses: AX-CO-ROUTING.
fn routing(document: &Object, found: &mut Problems) {
    let Some(value) = doc::MultiConfig::ROUTING.given(document) else { return };
    let Some(routing) = value.as_object() else {
        found.add("routing_invalid", "routing must be an object, one member a phase");
        return;
    };
    for (phase, value) in routing {
        if !is_phase(phase) {
            found.add("routing_phase_invalid", format!("{phase:?} is not a valid name of a phase"));
        }
        let Some(route) = value.as_object() else {
            found.add("routing_entry_invalid", format!("routing.{phase} must be an object"));
            continue;
        };
        let Some(entry) = doc::Route::ENTRY_WORKSTREAM.given(route) else { continue };
        let Some(entry) = entry.as_str() else {
            let message = format!("routing.{phase}.entry_workstream must be a text");
            found.add("routing_entry_workstream_invalid", message);
            continue;
        };
        let all = doc::MultiConfig::WORKSTREAMS.get(document);
        let workstream = all.and_then(|all| members::object(all, entry));
        match workstream {
            None => {
                let message = format!("routing.{phase} begins with {entry}, which is unknown");
                found.add("routing_entry_workstream_unknown", message);
            }
            Some(workstream) if doc::Workstream::PHASE.get(workstream) != Some(phase) => {
                let message = format!("routing.{phase} begins with {entry}, of another phase");
                found.add("routing_phase_mismatch", message);
            }
            Some(_) => {}
        }
    }
}

/// Clauses: AX-CO-ROUTING.
fn gates(document: &Object, found: &mut Problems) {
    if doc::MultiConfig::GATES.is_mistyped(document) {
        found.add("gates_invalid", "gates must be an object");
    }
    for (id, value) in doc::MultiConfig::GATES.entries(document) {
        found.check_name("gate_id_invalid", id);
        let Some(gate) = value.as_object() else {
            found.add("gate_invalid", format!("{id} must be an object"));
            continue;
        };
        if doc::GateConfig::REQUIRES_HUMAN_APPROVAL.is_mistyped(gate) {
            let message = format!("{id}.requires_human_approval must be true or false");
            found.add("gate_requires_human_approval_invalid", message);
        }
        if doc::GateConfig::REQUIRES_REPOS.is_mistyped(gate) {
            found.add("gate_requires_repos_invalid", format!("{id}.requires_repos must be a list"));
        }
        let repos = doc::GateConfig::REQUIRES_REPOS.items(gate);
        found.check_repos((document, "gate_requires_repo"), id, repos);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Object, cycle};

    fn circle(workstreams: &serde_json::Value) -> Option<Vec<String>> {
        let all: &Object = workstreams.as_object().unwrap();
        cycle(all)
    }

    #[test]
    fn a_circle_is_named_without_those_that_only_wait_for_it() {
        let of = |waits: [(&str, &[&str]); 4]| {
            let streams = waits.map(|(id, others)| (id.to_owned(), json!({"depends_on": others})));
            circle(&serde_json::Value::Object(streams.into_iter().collect()))
        };
        assert_eq!(
            of([("a", &["b"]), ("b", &["b"]), ("c", &["a"]), ("d", &[])]),
            Some(vec!["b".to_owned()])
        );
        assert_eq!(
            of([("a", &["c"]), ("b", &["c"]), ("c", &["d"]), ("d", &["b"])]),
            Some(["c", "d", "b"].map(str::to_owned).to_vec())
        );
        assert_eq!(of([("a", &["b"]), ("b", &["c", "d"]), ("c", &["d"]), ("d", &[])]), None);
    }
}
