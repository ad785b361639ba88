//! Policies: rules of a configuration about results.

use accord_contract::text::counted;
use accord_contract::{Code, Failure, Value};

use crate::config::{Config, Policy, PolicyAction, PolicyRule};
use crate::members::{count, number, texts};
use crate::{RunIndex, TurnResult};

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Violation {
    pub id: String,
    pub action: PolicyAction,
    pub message: String,
}

#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    pub result: &'a TurnResult,
    pub role: &'a str,
    pub phase: &'a str,
    /// The normalized status of the verification.
    pub verification: &'a str,
    pub index: &'a RunIndex,
    /// What the result claims, or what the clients say if that is more.
    pub cost_usd: f64,
}

pub(crate) fn violations(config: &Config, candidate: &Candidate<'_>) -> Vec<Violation> {
    let covers = |names: &[String], name: &str| names.is_empty() || names.iter().any(|n| n == name);
    let concerned = config.policies.iter().filter(|policy| {
        covers(&policy.phases, candidate.phase) && covers(&policy.roles, candidate.role)
    });
    let broken = concerned.filter_map(|policy| {
        let message = broken(policy, candidate)?;
        let message = policy.message.clone().unwrap_or(message);
        Some(Violation { id: policy.id.clone(), action: policy.action, message })
    });
    broken.collect()
}

pub(crate) fn wants_replay(config: &Config) -> bool {
    let rule = PolicyRule::RequireReproducibleVerification;
    config.policies.iter().any(|policy| policy.rule == rule)
}

pub fn refusal(violation: &Violation) -> Failure {
    let code = match violation.action {
        PolicyAction::Escalate => Code::XchainPolicyEscalation,
        PolicyAction::Block | PolicyAction::Warn => Code::XchainPolicyViolation,
    };
    let message = format!("policy {}: {}", violation.id, violation.message);
    Failure::new(code, message).with("policy_id", Value::from(violation.id.as_str()))
}

fn broken(policy: &Policy, candidate: &Candidate<'_>) -> Option<String> {
    let limit = count(&policy.params, "limit").unwrap_or(u64::MAX);
    let index = candidate.index;
    match policy.rule {
        PolicyRule::MaxTurnsPerPhase => {
            // The index does not include the turn under review, so reaching the limit is too much.
            let turns = index.turns_of_phase(candidate.phase);
            (turns >= limit).then(|| {
                let had = counted(turns, "accepted turn");
                format!("the phase {} has had {had} of at most {limit}", candidate.phase)
            })
        }
        PolicyRule::MaxTotalTurns => {
            let turns = index.total_turns();
            let had = counted(turns, "accepted turn");
            (turns >= limit).then(|| format!("the run has had {had} of at most {limit}"))
        }
        PolicyRule::MaxConsecutiveSameRole => {
            let turns = index.streak(candidate.role) + 1;
            (turns > limit).then(|| {
                let turns = counted(turns, "accepted turn");
                format!("{} would have {turns} in a row, of at most {limit}", candidate.role)
            })
        }
        PolicyRule::MaxCostPerTurn => {
            let (cost, limit) = (candidate.cost_usd, number(&policy.params, "limit_usd")?);
            (cost > limit).then(|| format!("the turn cost {cost:.2} dollars of at most {limit:.2}"))
        }
        PolicyRule::RequireStatus => {
            let allowed = texts(&policy.params, "allowed");
            let status = candidate.result.status().as_str();
            (!allowed.iter().any(|name| name == status))
                .then(|| format!("the status {status} is not one of {}", allowed.join(", ")))
        }
        PolicyRule::RequireReproducibleVerification => {
            // An attested pass is allowed: people and remote models have no reproducible evidence.
            let worth = candidate.verification;
            (worth == "not_reproducible").then(|| "the verification cannot be reproduced".into())
        }
    }
}
