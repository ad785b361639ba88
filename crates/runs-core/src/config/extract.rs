//! Converts a document to types. Invalid parts are skipped: either [`super::problems`] reported
//! them, or the caller did not ask for validation.

use accord_contract::{Object, Value};

use super::gates::DEFAULT_ACTION_TIMEOUT_MS;
use super::workflow::spelled;
use super::{
    ApprovalAction, ApprovalPolicy, ApprovalRule, Budget, Conditions, Config, Gate, GateAction,
    MAX_CONCURRENT_TURNS, OnExceed, Policy, PolicyAction, PolicyRule, Role, Route, Rules, Runtime,
    RuntimeType, TimeoutAction, Timeouts, WorkflowKit, WriteAuthority,
};
use crate::hooks::hooks_of;
use crate::members::{self, count, entries, list, number, text, texts};
use crate::rule;

impl Config {
    pub(super) fn extract(document: Object, workflow: WorkflowKit) -> Self {
        Self {
            roles: objects(&document, "roles").map(role).collect(),
            runtimes: objects(&document, "runtimes").map(runtime).collect(),
            routing: objects(&document, "routing").map(route).collect(),
            gates: objects(&document, "gates").map(gate).collect(),
            hooks: hooks_of(&document),
            workflow,
            rules: rules(&document),
            budget: budget(&document),
            policies: policies(&document),
            approval: approval(&document),
            timeouts: timeouts(&document),
            document,
        }
    }
}

fn objects<'a>(
    document: &'a Object,
    name: &str,
) -> impl Iterator<Item = (&'a String, &'a Object)> + use<'a> {
    entries(document, name).filter_map(|(id, value)| Some((id, value.as_object()?)))
}

fn role((id, members): (&String, &Object)) -> Role {
    let authority = text(members, "write_authority").and_then(WriteAuthority::parse);
    Role {
        id: id.clone(),
        title: text(members, "title").unwrap_or(id).to_owned(),
        mandate: text(members, "mandate").unwrap_or_default().to_owned(),
        // By default a role has the least authority.
        authority: authority.unwrap_or(WriteAuthority::ReviewOnly),
        runtime: members::filled(members, "runtime").map(str::to_owned),
        decision_authority: count(members, "decision_authority"),
        file_scope: texts(members, "declared_file_scope"),
    }
}

fn runtime((id, members): (&String, &Object)) -> Runtime {
    let kind = text(members, "type").and_then(RuntimeType::parse);
    // The protocol's cases omit the type of manual runtimes.
    Runtime { id: id.clone(), kind: kind.unwrap_or(RuntimeType::Manual), settings: members.clone() }
}

fn route((phase, members): (&String, &Object)) -> Route {
    // A number that does not fit is above every limit. The clamp below then applies.
    let turns = count(members, "max_concurrent_turns")
        .map_or(1, |turns| usize::try_from(turns).unwrap_or(MAX_CONCURRENT_TURNS));
    let roles = members.get("allowed_next_roles").and_then(Value::as_array);
    Route {
        phase: phase.clone(),
        entry_role: text(members, "entry_role").map(str::to_owned),
        allowed_next_roles: roles.map(|_| texts(members, "allowed_next_roles")),
        exit_gate: text(members, "exit_gate").map(str::to_owned),
        max_concurrent_turns: turns.clamp(1, MAX_CONCURRENT_TURNS),
        timeout_minutes: count(members, "timeout_minutes"),
        timeout_action: text(members, "timeout_action").and_then(TimeoutAction::parse),
    }
}

fn gate((id, members): (&String, &Object)) -> Gate {
    let action = |value: &Value| {
        let members = value.as_object()?;
        Some(GateAction {
            run: text(members, "run")?.to_owned(),
            label: text(members, "label").map(str::to_owned),
            timeout_ms: count(members, "timeout_ms").unwrap_or(DEFAULT_ACTION_TIMEOUT_MS),
        })
    };
    Gate {
        id: id.clone(),
        requires_files: texts(members, "requires_files").iter().map(|path| spelled(path)).collect(),
        requires_verification_pass: is_demanded(members, "requires_verification_pass"),
        requires_human_approval: is_demanded(members, "requires_human_approval"),
        credentialed: is_demanded(members, "credentialed"),
        actions: list(members, "gate_actions").iter().filter_map(action).collect(),
    }
}

/// Whether a flag closes a gate. Another type than a boolean does, because a mistake must not open
/// one.
///
/// Clauses: AX-GATE-FLAG.
fn is_demanded(members: &Object, name: &str) -> bool {
    rule!(
        members::given(members, name).is_some_and(|flag| *flag != false);
        FlagAsText => members.get(name) == Some(&Value::Bool(true))
    )
}

fn rules(document: &Object) -> Rules {
    let usual = Rules::default();
    let Some(rules) = members::object(document, "rules") else { return usual };
    Rules {
        // Only an explicit false waives the challenge. An invalid value does not.
        challenge_required: rules.get("challenge_required") != Some(&Value::Bool(false)),
        max_turn_retries: count(rules, "max_turn_retries").unwrap_or(usual.max_turn_retries),
    }
}

fn budget(document: &Object) -> Budget {
    let usual = Budget::default();
    let Some(budget) = members::object(document, "budget") else { return usual };
    Budget {
        per_turn_max_usd: number(budget, "per_turn_max_usd"),
        per_run_max_usd: number(budget, "per_run_max_usd"),
        on_exceed: text(budget, "on_exceed").and_then(OnExceed::parse).unwrap_or(usual.on_exceed),
    }
}

fn policies(document: &Object) -> Vec<Policy> {
    let policy = |value: &Value| {
        let members = value.as_object()?;
        Some(Policy {
            id: text(members, "id")?.to_owned(),
            rule: PolicyRule::parse(text(members, "rule")?)?,
            action: PolicyAction::parse(text(members, "action")?)?,
            params: members::object(members, "params").cloned().unwrap_or_default(),
            phases: scope(members, "phases"),
            roles: scope(members, "roles"),
            message: members::filled(members, "message").map(str::to_owned),
        })
    };
    list(document, "policies").iter().filter_map(policy).collect()
}

fn scope(policy: &Object, name: &str) -> Vec<String> {
    members::object(policy, "scope").map_or_else(Vec::new, |scope| texts(scope, name))
}

fn approval(document: &Object) -> ApprovalPolicy {
    let Some(policy) = members::object(document, "approval_policy") else {
        return ApprovalPolicy::default();
    };
    let phases = members::object(policy, "phase_transitions");
    let rules = phases.map_or(&[][..], |phases| list(phases, "rules"));
    ApprovalPolicy {
        default: phases.and_then(|phases| text(phases, "default")).and_then(ApprovalAction::parse),
        rules: rules.iter().filter_map(|rule| approval_rule(rule.as_object()?)).collect(),
        completion: members::object(policy, "run_completion").and_then(approval_rule),
    }
}

fn approval_rule(members: &Object) -> Option<ApprovalRule> {
    let when =
        members::object(members, "when").map_or_else(Conditions::default, |when| Conditions {
            gate_passed: is_demanded(when, "gate_passed"),
            roles_participated: texts(when, "roles_participated"),
            all_phases_visited: is_demanded(when, "all_phases_visited"),
        });
    Some(ApprovalRule {
        from_phase: text(members, "from_phase").map(str::to_owned),
        to_phase: text(members, "to_phase").map(str::to_owned),
        action: ApprovalAction::parse(text(members, "action")?)?,
        when,
    })
}

fn timeouts(document: &Object) -> Timeouts {
    let Some(timeouts) = members::object(document, "timeouts") else { return Timeouts::default() };
    let action = text(timeouts, "action").and_then(TimeoutAction::parse);
    Timeouts {
        per_turn: count(timeouts, "per_turn_minutes"),
        per_phase: count(timeouts, "per_phase_minutes"),
        per_run: count(timeouts, "per_run_minutes"),
        action: action.unwrap_or(TimeoutAction::Escalate),
    }
}
