//! Normalizes ids, file lists, missing members, status and type of work.

use accord_contract::{Object, Value};

use super::{Draft, RewriteCode};
use crate::result::{Leniency, Situation};
use crate::{WriteAuthority, doc, rule};

/// Inserts the id of the run when the turn matches.
pub(super) fn identity(draft: &mut Draft, situation: &Situation<'_>) {
    let (Some(turn), Some(run)) = (situation.turn, situation.state.run_id()) else { return };
    // The right turn id shows that the result belongs to the run, so a wrong run id is a slip.
    let same_turn = doc::Result::TURN_ID.get(&draft.result) == Some(turn.id().as_str());
    if same_turn && doc::Result::RUN_ID.get(&draft.result) != Some(run.as_str()) {
        let why = "the result of the active turn belongs to the run";
        draft.set(RewriteCode::RunIdRewritten, doc::Result::RUN_ID, run.as_str(), why);
    }
}

/// Renames the list of changed files and reduces it to paths.
pub(super) fn files(draft: &mut Draft) {
    // A member of another type stays where it is, so that the record of the result has it.
    if !doc::Result::FILES_CHANGED.is_in(&draft.result)
        && doc::Result::FILES_MODIFIED.raw(&draft.result).is_some_and(Value::is_array)
        && let Some(Value::Array(files)) = doc::Result::FILES_MODIFIED.remove(&mut draft.result)
    {
        let (files, why) = (Value::Array(files), "files_modified is called files_changed");
        draft.set(RewriteCode::FilesModifiedRenamed, doc::Result::FILES_CHANGED, files, why);
    }
    let Some(Value::Array(files)) = doc::Result::FILES_CHANGED.raw_mut(&mut draft.result) else {
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
        draft.note(RewriteCode::FileEntryFlattened, doc::Result::FILES_CHANGED, why);
    }
}

/// Adds missing members.
///
/// Clauses: AX-TR-ABSENT.
pub(super) fn missing(draft: &mut Draft, situation: &Situation<'_>) {
    for member in [doc::Result::DECISIONS, doc::Result::OBJECTIONS] {
        if !member.is_in(&draft.result) {
            let none = Vec::<Value>::new();
            draft.set(RewriteCode::EmptyListAdded, member, none, "there are none");
        }
    }
    let absent = rule!(
        doc::Result::RUNTIME_ID.is_absent(&draft.result);
        NullRuntime => !doc::Result::RUNTIME_ID.is_in(&draft.result)
    );
    if absent && let Some(runtime) = situation.turn.and_then(|turn| turn.runtime_id()) {
        let why = "the turn's own runtime";
        draft.set(RewriteCode::RuntimeIdAdded, doc::Result::RUNTIME_ID, runtime, why);
    }
    // A summary of another type is left to the validation: a generated text would hide it.
    let mistyped = rule!(doc::Result::SUMMARY.is_mistyped(&draft.result); SummaryInvented => false);
    if doc::Result::SUMMARY.filled(&draft.result).is_none() && !mistyped {
        let milestone = doc::Result::MILESTONE.raw(&draft.result);
        let title = doc::Result::MILESTONE_TITLE.filled(&draft.result);
        let of_milestone = || milestone?.as_str().or_else(|| milestone?.get("title")?.as_str());
        let found = title.or_else(of_milestone).map(str::to_owned);
        let role = situation.turn.map_or("a role", |turn| turn.role());
        let summary = found.unwrap_or_else(|| format!("A turn of {role} without a summary."));
        draft.set(RewriteCode::SummaryAdded, doc::Result::SUMMARY, summary, "there was no summary");
    }
    let mut artifact = doc::Result::ARTIFACT.get(&draft.result).cloned().unwrap_or_default();
    if doc::Artifact::TYPE.given(&artifact).is_none() {
        doc::Artifact::TYPE.set(&mut artifact, inferred(draft));
        let why = "the kind of work follows from the changed files";
        draft.set(RewriteCode::ArtifactTypeInferred, doc::Result::ARTIFACT, artifact, why);
    }
}

fn inferred(draft: &Draft) -> &'static str {
    if doc::Result::FILES_CHANGED.items(&draft.result).is_empty() { "review" } else { "workspace" }
}

/// Replaces synonyms of a status, or infers a missing one from the requests.
pub(super) fn status(draft: &mut Draft) {
    let result = &draft.result;
    let (code, status, why) = match doc::Result::STATUS.get(result) {
        Some("complete" | "success" | "done") => {
            (RewriteCode::StatusSynonym, "completed", "another word for completed")
        }
        Some("error" | "failure") => {
            (RewriteCode::StatusSynonym, "failed", "another word for failed")
        }
        Some(_) => return,
        // A status of another type is left to the validation.
        None if doc::Result::STATUS.given(result).is_some() => return,
        None if doc::Result::NEEDS_HUMAN_REASON.filled(result).is_some() => {
            (RewriteCode::StatusInferred, "needs_human", "needs_human_reason is set")
        }
        None if asks(result) => (RewriteCode::StatusInferred, "completed", "it asks to go on"),
        None => return,
    };
    draft.set(code, doc::Result::STATUS, status, why);
}

/// Whether a result asks for the next phase or the end of the run.
fn asks(result: &Object) -> bool {
    doc::Result::PHASE_TRANSITION_REQUEST.filled(result).is_some()
        || doc::Result::RUN_COMPLETION_REQUEST.get(result)
}

/// Turns a claimed workspace change without changed files into a review, where that is unambiguous.
pub(super) fn artifact(draft: &mut Draft, situation: &Situation<'_>, leniency: Leniency) {
    let result = &draft.result;
    let Some(artifact) = doc::Result::ARTIFACT.get(result) else { return };
    if doc::Artifact::TYPE.get(artifact) != Some("workspace")
        || !doc::Result::FILES_CHANGED.items(result).is_empty()
        || has_products(result)
    {
        return;
    }
    let status = doc::Result::STATUS.get(result);
    let reviews = situation.authority() == Some(WriteAuthority::ReviewOnly);
    let reviewed = reviews && status == Some("completed");
    let waits = status == Some("needs_human")
        && doc::Result::PROPOSED_NEXT_ROLE.get(result) == Some("human");
    if !(leniency.force_review || asks(result) || reviewed || waits) {
        return;
    }
    let turn = doc::Result::TURN_ID.get(result).unwrap_or_default().to_owned();
    let mut artifact = artifact.clone();
    doc::Artifact::TYPE.set(&mut artifact, "review");
    doc::Artifact::REF.set(&mut artifact, format!("turn:{turn}"));
    let why = "nothing changed in the workspace";
    draft.set(RewriteCode::ArtifactBecameReview, doc::Result::ARTIFACT, artifact, why);
}

/// Whether the verification produced files that are part of the work.
fn has_products(result: &Object) -> bool {
    let verification = doc::Result::VERIFICATION.get(result);
    let files = verification.map_or(&[][..], |it| doc::Verification::PRODUCED_FILES.get(it));
    files.iter().any(|file| doc::ProducedFile::DISPOSITION.get(file) != Some("ignore"))
}
