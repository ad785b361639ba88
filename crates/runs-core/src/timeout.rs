//! How long turns, phases and the run have taken.

use accord_contract::time::Time;
use accord_contract::wire_enum;

use crate::config::{Config, TimeoutAction};
use crate::members::text;
use crate::state::{State, Turn};

wire_enum! {
    /// What took too long.
    pub enum Scope("TimeoutScope", closed) {
        /// A turn.
        Turn = "turn",
        /// A phase.
        Phase = "phase",
        /// The run.
        Run = "run",
    }
}

/// Something that took too long.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Overrun {
    /// What.
    pub scope: Scope,
    /// How long it may take, in minutes.
    pub limit_minutes: u64,
    /// How long it took, in minutes.
    pub elapsed_minutes: u64,
    /// What that leads to.
    pub action: TimeoutAction,
}

/// What happens when the phase takes too long: what its routing says, or what holds everywhere.
pub fn phase_action(config: &Config, phase: &str) -> TimeoutAction {
    let own = config.route(phase).and_then(|route| route.timeout_action);
    own.unwrap_or(config.timeouts.action)
}

/// What has taken too long now. Only a phase can be skipped: anything else escalates
/// instead.
pub fn overruns(state: &State, config: &Config, turn: Option<&Turn>, now: Time) -> Vec<Overrun> {
    let began = |name: &str| text(state.members(), name).and_then(Time::parse_iso);
    let limits = &config.timeouts;
    let own = config
        .route(state.phase())
        .and_then(|route| route.timeout_minutes);
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
    /// What happened, for people.
    pub fn detail(&self) -> String {
        format!(
            "the {} has taken {} of at most {} minutes",
            self.scope, self.elapsed_minutes, self.limit_minutes
        )
    }
}
