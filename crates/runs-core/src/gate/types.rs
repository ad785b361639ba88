//! The types and the statuses of gates, as documents name them.

use accord_contract::wire_enum;

wire_enum! {
    pub enum GateType("GateType", closed) {
        PhaseTransition = "phase_transition",
        RunCompletion = "run_completion",
    }

    pub enum GateStatus("GateStatus", closed) {
        Pending = "pending",
        Passed = "passed",
        /// Its last request failed or was sent back.
        Failed = "failed",
    }
}
