//! AgentXchain v7: the fixtures of governed runs. A setup becomes a folder with the files of a
//! governed repository, where the services behind `accord run` perform the operation.
//!
//! Invariants:
//! - An answer reports what is on disk: lengths are counted, states are compared byte by byte.
//! - A setup that is not understood in full is an error. An unknown operation is not implemented.
//! - An error of the machine is an error of the adapter, never an answer of the runner.

pub mod answer;
mod bundles;
mod context;
mod coordinator;
pub mod expand;
mod hooks;
mod parts;
pub mod queries;
mod records;
mod runs;
pub mod transition;
mod unsynced;
mod workspace;

use accord_contract::fixture::Vocabulary;
use accord_process::Cancel;

pub use workspace::workspaces;

use self::context::CaseContext;
use crate::{Adapter, Answered, BadCall, Call, Reply};

/// Accord's own implementation.
#[derive(Clone, Debug, Default)]
pub struct Accord {
    cancel: Option<Cancel>,
}

impl Accord {
    /// Ends the programs of a fixture when this is cancelled.
    #[must_use]
    pub fn cancelled_by(mut self, cancel: Cancel) -> Self {
        self.cancel = Some(cancel);
        self
    }
}

/// The profile that does not normalize staged results.
const STRICT: &str = "strict";

impl Adapter for Accord {
    fn protocol(&self) -> &'static str {
        "agentxchain"
    }

    fn id_member(&self) -> &'static str {
        "fixture_id"
    }

    fn vocabulary(&self) -> Vocabulary {
        Vocabulary::Published
    }

    fn perform(&self, call: &Call) -> Answered {
        let operation = match call.operation.as_str() {
            "initialize_run" | "assign_turn" | "approve_transition" | "approve_completion"
            | "resolve_blocked" | "transition_state" => runs::perform,
            "validate_config" => queries::validate_config,
            "validate_event" => queries::validate_event,
            "validate_event_ordering" => queries::validate_order,
            "validate_turn_result" => queries::judge,
            "evaluate_phase_exit" => queries::phase_exit,
            "evaluate_run_completion" => queries::completion,
            "append_decision" => records::append,
            "accept_turn" => records::accept,
            "verify_dispatch_manifest" => bundles::verify,
            "inspect_dispatch_manifest" => bundles::inspect,
            "run_hooks" => hooks::perform,
            "validate_coordinator_config" => coordinator::validate,
            "project_repo_acceptance" => coordinator::project,
            // Before the setup is read, which may have parts that are unknown here.
            _ => return Ok(Reply::NotImplemented),
        };
        let strict = match call.profile.as_deref() {
            None => false,
            Some(STRICT) => true,
            Some(other) => return Err(BadCall::new(format!("there is no profile {other:?}"))),
        };
        let mut case = CaseContext::set_up(call, strict, self.cancel.clone())?;
        operation(&mut case).map(Reply::Outcome)
    }
}
