//! The next step, as a command to type.

use accord_contract::message;

message! {
    /// A next step.
    pub struct NextAnswer("RunNextStep", closed) {
        /// The command to type; null if there is none.
        required_or_null command: String = "command", "shell-line";
        /// The reason.
        required why: String = "why", "text";
        /// Whether it replaces the step before it, rather than following it.
        optional instead: bool = "instead", "verdict";
    }
}
