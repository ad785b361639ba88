//! The corrections of a staged result.

use std::fmt;

use accord_contract::{Object, wire_enum};

use crate::build;

wire_enum! {
    pub enum RewriteCode("RewriteCode", closed) {
        RunIdRewritten = "run_id_rewritten",
        /// `files_modified` became `files_changed`.
        FilesModifiedRenamed = "files_modified_renamed",
        /// An entry of a list of files became its path.
        FileEntryFlattened = "file_entry_flattened",
        /// A missing list became an empty one.
        EmptyListAdded = "empty_list_added",
        RuntimeIdAdded = "runtime_id_added",
        SummaryAdded = "summary_added",
        NextRoleAdded = "next_role_added",
        /// A next role that is not allowed was replaced.
        NextRoleRewritten = "next_role_rewritten",
        StatusSynonym = "status_synonym",
        /// A missing status was inferred from the requests.
        StatusInferred = "status_inferred",
        /// A decision got the run's next free id.
        DecisionIdAssigned = "decision_id_assigned",
        /// A decision's statement was found in another member.
        DecisionStatementFound = "decision_statement_found",
        /// A decision's rationale was found in another member.
        DecisionRationaleFound = "decision_rationale_found",
        /// A decision got the default category.
        DecisionCategoryRewritten = "decision_category_rewritten",
        /// An objection got a free id.
        ObjectionIdAssigned = "objection_id_assigned",
        /// An objection's statement was found in another member.
        ObjectionStatementFound = "objection_statement_found",
        /// A missing verification status was inferred from an exit code.
        VerificationStatusInferred = "verification_status_inferred",
        /// Evidence without a command was moved to the evidence summary.
        EvidenceFolded = "evidence_folded",
        /// The exit code of a passing command was added as the expected one.
        ExpectedExitCodeAdded = "expected_exit_code_added",
        ArtifactTypeInferred = "artifact_type_inferred",
        /// A claimed change without changed files became a review.
        ArtifactBecameReview = "artifact_became_review",
        /// The name of a gate was replaced by the phase after it.
        GateNameResolved = "gate_name_resolved",
        /// A request that skips phases was reduced to the next phase.
        PhaseSkipReduced = "phase_skip_reduced",
    }
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Rewrite {
    pub code: RewriteCode,
    /// The path of the member, joined by dots.
    pub field: String,
    pub message: String,
}

impl Rewrite {
    pub fn document(&self) -> Object {
        build([
            ("code", self.code.as_str().into()),
            ("field", self.field.as_str().into()),
            ("message", self.message.as_str().into()),
        ])
    }
}

impl fmt::Display for Rewrite {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "[normalized] {}: {} ({})", self.field, self.message, self.code)
    }
}
