//! Whether the evidence says what the result says.

use std::collections::BTreeSet;

use accord_contract::codes::Code;
use accord_contract::wire::{self, Object, Value};

use super::artifact::sound_path;
use super::{Findings, Problem};
use crate::members::{self, filled, given, list, text};
use crate::result::{Situation, TurnResult};
use crate::rule;

pub(super) fn check(result: &TurnResult, _: &Situation<'_>, findings: &mut Findings) {
    let empty = Object::new();
    let verification = members::object(result.document(), "verification").unwrap_or(&empty);
    let commands = list(verification, "commands");
    if given(verification, "commands").is_some_and(|commands| !commands.is_array())
        || !commands.iter().all(|command| says(Some(command)))
    {
        wrong(
            findings,
            "commands",
            "must be a list of texts that say something",
        );
    }
    if given(verification, "evidence_summary").is_some_and(|summary| !summary.is_string()) {
        wrong(findings, "evidence_summary", "must be a text");
    }
    if given(verification, "machine_evidence").is_some_and(|evidence| !evidence.is_array()) {
        wrong(findings, "machine_evidence", "must be a list");
    }
    let passes = result.verification() == Some("pass");
    let most = rule!(usize::MAX; EvidenceUnread => 0; FirstEvidenceOnly => 1);
    for (index, item) in result.evidence().iter().enumerate().take(most) {
        evidence(index, item, passes, findings);
    }
    produced(result, verification, findings);
    let silent = commands.is_empty()
        && result.evidence().is_empty()
        && filled(verification, "evidence_summary").is_none();
    if passes && silent {
        findings.warn("the verification passes without any evidence");
    }
}

fn wrong(findings: &mut Findings, name: &str, what: &str) {
    let field = format!("verification.{name}");
    let message = format!("{field} {what}");
    findings.problem(Problem::new(Code::XchainVerificationError, message).field(field));
}

fn says(value: Option<&Value>) -> bool {
    value
        .and_then(Value::as_str)
        .is_some_and(|text| !text.trim().is_empty())
}

fn evidence(index: usize, item: &Value, passes: bool, findings: &mut Findings) {
    let name = format!("machine_evidence.{index}");
    if !says(item.get("command")) {
        wrong(findings, &name, "must name its command");
    }
    let expected = match given_number(item, "expected_exit_code") {
        Ok(code) => code.unwrap_or(0),
        Err(()) => {
            wrong(
                findings,
                &name,
                "must have a whole number as expected_exit_code",
            );
            return;
        }
    };
    match given_number(item, "exit_code") {
        Ok(Some(code)) if passes && code != expected => {
            let what = format!("ended with {code}, and the result says that it passes");
            wrong(findings, &name, &what);
        }
        Ok(Some(_)) => {}
        Ok(None) | Err(()) => wrong(findings, &name, "must have a whole number as exit_code"),
    }
}

fn given_number(item: &Value, name: &str) -> Result<Option<i64>, ()> {
    match item.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => wire::integer_of(value).map(Some).ok_or(()),
    }
}

fn produced(result: &TurnResult, verification: &Object, findings: &mut Findings) {
    if given(verification, "produced_files").is_some_and(|files| !files.is_array()) {
        wrong(findings, "produced_files", "must be a list");
    }
    let declared = result.files_changed();
    let mut seen = BTreeSet::new();
    for (index, item) in list(verification, "produced_files").iter().enumerate() {
        let name = format!("produced_files.{index}");
        let Some(file) = item.as_object() else {
            wrong(findings, &name, "must be an object");
            continue;
        };
        let disposition = text(file, "disposition").unwrap_or("artifact");
        if !matches!(disposition, "artifact" | "ignore") {
            wrong(
                findings,
                &name,
                "must have the disposition artifact or ignore",
            );
        }
        let path = text(file, "path").unwrap_or_default();
        let Some(path) = sound_path(path, &format!("verification.{name}.path"), findings) else {
            continue;
        };
        if disposition == "ignore" && declared.contains(&path) {
            wrong(findings, &name, "cannot be ignored and be in files_changed");
        }
        if !seen.insert(path) {
            wrong(findings, &name, "is there twice");
        }
    }
}
