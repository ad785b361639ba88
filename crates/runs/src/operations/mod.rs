//! The operations on a governed repository, one file per operation.

mod accept;
mod adopt;
mod approve;
mod assign;
mod checkpoint;
mod dispatch;
mod doctor;
mod escalate;
mod init;
mod initiative;
mod judge;
mod output;
mod prompt;
mod proposal;
mod records;
mod reissue;
mod reject;
mod run_loop;
mod send_back;
mod stage;
mod staged;
mod start;
mod status;
mod step;
mod worker_status;

use accord_runs_core::{Event, State};

pub use accord_runs_core::loop_limits::DEFAULT_MAX_TURNS;
pub use accord_runs_core::next_step::{NextStep, TurnView};
pub use accord_runs_core::run::{PendingApproval, SendBack};

pub use accept::{Accept, AcceptResult};
pub use adopt::{Adopt, Adoption};
pub use assign::Assigned;
pub use checkpoint::Checkpoint;
pub use dispatch::Dispatched;
pub use doctor::{Finding, Level};
pub(crate) use doctor::{mistyped_findings, stray_findings};
pub use init::{COMMIT_MESSAGE, InitOptions, Initialized, NewAgent, NewRole, init};
pub use initiative::{initiative_command, initiative_of};
pub use output::WorkerOutput;
pub use prompt::Prompt;
pub use proposal::{ApplyTo, ProposalDecided, ProposalFile, ProposalFilter, ProposalView};
pub use records::{Query, RunChoice};
pub use reissue::{Reissue, Reissued};
pub use reject::{Reject, Rejected};
pub use run_loop::{LoopOptions, LoopResult, LoopStop};
pub use stage::{ManualResult, Staged};
pub(crate) use start::STASHED;
pub use start::Start;
pub(crate) use status::has_worker;
pub use status::{Overview, Waiting, WaitingMerge};

pub(crate) use staged::staged;
pub use step::{Step, StepResult};

#[derive(Clone, Debug, PartialEq)]
pub struct RunUpdate {
    pub state: State,
    pub events: Vec<Event>,
}
