//! AgentXchain v7: the fixtures of governed runs, on real files.
//!
//! A fixture's setup becomes a workspace: a folder with the files that a runner would find. The operation is carried
//! out by the services behind `accord run`, with the lock, the journal and hooks as processes; what
//! is answered is read from the files that are there afterwards. The workspace is then removed.
//!
//! Invariants:
//! - nothing is answered that is not on disk: lengths are counted and states are compared byte by byte;
//! - a setup that is not understood in full is an error, an operation that is not known is not implemented;
//! - trouble of the machine is an error of the adapter, never an answer of the runner.

mod applies;
mod bundles;
mod coordinator;
mod hooks;
mod questions;
mod records;
mod runs;
mod scratch;
mod site;
mod workspace;

use accord_contract::fixture::Vocabulary;
use accord_process::Cancel;

pub use workspace::workspaces;

use self::site::Site;
use crate::{Adapter, BadCall, Call, Reply};

/// Accord's own implementation.
#[derive(Clone, Debug, Default)]
pub struct Accord {
    cancel: Option<Cancel>,
}

impl Accord {
    /// Ends the programs of a fixture as soon as somebody gives this word.
    #[must_use]
    pub fn cancelled_by(mut self, cancel: Cancel) -> Self {
        self.cancel = Some(cancel);
        self
    }
}

/// The profile without corrections of staged results.
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

    fn perform(&self, call: &Call) -> Result<Reply, BadCall> {
        let operation = match call.operation.as_str() {
            "initialize_run" | "assign_turn" | "approve_transition" | "approve_completion"
            | "resolve_blocked" | "transition_state" => runs::perform,
            "validate_config" => questions::validate_config,
            "validate_event" => questions::validate_event,
            "validate_event_ordering" => questions::validate_order,
            "validate_turn_result" => questions::judge,
            "evaluate_phase_exit" => questions::phase_exit,
            "evaluate_run_completion" => questions::completion,
            "append_decision" => records::append,
            "accept_turn" => records::accept,
            "verify_dispatch_manifest" => bundles::verify,
            "inspect_dispatch_manifest" => bundles::inspect,
            "run_hooks" => hooks::perform,
            "validate_coordinator_config" => coordinator::validate,
            "project_repo_acceptance" => coordinator::project,
            _ => return Ok(Reply::NotImplemented),
        };
        let strict = match call.profile.as_deref() {
            None => false,
            Some(STRICT) => true,
            Some(other) => return Err(BadCall::new(format!("there is no profile {other:?}"))),
        };
        let mut site = Site::set_up(call, strict, self.cancel.clone())?;
        operation(&mut site).map(Reply::Outcome)
    }
}
