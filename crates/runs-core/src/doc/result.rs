//! The result of a turn.

use super::{Amount, Any, Flag, Int, List, Map, Text, Texts, documents};

documents! {
    /// `turn-result.json`: the result of a turn.
    Result {
        DELEGATIONS: List = "delegations",
        STATUS: Text = "status",
        DECISIONS: List = "decisions",
        SUMMARY: Text = "summary",
        FILES_CHANGED: Texts = "files_changed",
        VERIFICATION: Map = "verification",
        TURN_ID: Text = "turn_id",
        PROPOSED_CHANGES: List = "proposed_changes",
        OBJECTIONS: List = "objections",
        ARTIFACT: Map = "artifact",
        PHASE_TRANSITION_REQUEST: Text = "phase_transition_request",
        RUN_COMPLETION_REQUEST: Flag = "run_completion_request",
        PROPOSED_NEXT_ROLE: Text = "proposed_next_role",
        NEEDS_HUMAN_REASON: Text = "needs_human_reason",
        ARTIFACTS_CREATED: List = "artifacts_created",
        RUN_ID: Text = "run_id",
        MILESTONE_TITLE: Text = "milestone_title",
        FILES_MODIFIED: List = "files_modified",
        RUNTIME_ID: Text = "runtime_id",
        MILESTONE: Any = "milestone",
        SCHEMA_VERSION: Text = "schema_version",
        ROLE: Text = "role",
        COST: Map = "cost",
    }

    /// A decision of a result.
    Decision {
        ID: Text = "id",
        STATEMENT: Text = "statement",
        OVERRIDES: Text = "overrides",
        CATEGORY: Text = "category",
        DURABILITY: Text = "durability",
        RATIONALE: Text = "rationale",
    }

    /// An objection of a result.
    Objection {
        ID: Text = "id",
        SEVERITY: Text = "severity",
        STATEMENT: Text = "statement",
        STATUS: Text = "status",
        AGAINST_DECISION_ID: Text = "against_decision_id",
        AGAINST_TURN_ID: Text = "against_turn_id",
    }

    /// The verification of a result.
    Verification {
        STATUS: Text = "status",
        MACHINE_EVIDENCE: List => [Evidence] = "machine_evidence",
        COMMANDS: Texts = "commands",
        PRODUCED_FILES: List => [ProducedFile] = "produced_files",
        EVIDENCE_SUMMARY: Text = "evidence_summary",
        EXIT_CODE: Int = "exit_code",
    }

    /// A command of a verification.
    Evidence {
        COMMAND: Text = "command",
        EXPECTED_EXIT_CODE: Int = "expected_exit_code",
        EXIT_CODE: Int = "exit_code",
        TYPE: Text = "type",
    }

    /// A file that a verification left.
    ProducedFile {
        DISPOSITION: Text = "disposition",
        PATH: Text = "path",
    }

    /// The kind of work of a result.
    Artifact {
        TYPE: Text = "type",
        REF: Text = "ref",
    }

    /// A change that a result proposes.
    Proposed {
        PATH: Text = "path",
        ACTION: Text = "action",
        CONTENT: Text = "content",
    }

    /// A delegation of a result.
    Delegation {
        REQUIRED_DECISION_IDS: Texts = "required_decision_ids",
        ACCEPTANCE_CONTRACT: Any = "acceptance_contract",
        SCOPE: Any = "scope",
        ID: Text = "id",
        TO_ROLE: Text = "to_role",
        CHARTER: Text = "charter",
    }

    /// The cost of a turn.
    Cost {
        USD: Amount = "usd",
    }
}
