//! Steps after the commit of an acceptance or a refusal.

use super::{Accepted, Conclusion, Context, Next, Step, Want};
use crate::{HookPhase, HookReport, Status, hooks, run};

impl Accepted {
    /// The commit is on disk.
    pub(super) fn committed(self: Box<Self>, context: &Context) -> Next {
        // The turn's own line is the last one now.
        let index = context.inputs.index.length().saturating_sub(1);
        let entry = &self.history_entry;
        let payload = hooks::after_acceptance(&context.turn, &self.state, entry, index);
        match context.hooks(HookPhase::AfterAcceptance, payload) {
            Some(batch) => (Step::AfterAcceptance(self), Want::Hooks(batch)),
            None => Conclusion::Accepted(self).escalate(context),
        }
    }

    /// Nothing takes an acceptance back. A hook that tampered blocks the run, unless the run has
    /// stopped already.
    pub(super) fn after_hooks(
        mut self: Box<Self>,
        context: &mut Context,
        ran: &HookReport,
    ) -> Next {
        self.after_hooks = ran.failure();
        let before = self.state.clone();
        // A blocked run keeps its first reason, and a completed one cannot be blocked.
        let is_running = matches!(before.status(), Status::Active | Status::Paused);
        let stop = || run::stopped_by_hook(&before, ran, &mut context.ids, context.now)?.record;
        let Some(change) = is_running.then(stop).flatten() else {
            return Conclusion::Accepted(self).escalate(context);
        };
        self.state = change.state.clone();
        let want = context.record(&before, &change);
        (Step::Recording(Conclusion::Accepted(self)), want)
    }
}

impl Conclusion {
    /// A run that was blocked informs the hooks that wait for that.
    pub(super) fn escalate(self, context: &Context) -> Next {
        let (state, failure) = match &self {
            Self::Accepted(accepted) => (&accepted.state, accepted.after_hooks.as_ref()),
            Self::Refused { failure, state } => (&**state, Some(failure)),
        };
        if state.status() != Status::Blocked {
            return self.done();
        }
        let error = failure.map(|failure| failure.message.as_str());
        let payload = hooks::on_escalation(state, Some(&context.turn), error);
        match context.hooks(HookPhase::OnEscalation, payload) {
            Some(batch) => (Step::OnEscalation(self), Want::Hooks(batch)),
            None => self.done(),
        }
    }

    pub(super) fn done(self) -> Next {
        (Step::Done, Want::Done(Box::new(self)))
    }
}
