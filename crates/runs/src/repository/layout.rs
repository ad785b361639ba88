//! The paths of a governed repository.

use accord_runs_core::accept::{CommitKind, Record};
use accord_runs_core::repo_decisions::RepoDecisions;
use accord_runs_core::{HOME, RepoPath};

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum RecordFile {
    History,
    Ledger,
    Events,
    RunHistory,
    /// Decisions that outlive their run; rewritten as a whole when one is overridden.
    RepoDecisions,
    HookAudit,
    HookAnnotations,
    CoordinatorHistory,
    CoordinatorLedger,
    BarrierLedger,
    CoordinatorHookAudit,
    CoordinatorHookAnnotations,
}

impl RecordFile {
    pub const ALL: [Self; 12] = [
        Self::History,
        Self::Ledger,
        Self::Events,
        Self::RunHistory,
        Self::RepoDecisions,
        Self::HookAudit,
        Self::HookAnnotations,
        Self::CoordinatorHistory,
        Self::CoordinatorLedger,
        Self::BarrierLedger,
        Self::CoordinatorHookAudit,
        Self::CoordinatorHookAnnotations,
    ];

    pub fn path(self) -> RepoPath {
        let text = match self {
            Self::History => Record::History.path(),
            Self::Ledger => Record::Ledger.path(),
            Self::Events => Record::Events.path(),
            Self::RunHistory => Record::RunHistory.path(),
            Self::CoordinatorHistory => Record::CoordinatorHistory.path(),
            Self::CoordinatorLedger => Record::CoordinatorLedger.path(),
            Self::BarrierLedger => Record::BarrierLedger.path(),
            Self::RepoDecisions => RepoDecisions::path(),
            Self::HookAudit => home("hook-audit.jsonl"),
            Self::HookAnnotations => home("hook-annotations.jsonl"),
            Self::CoordinatorHookAudit => home("multirepo/hook-audit.jsonl"),
            Self::CoordinatorHookAnnotations => home("multirepo/hook-annotations.jsonl"),
        };
        own(&text)
    }
}

pub(crate) const CONFIG: &str = "agentxchain.json";

pub(super) fn state() -> String {
    home("state.json")
}

/// The session: the last checkpoint.
pub(super) fn session() -> String {
    home("session.json")
}

pub(super) fn index() -> String {
    home("transactions/index/run.json")
}

/// The folder of the journals of a kind of commit. Other runners read only that of acceptances,
/// and understand nothing else there.
pub(super) fn journals(kind: CommitKind) -> String {
    home(match kind {
        CommitKind::Accept => "transactions/accept",
        CommitKind::Change | CommitKind::Coordinate => "transactions/accord",
    })
}

pub(super) fn rejected() -> String {
    home("dispatch/rejected")
}

/// A path of the repository's own files, which is always valid.
pub(super) fn own(text: &str) -> RepoPath {
    // Constants, with ids and times at most. Ids contain no separator and are not `..`.
    RepoPath::parse(text).expect("the paths of a repository's own files are valid")
}

fn home(rest: &str) -> String {
    format!("{HOME}/{rest}")
}
