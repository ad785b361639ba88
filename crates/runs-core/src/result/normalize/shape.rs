//! Whose result it is, what it lacks, and what kind of work it claims.

use accord_contract::wire::Value;

use super::{Draft, RewriteCode};
use crate::config::WriteAuthority;
use crate::members::{self, build, filled, holds, list, text};
use crate::result::{Leniency, Situation};

/// The run's id, when the turn is the right one.
pub(super) fn identity(draft: &mut Draft, situation: &Situation<'_>) {
    let (Some(turn), Some(run)) = (situation.turn, situation.state.run_id()) else {
        return;
    };
    let same_turn = text(&draft.result, "turn_id") == Some(turn.id().as_str());
    if same_turn && text(&draft.result, "run_id") != Some(run.as_str()) {
        let why = "the result of the active turn belongs to the run";
        draft.set(RewriteCode::RunIdRewritten, "run_id", run.as_str(), why);
    }
}

/// The list of changed files, whatever it was called and made of.
pub(super) fn files(draft: &mut Draft) {
    if !draft.result.contains_key("files_changed")
        && let Some(Value::Array(files)) = draft.result.shift_remove("files_modified")
    {
        let why = "files_modified is called files_changed";
        draft.set(
            RewriteCode::FilesModifiedRenamed,
            "files_changed",
            files,
            why,
        );
    }
    let Some(Value::Array(files)) = draft.result.get_mut("files_changed") else {
        return;
    };
    let mut flattened = 0;
    for file in files {
        if let Some(path) = file.get("path").and_then(Value::as_str) {
            *file = path.into();
            flattened += 1;
        }
    }
    if flattened > 0 {
        let why = "an entry is a path, not an object";
        draft.said(RewriteCode::FileEntryFlattened, "files_changed", why);
    }
}

/// What every result has.
pub(super) fn missing(draft: &mut Draft, situation: &Situation<'_>) {
    for name in ["decisions", "objections"] {
        if !draft.result.contains_key(name) {
            draft.set(
                RewriteCode::EmptyListAdded,
                name,
                Vec::<Value>::new(),
                "there are none",
            );
        }
    }
    if !draft.result.contains_key("runtime_id")
        && let Some(runtime) = situation.turn.and_then(|turn| turn.runtime_id())
    {
        let why = "the turn's own runtime";
        draft.set(RewriteCode::RuntimeIdAdded, "runtime_id", runtime, why);
    }
    if filled(&draft.result, "summary").is_none() {
        let milestone = draft.result.get("milestone");
        let found = filled(&draft.result, "milestone_title")
            .or_else(|| milestone.and_then(|milestone| milestone.as_str()))
            .or_else(|| milestone.and_then(|milestone| milestone.get("title")?.as_str()))
            .map(str::to_owned);
        let role = situation.turn.map_or("a role", |turn| turn.role());
        let summary = found.unwrap_or_else(|| format!("A turn of {role} that says nothing more."));
        draft.set(
            RewriteCode::SummaryAdded,
            "summary",
            summary,
            "there was no summary",
        );
    }
    if !members::given(&draft.result, "artifact").is_some_and(Value::is_object) {
        let kind = inferred(draft);
        let artifact = build([("type", kind.into())]);
        let why = "the kind of work follows from the changed files";
        draft.set(RewriteCode::ArtifactTypeInferred, "artifact", artifact, why);
    } else if let Some(Value::Object(artifact)) = draft.result.get("artifact")
        && members::given(artifact, "type").is_none()
    {
        let mut artifact = artifact.clone();
        artifact.insert("type".into(), inferred(draft).into());
        let why = "the kind of work follows from the changed files";
        draft.set(RewriteCode::ArtifactTypeInferred, "artifact", artifact, why);
    }
}

fn inferred(draft: &Draft) -> &'static str {
    if list(&draft.result, "files_changed").is_empty() {
        "review"
    } else {
        "workspace"
    }
}

/// The status, whatever it was called, or what follows from the requests.
pub(super) fn status(draft: &mut Draft) {
    match text(&draft.result, "status") {
        Some("complete" | "success" | "done") => {
            let why = "another word for completed";
            draft.set(RewriteCode::StatusSynonym, "status", "completed", why);
        }
        Some("error" | "failure") => {
            let why = "another word for failed";
            draft.set(RewriteCode::StatusSynonym, "status", "failed", why);
        }
        Some(_) => {}
        None if members::given(&draft.result, "status").is_some() => {}
        None => {
            let asks = filled(&draft.result, "phase_transition_request").is_some()
                || holds(&draft.result, "run_completion_request");
            if filled(&draft.result, "needs_human_reason").is_some() {
                let why = "it says why a person must decide";
                draft.set(RewriteCode::StatusInferred, "status", "needs_human", why);
            } else if asks {
                let why = "it asks to go on";
                draft.set(RewriteCode::StatusInferred, "status", "completed", why);
            }
        }
    }
}

/// A claim of work in the workspace that changed nothing is a review, where that is plain.
pub(super) fn artifact(draft: &mut Draft, situation: &Situation<'_>, leniency: Leniency) {
    let result = &draft.result;
    let Some(artifact) = members::object(result, "artifact") else {
        return;
    };
    if text(artifact, "type") != Some("workspace")
        || !list(result, "files_changed").is_empty()
        || has_products(result)
    {
        return;
    }
    let status = text(result, "status");
    let asks = filled(result, "phase_transition_request").is_some()
        || holds(result, "run_completion_request");
    let reviewed =
        situation.authority() == Some(WriteAuthority::ReviewOnly) && status == Some("completed");
    let waits =
        status == Some("needs_human") && text(result, "proposed_next_role") == Some("human");
    if !(leniency.force_review || asks || reviewed || waits) {
        return;
    }
    let turn = text(result, "turn_id").unwrap_or_default().to_owned();
    let mut artifact = artifact.clone();
    artifact.insert("type".into(), "review".into());
    artifact.insert("ref".into(), format!("turn:{turn}").into());
    let why = "nothing changed in the workspace";
    draft.set(RewriteCode::ArtifactBecameReview, "artifact", artifact, why);
}

/// Whether the verification produced files that belong to the work.
fn has_products(result: &accord_contract::wire::Object) -> bool {
    let verification = members::object(result, "verification");
    let files = verification.map_or(&[][..], |verification| list(verification, "produced_files"));
    files
        .iter()
        .any(|file| file.get("disposition").and_then(Value::as_str) != Some("ignore"))
}
