//! Normalizes decisions, objections, evidence and artifacts.

use accord_contract::{Object, Value};

use super::{Draft, RewriteCode};
use crate::Situation;
use crate::doc::{self, List, Member, Text};
use crate::ledger::DecisionCategory;
use crate::patterns::{is_decision_id, is_objection_id};

const MACHINE_EVIDENCE: Member<List> = doc::Verification::MACHINE_EVIDENCE;

/// Completes decisions. An invalid id is replaced by the run's next free one.
pub(super) fn decisions(draft: &mut Draft, situation: &Situation<'_>) {
    let decisions = doc::Result::DECISIONS.raw(&draft.result).cloned();
    let Some(Value::Array(mut decisions)) = decisions else { return };
    // Numbers continue after those of the run, so an assigned id is new in it. The ids that the
    // result names itself are not free either.
    let mut ids = situation.index.decisions().continued();
    let own = decisions.iter().filter_map(|decision| doc::Decision::ID.get(decision));
    for id in own.filter(|id| is_decision_id(id)) {
        ids.add(id);
    }
    let mut notes = Vec::new();
    for (index, decision) in decisions.iter_mut().enumerate() {
        let Some(decision) = decision.as_object_mut() else { continue };
        let field = |member: Member<Text>| format!("decisions.{index}.{}", member.name());
        if !doc::Decision::ID.get(decision).is_some_and(is_decision_id) {
            let id = ids.take_next();
            let why = format!("it became {id}");
            notes.push((RewriteCode::DecisionIdAssigned, field(doc::Decision::ID), why));
            doc::Decision::ID.set(decision, id);
        }
        let places = ["decision", "description", "summary", "title"];
        if let Some(name) = adopt(decision, doc::Decision::STATEMENT, &places) {
            let why = format!("it was under {name}");
            notes.push((RewriteCode::DecisionStatementFound, field(doc::Decision::STATEMENT), why));
        }
        let places = ["reason", "why", "description", "decision", "statement"];
        if let Some(name) = adopt(decision, doc::Decision::RATIONALE, &places) {
            let why = format!("it was under {name}");
            notes.push((RewriteCode::DecisionRationaleFound, field(doc::Decision::RATIONALE), why));
        }
        if doc::Decision::CATEGORY.get(decision).and_then(DecisionCategory::parse).is_none() {
            doc::Decision::CATEGORY.set(decision, "implementation");
            let field = field(doc::Decision::CATEGORY);
            let why = "it became implementation".to_owned();
            notes.push((RewriteCode::DecisionCategoryRewritten, field, why));
        }
    }
    doc::Result::DECISIONS.set(&mut draft.result, decisions);
    for (code, field, why) in notes {
        draft.note(code, field, &why);
    }
}

pub(super) fn objections(draft: &mut Draft) {
    let objections = doc::Result::OBJECTIONS.raw(&draft.result).cloned();
    let Some(Value::Array(mut objections)) = objections else { return };
    let mut notes = Vec::new();
    let id = |objection| doc::Objection::ID.get(objection).map(str::to_owned);
    let taken: Vec<String> = objections.iter().filter_map(id).collect();
    let mut next = 1;
    for (index, objection) in objections.iter_mut().enumerate() {
        let Some(objection) = objection.as_object_mut() else { continue };
        let field = |member: Member<Text>| format!("objections.{index}.{}", member.name());
        if !doc::Objection::ID.get(objection).is_some_and(is_objection_id) {
            // Ids of later objections are taken as well, so the numbers cannot simply be counted.
            let mut ids = (next..).map(|n| (n, format!("OBJ-{n:03}")));
            if let Some((number, id)) = ids.find(|(_, id)| !taken.contains(id)) {
                next = number + 1;
                let why = format!("it became {id}");
                notes.push((RewriteCode::ObjectionIdAssigned, field(doc::Objection::ID), why));
                doc::Objection::ID.set(objection, id);
            }
        }
        if let Some(name) = adopt(objection, doc::Objection::STATEMENT, &["summary", "detail"]) {
            let why = format!("it was under {name}");
            let field = field(doc::Objection::STATEMENT);
            notes.push((RewriteCode::ObjectionStatementFound, field, why));
        }
    }
    doc::Result::OBJECTIONS.set(&mut draft.result, objections);
    for (code, field, why) in notes {
        draft.note(code, field, &why);
    }
}

/// Moves evidence without a command to the summary, and adds expected exit codes to a pass.
pub(super) fn verification(draft: &mut Draft) {
    let verification = doc::Result::VERIFICATION.raw(&draft.result).cloned();
    let Some(Value::Object(mut verification)) = verification else { return };
    let mut notes = Vec::new();
    if doc::Verification::STATUS.given(&verification).is_none() {
        let status = match doc::Verification::EXIT_CODE.get(&verification) {
            Some(0) => "pass",
            Some(_) => "fail",
            None => "skipped",
        };
        doc::Verification::STATUS.set(&mut verification, status);
        let (name, why) = (doc::Verification::STATUS.name(), format!("it became {status}"));
        notes.push((RewriteCode::VerificationStatusInferred, name, why));
    }
    fold_evidence(&mut verification, &mut notes);
    if doc::Verification::STATUS.get(&verification) == Some("pass")
        && let Some(Value::Array(evidence)) = MACHINE_EVIDENCE.raw_mut(&mut verification)
    {
        for item in evidence.iter_mut().filter_map(Value::as_object_mut) {
            let code = doc::Evidence::EXIT_CODE.get(item).filter(|code| *code != 0);
            // A given expectation may contradict the claimed pass, which validation reports.
            if let (Some(code), false) = (code, doc::Evidence::EXPECTED_EXIT_CODE.is_in(item)) {
                doc::Evidence::EXPECTED_EXIT_CODE.set(item, code);
                let why = format!("the result passes, so {code} was expected");
                notes.push((RewriteCode::ExpectedExitCodeAdded, MACHINE_EVIDENCE.name(), why));
            }
        }
    }
    doc::Result::VERIFICATION.set(&mut draft.result, verification);
    for (code, name, why) in notes {
        draft.note(code, format!("verification.{name}"), &why);
    }
}

/// Moves evidence that has a type but no command to the evidence summary.
fn fold_evidence(verification: &mut Object, notes: &mut Vec<(RewriteCode, &'static str, String)>) {
    let evidence = MACHINE_EVIDENCE.get(verification);
    let is_typed =
        |it: &Object| doc::Evidence::TYPE.is_in(it) && doc::Evidence::COMMAND.filled(it).is_none();
    let is_remark = |item: &&Value| item.as_object().is_some_and(is_typed);
    let remarks: Vec<String> = evidence.iter().filter(is_remark).map(Value::to_string).collect();
    if remarks.is_empty() {
        return;
    }
    let commands: Vec<Value> = evidence.iter().filter(|item| !is_remark(item)).cloned().collect();
    let summary = doc::Verification::EVIDENCE_SUMMARY.get(verification).unwrap_or_default();
    let mut parts = vec![summary.to_owned()];
    parts.extend(remarks);
    parts.retain(|part| !part.is_empty());
    doc::Verification::EVIDENCE_SUMMARY.set(verification, parts.join("\n"));
    MACHINE_EVIDENCE.set(verification, commands);
    let why = "evidence without a command was moved to evidence_summary".to_owned();
    notes.push((RewriteCode::EvidenceFolded, MACHINE_EVIDENCE.name(), why));
}

/// Reduces created artifacts to their paths.
pub(super) fn created(draft: &mut Draft) {
    let items = doc::Result::ARTIFACTS_CREATED.raw_mut(&mut draft.result);
    let Some(Value::Array(items)) = items else { return };
    let mut flattened = false;
    for item in items {
        if let Some(name) = item.get("path").or_else(|| item.get("name")).and_then(Value::as_str) {
            *item = name.into();
            flattened = true;
        }
    }
    if flattened {
        let why = "an entry is a path, not an object";
        draft.note(RewriteCode::FileEntryFlattened, doc::Result::ARTIFACTS_CREATED, why);
    }
}

/// Fills a blank member from the first alternative member that is not blank.
fn adopt(
    members: &mut Object,
    member: Member<Text>,
    other_names: &[&'static str],
) -> Option<&'static str> {
    if member.filled(members).is_some() {
        return None;
    }
    let others = other_names.iter().map(|name| Member::<Text>::new(name));
    let found = others.into_iter().find(|other| other.filled(members).is_some())?;
    let value = found.copy(members);
    member.set(members, value);
    Some(found.name())
}
