//! Normalizes decisions, objections, evidence and artifacts.

use accord_contract::{Object, Value};

use super::{Draft, RewriteCode};
use crate::Situation;
use crate::doc::{self, List, Member, Text};
use crate::ledger::{DecisionCategory, DecisionIds};
use crate::patterns::{is_decision_id, is_objection_id};

const MACHINE_EVIDENCE: Member<List> = doc::Verification::MACHINE_EVIDENCE;

/// Completes decisions. An invalid id is replaced by the run's next free one.
pub(super) fn decisions(draft: &mut Draft, situation: &Situation<'_>) {
    let Some(Value::Array(mut decisions)) = doc::Result::DECISIONS.raw(&draft.result).cloned()
    else {
        return;
    };
    // Numbers continue after those of the run, so an assigned id is new in it. The ids that the
    // result names itself are not free either.
    let mut ids = situation.index.decisions().continued();
    let own: DecisionIds = decisions
        .iter()
        .filter_map(|decision| doc::Decision::ID.get(decision))
        .filter(|id| is_decision_id(id))
        .collect();
    for id in own.iter() {
        ids.add(id);
    }
    let mut notes = Vec::new();
    for (index, decision) in decisions.iter_mut().enumerate() {
        let Some(decision) = decision.as_object_mut() else { continue };
        let field = |member: Member<Text>| format!("decisions.{index}.{}", member.name());
        if !doc::Decision::ID.get(decision).is_some_and(is_decision_id) {
            let id = ids.take_next();
            notes.push((
                RewriteCode::DecisionIdAssigned,
                field(doc::Decision::ID),
                format!("it became {id}"),
            ));
            doc::Decision::ID.set(decision, id);
        }
        if let Some(name) = adopt(
            decision,
            doc::Decision::STATEMENT,
            &["decision", "description", "summary", "title"],
        ) {
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
            let why = "it became implementation".to_owned();
            notes.push((
                RewriteCode::DecisionCategoryRewritten,
                field(doc::Decision::CATEGORY),
                why,
            ));
        }
    }
    doc::Result::DECISIONS.set(&mut draft.result, decisions);
    for (code, field, why) in notes {
        draft.note(code, field, &why);
    }
}

pub(super) fn objections(draft: &mut Draft) {
    let Some(Value::Array(mut objections)) = doc::Result::OBJECTIONS.raw(&draft.result).cloned()
    else {
        return;
    };
    let mut notes = Vec::new();
    let taken: Vec<String> = objections
        .iter()
        .filter_map(|objection| doc::Objection::ID.get(objection).map(str::to_owned))
        .collect();
    let mut next = 1;
    for (index, objection) in objections.iter_mut().enumerate() {
        let Some(objection) = objection.as_object_mut() else { continue };
        if !doc::Objection::ID.get(objection).is_some_and(is_objection_id) {
            // Ids of later objections are taken as well, so the numbers cannot simply be counted.
            let free =
                (next..).map(|n| (n, format!("OBJ-{n:03}"))).find(|(_, id)| !taken.contains(id));
            if let Some((number, id)) = free {
                next = number + 1;
                notes.push((
                    RewriteCode::ObjectionIdAssigned,
                    index,
                    doc::Objection::ID,
                    format!("it became {id}"),
                ));
                doc::Objection::ID.set(objection, id);
            }
        }
        if let Some(name) = adopt(objection, doc::Objection::STATEMENT, &["summary", "detail"]) {
            let why = format!("it was under {name}");
            notes.push((
                RewriteCode::ObjectionStatementFound,
                index,
                doc::Objection::STATEMENT,
                why,
            ));
        }
    }
    doc::Result::OBJECTIONS.set(&mut draft.result, objections);
    for (code, index, member, why) in notes {
        let field = format!("objections.{index}.{}", member.name());
        draft.note(code, field, &why);
    }
}

/// Moves evidence without a command to the summary, and adds expected exit codes to a pass.
pub(super) fn verification(draft: &mut Draft) {
    let Some(Value::Object(mut verification)) =
        doc::Result::VERIFICATION.raw(&draft.result).cloned()
    else {
        return;
    };
    let mut notes = Vec::new();
    if doc::Verification::STATUS.given(&verification).is_none() {
        let status = match doc::Verification::EXIT_CODE.get(&verification) {
            Some(0) => "pass",
            Some(_) => "fail",
            None => "skipped",
        };
        doc::Verification::STATUS.set(&mut verification, status);
        notes.push((
            RewriteCode::VerificationStatusInferred,
            doc::Verification::STATUS.name(),
            format!("it became {status}"),
        ));
    }
    fold_evidence(&mut verification, &mut notes);
    if doc::Verification::STATUS.get(&verification) == Some("pass")
        && let Some(Value::Array(evidence)) = MACHINE_EVIDENCE.raw_mut(&mut verification)
    {
        for item in evidence.iter_mut().filter_map(Value::as_object_mut) {
            let code = doc::Evidence::EXIT_CODE.get(item).filter(|code| *code != 0);
            // A given expectation is never replaced: it may contradict the claimed pass, which
            // validation reports.
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
    let is_remark = |item: &&Value| {
        let item = item.as_object();
        item.is_some_and(|item| {
            doc::Evidence::TYPE.is_in(item) && doc::Evidence::COMMAND.filled(item).is_none()
        })
    };
    let remarks: Vec<String> = evidence.iter().filter(is_remark).map(Value::to_string).collect();
    if remarks.is_empty() {
        return;
    }
    let commands: Vec<Value> = evidence.iter().filter(|item| !is_remark(item)).cloned().collect();
    let summary = doc::Verification::EVIDENCE_SUMMARY.get(verification).unwrap_or_default();
    let parts: Vec<String> =
        [summary.to_owned()].into_iter().chain(remarks).filter(|part| !part.is_empty()).collect();
    doc::Verification::EVIDENCE_SUMMARY.set(verification, parts.join("\n"));
    MACHINE_EVIDENCE.set(verification, commands);
    let why = "evidence without a command was moved to evidence_summary".to_owned();
    notes.push((RewriteCode::EvidenceFolded, MACHINE_EVIDENCE.name(), why));
}

/// Reduces created artifacts to their paths.
pub(super) fn created(draft: &mut Draft) {
    let Some(Value::Array(items)) = doc::Result::ARTIFACTS_CREATED.raw_mut(&mut draft.result)
    else {
        return;
    };
    let mut flattened = false;
    for item in items {
        let name = item.get("path").or_else(|| item.get("name")).and_then(Value::as_str);
        if let Some(name) = name {
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
