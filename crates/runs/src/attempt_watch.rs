//! Watches, while a worker runs, that its turn is still at its attempt, and that nobody stopped
//! the run.
//!
//! A person or another process can reject or reissue a turn whose worker is not a process of this
//! machine. The worker's result is of no use then, and waiting for it neither.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use accord_contract::Code;
use accord_process::Cancel;
use accord_runs_core::TurnId;

use crate::Runs;

const INTERVAL: Duration = Duration::from_secs(1);

impl Runs {
    /// Runs `work`, and sets `over` once the turn is at another attempt, `stopped` once a person
    /// stopped the run.
    pub(crate) fn while_current<T>(
        &self,
        (turn, attempt): (&TurnId, u64),
        (over, stopped): (&Cancel, &Cancel),
        work: impl FnOnce() -> T,
    ) -> T {
        let (sender, receiver) = channel::<()>();
        thread::scope(|scope| {
            scope.spawn(move || {
                // The channel is closed when the work is done, which ends the wait.
                while receiver.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                    if self.is_superseded(turn, attempt) {
                        over.cancel();
                        return;
                    }
                    if self.is_stopped() {
                        stopped.cancel();
                        return;
                    }
                }
            });
            let done = work();
            drop(sender);
            done
        })
    }

    /// Whether a turn is at another attempt. A state that cannot be read says nothing.
    fn is_superseded(&self, turn: &TurnId, attempt: u64) -> bool {
        let Ok(state) = self.state() else { return false };
        let code = state.target_at(turn, attempt).err().map(|failure| failure.code);
        matches!(code, Some(Code::XchainAttemptOver | Code::XchainTurnNotActive))
    }

    /// Whether a person stopped the run. The file may be a worker's own: the records count, which
    /// are compared with the copies under the lock.
    pub(crate) fn is_stopped(&self) -> bool {
        let is_said = self.state().is_ok_and(|state| state.ends_workers());
        is_said && self.begin().is_ok_and(|operation| operation.state.ends_workers())
    }
}
