//! The operations on governed runs: what they answer, what they need, and with which codes they
//! refuse. `accord run` calls the services in its own process, because a run lives in its
//! repository.
//!
//! `crates/runs` carries them out, with the needs that are declared here. Those of [`joined`] are
//! about the runs of repositories that are joined to a host, which serves them
//! (`crates/runs-door`).

pub mod answers;
mod codes;
mod decisions;
mod initiative;
pub mod joined;
mod repository;
mod turns;

use accord_api::LocalDeclaration;

pub use accord_api::LocalOperation;

pub use decisions::{
    AdoptChanges, ApplyProposal, ApproveCompletion, ApproveTransition, DropProposal, ListProposals,
    PlanApproval, ResolveBlock, SendBackRun, ShowChanges, ShowProposal,
};
pub use initiative::{
    ApproveInitiativeGate, InitInitiative, InitiativeStatus, ResyncInitiative, SendBackInitiative,
    StepInitiative,
};
pub use repository::{
    CheckpointTurns, EscalateRun, InitRepository, RestartRun, RunDecisions, RunDoctor, RunEvents,
    RunHistory, RunStatus, StartRun, StopRun,
};
pub use turns::{
    AcceptMerge, AcceptTurn, AssignTurn, DispatchTurn, LoopAndApprove, LoopRun, ReissueTurn,
    RejectTurn, StageResult, StepRun,
};

/// Every operation.
pub fn operations() -> Vec<LocalDeclaration> {
    vec![
        InitRepository::declared(),
        StartRun::declared(),
        RestartRun::declared(),
        RunStatus::declared(),
        RunDoctor::declared(),
        RunHistory::declared(),
        RunDecisions::declared(),
        RunEvents::declared(),
        CheckpointTurns::declared(),
        EscalateRun::declared(),
        StopRun::declared(),
        AssignTurn::declared(),
        DispatchTurn::declared(),
        StageResult::declared(),
        AcceptTurn::declared(),
        AcceptMerge::declared(),
        RejectTurn::declared(),
        ReissueTurn::declared(),
        StepRun::declared(),
        LoopRun::declared(),
        LoopAndApprove::declared(),
        PlanApproval::declared(),
        ApproveTransition::declared(),
        ApproveCompletion::declared(),
        SendBackRun::declared(),
        ResolveBlock::declared(),
        ShowChanges::declared(),
        AdoptChanges::declared(),
        ListProposals::declared(),
        ShowProposal::declared(),
        ApplyProposal::declared(),
        DropProposal::declared(),
        InitInitiative::declared(),
        InitiativeStatus::declared(),
        StepInitiative::declared(),
        ApproveInitiativeGate::declared(),
        SendBackInitiative::declared(),
        ResyncInitiative::declared(),
    ]
}
