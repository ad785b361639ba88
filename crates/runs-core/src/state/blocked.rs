//! Why a run is blocked, and how it can be unblocked.

use accord_contract::{Object, Time, wire_enum};

use super::{State, Status};
use crate::{Result, TurnId, build, doc, rule, timeout};

wire_enum! {
    pub enum Category("BlockCategory", closed) {
        NeedsHuman = "needs_human",
        RetriesExhausted = "retries_exhausted",
        /// A person stopped the run.
        OperatorEscalation = "operator_escalation",
        /// A hook refused or tampered.
        HookBlock = "hook_block",
        PolicyEscalation = "policy_escalation",
        Timeout = "timeout",
        BudgetExhausted = "budget_exhausted",
        /// A turn had too many conflicts.
        ConflictLoop = "conflict_loop",
        /// The gate failed in the same way for several turns.
        NonProgress = "non_progress",
        DispatchError = "dispatch_error",
        GateActionFailed = "gate_action_failed",
    }
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Block {
    pub category: Category,
    pub blocked_on: String,
    pub detail: String,
    pub turn: Option<TurnId>,
    pub turn_retained: bool,
}

impl Block {
    pub(crate) fn needs_human(reason: Option<&str>, turn: &TurnId) -> Self {
        let reason = reason.map(str::trim).filter(|reason| !reason.is_empty());
        let reason = reason.unwrap_or("unspecified");
        Self::new(Category::NeedsHuman, format!("human:{reason}"), reason).about(turn)
    }

    pub(crate) fn retries_exhausted(role: &str, turn: &TurnId, detail: &str) -> Self {
        let on = escalation("retries_exhausted", role);
        Self::new(Category::RetriesExhausted, on, detail).keeping(turn)
    }

    pub fn operator(reason: &str) -> Self {
        let on = format!("escalation:operator:{}", crate::patterns::slug(reason));
        Self::new(Category::OperatorEscalation, on, reason)
    }

    /// A role cannot continue. `reason` is one of the protocol's triggers.
    pub(crate) fn escalated(reason: &str, role: &str) -> Self {
        let on = escalation(reason, rule!(role; EscalationWithoutRole => ""));
        Self::new(Category::RetriesExhausted, on, reason)
    }

    pub(crate) fn hook(phase: crate::hooks::HookPhase, name: &str, detail: &str) -> Self {
        Self::new(Category::HookBlock, format!("hook:{phase}:{name}"), detail)
    }

    pub(crate) fn policy(id: &str, detail: &str, turn: &TurnId) -> Self {
        let on = format!("policy:{id}");
        Self::new(Category::PolicyEscalation, on, detail).keeping(turn)
    }

    pub(crate) fn timeout(scope: timeout::Scope, detail: &str) -> Self {
        Self::new(Category::Timeout, format!("timeout:{scope}"), detail)
    }

    pub(crate) fn budget(detail: &str) -> Self {
        Self::new(Category::BudgetExhausted, "budget:exhausted".into(), detail)
    }

    pub(crate) fn conflict_loop(turn: &TurnId, detail: &str) -> Self {
        let on = format!("human:conflict_loop:{turn}");
        Self::new(Category::ConflictLoop, on, detail).keeping(turn)
    }

    pub(crate) fn non_progress(detail: &str) -> Self {
        Self::new(Category::NonProgress, "non_progress".into(), detail)
    }

    pub fn dispatch(detail: &str, turn: &TurnId) -> Self {
        let on = format!("dispatch:{}", crate::patterns::slug(detail));
        Self::new(Category::DispatchError, on, detail).keeping(turn)
    }

    pub(crate) fn gate_action(gate: &str, detail: &str) -> Self {
        Self::new(Category::GateActionFailed, format!("gate_action:{gate}"), detail)
    }

    fn new(category: Category, blocked_on: String, detail: &str) -> Self {
        Self { category, blocked_on, detail: detail.to_owned(), turn: None, turn_retained: false }
    }

    /// A block by a turn that has ended.
    fn about(mut self, turn: &TurnId) -> Self {
        self.turn = Some(turn.clone());
        self
    }

    /// A block by a turn that stays active.
    fn keeping(self, turn: &TurnId) -> Self {
        Self { turn_retained: true, ..self.about(turn) }
    }

    /// The command that a person runs next.
    pub fn recovery_action(&self) -> &'static str {
        match self.category {
            Category::RetriesExhausted | Category::ConflictLoop | Category::DispatchError => {
                "commit what you changed yourself, then resolve the block to have the turn tried \
                 again, or reissue it to another role: accord run reissue --role ROLE --reason '…'"
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
        let is_operator = self.category == Category::OperatorEscalation;
        let owner = if is_operator { "operator" } else { "human" };
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
    pub(crate) fn block(&mut self, block: &Block, now: Time) -> Result<()> {
        self.set_status(Status::Blocked)?;
        self.set(doc::State::BLOCKED_ON, block.blocked_on.as_str());
        self.set(doc::State::BLOCKED_REASON, block.document(now));
        Ok(())
    }

    /// Whether a person stopped the run, so that no worker of its turns goes on.
    pub fn ends_workers(&self) -> bool {
        let raised = doc::State::ESCALATION.get(self.members());
        self.status() == Status::Blocked
            && raised.is_some_and(|raised| doc::Escalation::ENDS_WORKERS.get(raised))
    }

    pub(crate) fn unblock(&mut self) -> Result<()> {
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
