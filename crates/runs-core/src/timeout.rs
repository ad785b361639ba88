//! Time limits of turns, phases and the run.

use accord_contract::{Time, wire_enum};

use crate::config::{Config, TimeoutAction};
use crate::members::text;
use crate::{State, Turn};

wire_enum! {
    pub enum Scope("TimeoutScope", closed) {
        Turn = "turn",
        Phase = "phase",
        Run = "run",
    }
}

/// An exceeded time limit.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Overrun {
    pub scope: Scope,
    pub limit_minutes: u64,
    pub elapsed_minutes: u64,
    pub action: TimeoutAction,
}

/// The effect when the phase exceeds its limit: that of its routing, or else the general one.
pub(crate) fn phase_action(config: &Config, phase: &str) -> TimeoutAction {
    let own = config.route(phase).and_then(|route| route.timeout_action);
    own.unwrap_or(config.timeouts.action)
}

/// The exceeded limits. `skip_phase` applies only to phases; other limits escalate instead.
pub(crate) fn overruns(
    state: &State,
    config: &Config,
    turn: Option<&Turn>,
    now: Time,
) -> Vec<Overrun> {
    let began = |name: &str| text(state.members(), name).and_then(Time::parse_iso);
    let limits = &config.timeouts;
    let own = config.route(state.phase()).and_then(|route| route.timeout_minutes);
    let per_phase = own.or(limits.per_phase);
    let scopes = [
        (Scope::Turn, limits.per_turn, turn.and_then(Turn::began)),
        (Scope::Phase, per_phase, began("phase_entered_at")),
        (Scope::Run, limits.per_run, began("created_at")),
    ];
    let overrun = |(scope, limit, began): (Scope, Option<u64>, Option<Time>)| {
        let (limit_minutes, began) = (limit?, began?);
        let elapsed_minutes = now.millis_since(began) / 60_000;
        let action = match (scope, limits.action) {
            (Scope::Phase, _) => phase_action(config, state.phase()),
            (_, TimeoutAction::SkipPhase) => TimeoutAction::Escalate,
            (_, action) => action,
        };
        (elapsed_minutes >= limit_minutes).then_some(Overrun {
            scope,
            limit_minutes,
            elapsed_minutes,
            action,
        })
    };
    scopes.into_iter().filter_map(overrun).collect()
}

impl Overrun {
    pub fn detail(&self) -> String {
        format!(
            "the {} has taken {} of at most {} minutes",
            self.scope, self.elapsed_minutes, self.limit_minutes
        )
    }
}
