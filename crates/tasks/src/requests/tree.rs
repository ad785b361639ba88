//! What is asked of a tree.

use std::collections::BTreeMap;

use accord_contract::wire::{Limits, TextForm};

use super::request;
use crate::manifest::{ApplyMode, LayoutName, ProjectType, ReviewMode};

const NAME: TextForm = TextForm::ANY.chars(1, 256).without_nul();
/// At most a week.
const DURATION: Limits = Limits::whole(1_000, 604_800_000);

request! {
    /// A new tree, or other settings of an existing one.
    pub struct InitRequest("TaskInitRequest") {
        /// The title of the project. Default: its id.
        optional title: String = "title", "text", Limits::text(NAME);
        /// The type of the project. Default: `swe`.
        optional kind: ProjectType = "type", "project-type";
        /// The team that owns the project.
        optional team: String = "team", "team", Limits::text(NAME);
        /// Who leads the project.
        optional lead: String = "lead", "actor-id", Limits::text(NAME);
        /// When a report moves its task. Default: `at-once`.
        optional apply: ApplyMode = "apply", "apply-mode";
        /// Who may end a review. Default: `human`.
        optional review: ReviewMode = "review", "review-mode";
        /// Where run artifacts are. Default: `guide`.
        optional layout: LayoutName = "layout", "run-layout";
        /// How long a lease lasts. Default: ten minutes.
        optional lease_ttl_ms: u64 = "lease_ttl_ms", "duration:ms", DURATION;
        /// How long a heartbeat lasts. Default: five minutes.
        optional heartbeat_ttl_ms: u64 = "heartbeat_ttl_ms", "duration:ms", DURATION;
        /// How many tasks may be in progress.
        optional max_running: u64 = "max_running", "count", Limits::whole(1, 100_000);
        /// How many tasks of each team may be in progress.
        optional team_limits: BTreeMap<String, u64> = "team_limits", "counts";
        /// How often a task is tried before it becomes a dead letter.
        optional max_attempts: u64 = "max_attempts", "count", Limits::whole(1, 1_000);
    }
}

request! {
    /// A check of every file of the tree.
    pub struct LintRequest("TaskLintRequest") {
        /// The most findings of the answer. Default: all of them.
        optional limit: u64 = "limit", "count", Limits::whole(1, 100_000);
    }
}

request! {
    /// Everything that is due.
    pub struct PollRequest("TaskPollRequest") {
        /// The most tasks that the answer says to start.
        optional max_start: u64 = "max_start", "count", Limits::whole(0, 100_000);
    }
}

request! {
    /// The session of an agent ended: recorded results are applied.
    pub struct SessionEndRequest("TaskSessionEndRequest") {
        /// The agent. Default: every agent.
        optional agent: String = "agent", "agent-id", Limits::text(NAME);
        /// The task. Default: every task in progress.
        optional task: String = "task_id", "task-reference", Limits::text(NAME);
    }
}
