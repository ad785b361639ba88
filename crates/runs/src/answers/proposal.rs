//! The answers about proposals.

use accord_runs_core::EvidenceDigest;
use accord_runs_core::operations::answers::{
    NextAnswer, RunFacts, RunProposal, RunProposalAnswer, RunProposalDecisionAnswer,
    RunProposalFile, RunProposalsAnswer,
};

use super::run::checkpoint_answer;
use crate::operations::{ProposalDecided, ProposalFile, ProposalView};

pub(super) fn proposal_item(view: &ProposalView) -> RunProposal {
    let files = view.proposal.files.iter();
    RunProposal {
        turn_id: view.proposal.turn.to_string(),
        role: view.proposal.role.clone(),
        files: files.map(|file| file.path.clone()).collect(),
        decision: view.decided.map(str::to_owned),
    }
}

/// The answer of a list.
pub fn proposals_answer(proposals: &[ProposalView]) -> RunProposalsAnswer {
    RunProposalsAnswer { proposals: proposals.iter().map(proposal_item).collect() }
}

/// The answer about one proposal.
pub fn proposal_answer(
    view: &ProposalView,
    files: &[ProposalFile],
    evidence: Option<&EvidenceDigest>,
    facts: Option<RunFacts>,
) -> RunProposalAnswer {
    let file = |file: &ProposalFile| RunProposalFile {
        path: file.path.clone(),
        action: file.action.as_str().to_owned(),
        state: file.state.as_str().to_owned(),
        content: file.content.clone(),
    };
    RunProposalAnswer {
        proposal: proposal_item(view),
        summary: view.proposal.summary.clone(),
        files: files.iter().map(file).collect(),
        evidence_digest: evidence.map(ToString::to_string),
        facts,
    }
}

/// The answer after a decision.
pub fn proposal_decision_answer(
    decided: &ProposalDecided,
    decision: &str,
    next: Vec<NextAnswer>,
) -> RunProposalDecisionAnswer {
    RunProposalDecisionAnswer {
        turn_id: decided.turn.to_string(),
        decision: decision.to_owned(),
        files: decided.files.clone(),
        checkpoint: decided.checkpoint.as_ref().map(checkpoint_answer),
        next,
    }
}
