//! Decisions, objections, evidence and lists of things.

use accord_contract::wire::{self, Object, Value};

use super::{Draft, RewriteCode};
use crate::ledger::{DecisionCategory, DecisionIds};
use crate::members::{self, filled, list, text};
use crate::patterns::{is_decision_id, is_objection_id};
use crate::result::Situation;

/// Decisions get what they lack; an id that is none becomes the run's next free one.
pub(super) fn decisions(draft: &mut Draft, situation: &Situation<'_>) {
    let Some(Value::Array(mut decisions)) = draft.result.get("decisions").cloned() else {
        return;
    };
    let mut ids = situation.index.decisions().continued();
    let own = decisions
        .iter()
        .filter_map(|decision| decision.get("id")?.as_str());
    let own: DecisionIds = own.filter(|id| is_decision_id(id)).collect();
    for id in own.iter() {
        ids.add(id);
    }
    let mut said = Vec::new();
    for (index, decision) in decisions.iter_mut().enumerate() {
        let Some(decision) = decision.as_object_mut() else {
            continue;
        };
        let field = |name: &str| format!("decisions.{index}.{name}");
        if !text(decision, "id").is_some_and(is_decision_id) {
            let id = ids.take_next();
            said.push((
                RewriteCode::DecisionIdAssigned,
                field("id"),
                format!("it became {id}"),
            ));
            decision.insert("id".into(), id.into());
        }
        if let Some(name) = adopt(
            decision,
            "statement",
            &["decision", "description", "summary", "title"],
        ) {
            let why = format!("it was under {name}");
            said.push((RewriteCode::DecisionStatementFound, field("statement"), why));
        }
        let places = ["reason", "why", "description", "decision", "statement"];
        if let Some(name) = adopt(decision, "rationale", &places) {
            let why = format!("it was under {name}");
            said.push((RewriteCode::DecisionRationaleFound, field("rationale"), why));
        }
        if text(decision, "category")
            .and_then(DecisionCategory::parse)
            .is_none()
        {
            decision.insert("category".into(), "implementation".into());
            let why = "it became implementation".to_owned();
            said.push((
                RewriteCode::DecisionCategoryRewritten,
                field("category"),
                why,
            ));
        }
    }
    draft.result.insert("decisions".into(), decisions.into());
    for (code, field, why) in said {
        draft.said(code, &field, &why);
    }
}

/// Objections get what they lack.
pub(super) fn objections(draft: &mut Draft) {
    let Some(Value::Array(mut objections)) = draft.result.get("objections").cloned() else {
        return;
    };
    let mut said = Vec::new();
    let taken: Vec<String> = objections
        .iter()
        .filter_map(|objection| objection.get("id")?.as_str().map(str::to_owned))
        .collect();
    let mut next = 1;
    for (index, objection) in objections.iter_mut().enumerate() {
        let Some(objection) = objection.as_object_mut() else {
            continue;
        };
        if !text(objection, "id").is_some_and(is_objection_id) {
            let free = (next..).map(|n| (n, format!("OBJ-{n:03}")));
            let mut free = free.filter(|(_, id)| !taken.contains(id));
            if let Some((number, id)) = free.next() {
                next = number + 1;
                said.push((
                    RewriteCode::ObjectionIdAssigned,
                    index,
                    "id",
                    format!("it became {id}"),
                ));
                objection.insert("id".into(), id.into());
            }
        }
        if let Some(name) = adopt(objection, "statement", &["summary", "detail"]) {
            let why = format!("it was under {name}");
            said.push((
                RewriteCode::ObjectionStatementFound,
                index,
                "statement",
                why,
            ));
        }
    }
    draft.result.insert("objections".into(), objections.into());
    for (code, index, name, why) in said {
        draft.said(code, &format!("objections.{index}.{name}"), &why);
    }
}

/// Evidence that is none is told apart, and a pass explains its exit codes.
pub(super) fn verification(draft: &mut Draft) {
    let Some(Value::Object(mut verification)) = draft.result.get("verification").cloned() else {
        return;
    };
    let mut said = Vec::new();
    if members::given(&verification, "status").is_none() {
        let status = match verification.get("exit_code").and_then(wire::integer_of) {
            Some(0) => "pass",
            Some(_) => "fail",
            None => "skipped",
        };
        verification.insert("status".into(), status.into());
        said.push((
            RewriteCode::VerificationStatusInferred,
            "status",
            format!("it became {status}"),
        ));
    }
    fold_evidence(&mut verification, &mut said);
    if text(&verification, "status") == Some("pass")
        && let Some(Value::Array(evidence)) = verification.get_mut("machine_evidence")
    {
        for item in evidence.iter_mut().filter_map(Value::as_object_mut) {
            let code = item
                .get("exit_code")
                .and_then(wire::integer_of)
                .filter(|code| *code != 0);
            if let (Some(code), false) = (code, item.contains_key("expected_exit_code")) {
                item.insert("expected_exit_code".into(), code.into());
                let why = format!("the result passes, so {code} was expected");
                said.push((RewriteCode::ExpectedExitCodeAdded, "machine_evidence", why));
            }
        }
    }
    draft
        .result
        .insert("verification".into(), verification.into());
    for (code, name, why) in said {
        draft.said(code, &format!("verification.{name}"), &why);
    }
}

/// Evidence with a type and no command is a remark.
fn fold_evidence(verification: &mut Object, said: &mut Vec<(RewriteCode, &'static str, String)>) {
    let evidence = list(verification, "machine_evidence");
    let is_remark = |item: &&Value| {
        let item = item.as_object();
        item.is_some_and(|item| item.contains_key("type") && filled(item, "command").is_none())
    };
    let remarks: Vec<String> = evidence
        .iter()
        .filter(is_remark)
        .map(Value::to_string)
        .collect();
    if remarks.is_empty() {
        return;
    }
    let commands: Vec<Value> = evidence
        .iter()
        .filter(|item| !is_remark(item))
        .cloned()
        .collect();
    let summary = text(verification, "evidence_summary").unwrap_or_default();
    let parts = [summary.to_owned()].into_iter().chain(remarks);
    let parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
    verification.insert("evidence_summary".into(), parts.join("\n").into());
    verification.insert("machine_evidence".into(), commands.into());
    let why = "what is no command went into evidence_summary".to_owned();
    said.push((RewriteCode::EvidenceFolded, "machine_evidence", why));
}

/// The list of what was made, whatever its entries are.
pub(super) fn created(draft: &mut Draft) {
    let Some(Value::Array(items)) = draft.result.get_mut("artifacts_created") else {
        return;
    };
    let mut flattened = false;
    for item in items {
        let name = item
            .get("path")
            .or_else(|| item.get("name"))
            .and_then(Value::as_str);
        if let Some(name) = name {
            *item = name.into();
            flattened = true;
        }
    }
    if flattened {
        let why = "an entry is a path, not an object";
        draft.said(RewriteCode::FileEntryFlattened, "artifacts_created", why);
    }
}

/// Fills a blank member from the first of other members that says something.
fn adopt(members: &mut Object, name: &str, places: &[&'static str]) -> Option<&'static str> {
    if filled(members, name).is_some() {
        return None;
    }
    let place = places
        .iter()
        .find(|place| filled(members, place).is_some())?;
    let value = members.get(*place)?.clone();
    members.insert(name.to_owned(), value);
    Some(place)
}
