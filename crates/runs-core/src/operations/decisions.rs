//! Decisions of a person about a run.

use accord_api::{Decision, Json, Need, local_operation};
use accord_contract::Code;

use super::answers::{
    RunAdoptAnswer, RunAnswer, RunPlanAnswer, RunProposalAnswer, RunProposalDecisionAnswer,
    RunProposalsAnswer,
};
use super::codes::{
    OF_CHANGES, OF_COMMITS, OF_DECISIONS, OF_DOCUMENTS, OF_EVIDENCE, OF_FILES, OF_GIT, OF_HOOKS,
    OF_OPENING, OF_PROPOSALS,
};

local_operation! {
    /// What the approval of a pending gate would do.
    pub struct PlanApproval("run_plan_approval") {
        needs Need::Read;
        answers Json<RunPlanAnswer>;
        refuses [OF_OPENING, OF_FILES, OF_DOCUMENTS, OF_GIT, &[Code::XchainInvalidStateTransition]];
    }

    /// Approves the pending transition to the next phase.
    pub struct ApproveTransition("run_approve_transition") {
        needs Need::Decide(Decision::Approve);
        answers Json<RunAnswer>;
        refuses [
            OF_OPENING, OF_FILES, OF_DOCUMENTS, OF_COMMITS, OF_CHANGES, OF_HOOKS, OF_DECISIONS,
            OF_EVIDENCE, &[Code::XchainGateActionFailed],
        ];
    }

    /// Approves the pending completion of the run.
    pub struct ApproveCompletion("run_approve_completion") {
        needs Need::Decide(Decision::Approve);
        answers Json<RunAnswer>;
        refuses [
            OF_OPENING, OF_FILES, OF_DOCUMENTS, OF_COMMITS, OF_CHANGES, OF_HOOKS, OF_DECISIONS,
            OF_EVIDENCE, &[Code::XchainGateActionFailed],
        ];
    }

    /// Sends the work of a pending gate back.
    pub struct SendBackRun("run_send_back") {
        needs Need::Decide(Decision::Approve);
        answers Json<RunAnswer>;
        refuses [
            OF_OPENING, OF_FILES, OF_DOCUMENTS, OF_COMMITS, OF_CHANGES, OF_DECISIONS, OF_EVIDENCE,
            &[Code::XchainUnknownRole, Code::XchainRoleWithoutRuntime],
        ];
    }

    /// Continues a blocked run.
    pub struct ResolveBlock("run_resolve") {
        needs Need::Decide(Decision::Approve);
        answers Json<RunAnswer>;
        refuses [
            OF_OPENING, OF_FILES, OF_DOCUMENTS, OF_COMMITS, OF_CHANGES, OF_GIT, OF_DECISIONS,
            OF_EVIDENCE,
        ];
    }

    /// What changed while a worker ran, and is not in force.
    pub struct ShowChanges("run_changes") {
        needs Need::Read;
        answers Json<RunAdoptAnswer>;
        refuses [OF_OPENING, OF_FILES];
    }

    /// Puts in force, or forgets, what changed while a worker ran.
    pub struct AdoptChanges("run_adopt") {
        needs Need::Decide(Decision::Approve);
        answers Json<RunAdoptAnswer>;
        refuses [OF_OPENING, OF_FILES, OF_DOCUMENTS, OF_COMMITS, OF_DECISIONS];
    }

    /// The proposals of turns.
    pub struct ListProposals("run_proposals") {
        needs Need::Read;
        answers Json<RunProposalsAnswer>;
        refuses [OF_OPENING, OF_FILES];
    }

    /// One proposal, with its files.
    pub struct ShowProposal("run_proposal") {
        needs Need::Read;
        answers Json<RunProposalAnswer>;
        refuses [OF_OPENING, OF_FILES, OF_PROPOSALS];
    }

    /// Writes the files of a proposal into the working tree.
    pub struct ApplyProposal("run_proposal_apply") {
        needs Need::Decide(Decision::Approve);
        answers Json<RunProposalDecisionAnswer>;
        refuses [
            OF_OPENING, OF_FILES, OF_DOCUMENTS, OF_COMMITS, OF_CHANGES, OF_GIT, OF_PROPOSALS,
            OF_DECISIONS, OF_EVIDENCE,
            &[
                Code::XchainProposalDecided, Code::XchainProposalOutdated,
                Code::XchainProposalChanged,
            ],
            &[Code::XchainReservedPathViolation, Code::XchainNothingToCheckpoint],
        ];
    }

    /// Records that a proposal is not applied.
    pub struct DropProposal("run_proposal_drop") {
        needs Need::Decide(Decision::Approve);
        answers Json<RunProposalDecisionAnswer>;
        refuses [
            OF_OPENING, OF_FILES, OF_DOCUMENTS, OF_COMMITS, OF_CHANGES, OF_PROPOSALS, OF_DECISIONS,
            OF_EVIDENCE, &[Code::XchainProposalDecided],
        ];
    }
}
