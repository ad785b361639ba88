//! Stage `schema`: whether a document has the form of a result.

use accord_contract::{Code, Object, Value};

use super::fields::Fields;
use super::{Problem, delegations};
use crate::doc::{self, Any, Member};
use crate::ledger::DecisionCategory;
use crate::patterns::{is_decision_id, is_name, is_objection_id, is_placeholder};
use crate::{RunId, TurnId, rule};

const REQUIRED: [Member<Any>; 13] = [
    doc::Result::SCHEMA_VERSION.any(),
    doc::Result::RUN_ID.any(),
    doc::Result::TURN_ID.any(),
    doc::Result::ROLE.any(),
    doc::Result::RUNTIME_ID.any(),
    doc::Result::STATUS.any(),
    doc::Result::SUMMARY.any(),
    doc::Result::DECISIONS.any(),
    doc::Result::OBJECTIONS.any(),
    doc::Result::FILES_CHANGED.any(),
    doc::Result::VERIFICATION.any(),
    doc::Result::ARTIFACT.any(),
    doc::Result::PROPOSED_NEXT_ROLE.any(),
];

/// Checks the form. When members are missing, only these are reported.
///
/// Clauses: AX-TR-REQUIRED, AX-TR-OPEN, AX-STRICT-REQUIRED.
pub(super) fn check(result: &Value) -> Vec<Problem> {
    let mut found = Vec::new();
    let Some(result) = result.as_object() else {
        let message = "a turn result must be a JSON object";
        return vec![Problem::new(Code::XchainSchemaError, message)];
    };
    // Presence is enough here, also as null. The type is checked below.
    for member in REQUIRED {
        if rule!(!member.is_in(result); MissingUnnamed => false) {
            let message = format!("missing required field: {}", member.name());
            found.push(Problem::new(Code::XchainMissingRequiredField, message).field(member));
        }
    }
    if !found.is_empty() {
        return found;
    }
    let fields = &mut Fields { found: &mut found };
    top(result, fields);
    decisions(result, fields);
    objections(result, fields);
    delegations::check(result, fields);
    proposed_changes(result, fields);
    placeholders(result, fields);
    found
}

/// Clauses: AX-TR-SHAPE, AX-TR-COST.
fn top(result: &Object, fields: &mut Fields<'_>) {
    if doc::Result::SCHEMA_VERSION.get(result) != Some("1.0") {
        fields.wrong(doc::Result::SCHEMA_VERSION, "must be \"1.0\"");
    }
    if doc::Result::RUN_ID.get(result).and_then(RunId::parse).is_none() {
        fields.wrong(doc::Result::RUN_ID, "must be the id of a run");
    }
    let turn_id = doc::Result::TURN_ID.get(result).and_then(TurnId::parse);
    if rule!(turn_id.is_none(); AnyTurnId => false) {
        fields.wrong(doc::Result::TURN_ID, "must be the id of a turn");
    }
    if !doc::Result::ROLE.get(result).is_some_and(is_name) {
        fields.wrong(doc::Result::ROLE, "may contain only a-z, 0-9, _ and -");
    }
    fields.filled(result, "", doc::Result::RUNTIME_ID);
    fields.filled(result, "", doc::Result::SUMMARY);
    let statuses = ["completed", "blocked", "needs_human", "failed"];
    fields.one_of(result, "", doc::Result::STATUS, &statuses);
    for item in fields.items(result, doc::Result::FILES_CHANGED) {
        if !item.is_string() {
            fields.wrong(doc::Result::FILES_CHANGED, "must hold paths as texts");
        }
    }
    if let Some(items) = doc::Result::ARTIFACTS_CREATED.given(result)
        && !items.as_array().is_some_and(|items| items.iter().all(Value::is_string))
    {
        fields.wrong(doc::Result::ARTIFACTS_CREATED, "must be a list of texts");
    }
    match doc::Result::VERIFICATION.get(result) {
        None => fields.wrong(doc::Result::VERIFICATION, "must be an object"),
        Some(verification) => {
            let statuses = ["pass", "fail", "skipped"];
            fields.one_of(verification, "verification", doc::Verification::STATUS, &statuses);
        }
    }
    match doc::Result::ARTIFACT.get(result) {
        None => fields.wrong(doc::Result::ARTIFACT, "must be an object"),
        Some(artifact) => {
            let kinds = ["workspace", "patch", "commit", "review"];
            fields.one_of(artifact, "artifact", doc::Artifact::TYPE, &kinds);
        }
    }
    let next = doc::Result::PROPOSED_NEXT_ROLE.get(result);
    // A placeholder is reported as such below, which is the clearer message.
    if !next.is_some_and(|next| is_name(next) || is_placeholder(next)) {
        fields.wrong(doc::Result::PROPOSED_NEXT_ROLE, "must be a role or human");
    }
    fields.optional_text(result, doc::Result::PHASE_TRANSITION_REQUEST);
    fields.optional_text(result, doc::Result::NEEDS_HUMAN_REASON);
    if doc::Result::RUN_COMPLETION_REQUEST.is_mistyped(result) {
        fields.wrong(doc::Result::RUN_COMPLETION_REQUEST, "must be true, false or null");
    }
    if let Some(cost) = doc::Result::COST.given(result) {
        let usd = doc::Cost::USD.raw(cost).filter(|usd| !usd.is_null());
        let no_amount = |usd: &Value| usd.as_f64().is_none_or(|usd| usd < 0.0);
        if rule!(!cost.is_object() || usd.is_some_and(no_amount); AnyCost => false) {
            fields.wrong(doc::Result::COST, "must be an object whose usd is a number from zero");
        }
    }
}

/// Clauses: AX-DC-REPO, AX-DC-DURABILITY, AX-DC-OVERRIDES, AX-DC-SELF, AX-STRICT-DECISION-ID.
fn decisions(result: &Object, fields: &mut Fields<'_>) {
    let categories: Vec<&str> = DecisionCategory::ALL.iter().map(|name| name.as_str()).collect();
    let most = rule!(usize::MAX; FirstDecisionOnly => 1);
    let items = fields.items(result, doc::Result::DECISIONS);
    for (index, item) in items.iter().enumerate().take(most) {
        let at = format!("decisions.{index}");
        let Some(decision) = fields.object(&at, item) else { continue };
        let id = doc::Decision::ID.get(decision).unwrap_or_default();
        if !is_decision_id(id) {
            let message = format!("{at}.id {id:?} must be DEC- and a number");
            let problem = Problem::new(Code::XchainInvalidDecisionIdFormat, message);
            fields.found.push(problem.field(format!("{at}.id")));
        }
        fields.one_of(decision, &at, doc::Decision::CATEGORY, &categories);
        fields.filled(decision, &at, doc::Decision::STATEMENT);
        fields.filled(decision, &at, doc::Decision::RATIONALE);
        // An optional member may be absent, but not null.
        if rule!(
            doc::Decision::DURABILITY.is_in(decision);
            DurabilityMayBeNull => doc::Decision::DURABILITY.given(decision).is_some();
            AnyDurability => false
        ) {
            fields.one_of(decision, &at, doc::Decision::DURABILITY, &["run", "repo"]);
        }
        if doc::Decision::OVERRIDES.is_in(decision) {
            let target = doc::Decision::OVERRIDES.get(decision).unwrap_or_default();
            if !is_decision_id(target) {
                fields.wrong(format!("{at}.overrides"), "must be DEC- and a number");
            } else if rule!(target == id; OverridesItself => false) {
                fields.wrong(format!("{at}.overrides"), "must name another decision");
            }
        }
    }
}

fn objections(result: &Object, fields: &mut Fields<'_>) {
    let statuses = [
        "raised",
        "acknowledged",
        "resolved",
        "escalated",
        "resolved_by_human",
        "resolved_by_director",
    ];
    for (index, item) in fields.items(result, doc::Result::OBJECTIONS).iter().enumerate() {
        let at = format!("objections.{index}");
        let Some(objection) = fields.object(&at, item) else { continue };
        if !doc::Objection::ID.get(objection).is_some_and(is_objection_id) {
            fields.wrong(format!("{at}.id"), "must be OBJ- and a number");
        }
        let severities = ["low", "medium", "high", "blocking"];
        fields.one_of(objection, &at, doc::Objection::SEVERITY, &severities);
        fields.filled(objection, &at, doc::Objection::STATEMENT);
        if doc::Objection::STATUS.is_in(objection) {
            fields.one_of(objection, &at, doc::Objection::STATUS, &statuses);
        }
    }
}

fn proposed_changes(result: &Object, fields: &mut Fields<'_>) {
    if doc::Result::PROPOSED_CHANGES.given(result).is_none() {
        return;
    }
    for (index, item) in fields.items(result, doc::Result::PROPOSED_CHANGES).iter().enumerate() {
        fields.object(&format!("proposed_changes.{index}"), item);
    }
}

/// Refuses texts that are still placeholders of the template.
///
/// Clauses: AX-TR-PLACEHOLDER.
fn placeholders(result: &Object, fields: &mut Fields<'_>) {
    let mut texts: Vec<(String, &str)> = Vec::new();
    for member in [doc::Result::SUMMARY, doc::Result::PROPOSED_NEXT_ROLE] {
        texts.extend(member.get(result).map(|text| (member.into(), text)));
    }
    for (list, members) in [
        (doc::Result::DECISIONS, [doc::Decision::STATEMENT, doc::Decision::RATIONALE]),
        (doc::Result::OBJECTIONS, [doc::Objection::AGAINST_TURN_ID, doc::Objection::STATEMENT]),
    ] {
        for (index, item) in list.get(result).iter().enumerate() {
            for member in members {
                let at = format!("{}.{index}.{}", list.name(), member.name());
                texts.extend(member.get(item).map(|text| (at, text)));
            }
        }
    }
    let files = doc::Result::FILES_CHANGED.items(result).iter().filter_map(Value::as_str);
    texts.extend(files.map(|text| (doc::Result::FILES_CHANGED.into(), text)));
    if let Some(verification) = doc::Result::VERIFICATION.get(result) {
        let commands = doc::Verification::COMMANDS.items(verification).iter();
        let commands = commands.filter_map(Value::as_str);
        texts.extend(commands.map(|text| ("verification.commands".to_owned(), text)));
        let summary = doc::Verification::EVIDENCE_SUMMARY.get(verification);
        texts.extend(summary.map(|text| ("verification.evidence_summary".to_owned(), text)));
        let evidence = doc::Verification::MACHINE_EVIDENCE.get(verification).iter();
        let evidence = evidence.filter_map(|item| doc::Evidence::COMMAND.get(item));
        texts.extend(evidence.map(|text| ("verification.machine_evidence".to_owned(), text)));
    }
    for (at, _) in texts.into_iter().filter(|(_, text)| is_placeholder(text)) {
        fields.wrong(at, "still contains a placeholder");
    }
}
