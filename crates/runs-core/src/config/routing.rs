//! Phases: entry roles, allowed next roles, exit gates and time limits.

use super::TimeoutAction;

pub(crate) const MAX_CONCURRENT_TURNS: usize = 4;

#[derive(Clone, Debug, PartialEq)]
pub struct Route {
    pub phase: String,
    pub entry_role: Option<String>,
    /// The roles that may follow; any role when `None`.
    pub allowed_next_roles: Option<Vec<String>>,
    pub exit_gate: Option<String>,
    /// The maximum number of active turns, from 1 to 4.
    pub max_concurrent_turns: usize,
    /// Its own time limit in minutes, if any.
    pub timeout_minutes: Option<u64>,
    /// The effect of exceeding its limit, when it differs from the general one.
    pub timeout_action: Option<TimeoutAction>,
}
