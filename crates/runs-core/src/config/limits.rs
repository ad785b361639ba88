//! Retries, budget, policies, approval policy and timeouts.

use accord_contract::{Object, wire_enum};

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Rules {
    /// Whether a role that only reviews must raise an objection.
    pub challenge_required: bool,
    pub max_turn_retries: u64,
}

impl Default for Rules {
    fn default() -> Self {
        Self { challenge_required: true, max_turn_retries: 2 }
    }
}

wire_enum! {
    pub enum OnExceed("BudgetExceeded", closed) {
        /// The run is blocked.
        PauseAndEscalate = "pause_and_escalate",
        Warn = "warn",
    }
}

/// The budget in dollars.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// The maximum cost of a turn, which is reserved at its assignment.
    pub per_turn_max_usd: Option<f64>,
    pub per_run_max_usd: Option<f64>,
    pub on_exceed: OnExceed,
}

impl Default for Budget {
    fn default() -> Self {
        let on_exceed = OnExceed::PauseAndEscalate;
        Self { per_turn_max_usd: None, per_run_max_usd: None, on_exceed }
    }
}

wire_enum! {
    pub enum PolicyRule("PolicyRule", closed) {
        MaxTurnsPerPhase = "max_turns_per_phase",
        MaxTotalTurns = "max_total_turns",
        MaxConsecutiveSameRole = "max_consecutive_same_role",
        MaxCostPerTurn = "max_cost_per_turn",
        RequireStatus = "require_status",
        RequireReproducibleVerification = "require_reproducible_verification",
    }

    pub enum PolicyAction("PolicyAction", closed) {
        /// The result is refused.
        Block = "block",
        Warn = "warn",
        /// The run is blocked.
        Escalate = "escalate",
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    pub id: String,
    pub rule: PolicyRule,
    pub action: PolicyAction,
    pub params: Object,
    /// The phases that it applies to; all when empty.
    pub phases: Vec<String>,
    /// The roles that it applies to; all when empty.
    pub roles: Vec<String>,
    /// The project's own message for a violation.
    pub message: Option<String>,
}

wire_enum! {
    pub enum ApprovalAction("ApprovalAction", closed) {
        AutoApprove = "auto_approve",
        RequireHuman = "require_human",
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ApprovalPolicy {
    /// For phase transitions that no rule matches.
    pub default: Option<ApprovalAction>,
    /// For phase transitions; the first rule that matches decides.
    pub rules: Vec<ApprovalRule>,
    pub completion: Option<ApprovalRule>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ApprovalRule {
    /// The phase that ends; any when absent.
    pub from_phase: Option<String>,
    /// The phase that begins; any when absent.
    pub to_phase: Option<String>,
    pub action: ApprovalAction,
    /// The conditions of the action. A person approves when they are not met.
    pub when: Conditions,
}

#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Conditions {
    pub gate_passed: bool,
    /// These roles have had an accepted turn in the phase.
    pub roles_participated: Vec<String>,
    /// Every phase has had an accepted turn.
    pub all_phases_visited: bool,
}

wire_enum! {
    pub enum TimeoutAction("TimeoutAction", closed) {
        /// The run is blocked.
        Escalate = "escalate",
        Warn = "warn",
        /// The phase ends as if a turn had requested it.
        SkipPhase = "skip_phase",
    }
}

/// Time limits in minutes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Timeouts {
    pub per_turn: Option<u64>,
    pub per_phase: Option<u64>,
    pub per_run: Option<u64>,
    pub action: TimeoutAction,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { per_turn: None, per_phase: None, per_run: None, action: TimeoutAction::Escalate }
    }
}
