//! The records of a repository: history, ledgers, events and journals.

use super::{
    Any, Artifact, Cost, Count, Decision, Delegation, Flag, List, Map, Objection, Review, Text,
    Texts, Timestamp, Verification, Word, documents,
};
use crate::EventType;

documents! {
    /// A line of `history.jsonl`: a turn that ended.
    History {
        DURATION_MS: Count = "duration_ms",
        TURN_ID: Text = "turn_id",
        RUN_ID: Text = "run_id",
        ROLE: Text = "role",
        PHASE: Text = "phase",
        RUNTIME_ID: Text = "runtime_id",
        STATUS: Text = "status",
        SUMMARY: Text = "summary",
        FILES_CHANGED: Texts = "files_changed",
        ASSIGNED_SEQUENCE: Count = "assigned_sequence",
        REISSUE_REASON: Text = "reissue_reason",
        REISSUED_AS: Text = "reissued_as",
        ACCEPTED_AT: Text = "accepted_at",
        DECISIONS: List => [Decision] = "decisions",
        OBJECTIONS: List => [Objection] = "objections",
        STARTED_AT: Text = "started_at",
        NORMALIZATIONS: List = "normalizations",
        WARNINGS: Texts = "warnings",
        WORKER_SANDBOX: Text = "worker_sandbox",
        VERIFICATION_REPLAY: Map = "verification_replay",
        FORWARD_REVISION: Map = "forward_revision",
        CONFLICT_RESOLUTION: Map = "conflict_resolution",
        DELEGATIONS_ISSUED: List => [Delegation] = "delegations_issued",
        ARTIFACTS_CREATED: List = "artifacts_created",
        VERIFICATION: Map => Verification = "verification",
        NORMALIZED_VERIFICATION: Map = "normalized_verification",
        ARTIFACT: Map => Artifact = "artifact",
        INTENT_ID: Any = "intent_id",
        OBSERVED_ARTIFACT: Map => ObservedArtifact = "observed_artifact",
        PROPOSED_NEXT_ROLE: Text = "proposed_next_role",
        PHASE_TRANSITION_REQUEST: Text = "phase_transition_request",
        RUN_COMPLETION_REQUEST: Flag = "run_completion_request",
        ACCEPTED_SEQUENCE: Count = "accepted_sequence",
        CONCURRENT_WITH: Texts = "concurrent_with",
        COST: Map => Cost = "cost",
        OBSERVED_COST: Map = "observed_cost",
        DELEGATION_CONTEXT: Map = "delegation_context",
        DELEGATION_REVIEW: Map => Review = "delegation_review",
        PROPOSAL: Map => ProposalRecord = "proposal",
    }

    /// `session.json`: the work at the last checkpoint, for other runners.
    Session {
        SESSION_ID: Text = "session_id",
        RUN_ID: Text = "run_id",
        STARTED_AT: Timestamp = "started_at",
        LAST_CHECKPOINT_AT: Timestamp = "last_checkpoint_at",
        CHECKPOINT_REASON: Text = "checkpoint_reason",
        RUN_STATUS: Text = "run_status",
        PHASE: Text = "phase",
        LAST_PHASE: Text = "last_phase",
        LAST_TURN_ID: Text = "last_turn_id",
        LAST_COMPLETED_TURN_ID: Text = "last_completed_turn_id",
        ACTIVE_TURN_IDS: Texts = "active_turn_ids",
        LAST_ROLE: Text = "last_role",
        PENDING_GATE: Text = "pending_gate",
        PENDING_RUN_COMPLETION: Any = "pending_run_completion",
        BLOCKED: Flag = "blocked",
        BASELINE_REF: Map => SessionBaseline = "baseline_ref",
        AGENT_CONTEXT: Map => AgentContext = "agent_context",
    }

    /// The work tree of a session.
    SessionBaseline {
        GIT_HEAD: Text = "git_head",
        GIT_BRANCH: Text = "git_branch",
        WORKSPACE_DIRTY: Flag = "workspace_dirty",
    }

    /// How the last turn of a session was dispatched.
    AgentContext {
        ADAPTER: Text = "adapter",
        DISPATCH_DIR: Text = "dispatch_dir",
    }

    /// The files of a proposal: `SOURCE_SNAPSHOT.json`, and `proposal` of a line of the history.
    ProposalRecord {
        CAPTURED_AT: Timestamp = "captured_at",
        TURN_ID: Text = "turn_id",
        ROLE: Text = "role",
        REF: Text = "ref",
        FILES: List => [ProposalFile] = "files",
    }

    /// A file of a proposal, beside the members of [`Proposed`](super::Proposed).
    ProposalFile {
        EXISTED: Flag = "existed",
        SHA256: Text = "sha256",
        CONTENT_SHA256: Text = "content_sha256",
    }

    /// The changes of a turn as version control shows them.
    ObservedArtifact {
        FILE_MARKERS: Map = "file_markers",
        FILES_CHANGED: Texts = "files_changed",
    }

    /// A line of `decision-ledger.jsonl`.
    Ledger {
        ID: Text = "id",
        RUN_ID: Text = "run_id",
        TURN_ID: Text = "turn_id",
        ROLE: Text = "role",
        PHASE: Text = "phase",
        RUNTIME_ID: Text = "runtime_id",
        CATEGORY: Text = "category",
        STATEMENT: Text = "statement",
        RATIONALE: Text = "rationale",
        OBJECTIONS_AGAINST: Texts = "objections_against",
        STATUS: Text = "status",
        OVERRIDDEN_BY: Text = "overridden_by",
        CREATED_AT: Timestamp = "created_at",
        TIMESTAMP: Timestamp = "timestamp",
        DURABILITY: Text = "durability",
        OVERRIDES: Text = "overrides",
        DECISION: Text = "decision",
        TYPE: Text = "type",
    }

    /// A line of `repo-decisions.jsonl`.
    RepoDecision {
        STATUS: Text = "status",
        ID: Text = "id",
        RUN_ID: Text = "run_id",
        ROLE: Text = "role",
        OVERRIDDEN_BY: Text = "overridden_by",
        TURN_ID: Text = "turn_id",
        PHASE: Text = "phase",
        CATEGORY: Text = "category",
        STATEMENT: Text = "statement",
        RATIONALE: Text = "rationale",
        DURABILITY: Text = "durability",
        OVERRIDES: Text = "overrides",
        CREATED_AT: Timestamp = "created_at",
    }

    /// A line of `events.jsonl`.
    Event {
        EVENT_ID: Text = "event_id",
        EVENT_TYPE: Word<EventType> = "event_type",
        TIMESTAMP: Timestamp = "timestamp",
        RUN_ID: Text = "run_id",
        TURN: Map => EventTurn = "turn",
        PHASE: Text = "phase",
        STATUS: Text = "status",
        INTENT_ID: Any = "intent_id",
        PAYLOAD: Map = "payload",
    }

    /// The turn of an event.
    EventTurn {
        TURN_ID: Text = "turn_id",
        ROLE_ID: Text = "role_id",
    }

    /// The journal of a commit.
    Journal {
        KIND: Text = "kind",
        TRANSACTION_ID: Text = "transaction_id",
        STATUS: Text = "status",
        RUN_ID: Text = "run_id",
        PREPARED_AT: Timestamp = "prepared_at",
        STATE_BEFORE: Text = "state_before",
        STATE_AFTER: Text = "state_after",
        ACCORD: Map = "accord",
        SUPER_RUN_ID: Text = "super_run_id",
        TURN_ID: Text = "turn_id",
        ACCEPTED_SEQUENCE: Count = "accepted_sequence",
        HISTORY_ENTRY: Map = "history_entry",
        LEDGER_ENTRIES: List = "ledger_entries",
        NEXT_STATE: Map = "next_state",
    }

    /// The part of a journal that only this runner understands.
    OwnJournal {
        WRITES: List = "writes",
    }

    /// A write of a journal.
    JournalWrite {
        TEXT: Text = "text",
        APPEND: Text = "append",
        LINE: Map = "line",
        SECTION: Text = "section",
        REPLACE: Text = "replace",
        REMOVE: Text = "remove",
    }
}
