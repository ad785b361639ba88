//! AgentXchain v7: governed runs and their rules.
//!
//! - [`config`], [`state`]: the rules and the state of a run. Both keep unknown members.
//! - [`run`]: the operations on a run. [`dispatch`], [`manifest`]: the bundle of a worker.
//!   [`lock`]: the lock of a repository.
//! - [`result`]: the result of a worker, normalized and validated in five stages. [`accept`]: the
//!   state machine that accepts or refuses it.
//! - [`gate`], [`approval`], [`policy`], [`budget`], [`timeout`], [`progress`], [`conflict`],
//!   [`delegation`]: the rules of an acceptance.
//! - [`next_step`], [`refused_result`], [`loop_limits`], [`guard`]: what a host does next.
//!   [`liveness`]: when a silent worker counts as dead.
//! - [`person`], [`evidence`]: decisions of a person, what they are about, and who may
//!   not take them.
//! - [`history`], [`ledger`], [`repo_decisions`], [`event`]: the records.
//! - [`hooks`]: programs and endpoints that run at fixed points and can refuse.
//! - [`coordinator`]: several repositories in one initiative.
//! - [`faults`]: seeded faults for the self-test of the conformance kit.
//!
//! This crate does no I/O. A host reads what an operation needs and writes the resulting commit,
//! all under the repository's lock. Where an operation needs more input on the way, it is a state
//! machine that the host polls. Time, random bytes, file contents and observations are arguments.
//!
//! Invariants:
//! - the status of a run changes only along declared transitions, and its id never changes;
//! - a turn is accepted once, and applying a commit twice duplicates no line;
//! - the decisions of one run have different ids;
//! - every emitted event has a declared type and a run;
//! - paths that agents name are resolved inside the repository, in every spelling;
//! - a refusal has a code and changes only what records it.
//!
//! ```
//! use accord_runs_core::RepoPath;
//!
//! let path = RepoPath::parse("./.agentxchain/state.json").expect("a path");
//! assert!(path.is_reserved(), "results cannot claim the records of the run");
//! assert!(RepoPath::parse("../elsewhere").is_err());
//! ```

pub mod accept;
pub mod approval;
pub mod budget;
pub mod config;
pub mod conflict;
pub mod coordinator;
pub mod delegation;
pub mod dispatch;
mod doc;
pub mod event;
pub mod evidence;
pub mod facts;
pub mod faults;
pub mod gate;
mod gate_effects;
pub mod guard;
pub mod history;
pub mod hooks;
mod ids;
pub mod inbox;
pub mod ledger;
pub mod liveness;
pub mod lock;
pub mod loop_limits;
pub mod manifest;
mod members;
mod mistyped_members;
mod names;
pub mod next_step;
pub mod operations;
mod paths;
pub mod patterns;
pub mod person;
pub mod policy;
pub mod progress;
pub mod proposal;
pub mod refused_result;
pub mod repo_decisions;
pub mod result;
pub mod run;
pub mod state;
#[cfg(feature = "testing")]
pub mod testing;
pub mod timeout;
mod unknown_members;
pub mod views;

use accord_contract::{Failure, rule};

pub use accept::{CheckpointReason, Commit, Observation, Write};
pub use config::{Config, Role, Runtime, RuntimeType, WriteAuthority};
pub use event::{Emitter, Event, EventType};
pub use evidence::{EvidenceDigest, Subject};
pub use gate::GateType;
pub use history::RunIndex;
pub use hooks::{HookBatch, HookPhase, HookReport};
pub use ids::{EventId, Ids, MAX_ID_CHARS, RunId, TransactionId, TurnId};
pub use ledger::{LedgerDecision, LedgerType};
pub(crate) use members::array;
pub use members::build;
pub use mistyped_members::{GovernedFile, MistypedMember};
pub use paths::{HOME, PathError, RepoPath, name_files};
pub use person::{Approval, Consent, Person};
pub use result::{Situation, TurnResult};
pub use run::Change;
pub use state::{Baseline, Block, State, Status, Turn, TurnStatus};
pub use unknown_members::{UnknownMember, UnknownMemberKind};

pub type Result<T, E = Failure> = std::result::Result<T, E>;
