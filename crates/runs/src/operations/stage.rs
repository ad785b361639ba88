//! Stages the result of a turn that a person did, without JSON.

use std::collections::BTreeMap;

use accord_contract::text::pretty;
use accord_contract::{Code, Failure, Object, Value};
use accord_runs_core::result::Leniency;
use accord_runs_core::{RepoPath, Result, Turn, TurnId, WriteAuthority, history};
use serde_json::json;

use crate::{Operation, RecordFile, Runs};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ManualResult {
    /// The turn; the only active one if absent.
    pub turn: Option<TurnId>,
    pub summary: String,
    pub decisions: Vec<String>,
    pub objections: Vec<String>,
    /// The changed files; those that git reports if empty.
    pub files: Vec<String>,
    pub no_files: bool,
    pub verified: Vec<String>,
    /// The proposed next role; the first that the phase allows if absent.
    pub next_role: Option<String>,
    pub next_phase: bool,
    pub complete: bool,
    /// What another person must decide first.
    pub needs_human: Option<String>,
    /// Members of the result that replace the generated ones: decisions with ids of their own,
    /// delegations, the cost.
    pub members: Object,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Staged {
    pub turn: Turn,
    pub path: String,
    pub result: Object,
    /// Why it would be refused, without hooks, git and policies.
    pub problem: Option<Failure>,
}

impl Runs {
    /// Stages the result of a turn. It replaces an earlier one. Fails with `turn_not_active` or
    /// `target_required`; `invalid_state_transition` if the run is not active; `unknown_phase` if
    /// there is no later phase; `files_required` if git reports changes that can be those of
    /// another active turn; `not_for_workers` if the worker of another active turn started the
    /// caller.
    pub fn stage_manual_result(&self, manual: &ManualResult) -> Result<Staged> {
        let operation = self.begin()?;
        let turn = operation.target(manual.turn.as_ref())?;
        self.refuse_other_worker(&operation.state, &turn)?;
        let result = result(&operation, &turn, manual)?;
        let path = operation.locked.stage(turn.id(), pretty(&result).as_bytes())?;
        drop(operation);
        let judged = self.judge(Some(turn.id()), Leniency::default())?;
        Ok(Staged { problem: judged.validation.failure(), turn, path: path.to_string(), result })
    }
}

fn result(operation: &Operation<'_>, turn: &Turn, manual: &ManualResult) -> Result<Object> {
    let role = operation.config.role(turn.role());
    let only_reviews = role.is_some_and(|role| role.authority == WriteAuthority::ReviewOnly);
    let mut ids = operation.locked.index(operation.state.run_id())?.decisions().continued();
    let files = match manual.files.as_slice() {
        [] if manual.no_files => Vec::new(),
        [] => observed(operation, turn, only_reviews)?,
        named => named.to_vec(),
    };
    let kind = if only_reviews || files.is_empty() { "review" } else { "workspace" };
    let decisions = manual.decisions.iter().map(|statement| {
        json!({"id": ids.take_next(), "category": "process", "statement": statement,
            "rationale": "decided by the person who did the turn"})
    });
    let objections = manual.objections.iter().enumerate().map(|(at, statement)| {
        json!({"id": format!("OBJ-{:03}", at + 1), "severity": "low", "statement": statement,
            "status": "raised"})
    });
    let verification = match manual.verified.as_slice() {
        [] => json!({"status": "skipped"}),
        checks => {
            json!({"status": "pass", "commands": checks, "evidence_summary": "checked by hand"})
        }
    };
    let document = json!({
        "schema_version": "1.0",
        "run_id": operation.state.run_id().map(ToString::to_string),
        "turn_id": turn.id().as_str(),
        "role": turn.role(),
        "runtime_id": turn.runtime_id(),
        "status": if manual.needs_human.is_some() { "needs_human" } else { "completed" },
        "summary": manual.summary,
        "decisions": decisions.collect::<Vec<Value>>(),
        "objections": objections.collect::<Vec<Value>>(),
        "files_changed": files,
        "verification": verification,
        "artifact": {"type": kind},
        "proposed_next_role": next_role(operation, turn, manual),
    });
    // `json!` with braces always makes an object.
    let Value::Object(mut document) = document else { return Ok(Object::new()) };
    if let Some(reason) = &manual.needs_human {
        document.insert("needs_human_reason".to_owned(), reason.as_str().into());
    }
    if manual.next_phase {
        let phase = operation.state.phase();
        let next = operation.config.next_phase(phase).ok_or_else(|| {
            let message = format!("{phase} is the last phase");
            Failure::new(Code::XchainUnknownPhase, message).suggesting("ask for the end of the run")
        })?;
        document.insert("phase_transition_request".to_owned(), next.into());
    }
    if manual.complete {
        document.insert("run_completion_request".to_owned(), true.into());
    }
    document.extend(manual.members.clone());
    Ok(document)
}

/// The files that git reports as changed by the turn. A file of another turn that was accepted
/// since the assignment is left out.
fn observed(operation: &Operation<'_>, turn: &Turn, only_reviews: bool) -> Result<Vec<String>> {
    let Some(git) = operation.git()? else { return Ok(Vec::new()) };
    let seen = git.observe(turn.baseline().as_ref(), true)?;
    let index = operation.locked.index(operation.state.run_id())?;
    let markers = accepted_markers(operation)?;
    let marker = |turn: &str, path: &RepoPath| {
        markers.get(turn)?.get(path.as_str())?.as_str().map(str::to_owned)
    };
    let mut own = seen.own_changes(turn, &index, marker);
    if operation.state.turns().len() < 2 {
        return Ok(own.iter().map(ToString::to_string).collect());
    }
    if only_reviews {
        own.retain(RepoPath::is_review);
    }
    if own.is_empty() {
        return Ok(Vec::new());
    }
    let names: Vec<&str> = own.iter().map(RepoPath::as_str).collect();
    let listed = names.join(", ");
    let message = format!(
        "other turns are active, and the changes can be theirs ({listed}); name each file of this \
         turn with --file, or say --no-files"
    );
    Err(Failure::new(Code::XchainFilesRequired, message).with("files", names))
}

/// The markers of the files of accepted turns of the run, by turn.
fn accepted_markers(operation: &Operation<'_>) -> Result<BTreeMap<String, Object>> {
    let mut markers = BTreeMap::new();
    for line in operation.locked.objects(RecordFile::History)? {
        let line = line?;
        let turn = line.get("turn_id").and_then(Value::as_str);
        let marks = history::file_markers(&line).filter(|_| operation.state.owns_line(&line));
        if let (Some(turn), Some(marks)) = (turn, marks) {
            markers.insert(turn.to_owned(), marks.clone());
        }
    }
    Ok(markers)
}

fn next_role(operation: &Operation<'_>, turn: &Turn, manual: &ManualResult) -> String {
    if let Some(role) = &manual.next_role {
        return role.clone();
    }
    if manual.complete || manual.needs_human.is_some() {
        return "human".to_owned();
    }
    let route = operation.config.route(operation.state.phase());
    let allowed = route.and_then(|route| route.allowed_next_roles.as_deref());
    let other = allowed.unwrap_or_default().iter().find(|role| *role != turn.role());
    other.map_or_else(|| "human".to_owned(), String::clone)
}
