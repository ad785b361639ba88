//! Stage `verification`: whether the evidence supports the claimed status.

use std::collections::BTreeSet;

use accord_contract::{Code, Object, Value};

use super::artifact::sound_path;
use super::{Findings, Problem};
use crate::{Situation, TurnResult, doc, rule};

/// Clauses: AX-TR-EVIDENCE.
pub(super) fn check(result: &TurnResult, _: &Situation<'_>, findings: &mut Findings) {
    let empty = Object::new();
    let verification = doc::Result::VERIFICATION.get(result.document()).unwrap_or(&empty);
    let commands = doc::Verification::COMMANDS.items(verification);
    if doc::Verification::COMMANDS.is_mistyped(verification)
        || !commands.iter().all(|command| says(Some(command)))
    {
        wrong(findings, doc::Verification::COMMANDS, "must be a list of non-blank texts");
    }
    if doc::Verification::EVIDENCE_SUMMARY.is_mistyped(verification) {
        wrong(findings, doc::Verification::EVIDENCE_SUMMARY, "must be a text");
    }
    if doc::Verification::MACHINE_EVIDENCE.is_mistyped(verification) {
        wrong(findings, doc::Verification::MACHINE_EVIDENCE, "must be a list");
    }
    let passes = result.verification() == Some("pass");
    let most = rule!(usize::MAX; EvidenceUnread => 0; FirstEvidenceOnly => 1);
    for (index, item) in result.evidence().iter().enumerate().take(most) {
        evidence(index, item, passes, findings);
    }
    produced(result, verification, findings);
    let silent = commands.is_empty()
        && result.evidence().is_empty()
        && doc::Verification::EVIDENCE_SUMMARY.filled(verification).is_none();
    if passes && silent {
        findings.warn("the verification passes without any evidence");
    }
}

fn wrong(findings: &mut Findings, name: impl Into<String>, what: &str) {
    let field = format!("verification.{}", name.into());
    let message = format!("{field} {what}");
    findings.problem(Problem::new(Code::XchainVerificationError, message).field(field));
}

fn says(value: Option<&Value>) -> bool {
    value.and_then(Value::as_str).is_some_and(|text| !text.trim().is_empty())
}

fn evidence(index: usize, item: &Value, passes: bool, findings: &mut Findings) {
    let name = format!("machine_evidence.{index}");
    if !says(doc::Evidence::COMMAND.raw(item)) {
        wrong(findings, name.as_str(), "must name its command");
    }
    if doc::Evidence::EXPECTED_EXIT_CODE.is_mistyped(item) {
        wrong(findings, name, "must have a whole number as expected_exit_code");
        return;
    }
    let expected = doc::Evidence::EXPECTED_EXIT_CODE.get(item).unwrap_or(0);
    match doc::Evidence::EXIT_CODE.get(item) {
        Some(code) if passes && code != expected => {
            let what = format!("exited with {code}, but the result claims that it passed");
            wrong(findings, name, &what);
        }
        Some(_) => {}
        None => wrong(findings, name, "must have a whole number as exit_code"),
    }
}

fn produced(result: &TurnResult, verification: &Object, findings: &mut Findings) {
    if doc::Verification::PRODUCED_FILES.is_mistyped(verification) {
        wrong(findings, doc::Verification::PRODUCED_FILES, "must be a list");
    }
    let declared = result.files_changed();
    let mut seen = BTreeSet::new();
    for (index, item) in doc::Verification::PRODUCED_FILES.get(verification).iter().enumerate() {
        let name = format!("produced_files.{index}");
        let Some(file) = item.as_object() else {
            wrong(findings, name.as_str(), "must be an object");
            continue;
        };
        let disposition = doc::ProducedFile::DISPOSITION.get(file).unwrap_or("artifact");
        if !matches!(disposition, "artifact" | "ignore") {
            wrong(findings, name.as_str(), "must have the disposition artifact or ignore");
        }
        let path = doc::ProducedFile::PATH.get(file).unwrap_or_default();
        // An ignored file is deleted at the acceptance, so its path is checked like a changed one.
        let at = format!("verification.{name}.path");
        let Some(path) = sound_path(path, &at, findings) else { continue };
        if disposition == "ignore" && declared.contains(&path) {
            wrong(findings, name.as_str(), "cannot be ignored and be in files_changed");
        }
        if !seen.insert(path) {
            wrong(findings, name.as_str(), "occurs twice");
        }
    }
}
