//! The operations on a run, one file per operation.
//!
//! An operation takes a state and returns a [`Change`]: the new state with its events and ledger
//! lines, to be written in one commit. A refusal changes nothing, or has the change that records it
//! in [`Refused`].
//!
//! Invariants:
//! - the status changes only as [`crate::state::Status::may_become`] allows;
//! - `run_id` never changes during a run;
//! - only `init` with a restart leaves `completed`.

mod approve;
mod assign;
mod checkpoint;
mod escalate;
mod init;
mod reissue;
mod reject;
mod resolve;
mod send_back;
mod transition;

use accord_contract::{Code, Failure, Object, Time};

pub use approve::{
    ActionRun, ApprovalPlan, PendingApproval, approve_completion, approve_transition, plan_approval,
};
pub(crate) use approve::{complete, enter_phase, pass_gate, set_gate};
pub use assign::{Assignable, BaselineCheck, check_assignment};
pub use checkpoint::checkpoint;
pub(crate) use escalate::payload as block_payload;
pub use escalate::{block, check_stoppable, escalate, stop, stopped_by_hook};
pub use init::{Beginning, check_records, init};
pub use reissue::{Reissuable, Reissued, check_reissue};
pub use reject::{Rejection, reject};
pub use resolve::{check_resolvable, resolve};
pub use send_back::{SendBack, SentBack, send_back, waiting_request};
pub(crate) use transition::set_pending;
pub use transition::{
    TransitionRequest, check_resolution, escalate_role, pause_for_gate, transition,
};

use crate::event::About;
use crate::{Emitter, Event, EventType, Ids, Result, State};

/// The effect of an operation, to be written in one commit.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    pub state: State,
    pub ledger: Vec<Object>,
    pub events: Vec<Event>,
}

/// A refusal, with the change that records it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{failure}")]
pub struct Refused {
    pub failure: Failure,
    /// The change to write in spite of the refusal.
    pub record: Option<Box<Change>>,
}

impl Change {
    pub(crate) fn new(state: State, events: Vec<Event>) -> Self {
        Self { state, ledger: Vec::new(), events }
    }

    /// A change of the state that emits these events. Fails like [`Emitter::new`].
    fn emitting<'a>(
        state: State,
        events: impl IntoIterator<Item = (EventType, About<'a>, Object)>,
        ids: &mut Ids,
        now: Time,
    ) -> Result<Self> {
        let mut emitter = Emitter::new(&state, ids, now)?;
        for (kind, about, payload) in events {
            emitter.emit(kind, &state, about, payload);
        }
        let events = emitter.finish();
        Ok(Self::new(state, events))
    }
}

impl From<Failure> for Refused {
    fn from(failure: Failure) -> Self {
        Self { failure, record: None }
    }
}

pub(crate) fn illegal(state: &State, what: &str) -> Failure {
    let message = format!("a run that is {} cannot {what}", state.status());
    Failure::new(Code::XchainInvalidStateTransition, message)
        .with("status", state.status().as_str())
        .suggesting("`accord run status` shows what is next")
}
