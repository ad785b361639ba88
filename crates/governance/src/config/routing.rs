//! Phases: who begins them, who may follow whom, and what guards their end.

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
}
