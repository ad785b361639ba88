//! Whether a document is a result at all.

use accord_contract::codes::Code;
use accord_contract::wire::{Object, Value};

use super::Problem;
use super::delegations;
use super::fields::Fields;
use crate::ledger::DecisionCategory;
use crate::members::{given, list, text};
use crate::patterns::{is_decision_id, is_name, is_objection_id, is_placeholder};
use crate::rule;
use crate::{RunId, TurnId};

const REQUIRED: [&str; 13] = [
    "schema_version",
    "run_id",
    "turn_id",
    "role",
    "runtime_id",
    "status",
    "summary",
    "decisions",
    "objections",
    "files_changed",
    "verification",
    "artifact",
    "proposed_next_role",
];

/// What is wrong; missing members alone when any is missing.
pub(super) fn check(result: &Value) -> Vec<Problem> {
    let mut found = Vec::new();
    let Some(result) = result.as_object() else {
        let message = "a turn result must be a JSON object";
        return vec![Problem::new(Code::XchainSchemaError, message)];
    };
    for name in REQUIRED {
        if rule!(!result.contains_key(name); MissingUnnamed => false) {
            let message = format!("missing required field: {name}");
            found.push(Problem::new(Code::XchainMissingRequiredField, message).field(name));
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

fn top(result: &Object, fields: &mut Fields<'_>) {
    if text(result, "schema_version") != Some("1.0") {
        fields.wrong("schema_version", "must be \"1.0\"");
    }
    if text(result, "run_id").and_then(RunId::parse).is_none() {
        fields.wrong("run_id", "must be the id of a run");
    }
    let turn_id = text(result, "turn_id").and_then(TurnId::parse);
    if rule!(turn_id.is_none(); AnyTurnId => false) {
        fields.wrong("turn_id", "must be the id of a turn");
    }
    if !text(result, "role").is_some_and(is_name) {
        fields.wrong("role", "must be a-z, 0-9, _ and - alone");
    }
    for name in ["runtime_id", "summary"] {
        fields.filled(result, "", name);
    }
    fields.one_of(
        result,
        "",
        "status",
        &["completed", "blocked", "needs_human", "failed"],
    );
    for item in fields.items(result, "files_changed") {
        if !item.is_string() {
            fields.wrong("files_changed", "must hold paths as texts");
        }
    }
    if let Some(items) = given(result, "artifacts_created")
        && !items
            .as_array()
            .is_some_and(|items| items.iter().all(Value::is_string))
    {
        fields.wrong("artifacts_created", "must be a list of texts");
    }
    match result.get("verification").and_then(Value::as_object) {
        None => fields.wrong("verification", "must be an object"),
        Some(verification) => {
            fields.one_of(
                verification,
                "verification",
                "status",
                &["pass", "fail", "skipped"],
            );
        }
    }
    match result.get("artifact").and_then(Value::as_object) {
        None => fields.wrong("artifact", "must be an object"),
        Some(artifact) => {
            let kinds = ["workspace", "patch", "commit", "review"];
            fields.one_of(artifact, "artifact", "type", &kinds);
        }
    }
    if !text(result, "proposed_next_role").is_some_and(is_name)
        && !text(result, "proposed_next_role").is_some_and(is_placeholder)
    {
        fields.wrong("proposed_next_role", "must be a role or human");
    }
    fields.optional_text(result, "phase_transition_request");
    fields.optional_text(result, "needs_human_reason");
    if given(result, "run_completion_request").is_some_and(|value| !value.is_boolean()) {
        fields.wrong("run_completion_request", "must be true, false or null");
    }
    if let Some(cost) = given(result, "cost") {
        let usd = cost.get("usd").filter(|usd| !usd.is_null());
        let no_amount = |usd: &Value| usd.as_f64().is_none_or(|usd| usd < 0.0);
        if rule!(!cost.is_object() || usd.is_some_and(no_amount); AnyCost => false) {
            fields.wrong("cost", "must be an object whose usd is a number from zero");
        }
    }
}

fn decisions(result: &Object, fields: &mut Fields<'_>) {
    let categories: Vec<&str> = DecisionCategory::ALL
        .iter()
        .map(|name| name.as_str())
        .collect();
    let most = rule!(usize::MAX; FirstDecisionOnly => 1);
    for (index, item) in fields
        .items(result, "decisions")
        .iter()
        .enumerate()
        .take(most)
    {
        let at = format!("decisions.{index}");
        let Some(decision) = fields.object(&at, item) else {
            continue;
        };
        let id = text(decision, "id").unwrap_or_default();
        if !is_decision_id(id) {
            let message = format!("{at}.id {id:?} must be DEC- and a number");
            let problem = Problem::new(Code::XchainInvalidDecisionIdFormat, message);
            fields.found.push(problem.field(format!("{at}.id")));
        }
        fields.one_of(decision, &at, "category", &categories);
        fields.filled(decision, &at, "statement");
        fields.filled(decision, &at, "rationale");
        // What may be left out is not null where it is there.
        if rule!(
            decision.contains_key("durability");
            DurabilityMayBeNull => given(decision, "durability").is_some();
            AnyDurability => false
        ) {
            fields.one_of(decision, &at, "durability", &["run", "repo"]);
        }
        if decision.contains_key("overrides") {
            let target = text(decision, "overrides").unwrap_or_default();
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
    for (index, item) in fields.items(result, "objections").iter().enumerate() {
        let at = format!("objections.{index}");
        let Some(objection) = fields.object(&at, item) else {
            continue;
        };
        if !text(objection, "id").is_some_and(is_objection_id) {
            fields.wrong(format!("{at}.id"), "must be OBJ- and a number");
        }
        fields.one_of(
            objection,
            &at,
            "severity",
            &["low", "medium", "high", "blocking"],
        );
        fields.filled(objection, &at, "statement");
        if objection.contains_key("status") {
            fields.one_of(objection, &at, "status", &statuses);
        }
    }
}

fn proposed_changes(result: &Object, fields: &mut Fields<'_>) {
    if given(result, "proposed_changes").is_none() {
        return;
    }
    for (index, item) in fields.items(result, "proposed_changes").iter().enumerate() {
        fields.object(&format!("proposed_changes.{index}"), item);
    }
}

/// Texts that still hold the place of others.
fn placeholders(result: &Object, fields: &mut Fields<'_>) {
    let mut texts: Vec<(String, &str)> = Vec::new();
    for name in ["summary", "proposed_next_role"] {
        texts.extend(text(result, name).map(|text| (name.to_owned(), text)));
    }
    for (list_name, names) in [
        ("decisions", &["statement", "rationale"]),
        ("objections", &["against_turn_id", "statement"]),
    ] {
        for (index, item) in list(result, list_name).iter().enumerate() {
            for name in names {
                let found = item.get(*name).and_then(Value::as_str);
                texts.extend(found.map(|text| (format!("{list_name}.{index}.{name}"), text)));
            }
        }
    }
    let files = list(result, "files_changed")
        .iter()
        .filter_map(Value::as_str);
    texts.extend(files.map(|text| ("files_changed".to_owned(), text)));
    if let Some(verification) = result.get("verification").and_then(Value::as_object) {
        let commands = list(verification, "commands")
            .iter()
            .filter_map(Value::as_str);
        texts.extend(commands.map(|text| ("verification.commands".to_owned(), text)));
        let summary = text(verification, "evidence_summary");
        texts.extend(summary.map(|text| ("verification.evidence_summary".to_owned(), text)));
        let evidence = list(verification, "machine_evidence").iter();
        let evidence = evidence.filter_map(|item| item.get("command")?.as_str());
        texts.extend(evidence.map(|text| ("verification.machine_evidence".to_owned(), text)));
    }
    for (at, text) in texts {
        if is_placeholder(text) {
            fields.wrong(at, "still holds a placeholder");
        }
    }
}
