//! Stage `artifact`: whether the role may change the files that it changed.

use std::collections::BTreeMap;

use accord_contract::{Code, Object};

use super::{Findings, Problem};
use crate::result::{Situation, TurnResult, TurnStatusClaim};
use crate::{PathError, RepoPath, RuntimeType, WriteAuthority, doc, rule};

const MAX_SHOWN_CHARS: usize = 120;

pub(super) fn check(result: &TurnResult, situation: &Situation<'_>, findings: &mut Findings) {
    let files = paths(result, findings);
    let kind = result.artifact_type().unwrap_or_default();
    match situation.authority() {
        Some(WriteAuthority::ReviewOnly) => review_only(&files, kind, findings),
        Some(WriteAuthority::Authoritative) => {
            authoritative(result, situation, &files, kind, findings);
        }
        Some(WriteAuthority::Proposed) => proposed(result, situation, findings),
        None => wrong(findings, doc::Result::ARTIFACT, "the turn's role is not declared"),
    }
    if kind == "workspace" {
        if situation.authority() != Some(WriteAuthority::Authoritative) {
            wrong(findings, "artifact.type", "only an authoritative role works in the workspace");
        }
        if files.is_empty() && result.produced_artifacts().is_empty() {
            let message = "work in the workspace changes at least one file";
            wrong(findings, doc::Result::FILES_CHANGED, message);
        }
    }
    // This is checked for every role, because an acceptance writes the proposal of every role.
    proposed_changes(result.document(), findings);
}

fn wrong(findings: &mut Findings, field: impl Into<String>, message: impl Into<String>) {
    findings.problem(Problem::new(Code::XchainArtifactError, message).field(field));
}

/// The files that the result names. Files outside the repository and files of the run are problems.
fn paths(result: &TurnResult, findings: &mut Findings) -> Vec<RepoPath> {
    let name = doc::Result::FILES_CHANGED.name();
    let files = doc::Result::FILES_CHANGED.get(result.document());
    files.iter().filter_map(|text| sound_path(text, name, findings)).collect()
}

/// Parses a path that an agent named.
///
/// Clauses: AX-TR-RESERVED, AX-TR-RESERVED-SPELLING, AX-TR-INSIDE.
pub(super) fn sound_path(text: &str, field: &str, findings: &mut Findings) -> Option<RepoPath> {
    match RepoPath::parse_file(text) {
        Err(error) => {
            // The path comes from an agent and can have any length.
            let shown: String = text.chars().take(MAX_SHOWN_CHARS).collect();
            let message = format!("{field} names {shown:?}: {error}");
            let code = match error {
                PathError::Folder | PathError::TooLong => Code::XchainArtifactError,
                _ => Code::XchainPathOutsideRepository,
            };
            let (problem, text) = (Problem::new(code, message), shown.as_str());
            findings.problem(problem.field(field).path(text));
            None
        }
        Ok(path)
            if rule!(
                path.is_reserved();
                ReservedBySpelling => path.is_reserved() && path.as_str() == text
            ) =>
        {
            let message = format!("{field} names {path}, which belongs to the run itself");
            let problem = Problem::new(Code::XchainReservedPathViolation, message);
            findings.problem(problem.field(field).path(text));
            None
        }
        Ok(path) => Some(path),
    }
}

/// Clauses: AX-TR-ARTIFACT, AX-TR-REVIEW-SCOPE.
fn review_only(files: &[RepoPath], kind: &str, findings: &mut Findings) {
    for file in files.iter().filter(|file| !file.is_review()) {
        let message = format!("a role that only reviews may not change {file}");
        let problem = Problem::new(Code::XchainArtifactError, message);
        findings.problem(problem.field(doc::Result::FILES_CHANGED).path(file.as_str()));
    }
    if rule!(kind != "review"; ReviewerDeliversAnything => false) {
        let message = format!("a role that only reviews delivers a review, not a {kind}");
        wrong(findings, "artifact.type", message);
    }
}

/// Clauses: AX-TR-PRODUCT.
fn authoritative(
    result: &TurnResult,
    situation: &Situation<'_>,
    files: &[RepoPath],
    kind: &str,
    findings: &mut Findings,
) {
    let products: Vec<&RepoPath> = files.iter().filter(|file| file.is_product()).collect();
    if kind == "review" && !products.is_empty() {
        let message = "a review changes no product files; deliver the workspace instead";
        wrong(findings, "artifact.type", message);
    }
    let builds = situation.state.phase() == "implementation"
        && result.status() == TurnStatusClaim::Completed;
    // A wrong path is not counted as a product, so this rule would add a misleading error.
    if !builds || !findings.problems.is_empty() {
        return;
    }
    // Once the run has changed the product, a later implementation turn need not.
    if products.is_empty() && !situation.index.built {
        let message = "an implementation turn that is completed changes at least one product file";
        wrong(findings, doc::Result::FILES_CHANGED, message);
    } else if !products.is_empty() && products.iter().all(|file| file.is_test()) {
        findings.warn("the turn changed only tests");
    }
}

/// Clauses: AX-TR-PROPOSED.
fn proposed(result: &TurnResult, situation: &Situation<'_>, findings: &mut Findings) {
    let from_afar = situation.runtime().is_some_and(RuntimeType::only_proposes);
    let done = result.status() == TurnStatusClaim::Completed && !result.wants_completion();
    let empty = doc::Result::PROPOSED_CHANGES.get(result.document()).is_empty();
    if from_afar && done && rule!(empty; NothingProposed => false) {
        let message = "a proposing role with a remote runtime must deliver proposed_changes";
        wrong(findings, doc::Result::PROPOSED_CHANGES, message);
    }
}

fn proposed_changes(result: &Object, findings: &mut Findings) {
    let mut known: BTreeMap<RepoPath, bool> = BTreeMap::new();
    for (index, change) in doc::Result::PROPOSED_CHANGES.get(result).iter().enumerate() {
        let field = format!("proposed_changes.{index}");
        let Some(change) = change.as_object() else { continue };
        let path = doc::Proposed::PATH.get(change).unwrap_or_default();
        let sound = rule!(
            sound_path(path, &format!("{field}.path"), findings);
            ProposalsUnread => None
        );
        // The proposal's own pages are in the same folder and would be overwritten.
        if let Some(path) = sound.as_ref().filter(|path| path.is_proposal_page()) {
            let what = "which a proposal writes about itself; propose another path";
            let message = format!("{field} names {path}, {what}");
            wrong(findings, format!("{field}.path"), message);
        }
        let action = doc::Proposed::ACTION.get(change).unwrap_or_default();
        if let Some(path) = sound {
            fits(&path, action != "delete", &known, &field, findings);
            known.insert(path, action != "delete");
        }
        let message = match action {
            "delete" => continue,
            "create" | "modify" if doc::Proposed::CONTENT.get(change).is_some() => continue,
            "create" | "modify" => format!("{field} must have the content to {action}"),
            _ => format!("{field}.action must be create, modify or delete"),
        };
        wrong(findings, field.as_str(), message);
    }
}

/// Whether a proposed file is compatible with the earlier ones: each path occurs once, and a
/// written file is not the parent folder of another.
fn fits(
    path: &RepoPath,
    written: bool,
    known: &BTreeMap<RepoPath, bool>,
    field: &str,
    findings: &mut Findings,
) {
    let at = format!("{field}.path");
    if known.contains_key(path) {
        let message = format!("{field} names {path} twice; name each file once");
        wrong(findings, at.as_str(), message);
    }
    let clashes = |other: &&RepoPath| path.is_below(other) || other.is_below(path);
    // A deleted file leaves its place free, for example for a folder of that name.
    let others = known.iter().filter(|(_, other_written)| **other_written);
    if written && let Some(other) = others.map(|(other, _)| other).find(clashes) {
        let what = "but one would be a folder of the other";
        let message = format!("{field} names both {path} and {other}, {what}");
        wrong(findings, at.as_str(), message);
    }
}
