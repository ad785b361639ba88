//! Retries, budget, policies, approval policy and timeouts.

use accord_contract::wire::Object;
use accord_contract::wire_enum;

/// Retries and challenges.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Rules {
    /// Whether a role that only reviews must object to something.
    pub challenge_required: bool,
    /// How many attempts a turn has.
    pub max_turn_retries: u64,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            challenge_required: true,
            max_turn_retries: 2,
        }
    }
}

wire_enum! {
    /// What happens when the budget is spent.
    pub enum OnExceed("BudgetExceeded", closed) {
        /// The run stops for a person.
        PauseAndEscalate = "pause_and_escalate",
        /// The run goes on, and says so.
        Warn = "warn",
    }
}

/// What turns and the run may cost, in dollars.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Budget {
    /// The reservation of a turn.
    pub per_turn_max_usd: Option<f64>,
    /// What all turns of a run may cost.
    pub per_run_max_usd: Option<f64>,
    /// What happens past that.
    pub on_exceed: OnExceed,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            per_turn_max_usd: None,
            per_run_max_usd: None,
            on_exceed: OnExceed::PauseAndEscalate,
        }
    }
}

wire_enum! {
    /// What a policy looks at.
    pub enum PolicyRule("PolicyRule", closed) {
        /// How many turns a phase has had.
        MaxTurnsPerPhase = "max_turns_per_phase",
        /// How many turns the run has had.
        MaxTotalTurns = "max_total_turns",
        /// How many turns in a row one role has had.
        MaxConsecutiveSameRole = "max_consecutive_same_role",
        /// What the turn cost.
        MaxCostPerTurn = "max_cost_per_turn",
        /// The status of the result.
        RequireStatus = "require_status",
        /// Whether the evidence can be reproduced.
        RequireReproducibleVerification = "require_reproducible_verification",
    }
}

wire_enum! {
    /// What a broken policy leads to.
    pub enum PolicyAction("PolicyAction", closed) {
        /// The result is refused.
        Block = "block",
        /// The result is accepted with a warning.
        Warn = "warn",
        /// The run stops for a person.
        Escalate = "escalate",
    }
}

/// A rule about results.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Policy {
    /// Its id.
    pub id: String,
    /// What it looks at.
    pub rule: PolicyRule,
    /// What breaking it leads to.
    pub action: PolicyAction,
    /// Its numbers and names.
    pub params: Object,
    /// The phases that it is about; all of them when empty.
    pub phases: Vec<String>,
    /// The roles that it is about; all of them when empty.
    pub roles: Vec<String>,
    /// What is said when it is broken, where the project has words of its own.
    pub message: Option<String>,
}

wire_enum! {
    /// Who approves a gate that wants approval.
    pub enum ApprovalAction("ApprovalAction", closed) {
        /// No person: it passes.
        AutoApprove = "auto_approve",
        /// A person.
        RequireHuman = "require_human",
    }
}

/// Which gates need no person.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ApprovalPolicy {
    /// For phases that no rule matches.
    pub default: Option<ApprovalAction>,
    /// For phases; the first that matches decides.
    pub rules: Vec<ApprovalRule>,
    /// For the end of the run.
    pub completion: Option<ApprovalRule>,
}

/// Who approves under which conditions.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ApprovalRule {
    /// The phase that ends, where the rule is about one.
    pub from_phase: Option<String>,
    /// The phase that begins, where the rule is about one.
    pub to_phase: Option<String>,
    /// Who approves.
    pub action: ApprovalAction,
    /// What must hold for that; else a person approves.
    pub when: Conditions,
}

/// What must hold for an approval without a person.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Conditions {
    /// The gate's own predicates hold.
    pub gate_passed: bool,
    /// Roles that have had an accepted turn in the phase.
    pub roles_participated: Vec<String>,
    /// Every phase has had an accepted turn.
    pub all_phases_visited: bool,
}

wire_enum! {
    /// What happens when something takes too long.
    pub enum TimeoutAction("TimeoutAction", closed) {
        /// The run stops for a person.
        Escalate = "escalate",
        /// The run goes on, and says so.
        Warn = "warn",
        /// The phase ends as if it had been asked to.
        SkipPhase = "skip_phase",
    }
}

/// How long things may take, in minutes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Timeouts {
    /// A turn.
    pub per_turn: Option<u64>,
    /// A phase.
    pub per_phase: Option<u64>,
    /// The run.
    pub per_run: Option<u64>,
    /// What happens past that.
    pub action: TimeoutAction,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            per_turn: None,
            per_phase: None,
            per_run: None,
            action: TimeoutAction::Escalate,
        }
    }
}
