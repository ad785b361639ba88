//! Hooks: what others run at fixed points of a run, and what their answers lead to.
//!
//! [`HookChain`] says which hook runs next and takes its result; the host runs them,
//! watches the [protected files](PROTECTED_FILES) and restores them.
//!
//! Invariants:
//! - every hook of a chain has exactly one audit entry, except those after a tampering
//!   one, which have none;
//! - an advisory hook never stops anything but by tampering;
//! - a hook that says nothing sound is treated as one that refused.

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
pub(crate) use config::{config_problems, hooks_of, phase_problems};
pub use payload::{
    after_acceptance, after_dispatch, after_validation, before_acceptance, before_assignment,
    before_gate, before_validation, envelope, environment, on_escalation,
};
pub use tamper::{PROTECTED_FILES, Snapshot, tamper_code};
pub use verdict::{Execution, Verdict, VerdictDocument};

wire_enum! {
    /// When a hook runs.
    pub enum HookPhase("HookPhase", closed) {
        /// Before a turn is assigned.
        BeforeAssignment = "before_assignment",
        /// After a turn's bundle was written, before it is finalised.
        AfterDispatch = "after_dispatch",
        /// Before a staged result is read.
        BeforeValidation = "before_validation",
        /// After a staged result was judged.
        AfterValidation = "after_validation",
        /// Before a sound result becomes part of the history.
        BeforeAcceptance = "before_acceptance",
        /// After it did.
        AfterAcceptance = "after_acceptance",
        /// Before a person's approval takes effect.
        BeforeGate = "before_gate",
        /// After a run was blocked.
        OnEscalation = "on_escalation",
    }
}

wire_enum! {
    /// What a hook's refusal does.
    pub enum HookMode("HookMode", closed) {
        /// It stops what is being done.
        Blocking = "blocking",
        /// It is written down.
        Advisory = "advisory",
    }
}

/// A declared hook.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Hook {
    /// When it runs.
    pub phase: HookPhase,
    /// Its name, once in its phase.
    pub name: String,
    /// How it is run.
    pub transport: Transport,
    /// How long it may take.
    pub timeout_ms: u64,
    /// What its refusal does.
    pub mode: HookMode,
    /// What is added to its environment, in order.
    pub env: Vec<(String, String)>,
}

impl HookPhase {
    /// Whether only advisory hooks make sense there: what they could stop has happened.
    pub fn is_advisory_only(self) -> bool {
        matches!(self, Self::AfterAcceptance | Self::OnEscalation)
    }
}
