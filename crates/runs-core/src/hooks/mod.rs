//! Hooks: programs and HTTP endpoints that run at fixed points and can refuse an operation.
//!
//! [`HookChain`] returns the hook to run next and takes its result. The host runs the hooks,
//! watches the [protected files](PROTECTED_FILES) and restores them.
//!
//! Invariants:
//! - every hook of a chain has exactly one audit entry, except those after a tampering one, which
//!   have none;
//! - an advisory hook stops an operation only by tampering;
//! - a hook with invalid output counts as one that refused.

mod audit;
mod chain;
mod config;
mod payload;
mod tamper;
mod verdict;

use accord_contract::wire_enum;

pub use audit::{Action, AuditEntry};
pub use chain::{HookBatch, HookChain, HookReport};
pub use config::{MAX_HOOKS_PER_PHASE, Transport};
pub(crate) use config::{hooks_of, phase_problems};
pub use payload::{
    after_acceptance, after_dispatch, after_validation, before_acceptance, before_assignment,
    before_gate, before_validation, envelope, environment, on_escalation, working_folder,
};
pub use tamper::{PROTECTED_FILES, Snapshot, is_unchanged, tamper_code};
pub use verdict::{Execution, Verdict, VerdictDocument};

wire_enum! {
    pub enum HookPhase("HookPhase", closed) {
        BeforeAssignment = "before_assignment",
        /// After a turn's bundle was written, before it is finalized.
        AfterDispatch = "after_dispatch",
        BeforeValidation = "before_validation",
        AfterValidation = "after_validation",
        BeforeAcceptance = "before_acceptance",
        AfterAcceptance = "after_acceptance",
        BeforeGate = "before_gate",
        OnEscalation = "on_escalation",
    }

    pub enum HookMode("HookMode", closed) {
        /// It stops the operation.
        Blocking = "blocking",
        /// It is only logged.
        Advisory = "advisory",
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Hook {
    pub phase: HookPhase,
    /// Its name, unique in its phase.
    pub name: String,
    pub transport: Transport,
    pub timeout_ms: u64,
    pub mode: HookMode,
    pub env: Vec<(String, String)>,
}

impl HookPhase {
    /// Whether only advisory hooks are allowed, because the operation is already done.
    pub(crate) fn is_advisory_only(self) -> bool {
        matches!(self, Self::AfterAcceptance | Self::OnEscalation)
    }
}
