//! Answers about one repository.

use accord_base::decision::DecisionRecord;
use accord_contract::alx::ErrorEnvelope;
use accord_contract::{Object, WireCode, message, wire_enum};

use super::{NextAnswer, RunProposal};

message! {
    /// A repository that became governed.
    pub struct RunInitAnswer("RunInitAnswer", closed) {
        /// The repository.
        required root: String = "root", "path";
        /// Files that were written.
        required written: Vec<String> = "written", "repository-paths";
        /// Files that existed and were not changed.
        required kept: Vec<String> = "kept", "repository-paths";
        /// The git commit with the files.
        optional commit: String = "commit", "git-commit";
        /// The command that commits the files.
        optional commit_command: String = "commit_command", "shell-line";
    }

    /// A run that changed.
    pub struct RunAnswer("RunAnswer", closed) {
        /// Its state.
        required state: Object = "state", "governed-state";
        /// The events, in order.
        required events: Vec<Object> = "events", "governed-events";
        /// The person who decided, if the change is a person's decision.
        optional approved_by: String = "approved_by", "actor-key";
        /// The digest of the evidence of that decision.
        optional evidence_digest: String = "evidence_digest", "evidence-digest";
        /// The next steps, in order.
        required next: Vec<NextAnswer> = "next", "next-steps";
    }

    /// A turn that was assigned.
    pub struct RunTurnAnswer("RunTurnAnswer", closed) {
        /// The turn.
        required turn: Object = "turn", "governed-turn";
        /// The next steps, in order.
        required next: Vec<NextAnswer> = "next", "next-steps";
    }

    /// A turn that was dispatched.
    pub struct RunDispatchAnswer("RunDispatchAnswer", closed) {
        /// The turn.
        required turn: Object = "turn", "governed-turn";
        /// The runtime.
        required runtime_id: String = "runtime_id", "runtime-id";
        /// The type of the runtime.
        required runtime_type: String = "runtime_type", "runtime-type";
        /// The folder of its dispatch bundle.
        required bundle: String = "bundle", "repository-path";
        /// Where its result must be staged.
        required staging: String = "staging", "repository-path";
        /// The manifest of the bundle.
        required manifest: Object = "manifest", "dispatch-manifest";
        /// The next steps, in order.
        required next: Vec<NextAnswer> = "next", "next-steps";
    }

    /// A turn that was accepted.
    pub struct RunAcceptAnswer("RunAcceptAnswer", closed) {
        /// The turn.
        required turn_id: String = "turn_id", "turn-id";
        /// The run's clock at its acceptance, which assignments and acceptances advance.
        required accepted_sequence: u64 = "accepted_sequence", "count";
        /// Its line in the history; corrections of its result are in `normalizations`.
        required history_entry: Object = "history_entry", "governed-history-line";
        /// Warnings, corrections first.
        required warnings: Vec<String> = "warnings", "text";
        /// The failure of a hook after the acceptance.
        optional after_hooks: ErrorEnvelope = "after_hooks", "failure";
        /// The git commit with the changes of the turn.
        optional checkpoint: RunCheckpointAnswer = "checkpoint", "checkpoint";
        /// Why the requested commit was not made.
        optional no_checkpoint: ErrorEnvelope = "no_checkpoint", "failure";
        /// The state of the run.
        required state: Object = "state", "governed-state";
        /// The next steps, in order.
        required next: Vec<NextAnswer> = "next", "next-steps";
    }

    /// A turn that was rejected.
    pub struct RunRejectAnswer("RunRejectAnswer", closed) {
        /// Whether there is another attempt; otherwise the run is blocked.
        required again: bool = "again", "verdict";
        /// The copy of the rejected result.
        required_or_null kept: String = "kept", "repository-path";
        /// The state of the run.
        required state: Object = "state", "governed-state";
        /// The next steps, in order.
        required next: Vec<NextAnswer> = "next", "next-steps";
    }

    /// A result that was staged by hand.
    pub struct RunStageAnswer("RunStageAnswer", closed) {
        /// The turn.
        required turn_id: String = "turn_id", "turn-id";
        /// Its path.
        required path: String = "path", "repository-path";
        /// The result.
        required result: Object = "result", "governed-turn-result";
        /// Why it would be refused.
        optional problem: ErrorEnvelope = "problem", "failure";
        /// The next steps, in order.
        required next: Vec<NextAnswer> = "next", "next-steps";
    }

    /// A git commit with the changes of accepted turns.
    pub struct RunCheckpointAnswer("RunCheckpointAnswer", closed) {
        /// The commit.
        required commit: String = "commit", "git-commit";
        /// The files in it.
        required files: Vec<String> = "files", "repository-paths";
        /// The turns that changed them.
        required turns: Vec<String> = "turns", "turn-ids";
        /// Files of accepted turns that changed since, and are not in the commit.
        optional changed: Vec<String> = "changed", "repository-paths";
    }

    /// The status of a run.
    pub struct RunStatusAnswer("RunStatusAnswer", closed) {
        /// The repository.
        required root: String = "root", "path";
        /// Why the configuration or the state cannot be used.
        optional problem: ErrorEnvelope = "problem", "failure";
        /// The state; null if it cannot be read.
        required_or_null state: Object = "state", "governed-state";
        /// The number of accepted turns of the run.
        required accepted_turns: u64 = "accepted_turns", "count";
        /// The process that holds the lock of the repository.
        optional lock_owner_pid: u64 = "lock_owner_pid", "process-id";
        /// Pending journals, which the next command that writes finishes.
        required journals: Vec<String> = "journals", "repository-paths";
        /// Warnings about the turn that was accepted last.
        required last_warnings: Vec<String> = "last_warnings", "text";
        /// What the clients of running workers printed last.
        optional says: Vec<RunWorkerSays> = "says", "worker-messages";
        /// Files of accepted turns that changed since, and are not committed.
        optional changed: Vec<String> = "changed", "repository-paths";
        /// Why the changes of accepted turns cannot be committed to git.
        optional no_checkpoints: ErrorEnvelope = "no_checkpoints", "failure";
        /// Since when a gate, or a block, waits for a person.
        optional waiting_since: String = "waiting_since", "time:rfc-3339";
        /// The digest of the evidence that the person decides about.
        optional evidence_digest: String = "evidence_digest", "evidence-digest";
        /// What Accord observed about the turns that the person decides about.
        optional facts: RunFacts = "facts", "facts";
        /// The last decision of a person about the run.
        optional last_decision: DecisionRecord = "last_decision", "decision";
        /// The turns whose conflicting files a person can merge.
        optional merges: Vec<RunMerge> = "merges", "merges";
        /// The proposals that wait for a decision, if there are any.
        optional proposals: Vec<RunProposal> = "proposals", "proposals";
        /// Changes that were put back while a worker ran, and about which a person may decide.
        optional kept: Vec<RunKeptChange> = "kept", "kept-changes";
        /// The next steps, in order.
        required next: Vec<NextAnswer> = "next", "next-steps";
    }

    /// A change that was put back while a worker ran.
    pub struct RunKeptChange("RunKeptChange", closed) {
        /// When it was noticed.
        required at: String = "at", "time";
        /// The turns whose workers ran then.
        required turns: Vec<String> = "turns", "turn-ids";
        /// The files, each with what happened to it.
        required files: Vec<String> = "files", "text";
        /// Why it was not taken over.
        required reasons: Vec<String> = "reasons", "text";
        /// The folder with the changed files.
        required folder: String = "folder", "path";
        /// Whether the run went on since, so that changed records cannot be put in force any more.
        required outdated: bool = "outdated", "verdict";
    }

    /// What a person decides about with `accord run adopt`.
    pub struct RunAdoptAnswer("RunAdoptAnswer", closed) {
        /// Whether the decision was carried out.
        required done: bool = "done", "verdict";
        /// Files that differ from the copies; the process that waited for the worker has ended.
        required differing: Vec<String> = "differing", "repository-paths";
        /// A run that the copies have and the repository does not.
        optional lost: String = "lost", "text";
        /// Changes that were put back while a worker ran.
        required kept: Vec<RunKeptChange> = "kept", "kept-changes";
        /// The folder of the copies.
        required folder: String = "folder", "path";
        /// The digest of what the decision is about, for `--expect`.
        optional evidence_digest: String = "evidence_digest", "evidence-digest";
        /// The next steps, in order.
        required next: Vec<NextAnswer> = "next", "next-steps";
    }

    /// A turn whose conflicting files a person can merge.
    pub struct RunMerge("RunMerge", closed) {
        /// The turn.
        required turn_id: String = "turn_id", "turn-id";
        /// The digest of the evidence that the person decides about.
        required evidence_digest: String = "evidence_digest", "evidence-digest";
        /// What Accord observed about the turn.
        optional facts: RunFacts = "facts", "facts";
    }

    /// What an approval would do.
    pub struct RunPlanAnswer("RunPlanAnswer", closed) {
        /// The gate.
        required_or_null gate: String = "gate", "gate-id";
        /// The phase before it.
        optional from: String = "from", "phase";
        /// The turn that requested it.
        optional requested_by_turn: String = "requested_by_turn", "turn-id";
        /// The digest of the evidence that the person decides about.
        optional evidence_digest: String = "evidence_digest", "evidence-digest";
        /// The phase after it; null at the end of the run.
        required_or_null to: String = "to", "phase";
        /// Hooks that run first and can refuse.
        required hooks: Vec<String> = "hooks", "hook-names";
        /// Commands that must succeed.
        required commands: Vec<String> = "commands", "shell-lines";
        /// What Accord observed about the turns that the person decides about.
        optional facts: RunFacts = "facts", "facts";
    }

    /// What Accord observed about the turns that a person decides about.
    pub struct RunFacts("RunFacts", closed) {
        /// The turns.
        required turns: Vec<String> = "turns", "turn-ids";
        /// Files that were seen to change.
        required files: Vec<String> = "files", "repository-paths";
        /// The command that shows the changes.
        optional diff_command: String = "diff_command", "shell-line";
        /// The commits since the first of the turns began, newest first.
        required commits: Vec<String> = "commits", "text";
        /// Files that results declare and that do not exist.
        required missing: Vec<String> = "missing", "repository-paths";
        /// The checks of the turns.
        required checks: Vec<RunCheck> = "checks", "checks";
        /// What the turns cost, and who says so.
        required cost: String = "cost", "text";
        /// The sandboxes that the workers ran in, or why there was none.
        required sandbox: Vec<String> = "sandbox", "text";
        /// Earlier requests of the phase that a person sent back.
        required send_backs: Vec<RunSentBack> = "send_backs", "send-backs";
        /// Warnings about the turns.
        required warnings: Vec<String> = "warnings", "text";
    }

    /// What the client of a running worker printed last.
    pub struct RunWorkerSays("RunWorkerSays", closed) {
        /// The turn.
        required turn_id: String = "turn_id", "turn-id";
        /// Why it does not go on, if its output shows it.
        optional trouble: String = "trouble", "text";
        /// Its last message.
        optional last_message: String = "last_message", "text";
    }

    /// A check of a turn.
    pub struct RunCheck("RunCheck", closed) {
        /// The command.
        required command: String = "command", "shell-line";
        /// Its exit code; absent if it did not end by itself.
        optional exit_code: i64 = "exit_code", "exit-code";
        /// Whether Accord ran it again; otherwise the exit code is what the agent says.
        required run_again: bool = "run_again", "verdict";
    }

    /// A request that a person sent back.
    pub struct RunSentBack("RunSentBack", closed) {
        /// When.
        required at: String = "at", "time";
        /// The person.
        required by: String = "by", "actor-key";
        /// The reason.
        required reason: String = "reason", "text";
    }
}

wire_enum! {
    pub enum Level("FindingLevel", closed) {
        /// It must be fixed before the run can continue.
        Error = "error",
        Warning = "warning",
        Note = "note",
    }
}

message! {
    /// A finding of a check-up.
    pub struct RunFinding("RunFinding", closed) {
        /// Its severity.
        required level: Level = "level", "finding-level";
        /// What it is about.
        required subject: String = "subject", "text";
        /// What was found.
        required message: String = "message", "text";
        /// What to do about it.
        required advice: String = "advice", "text";
        /// The failure that it causes.
        optional code: WireCode = "code", "failure-code";
    }

    /// What a check-up found.
    pub struct RunDoctorAnswer("RunDoctorAnswer", closed) {
        /// Whether there is no error.
        required healthy: bool = "healthy", "verdict";
        /// The findings, most severe first.
        required findings: Vec<RunFinding> = "findings", "findings";
    }
}
