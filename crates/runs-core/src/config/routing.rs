//! Phases: entry roles, allowed next roles, exit gates and time limits.

use super::TimeoutAction;

/// The most turns of one phase that may ever be active at once.
pub const MAX_CONCURRENT_TURNS: usize = 4;

/// How a phase is routed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Route {
    /// The phase.
    pub phase: String,
    /// Who begins it.
    pub entry_role: Option<String>,
    /// Who may follow; `None` when nothing is said, so that everybody may.
    pub allowed_next_roles: Option<Vec<String>>,
    /// The gate that guards its end.
    pub exit_gate: Option<String>,
    /// How many turns may be active at once, from 1 to [`MAX_CONCURRENT_TURNS`].
    pub max_concurrent_turns: usize,
    /// How long it may take, in minutes, where it has a limit of its own.
    pub timeout_minutes: Option<u64>,
    /// What happens past its limit, where that is not what happens elsewhere.
    pub timeout_action: Option<TimeoutAction>,
}
