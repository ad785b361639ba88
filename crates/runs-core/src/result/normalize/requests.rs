//! Normalizes requests.

use super::{Draft, RewriteCode};
use crate::{Situation, WriteAuthority, doc, rule};

/// Corrects a phase request that names a gate or skips phases.
pub(super) fn phase(draft: &mut Draft, situation: &Situation<'_>) {
    let request = doc::Result::PHASE_TRANSITION_REQUEST.filled(&draft.result).map(str::to_owned);
    let Some(request) = request else { return };
    let (config, current) = (situation.config, situation.state.phase());
    let phases = config.phases();
    let position = |phase: &str| phases.iter().position(|name| *name == phase);
    if position(&request).is_none() && config.gate(&request).is_some() {
        let gate = |phase: &str| config.route(phase)?.exit_gate.as_deref();
        let guarded = phases.iter().find(|phase| gate(phase) == Some(&*request));
        let Some(guarded) = guarded else { return };
        let why = format!("{request} is the exit gate of {guarded}");
        let code = RewriteCode::GateNameResolved;
        match config.next_phase(guarded) {
            Some(next) => draft.set(code, doc::Result::PHASE_TRANSITION_REQUEST, next, &why),
            None => {
                // The last phase has no next one, so its gate means the end of the run.
                let none = serde_json::Value::Null;
                doc::Result::PHASE_TRANSITION_REQUEST.set(&mut draft.result, none);
                draft.set(code, doc::Result::RUN_COMPLETION_REQUEST, true, &why);
            }
        }
        return;
    }
    let (Some(at), Some(wanted)) = (position(current), position(&request)) else { return };
    // A reviewer's request is left as it is, and the validation refuses it.
    if wanted > at + 1 && situation.authority() != Some(WriteAuthority::ReviewOnly) {
        let next = phases[at + 1];
        let why = format!("{next} comes before {request}");
        draft.set(RewriteCode::PhaseSkipReduced, doc::Result::PHASE_TRANSITION_REQUEST, next, &why);
    }
}

/// Adds or replaces the next role when it is missing or not allowed.
///
/// Clauses: AX-TR-ABSENT.
pub(super) fn next_role(draft: &mut Draft, situation: &Situation<'_>) {
    let route = situation.config.route(situation.state.phase());
    let allowed = route.and_then(|route| route.allowed_next_roles.as_deref());
    let own = situation.turn.map_or("", |turn| turn.role());
    let named = doc::Result::PROPOSED_NEXT_ROLE.filled(&draft.result).map(str::to_owned);
    let fitting = || {
        let allowed = allowed.unwrap_or_default();
        let other = allowed.iter().find(|role| *role != own);
        // Without an allowed role a person decides. The reference runner names `pm` even then.
        other.or_else(|| allowed.first()).map_or("human", String::as_str)
    };
    match named {
        // A blank or mistyped member is left to the validation. Only an absent one is filled in.
        None if rule!(
            doc::Result::PROPOSED_NEXT_ROLE.is_absent(&draft.result);
            NullNextRole => !doc::Result::PROPOSED_NEXT_ROLE.is_in(&draft.result)
        ) =>
        {
            let why = "the routing says who may go next";
            draft.set(RewriteCode::NextRoleAdded, doc::Result::PROPOSED_NEXT_ROLE, fitting(), why);
        }
        // A placeholder stays: the validation must see that the template was not filled in.
        Some(named)
            if named != "human"
                && !crate::patterns::is_placeholder(&named)
                && doc::Result::STATUS.get(&draft.result) == Some("completed")
                && allowed.is_some_and(|allowed| !allowed.contains(&named)) =>
        {
            let completing = situation.authority() == Some(WriteAuthority::ReviewOnly)
                && doc::Result::RUN_COMPLETION_REQUEST.get(&draft.result);
            let next = if completing { "human" } else { fitting() };
            let why = format!("{named} may not go next in this phase");
            draft.set(RewriteCode::NextRoleRewritten, doc::Result::PROPOSED_NEXT_ROLE, next, &why);
        }
        _ => {}
    }
}
