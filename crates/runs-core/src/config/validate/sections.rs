//! The rules of gates and of required documents.

use accord_contract::{Object, Value};

use super::super::Semantics;
use super::super::workflow::Template;
use super::{Problems, Section, invalid, phase_names};
use crate::members::{self, count, entries, filled, given, is_true, list, text};
use crate::paths::RepoPath;

pub(super) fn gates(document: &Object, found: &mut Problems) {
    if given(document, "gates").is_some_and(|gates| !gates.is_object()) {
        found.push(invalid("gates", "gates must be an object"));
    }
    for (id, value) in entries(document, "gates") {
        let at = format!("gates.{id}");
        let Some(gate) = value.as_object() else {
            found.push(invalid(&at, format!("{at} must be an object")));
            continue;
        };
        let mut section = Section { at: &at, members: gate, found };
        section.texts("requires_files");
        for file in list(gate, "requires_files").iter().filter_map(Value::as_str) {
            if let Err(error) = RepoPath::parse(file) {
                section.report("requires_files", &format!("names {file:?}: {error}"));
            }
        }
        for name in ["requires_verification_pass", "requires_human_approval", "credentialed"] {
            section.flag(name);
        }
        gate_actions(&mut section);
    }
}

fn gate_actions(gate: &mut Section<'_>) {
    let actions = list(gate.members, "gate_actions");
    gate.check("gate_actions", Value::is_array, "must be a list");
    let has_person = is_true(gate.members, "requires_human_approval");
    let mut report = |what| gate.report("gate_actions", what);
    // Only an approval by a person runs the commands. Otherwise they would silently never run.
    if !actions.is_empty() && !has_person {
        report("need requires_human_approval to be true");
    }
    for action in actions {
        let Some(action) = action.as_object() else {
            report("must hold objects");
            continue;
        };
        if filled(action, "run").is_none() {
            report("must each have a command in run");
        }
        if given(action, "timeout_ms").is_some()
            && !count(action, "timeout_ms").is_some_and(|ms| (1000..=3_600_000).contains(&ms))
        {
            report("must have a timeout_ms from 1000 to 3600000");
        }
    }
}

pub(super) fn workflow(document: &Object, found: &mut Problems) {
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
