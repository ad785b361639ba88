//! The rules of retries, budget, policies, approval policy and timeouts.

use std::collections::BTreeSet;

use accord_contract::{Object, Value};

use super::super::{ApprovalAction, OnExceed, PolicyAction, PolicyRule, TimeoutAction};
use super::{Problems, Section, invalid, is_texts, list_items, phase_names};
use crate::members::{self, count, given, list, number, text};
use crate::patterns::is_phase;

pub(super) fn check(document: &Object, found: &mut Problems) {
    for name in ["rules", "budget", "approval_policy", "timeouts"] {
        // The rules below read such a member as absent, so its type is reported here.
        if given(document, name).is_some_and(|value| !value.is_object()) {
            found.push(invalid(name, format!("{name} must be an object")));
        }
    }
    rules(document, found);
    budget(document, found);
    policies(document, found);
    approval(document, found);
    timeouts(document, found);
}

fn rules(document: &Object, found: &mut Problems) {
    let Some(rules) = members::object(document, "rules") else { return };
    let mut rules = Section { at: "rules", members: rules, found };
    rules.flag("challenge_required");
    rules.positive("max_turn_retries");
    rules.positive("max_deadlock_cycles");
}

fn budget(document: &Object, found: &mut Problems) {
    let Some(budget) = members::object(document, "budget") else { return };
    let mut section = Section { at: "budget", members: budget, found };
    for name in ["per_turn_max_usd", "per_run_max_usd"] {
        let is_sound = |usd: &Value| usd.as_f64().is_some_and(|usd| usd > 0.0);
        section.check(name, is_sound, "must be a number above zero");
    }
    // With a greater limit no turn could ever be assigned.
    if let (Some(turn), Some(run)) =
        (number(budget, "per_turn_max_usd"), number(budget, "per_run_max_usd"))
        && turn > run
    {
        section.report("per_turn_max_usd", "must not be above budget.per_run_max_usd");
    }
    section.name::<OnExceed>("on_exceed", "must be pause_and_escalate or warn");
}

fn policies(document: &Object, found: &mut Problems) {
    let mut seen = BTreeSet::new();
    for (index, value) in list_items(document, "policies", found).iter().enumerate() {
        let at = format!("policies.{index}");
        let Some(policy) = value.as_object() else {
            found.push(invalid(&at, format!("{at} must be an object")));
            continue;
        };
        let mut report = |what: String| found.push(invalid(&at, what));
        match text(policy, "id").filter(|id| is_phase(id)) {
            None => report(format!("{at}.id must begin with a-z and go on with a-z, 0-9, _ and -")),
            Some(id) if !seen.insert(id) => report(format!("two policies have the id {id}")),
            Some(_) => {}
        }
        if text(policy, "action").and_then(PolicyAction::parse).is_none() {
            report(format!("{at}.action must be block, warn or escalate"));
        }
        match text(policy, "rule").and_then(PolicyRule::parse) {
            None => report(format!("{at}.rule is not a known rule")),
            Some(rule) => {
                if let Some(problem) = params(rule, members::object(policy, "params")) {
                    report(format!("{at}.params {problem}"));
                }
            }
        }
    }
}

fn params(rule: PolicyRule, params: Option<&Object>) -> Option<&'static str> {
    let empty = Object::new();
    let params = params.unwrap_or(&empty);
    match rule {
        PolicyRule::MaxTurnsPerPhase
        | PolicyRule::MaxTotalTurns
        | PolicyRule::MaxConsecutiveSameRole => count(params, "limit")
            .is_none_or(|limit| limit == 0)
            .then_some("must have a limit, a whole number above zero"),
        PolicyRule::MaxCostPerTurn => number(params, "limit_usd")
            .is_none_or(|limit| limit <= 0.0)
            .then_some("must have a limit_usd above zero"),
        PolicyRule::RequireStatus => {
            let sound =
                !list(params, "allowed").is_empty() && params.get("allowed").is_some_and(is_texts);
            (!sound).then_some("must have the statuses that are allowed")
        }
        PolicyRule::RequireReproducibleVerification => None,
    }
}

fn approval(document: &Object, found: &mut Problems) {
    let Some(policy) = members::object(document, "approval_policy") else { return };
    let known = phase_names(document);
    if let Some(phases) = members::object(policy, "phase_transitions") {
        let at = "approval_policy.phase_transitions";
        if given(phases, "default").is_some_and(|action| !is_action(Some(action))) {
            found.push(invalid(at, format!("{at}.default must be auto_approve or require_human")));
        }
        for (index, rule) in list(phases, "rules").iter().enumerate() {
            approval_rule(&format!("{at}.rules.{index}"), rule, &known, found);
        }
    }
    if let Some(rule) = given(policy, "run_completion") {
        approval_rule("approval_policy.run_completion", rule, &known, found);
    }
}

fn approval_rule(at: &str, value: &Value, phases: &[String], found: &mut Problems) {
    let Some(rule) = value.as_object() else {
        found.push(invalid(at, format!("{at} must be an object")));
        return;
    };
    if !is_action(rule.get("action")) {
        found.push(invalid(at, format!("{at}.action must be auto_approve or require_human")));
    }
    for name in ["from_phase", "to_phase"] {
        if let Some(phase) = given(rule, name)
            && !phases.iter().any(|known| *phase == known.as_str())
        {
            found.push(invalid(at, format!("{at}.{name} is not a phase of the routing")));
        }
    }
    let Some(when) = members::object(rule, "when") else {
        // Read as absent, it would approve without a condition.
        if given(rule, "when").is_some() {
            found.push(invalid(at, format!("{at}.when must be an object")));
        }
        return;
    };
    for name in ["gate_passed", "all_phases_visited"] {
        if given(when, name).is_some_and(|value| !value.is_boolean()) {
            found.push(invalid(at, format!("{at}.when.{name} must be true or false")));
        }
    }
    if given(when, "credentialed_gate").is_some_and(|value| *value != false) {
        let what = "can only be false: a credentialed gate always needs a person";
        found.push(invalid(at, format!("{at}.when.credentialed_gate {what}")));
    }
    if given(when, "roles_participated").is_some_and(|roles| !is_texts(roles)) {
        found.push(invalid(at, format!("{at}.when.roles_participated must be a list of texts")));
    }
}

fn is_action(value: Option<&Value>) -> bool {
    value.and_then(Value::as_str).and_then(ApprovalAction::parse).is_some()
}

fn timeouts(document: &Object, found: &mut Problems) {
    let Some(timeouts) = members::object(document, "timeouts") else { return };
    let mut timeouts = Section { at: "timeouts", members: timeouts, found };
    for name in ["per_turn_minutes", "per_phase_minutes", "per_run_minutes"] {
        timeouts.positive(name);
    }
    timeouts.name::<TimeoutAction>("action", TIMEOUT_ACTIONS);
}

pub(super) fn phase_timeout(route: &mut Section<'_>) {
    route.positive("timeout_minutes");
    route.name::<TimeoutAction>("timeout_action", TIMEOUT_ACTIONS);
}

const TIMEOUT_ACTIONS: &str = "must be escalate, warn or skip_phase";
