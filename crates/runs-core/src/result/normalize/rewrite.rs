//! What was corrected in a staged result.

use std::fmt;

use accord_contract::wire::Object;
use accord_contract::wire_enum;

use crate::members::build;

wire_enum! {
    /// What kind of correction it is.
    pub enum RewriteCode("RewriteCode", closed) {
        /// The run's own id was put in.
        RunIdRewritten = "run_id_rewritten",
        /// `files_modified` became `files_changed`.
        FilesModifiedRenamed = "files_modified_renamed",
        /// An entry of a list of files became its path.
        FileEntryFlattened = "file_entry_flattened",
        /// A missing list became an empty one.
        EmptyListAdded = "empty_list_added",
        /// The turn's own runtime was put in.
        RuntimeIdAdded = "runtime_id_added",
        /// A summary was put together.
        SummaryAdded = "summary_added",
        /// A role to go next was put in.
        NextRoleAdded = "next_role_added",
        /// A role that may go next replaced one that may not.
        NextRoleRewritten = "next_role_rewritten",
        /// A synonym of a status became the status.
        StatusSynonym = "status_synonym",
        /// A missing status was taken from what the result asks for.
        StatusInferred = "status_inferred",
        /// A decision got the run's next free id.
        DecisionIdAssigned = "decision_id_assigned",
        /// A decision's statement was found under another name.
        DecisionStatementFound = "decision_statement_found",
        /// A decision's rationale was found under another name.
        DecisionRationaleFound = "decision_rationale_found",
        /// A decision got the usual category.
        DecisionCategoryRewritten = "decision_category_rewritten",
        /// An objection got a free id.
        ObjectionIdAssigned = "objection_id_assigned",
        /// An objection's statement was found under another name.
        ObjectionStatementFound = "objection_statement_found",
        /// A missing verification status was taken from an exit code.
        VerificationStatusInferred = "verification_status_inferred",
        /// Evidence that is no command moved into the summary of the evidence.
        EvidenceFolded = "evidence_folded",
        /// A passing command's exit code was taken as the expected one.
        ExpectedExitCodeAdded = "expected_exit_code_added",
        /// The kind of work was inferred.
        ArtifactTypeInferred = "artifact_type_inferred",
        /// A claim of work without work became a review.
        ArtifactBecameReview = "artifact_became_review",
        /// The name of a gate became the phase after it.
        GateNameResolved = "gate_name_resolved",
        /// A request that skips phases became one for the next phase.
        PhaseSkipReduced = "phase_skip_reduced",
    }
}

/// One correction.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Rewrite {
    /// What kind it is.
    pub code: RewriteCode,
    /// The member, with dots between the names.
    pub field: String,
    /// What was done, for people.
    pub message: String,
}

impl Rewrite {
    /// The correction as it is recorded with the turn.
    pub fn document(&self) -> Object {
        build([
            ("code", self.code.as_str().into()),
            ("field", self.field.as_str().into()),
            ("message", self.message.as_str().into()),
        ])
    }
}

impl fmt::Display for Rewrite {
    /// The warning that people read.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "[normalized] {}: {} ({})",
            self.field, self.message, self.code
        )
    }
}
