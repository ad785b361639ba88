//! Checks of delegations: their form, and the rules of the run.

use std::collections::BTreeSet;

use accord_contract::{Code, Object, Value};

use super::fields::Fields;
use super::{Findings, Problem};
use crate::delegation::{MAX_DELEGATIONS, contract};
use crate::patterns::{is_decision_id, is_delegation_id, is_name};
use crate::{Situation, TurnResult, doc, rule};

/// Checks the form of delegations.
///
/// Clauses: AX-DEL-VALID, AX-DEL-ID, AX-DEL-CONTRACT, AX-DEL-SCOPE, AX-DEL-CHARTER,
/// AX-DEL-TO-ROLE.
pub(super) fn check(result: &Object, fields: &mut Fields<'_>) {
    if doc::Result::DELEGATIONS.given(result).is_none() {
        return;
    }
    let most = rule!(usize::MAX; FirstDelegationOnly => 1);
    let items = fields.items(result, doc::Result::DELEGATIONS);
    for (index, item) in items.iter().enumerate().take(most) {
        let at = format!("delegations.{index}");
        let Some(delegation) = fields.object(&at, item) else { continue };
        if !doc::Delegation::ID.get(delegation).is_some_and(is_delegation_id) {
            fields.wrong(format!("{at}.id"), "must be del- and three digits");
        }
        if !doc::Delegation::TO_ROLE.get(delegation).is_some_and(is_name) {
            fields.wrong(format!("{at}.to_role"), "may contain only a-z, 0-9, _ and -");
        }
        fields.filled(delegation, &at, doc::Delegation::CHARTER);
        // The contract has two names in the protocol; either is accepted.
        let contract = contract(delegation);
        let says = |item: &Value| item.as_str().is_some_and(|text| !text.trim().is_empty());
        if !contract.as_array().is_some_and(|items| !items.is_empty() && items.iter().all(says)) {
            let what = "must be a list of at least one non-blank text";
            fields.wrong(format!("{at}.acceptance_contract"), what);
        }
        if let Some(required) = doc::Delegation::REQUIRED_DECISION_IDS.raw(delegation) {
            decision_ids(&at, required, fields);
        }
    }
}

/// Clauses: AX-DEL-DECISIONS, AX-DEL-DECISIONS-UNIQUE.
fn decision_ids(at: &str, required: &Value, fields: &mut Fields<'_>) {
    let field = format!("{at}.required_decision_ids");
    let Some(items) = required.as_array().filter(|items| !items.is_empty()) else {
        fields.wrong(field, "must be a list of at least one id");
        return;
    };
    let mut seen = BTreeSet::new();
    for item in items {
        let id = item.as_str().unwrap_or_default();
        if !is_decision_id(id) {
            fields.wrong(field.clone(), "must hold ids of decisions");
        } else if rule!(!seen.insert(id); DecisionRequiredTwice => false) {
            fields.wrong(field.clone(), &format!("names {id} twice"));
        }
    }
}

/// Checks delegations against the rules of the run.
///
/// Clauses: AX-DEL-SELF, AX-DEL-LIMIT, AX-DEL-COMPLETION, AX-DEL-ROLE-DECLARED,
/// AX-DEL-ROLE-ALLOWED, AX-DEL-CHILD, AX-DEL-UNIQUE, AX-DEL-REVIEW.
pub(super) fn rules(result: &TurnResult, situation: &Situation<'_>, findings: &mut Findings) {
    let mut wrong = |message: String| {
        let problem = Problem::new(Code::XchainProtocolError, message);
        findings.problem(problem.field(doc::Result::DELEGATIONS));
    };
    let delegations = doc::Result::DELEGATIONS.get(result.document());
    let own = situation.turn.map_or("", |turn| turn.role());
    if !delegations.is_empty() {
        if rule!(delegations.len() > MAX_DELEGATIONS; SixDelegations => false) {
            wrong(format!("a turn may delegate at most {MAX_DELEGATIONS} times"));
        }
        if result.wants_completion() {
            wrong("a turn that delegates cannot ask for the end of the run".into());
        }
        let delegated = situation.turn.is_some_and(|turn| turn.delegation_context().is_some());
        if rule!(delegated; DelegatedOnwards => false) {
            wrong("a turn that carries out a delegation cannot delegate".into());
        }
    }
    let route = situation.config.route(situation.state.phase());
    let allowed = route.and_then(|route| route.allowed_next_roles.as_deref());
    let mut seen = BTreeSet::new();
    for delegation in delegations.iter().filter_map(Value::as_object) {
        let id = doc::Delegation::ID.get(delegation).unwrap_or_default();
        let role = doc::Delegation::TO_ROLE.get(delegation).unwrap_or_default();
        if !seen.insert(id) {
            wrong(format!("two delegations have the id {id}"));
        }
        let undeclared = situation.config.role(role).is_none();
        if rule!(
            role == own;
            DelegatedToItself => false;
            FirstDelegateOnly => role == own && seen.len() == 1
        ) {
            wrong(format!("{id} goes to the role that delegates"));
        } else if rule!(undeclared; DelegatedToUndeclared => false) {
            // `allowed_next_roles` may contain `human`, which cannot take a delegation.
            wrong(format!("{id} goes to the role {role}, which is not declared"));
        } else if allowed.is_some_and(|allowed| !allowed.iter().any(|name| name == role)) {
            wrong(format!("{id} goes to {role}, which may not go next in this phase"));
        }
    }
    let review = situation.turn.and_then(|turn| turn.delegation_review());
    let missing = review.map_or_else(Vec::new, crate::delegation::missing_decisions);
    let asks = result.wants_completion() || result.phase_request().is_some();
    if asks && rule!(!missing.is_empty(); ReviewUndecided => false) {
        let missing = missing.join(", ");
        wrong(format!("the delegations it reviews did not decide {missing}; it cannot go on"));
    }
}
