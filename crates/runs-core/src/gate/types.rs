//! The types and the statuses of gates, as documents name them.

use accord_contract::wire_enum;

wire_enum! {
    /// What a gate is about.
    pub enum GateType("GateType", closed) {
        /// The transition to the next phase.
        PhaseTransition = "phase_transition",
        /// The completion of the run.
        RunCompletion = "run_completion",
    }
}

wire_enum! {
    /// The status of a gate in `phase_gate_status`.
    pub enum GateStatus("GateStatus", closed) {
        /// It was not reached yet.
        Pending = "pending",
        /// It was passed.
        Passed = "passed",
        /// Its last request failed or was sent back.
        Failed = "failed",
    }
}
