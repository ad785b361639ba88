//! The answer of a step and of a loop.

use accord_contract::alx::ErrorEnvelope;
use accord_contract::{Object, message, wire_enum};

use super::NextAnswer;

wire_enum! {
    /// Why a step or loop stopped.
    pub enum RunStop("RunStop", closed) {
        /// The turn was accepted, and the run continues.
        Accepted = "accepted",
        /// The run is completed.
        Completed = "completed",
        /// The run is blocked: a person is needed.
        Blocked = "blocked",
        /// A gate waits for a person.
        GateHeld = "gate_held",
        /// A person does the turn.
        ByHand = "by_hand",
        /// The limit of turns is reached.
        MaxTurns = "max_turns_reached",
        /// It was cancelled.
        Cancelled = "cancelled",
        /// No run is active.
        NotRunning = "not_running",
    }
}

message! {
    /// The end of a step or loop.
    pub struct RunDriveAnswer("RunDriveAnswer", closed) {
        /// Why it stopped.
        required stop: RunStop = "stop", "run-stop";
        /// The number of turns that this command accepted.
        required accepted: u64 = "accepted", "count";
        /// The turn that it stopped at, if any.
        required_or_null turn_id: String = "turn_id", "turn-id";
        /// Why the run is blocked, if the last result was refused.
        optional failure: ErrorEnvelope = "failure", "failure";
        /// Warnings about accepted turns.
        required warnings: Vec<String> = "warnings", "text";
        /// The state of the run.
        required state: Object = "state", "governed-state";
        /// The next steps, in order.
        required next: Vec<NextAnswer> = "next", "next-steps";
    }
}
