//! Requests that are nearly right.

use super::{Draft, RewriteCode};
use crate::config::WriteAuthority;
use crate::members::{filled, text};
use crate::result::Situation;

/// A request for a phase that names its gate, or one too far ahead.
pub(super) fn phase(draft: &mut Draft, situation: &Situation<'_>) {
    let Some(request) = filled(&draft.result, "phase_transition_request").map(str::to_owned) else {
        return;
    };
    let (config, current) = (situation.config, situation.state.phase());
    let phases = config.phases();
    let position = |phase: &str| phases.iter().position(|name| *name == phase);
    if position(&request).is_none() && config.gate(&request).is_some() {
        let guards = |phase: &&&str| {
            config
                .route(phase)
                .and_then(|route| route.exit_gate.as_deref())
                == Some(&*request)
        };
        let Some(guarded) = phases.iter().find(guards) else {
            return;
        };
        let why = format!("{request} is the gate behind {guarded}");
        let code = RewriteCode::GateNameResolved;
        match config.next_phase(guarded) {
            Some(next) => draft.set(code, "phase_transition_request", next, &why),
            None => {
                draft
                    .result
                    .insert("phase_transition_request".into(), serde_json::Value::Null);
                draft.set(code, "run_completion_request", true, &why);
            }
        }
        return;
    }
    let (Some(at), Some(wanted)) = (position(current), position(&request)) else {
        return;
    };
    if wanted > at + 1 && situation.authority() != Some(WriteAuthority::ReviewOnly) {
        let next = phases[at + 1];
        let why = format!("{next} comes before {request}");
        draft.set(
            RewriteCode::PhaseSkipReduced,
            "phase_transition_request",
            next,
            &why,
        );
    }
}

/// A role to go next, where none is named or one that may not.
pub(super) fn next_role(draft: &mut Draft, situation: &Situation<'_>) {
    let route = situation.config.route(situation.state.phase());
    let allowed = route.and_then(|route| route.allowed_next_roles.as_deref());
    let own = situation.turn.map_or("", |turn| turn.role());
    let named = filled(&draft.result, "proposed_next_role").map(str::to_owned);
    let fitting = || {
        let allowed = allowed.unwrap_or_default();
        let other = allowed.iter().find(|role| *role != own);
        other
            .or_else(|| allowed.first())
            .map_or("human", String::as_str)
    };
    match named {
        None if !draft.result.contains_key("proposed_next_role") => {
            let why = "the routing says who may go next";
            draft.set(
                RewriteCode::NextRoleAdded,
                "proposed_next_role",
                fitting(),
                why,
            );
        }
        Some(named)
            if named != "human"
                && !crate::patterns::is_placeholder(&named)
                && text(&draft.result, "status") == Some("completed")
                && allowed.is_some_and(|allowed| !allowed.contains(&named)) =>
        {
            let completing = situation.authority() == Some(WriteAuthority::ReviewOnly)
                && crate::members::holds(&draft.result, "run_completion_request");
            let next = if completing { "human" } else { fitting() };
            let why = format!("{named} may not go next in this phase");
            draft.set(
                RewriteCode::NextRoleRewritten,
                "proposed_next_role",
                next,
                &why,
            );
        }
        _ => {}
    }
}
