//! Answers about proposals.

use accord_contract::message;

use super::{NextAnswer, RunCheckpointAnswer, RunFacts};

message! {
    /// A proposal of a turn.
    pub struct RunProposal("RunProposal", closed) {
        /// The turn.
        required turn_id: String = "turn_id", "turn-id";
        /// Its role; null if the record does not name it.
        required_or_null role: String = "role", "role-id";
        /// The files that it changes.
        required files: Vec<String> = "files", "repository-paths";
        /// The decision: `applied` or `dropped`; null while it waits.
        required_or_null decision: String = "decision", "proposal-decision";
    }

    /// A file of a proposal.
    pub struct RunProposalFile("RunProposalFile", closed) {
        /// The path.
        required path: String = "path", "repository-path";
        /// What happens to it: `create`, `modify` or `delete`.
        required action: String = "action", "proposal-action";
        /// Whether it can be applied: `ready`; `done` if the file already is as proposed;
        /// `outdated` if it changed since; `unknown` if the record does not say how it was;
        /// `changed` if the proposed content is not the accepted one; `guarded` or `not_a_file`
        /// if a proposal must not change it.
        required state: String = "state", "proposal-file-state";
        /// The proposed content; null for a deletion.
        required_or_null content: String = "content", "text";
    }

    /// The proposals of a repository.
    pub struct RunProposalsAnswer("RunProposalsAnswer", closed) {
        /// The proposals, by turn.
        required proposals: Vec<RunProposal> = "proposals", "proposals";
    }

    /// A proposal and its files.
    pub struct RunProposalAnswer("RunProposalAnswer", closed) {
        /// The proposal.
        required proposal: RunProposal = "proposal", "proposal";
        /// What the turn did; null if the record does not say so.
        required_or_null summary: String = "summary", "text";
        /// Its files, compared with the working tree.
        required files: Vec<RunProposalFile> = "files", "proposal-files";
        /// The digest of the evidence that the person decides about, while it waits.
        optional evidence_digest: String = "evidence_digest", "evidence-digest";
        /// What Accord observed about the turn.
        optional facts: RunFacts = "facts", "facts";
    }

    /// A proposal that was applied or dropped.
    pub struct RunProposalDecisionAnswer("RunProposalDecisionAnswer", closed) {
        /// The turn.
        required turn_id: String = "turn_id", "turn-id";
        /// The decision: `applied` or `dropped`.
        required decision: String = "decision", "proposal-decision";
        /// The files that changed in the working tree.
        required files: Vec<String> = "files", "repository-paths";
        /// The git commit of these files.
        optional checkpoint: RunCheckpointAnswer = "checkpoint", "checkpoint";
        /// The next steps, in order.
        required next: Vec<NextAnswer> = "next", "next-steps";
    }
}
