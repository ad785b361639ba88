//! Why a run is blocked, and what gets it going again.

use accord_contract::codes::Failure;
use accord_contract::time::Time;
use accord_contract::wire::Object;
use accord_contract::wire_enum;

use super::{State, Status};
use crate::TurnId;
use crate::doc;
use crate::members::build;
use crate::rule;

wire_enum! {
    /// What kind of thing blocked a run.
    pub enum Category("BlockCategory", closed) {
        /// A turn asks for a person.
        NeedsHuman = "needs_human",
        /// A turn failed as often as it may.
        RetriesExhausted = "retries_exhausted",
        /// A person stopped it.
        OperatorEscalation = "operator_escalation",
        /// A hook refused.
        HookBlock = "hook_block",
        /// A policy asks for a person.
        PolicyEscalation = "policy_escalation",
        /// Something took too long.
        Timeout = "timeout",
        /// The budget is spent.
        BudgetExhausted = "budget_exhausted",
        /// Two turns keep changing the same files.
        ConflictLoop = "conflict_loop",
        /// Turns go by and the gate keeps failing in the same way.
        NonProgress = "non_progress",
        /// A turn could not be handed to its worker.
        DispatchError = "dispatch_error",
        /// A gate's command failed.
        GateActionFailed = "gate_action_failed",
    }
}

/// Why a run is blocked.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Block {
    /// What kind of thing it is.
    pub category: Category,
    /// What `blocked_on` says.
    pub blocked_on: String,
    /// Why, for people.
    pub detail: String,
    /// The turn that it is about.
    pub turn: Option<TurnId>,
    /// Whether that turn stays active.
    pub turn_retained: bool,
}

impl Block {
    /// A turn asks for a person.
    pub fn needs_human(reason: Option<&str>, turn: &TurnId) -> Self {
        let reason = reason.map(str::trim).filter(|reason| !reason.is_empty());
        let reason = reason.unwrap_or("unspecified");
        Self::new(Category::NeedsHuman, format!("human:{reason}"), reason).about(turn, false)
    }

    /// A turn failed as often as it may.
    pub fn retries_exhausted(role: &str, turn: &TurnId, detail: &str) -> Self {
        let on = escalation("retries_exhausted", role);
        Self::new(Category::RetriesExhausted, on, detail).about(turn, true)
    }

    /// A person stopped the run.
    pub fn operator(reason: &str) -> Self {
        let on = format!("escalation:operator:{}", crate::patterns::slug(reason));
        Self::new(Category::OperatorEscalation, on, reason)
    }

    /// A role could not go on, for a reason that has a name.
    pub fn escalated(reason: &str, role: &str) -> Self {
        let on = escalation(reason, rule!(role; EscalationOfNobody => ""));
        Self::new(Category::RetriesExhausted, on, reason)
    }

    /// A hook refused.
    pub fn hook(phase: crate::hooks::HookPhase, name: &str, detail: &str) -> Self {
        Self::new(Category::HookBlock, format!("hook:{phase}:{name}"), detail)
    }

    /// A policy asks for a person.
    pub fn policy(id: &str, detail: &str, turn: &TurnId) -> Self {
        let on = format!("policy:{id}");
        Self::new(Category::PolicyEscalation, on, detail).about(turn, true)
    }

    /// Something took too long: `turn`, `phase` or `run`.
    pub fn timeout(scope: &str, detail: &str) -> Self {
        Self::new(Category::Timeout, format!("timeout:{scope}"), detail)
    }

    /// The budget is spent.
    pub fn budget(detail: &str) -> Self {
        Self::new(Category::BudgetExhausted, "budget:exhausted".into(), detail)
    }

    /// Two turns keep changing the same files.
    pub fn conflict_loop(turn: &TurnId, detail: &str) -> Self {
        let on = format!("human:conflict_loop:{turn}");
        Self::new(Category::ConflictLoop, on, detail).about(turn, true)
    }

    /// Turns go by and the gate keeps failing in the same way.
    pub fn non_progress(detail: &str) -> Self {
        Self::new(Category::NonProgress, "non_progress".into(), detail)
    }

    /// A turn could not be handed to its worker.
    pub fn dispatch(detail: &str, turn: &TurnId) -> Self {
        let on = format!("dispatch:{}", crate::patterns::slug(detail));
        Self::new(Category::DispatchError, on, detail).about(turn, true)
    }

    /// A gate's command failed.
    pub fn gate_action(gate: &str, detail: &str) -> Self {
        Self::new(
            Category::GateActionFailed,
            format!("gate_action:{gate}"),
            detail,
        )
    }

    fn new(category: Category, blocked_on: String, detail: &str) -> Self {
        Self {
            category,
            blocked_on,
            detail: detail.to_owned(),
            turn: None,
            turn_retained: false,
        }
    }

    fn about(mut self, turn: &TurnId, retained: bool) -> Self {
        self.turn = Some(turn.clone());
        self.turn_retained = retained;
        self
    }

    /// What a person does next.
    pub fn recovery_action(&self) -> &'static str {
        match self.category {
            Category::RetriesExhausted | Category::ConflictLoop | Category::DispatchError => {
                "commit what you changed yourself, then resolve the block to have the turn tried \
                 again, or reissue it to another role"
            }
            Category::BudgetExhausted => {
                "raise budget.per_run_max_usd in agentxchain.json, then resolve the block"
            }
            Category::GateActionFailed => "fix what the command reports, then approve again",
            Category::PolicyEscalation => {
                "correct the result or the policy, then resolve the block"
            }
            Category::Timeout => {
                "raise the limit in agentxchain.json where more time is needed, then resolve the \
                 block"
            }
            Category::NonProgress => {
                "do what the gate asks for, or have another role do it, then resolve the block"
            }
            _ => "do what is asked for, then resolve the block",
        }
    }

    fn document(&self, now: Time) -> Object {
        let owner = if self.category == Category::OperatorEscalation {
            "operator"
        } else {
            "human"
        };
        let recovery = build([
            doc::Recovery::TYPED_REASON.to(self.category.as_str()),
            doc::Recovery::OWNER.to(owner),
            doc::Recovery::RECOVERY_ACTION.to(self.recovery_action()),
            doc::Recovery::TURN_RETAINED.to(self.turn_retained),
            doc::Recovery::DETAIL.to(self.detail.as_str()),
        ]);
        build([
            doc::Blocked::CATEGORY.to(self.category.as_str()),
            doc::Blocked::RECOVERY.to(recovery),
            doc::Blocked::BLOCKED_AT.to(now),
            doc::Blocked::TURN_ID.to(self.turn.as_ref().map(TurnId::as_str)),
        ])
    }
}

impl State {
    /// Blocks the run.
    pub(crate) fn block(&mut self, block: &Block, now: Time) -> Result<(), Failure> {
        self.set_status(Status::Blocked)?;
        self.set(doc::State::BLOCKED_ON, block.blocked_on.as_str());
        self.set(doc::State::BLOCKED_REASON, block.document(now));
        Ok(())
    }

    /// Lets the run go on.
    pub(crate) fn unblock(&mut self) -> Result<(), Failure> {
        self.set_status(Status::Active)?;
        self.clear(doc::State::BLOCKED_ON);
        self.clear(doc::State::BLOCKED_REASON);
        self.clear(doc::State::ESCALATION);
        Ok(())
    }
}

fn escalation(reason: &str, role: &str) -> String {
    format!("escalation:{}:{role}", reason.replace('_', "-"))
}
