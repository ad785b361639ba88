//! AgentXchain v7: governed runs, and what is decided about them.
//!
//! * [`config`], [`state`]: who works under which rules, and the state of a run. Both keep
//!   every member that they do not know.
//! * [`run`]: what can be done to a run; [`dispatch`], [`manifest`]: what a worker is given;
//!   [`lock`]: who works on a repository.
//! * [`result`]: what a worker gives back, corrected and judged in five stages;
//!   [`accept`]: the machine that makes it part of the history, or refuses it.
//! * [`gate`], [`approval`], [`policy`], [`budget`], [`timeout`], [`progress`], [`conflict`],
//!   [`delegation`]: the rules that an acceptance asks.
//! * [`next_step`], [`refused_result`], [`loop_limits`], [`guard`]: what a host does next.
//! * [`history`], [`ledger`], [`repo_decisions`], [`event`]: the records.
//! * [`hooks`]: what others run at fixed points, and what their answers lead to.
//! * [`coordinator`]: several repositories, one initiative.
//! * [`faults`]: rules that can be made wrong on purpose, for the conformance kit's self-test.
//!
//! Nothing here touches a repository. A host reads what a decision needs, asks for it, and
//! writes what it says, all under the repository's lock. Where the world is needed in the
//! middle, the core is a machine that is polled.
//!
//! Invariants:
//! - a run's status moves along declared ways alone, and its id never changes;
//! - a turn is accepted once, and a commit that is carried out twice doubles no line;
//! - decisions of one run have different ids;
//! - every event that is emitted has a declared type and a run;
//! - paths that agents name are resolved inside the repository, in every spelling;
//! - a refusal has a code, and changes nothing but what records it.
//!
//! This crate is pure: the time, random bytes, file contents and observations come in as
//! arguments.
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
pub mod faults;
pub mod gate;
mod gate_effects;
pub mod guard;
pub mod history;
pub mod hooks;
mod ids;
pub mod ledger;
pub mod lock;
pub mod loop_limits;
pub mod manifest;
mod members;
mod names;
pub mod next_step;
mod paths;
pub mod patterns;
pub mod policy;
pub mod progress;
pub mod refused_result;
pub mod repo_decisions;
pub mod result;
pub mod run;
pub mod state;
#[cfg(feature = "testing")]
pub mod testing;
pub mod timeout;
mod unknown_members;

pub use ids::{EventId, Ids, MAX_ID_CHARS, RunId, TransactionId, TurnId};
pub use paths::{HOME, PathError, RepoPath};
pub use unknown_members::{UnknownMember, UnknownMemberKind};
