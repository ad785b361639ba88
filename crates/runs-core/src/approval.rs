//! Automatic approval of gates.

use crate::RunIndex;
use crate::config::{ApprovalAction, ApprovalRule, Config, Gate};
use crate::hooks::{HookMode, HookPhase};

/// Whether the policy approves a gate whose own conditions are met, for a phase transition or,
/// without a next phase, for the completion. When a rule matches but its conditions are not met, a
/// person must approve; no other rule is tried. A gate with commands or hooks that can refuse
/// always needs a person, because only an approval by a person runs them.
pub fn passes_without_person(
    config: &Config,
    gate: &Gate,
    from: &str,
    to: Option<&str>,
    index: &RunIndex,
    asking_role: &str,
) -> bool {
    // The protocol never approves a credentialed gate automatically, whatever the policy says.
    let mut hooks = config.hooks(HookPhase::BeforeGate).into_iter();
    let can_refuse = hooks.any(|hook| hook.mode == HookMode::Blocking);
    if gate.credentialed || !gate.actions.is_empty() || can_refuse {
        return false;
    }
    let policy = &config.approval;
    // `gate_passed` needs no check: the policy is consulted only after the gate passed.
    let participated = |role: &String| role == asking_role || index.participated(from, role);
    let visited = |name: &&str| *name == from || index.turns_of_phase(name) > 0;
    let approves = |rule: &ApprovalRule| {
        rule.action == ApprovalAction::AutoApprove
            && rule.when.roles_participated.iter().all(participated)
            && (!rule.when.all_phases_visited || config.phases().iter().all(visited))
    };
    let Some(to) = to else { return policy.completion.as_ref().is_some_and(approves) };
    let matching = policy.rules.iter().find(|rule| {
        let fits = |wanted: &Option<String>, phase| wanted.as_deref().is_none_or(|w| w == phase);
        fits(&rule.from_phase, from) && fits(&rule.to_phase, to)
    });
    matching.map_or(policy.default == Some(ApprovalAction::AutoApprove), approves)
}
