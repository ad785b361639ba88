//! Coordination of several repositories in one initiative: `agentxchain-multi.json` and its
//! records.
//!
//! The coordinator never writes into a repository's own run. It dispatches turns, projects accepted
//! turns into its history, and waits at barriers and gates.
//!
//! Invariants:
//! - an accepted turn is projected once, even when it is offered again;
//! - a satisfied barrier stays satisfied;
//! - a projection names only files inside its own repository.

mod barrier;
mod choice;
mod commit;
mod config;
mod context;
mod dispatching;
mod divergence;
mod gates;
mod history;
pub mod hooks;
mod init;
mod ledger;
mod next_action;
mod projection;
mod resync;
mod send_back;
mod state;
mod validate;
mod vocabulary;

pub use barrier::{Barrier, BarrierStatus, BarrierType, Barriers, Effect};
pub use choice::{Choice, Obstacle, ObstacleReason, choose, dispatched_line, prospects};
pub use commit::{
    CONTEXT_DOCUMENT, CONTEXT_MARKDOWN, CoordinatorChange, barriers_path, context_folder,
    coordinator_home, coordinator_state_path, recover, recovery_report_path,
};
pub use config::{CoordinatorConfig, CoordinatorGate, Repo, Workstream};
pub use context::{TurnContext, turn_context};
pub use dispatching::{DispatchedTurn, Dispatching, begin_dispatch, end_dispatch, forget_dispatch};
pub use divergence::{Divergence, DivergenceKind, diverging};
pub use gates::{
    Blocker, BlockerKind, GateChange, approve_gate, completion_blockers, gate_blockers,
    pending_gate, request_completion, request_phase,
};
pub(crate) use history::LineType;
pub use history::{phase_send_backs, phase_turns};
pub use init::{Initialised, RepoStart, init};
pub use ledger::{CoordinatorDecision, CoordinatorLedger};
pub use next_action::{InitiativeFacts, NextAction, next_actions};
pub use projection::{Initiative, Offer, Projection, project};
pub use resync::{Account, Resync, check_recovery_report, recovery_report, resync};
pub use send_back::{SendBackGate, send_back_gate};
pub use state::{CoordinatorState, CoordinatorStatus, RepoView, RepoViews};
pub use validate::{CoordinatorProblem, problems, refusal};

pub const COORDINATOR_VERSION: &str = "0.1";
