//! The chain of hooks of one phase, which run in order.

use accord_contract::{Code, Failure, Object, Time, Value};

use super::audit::About;
use super::{AuditEntry, Execution, Hook, HookPhase, tamper_code};
use crate::{build, rule};

#[derive(Clone, Debug, PartialEq)]
pub struct HookBatch {
    pub phase: HookPhase,
    /// The hooks, in order; never empty.
    pub hooks: Vec<Hook>,
    pub payload: Object,
    pub run_id: Option<String>,
}

#[derive(Clone, Debug)]
pub struct HookChain {
    batch: HookBatch,
    about: About,
    next: usize,
    stopped: bool,
    tampered: Option<Code>,
    entries: Vec<AuditEntry>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct HookReport {
    pub phase: HookPhase,
    pub ok: bool,
    /// Whether a hook refused. Tampering does not count as a refusal.
    pub blocked: bool,
    pub tampered: Option<Code>,
    pub entries: Vec<AuditEntry>,
}

impl HookBatch {
    pub fn new(
        phase: HookPhase,
        hooks: Vec<Hook>,
        payload: Object,
        run_id: Option<String>,
    ) -> Option<Self> {
        let in_order = rule!(hooks; HooksReversed => hooks.into_iter().rev().collect());
        (!in_order.is_empty()).then_some(Self { phase, hooks: in_order, payload, run_id })
    }
}

impl HookChain {
    pub fn new(batch: HookBatch) -> Self {
        let about = About {
            run_id: batch.run_id.clone().into(),
            turn_id: batch.payload.get("turn_id").cloned().unwrap_or(Value::Null),
        };
        Self { batch, about, next: 0, stopped: false, tampered: None, entries: Vec::new() }
    }

    pub fn next(&self) -> Option<&Hook> {
        self.batch.hooks.get(self.next)
    }

    pub fn batch(&self) -> &HookBatch {
        &self.batch
    }

    /// Takes the result of the hook that [`HookChain::next`] returned. Ignored when the chain has
    /// ended.
    ///
    /// Clauses: AX-HK-SKIP, AX-HK-TAMPER, AX-HK-ORDER.
    pub fn record(&mut self, ran: &Execution, at: Time) {
        let Some(hook) = self.batch.hooks.get(self.next) else { return };
        let entry = AuditEntry::ran(hook, ran, &self.about, at);
        let action = entry.action;
        self.entries.push(entry);
        self.next += 1;
        // Tampering stops the chain at once, and leaves no entries for skipped hooks.
        if !ran.tampered.is_empty() {
            self.tampered = Some(tamper_code(&ran.tampered));
        } else if action.is_block() {
            self.stopped = true;
            let rest = self.batch.hooks[self.next..].iter();
            let most = rule!(usize::MAX; SkippedUnrecorded => 0; OneSkipRecorded => 1);
            let skipped = rest.take(most).map(|hook| AuditEntry::skipped(hook, &self.about, at));
            self.entries.extend(skipped);
        }
        let ends = !ran.tampered.is_empty() || action.is_block();
        if rule!(ends; AdvisoryFailureEnds => ends || action == super::Action::WarnedFailure) {
            self.next = self.batch.hooks.len();
        }
    }

    pub fn entries(&self) -> &[AuditEntry] {
        &self.entries
    }

    /// The report of the chain; `None` while a hook is still to run.
    ///
    /// Clauses: AX-HK-SHAPE.
    pub fn finish(self) -> Option<HookReport> {
        if self.next().is_some() {
            return None;
        }
        Some(HookReport {
            phase: self.batch.phase,
            ok: !self.stopped && self.tampered.is_none(),
            blocked: self.stopped,
            tampered: self.tampered,
            entries: self.entries,
        })
    }
}

impl HookReport {
    pub fn none(phase: HookPhase) -> Self {
        Self { phase, ok: true, blocked: false, tampered: None, entries: Vec::new() }
    }

    pub fn failure(&self) -> Option<Failure> {
        if self.ok {
            return None;
        }
        let stopper = self.stopper_entry();
        let name = stopper.map_or("?", |entry| &entry.hook);
        let reason = stopper.and_then(|entry| entry.message.as_deref());
        let reason = reason.unwrap_or("no reason was given");
        let message = format!("the {} hook {name} stopped the operation: {reason}", self.phase);
        let failure = Failure::new(self.tampered.unwrap_or(Code::XchainHookBlocked), message);
        Some(failure.with("hook_phase", self.phase.as_str()).with("hook_name", name))
    }

    fn stopper_entry(&self) -> Option<&AuditEntry> {
        self.entries.iter().find(|entry| !entry.action.continues())
    }

    pub fn stopper(&self) -> Option<&str> {
        self.stopper_entry().map(|entry| entry.hook.as_str())
    }

    pub fn annotation_lines(&self, turn_id: &str, at: Time) -> Vec<Object> {
        let entries = self.entries.iter().filter(|entry| !entry.annotations.is_empty());
        let line = |entry: &AuditEntry| {
            build([
                ("timestamp", at.to_string().into()),
                ("turn_id", turn_id.into()),
                ("hook_name", entry.hook.as_str().into()),
                ("annotations", entry.annotations.clone().into()),
            ])
        };
        entries.map(line).collect()
    }
}
