//! The statuses of a task, and the moves between them.

use accord_contract::wire_enum;

wire_enum! {
    /// The status of a task. It is also the name of the folder that the task is in.
    pub enum Status("TaskStatus", closed) {
        /// It was created and waits for triage or for other tasks.
        Backlog = "backlog",
        /// It can be claimed.
        Ready = "ready",
        /// An agent has its lease and works on it.
        InProgress = "in-progress",
        /// It cannot go on; the reason is recorded.
        Blocked = "blocked",
        /// The work is done and waits for a decision.
        Review = "review",
        /// It is finished.
        Done = "done",
        /// It was given up by a person.
        Cancelled = "cancelled",
        /// It failed too often, or in a way that a retry cannot mend.
        Deadletter = "deadletter",
    }
}

impl Status {
    /// Clauses: AOF-ST-TABLE.
    pub const fn following(self) -> &'static [Self] {
        use Status::{Backlog, Blocked, Cancelled, Deadletter, Done, InProgress, Ready, Review};
        match self {
            Backlog => &[Ready, Blocked, Cancelled],
            Ready => &[InProgress, Blocked, Deadletter, Cancelled],
            InProgress => &[Review, Ready, Blocked, Deadletter, Cancelled],
            Blocked => &[Ready, Deadletter, Cancelled],
            Review => &[Done, InProgress, Blocked, Cancelled],
            Done | Cancelled => &[],
            Deadletter => &[Ready],
        }
    }

    pub fn can_become(self, next: Self) -> bool {
        self.following().contains(&next)
    }

    /// Whether a task with this status never moves again.
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Done | Self::Cancelled)
    }

    /// Whether a task with this status has a lease. Any other move ends the lease.
    pub const fn is_leased(self) -> bool {
        matches!(self, Self::InProgress)
    }

    /// Whether people are notified when a task gets this status.
    /// Clauses: AOF-ST-NOTIFY.
    pub const fn is_notified(self) -> bool {
        matches!(self, Self::Review | Self::Blocked | Self::Done)
    }
}
