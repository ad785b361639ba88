//! The rules of gates and of required documents.

use accord_contract::wire::{Object, Value};

use super::super::workflow::Template;
use super::super::{ConfigProblem, Semantics};
use super::{invalid, is_texts, phase_names};
use crate::members::{self, count, entries, filled, given, is_true, list, text};
use crate::paths::RepoPath;

pub(super) fn gates(document: &Object, found: &mut Vec<ConfigProblem>) {
    if given(document, "gates").is_some_and(|gates| !gates.is_object()) {
        found.push(invalid("gates", "gates must be an object"));
    }
    for (id, value) in entries(document, "gates") {
        let at = format!("gates.{id}");
        let Some(gate) = value.as_object() else {
            found.push(invalid(&at, format!("{at} must be an object")));
            continue;
        };
        let mut report = |name: &str, what: &str| {
            let field = format!("{at}.{name}");
            found.push(invalid(&field, format!("{field} {what}")));
        };
        if given(gate, "requires_files").is_some_and(|files| !is_texts(files)) {
            report("requires_files", "must be a list of texts");
        }
        for file in list(gate, "requires_files").iter().filter_map(Value::as_str) {
            if let Err(error) = RepoPath::parse(file) {
                report("requires_files", &format!("names {file:?}: {error}"));
            }
        }
        for name in ["requires_verification_pass", "requires_human_approval", "credentialed"] {
            if given(gate, name).is_some_and(|value| !value.is_boolean()) {
                report(name, "must be true or false");
            }
        }
        gate_actions(gate, &mut report);
    }
}

fn gate_actions(gate: &Object, report: &mut impl FnMut(&str, &str)) {
    let actions = list(gate, "gate_actions");
    if given(gate, "gate_actions").is_some_and(|actions| !actions.is_array()) {
        report("gate_actions", "must be a list");
    }
    // Only an approval by a person runs the commands. Otherwise they would silently never run.
    if !actions.is_empty() && !is_true(gate, "requires_human_approval") {
        report("gate_actions", "need requires_human_approval to be true");
    }
    for action in actions {
        let Some(action) = action.as_object() else {
            report("gate_actions", "must hold objects");
            continue;
        };
        if filled(action, "run").is_none() {
            report("gate_actions", "must each have a command in run");
        }
        if given(action, "timeout_ms").is_some()
            && !count(action, "timeout_ms").is_some_and(|ms| (1000..=3_600_000).contains(&ms))
        {
            report("gate_actions", "must have a timeout_ms from 1000 to 3600000");
        }
    }
}

pub(super) fn workflow(document: &Object, found: &mut Vec<ConfigProblem>) {
    let Some(value) = given(document, "workflow_kit") else { return };
    let Some(kit) = value.as_object() else {
        found.push(invalid("workflow_kit", "workflow_kit must be an object"));
        return;
    };
    let known = phase_names(document);
    for (phase, value) in entries(kit, "phases") {
        let at = format!("workflow_kit.phases.{phase}");
        if !known.contains(phase) {
            found.push(invalid(&at, format!("{at} is not a phase of the routing")));
        }
        let Some(phase) = value.as_object() else {
            found.push(invalid(&at, format!("{at} must be an object")));
            continue;
        };
        if let Some(template) = given(phase, "template")
            && template.as_str().and_then(Template::parse).is_none()
        {
            let names: Vec<&str> = Template::ALL.iter().map(|name| name.as_str()).collect();
            found.push(invalid(&at, format!("{at}.template must be one of {}", names.join(", "))));
        }
        for artifact in list(phase, "artifacts") {
            if let Some(problem) = artifact_problem(document, artifact) {
                found.push(invalid(&at, format!("{at}.artifacts: {problem}")));
            }
        }
    }
}

fn artifact_problem(document: &Object, artifact: &Value) -> Option<String> {
    let Some(artifact) = artifact.as_object() else {
        return Some("an artifact must be an object".into());
    };
    let Some(path) = filled(artifact, "path") else {
        return Some("an artifact needs a path".into());
    };
    // The protocol forbids `..` even where the path stays inside the repository.
    if path.split('/').any(|name| name == "..") {
        return Some(format!("{path:?} may not contain .."));
    }
    if let Err(error) = RepoPath::parse(path) {
        return Some(format!("{path:?}: {error}"));
    }
    if let Some(semantics) = given(artifact, "semantics")
        && semantics.as_str().and_then(Semantics::parse).is_none()
    {
        return Some(format!("{semantics} is not a known way to judge a document"));
    }
    let owner = text(artifact, "owned_by")?;
    let roles = members::object(document, "roles");
    let declared = roles.is_some_and(|roles| roles.contains_key(owner));
    (!declared).then(|| format!("{path} is owned by {owner}, which is not a role"))
}
