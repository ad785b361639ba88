//! The commit of an accepted turn, with all effects of the acceptance.

use accord_contract::{Object, Value};

use super::cleared::Cleared;
use super::commit::{append, state_write};
use super::replay::cleanup_writes;
use super::{Accepted, Commit, Context, Record, Write, run_record, talk};
use crate::budget::{self, Exceeded};
use crate::config::{TimeoutAction, WriteAuthority};
use crate::gate_effects::{self, Draft, GateInputs};
use crate::ledger::{decision_line, governance};
use crate::repo_decisions::RepoDecisions;
use crate::result::{Rewrite, RewriteCode, TurnStatusClaim};
use crate::{
    Block, Emitter, EventType, GateType, LedgerDecision, LedgerType, Result, Status, array, build,
    delegation, dispatch, doc, proposal, rule, timeout,
};

impl Cleared {
    pub(super) fn build(mut self, context: &mut Context) -> Result<(Commit, Accepted)> {
        let config = &context.inputs.config;
        let overrun = budget::overrun(config, self.cost_usd(context));
        self.valid.warnings.extend(overrun.as_ref().map(|(message, _)| message.clone()));
        // The emitter borrows the ids while `context` is read, so it works on a copy.
        let mut ids = context.ids.clone();
        let mut state = context.inputs.state.clone();
        let accepted_sequence = state.tick_acceptance();
        let entry = self.history_entry(context, accepted_sequence);
        let emitter = Emitter::new(&state, &mut ids, context.now)?;
        // The gate and the run record below must count this turn too.
        context.inputs.index.add_history(&entry, None);
        let (turn, now) = (&context.turn, context.now);
        let mut draft = Draft { state, ledger: self.decision_lines(context), emitter };
        self.note_rewrites(context, &mut draft);
        let over_budget = self.book(context, &mut draft, overrun.map(|(_, payload)| payload));
        let result = &self.valid.result;
        let mut decisions = context.inputs.repo_decisions.clone();
        let before = &context.inputs.state;
        let has_repo_decisions = decisions.accept(result.decisions(), turn, before, now);
        if has_repo_decisions {
            let active: Vec<Object> = decisions.active().cloned().collect();
            draft.state.set(doc::State::REPO_DECISIONS, active);
        }
        self.apply(context, &mut draft, over_budget)?;
        let Draft { state, ledger, emitter } = draft;
        let history = append(Record::History, &entry);
        let mut writes = rule!(vec![history]; HistoryForgotten => Vec::new());
        writes.extend(ledger.iter().map(|line| append(Record::Ledger, line)));
        if has_repo_decisions {
            let text = |line: &Object| Value::Object(line.clone()).to_string() + "\n";
            let text = decisions.lines().iter().map(text).collect();
            writes.push(Write::Replace { path: RepoDecisions::path(), text });
        }
        writes.push(talk::section(result, turn, context.inputs.state.phase()));
        let proposed = proposal::record(result, &self.observation.sources);
        writes.extend(proposal::writes(result, turn, &proposed, now));
        let role = context.inputs.config.role(turn.role());
        let authority = role.map_or(WriteAuthority::ReviewOnly, |role| role.authority);
        writes.extend(talk::review(result, turn, authority, context.runtime()));
        let ended = run_record(&state, &context.inputs.config, &context.inputs.index, now);
        writes.extend(ended.iter().map(|record| append(Record::RunHistory, record)));
        let events = emitter.finish();
        writes.extend(events.iter().map(|event| append(Record::Events, event.line())));
        // The state follows the records, so that it never refers to a missing line. The cleanup
        // follows the state, in the order of the reference runner.
        writes.push(state_write(&state));
        writes.extend(cleanup_writes(turn.id()));
        // All turns share this path. A result that stayed there would be found for the next turn
        // and refused as stale.
        if self.valid.at_flat_path {
            writes.push(Write::Remove { path: dispatch::FLAT_STAGING_PATH.to_owned() });
        }
        let commit =
            Commit::of_acceptance(turn.id(), accepted_sequence, &state, writes, &mut ids, now);
        let accepted = Accepted {
            turn_id: turn.id().clone(),
            accepted_sequence,
            history_entry: entry,
            state,
            warnings: self.valid.warnings,
            after_hooks: None,
        };
        context.ids = ids;
        Ok((commit, accepted))
    }

    /// What the turn cost: what its client says, or what the result claims if that is more.
    fn cost_usd(&self, context: &Context) -> f64 {
        context.turn.cost_usd(self.valid.result.cost_usd())
    }

    fn decision_lines(&self, context: &Context) -> Vec<Object> {
        let (turn, state, now) = (&context.turn, &context.inputs.state, context.now);
        let result = &self.valid.result;
        let objections = result.objections();
        let line = |decision: &Object| decision_line(decision, objections, turn, state, now);
        let mut lines: Vec<Object> = result.decisions().map(line).collect();
        let details = |name: &str, files: &[String]| {
            let (id, role) = (turn.id().as_str(), turn.role());
            build([("turn_id", id.into()), ("role", role.into()), (name, array(files))])
        };
        if !self.overlap.forward_revisions.is_empty() {
            let details = details("files", &self.overlap.forward_revisions);
            let decision = LedgerDecision::ForwardRevisionAccepted;
            lines.push(governance(decision, state, now, details));
        }
        if let Some(conflict) = &self.overlap.conflict {
            let mut details = details("conflicting_files", &conflict.files);
            context.add_merger(&mut details);
            lines.push(governance(LedgerDecision::ConflictResolved, state, now, details));
        }
        lines
    }

    fn note_rewrites(&self, context: &Context, draft: &mut Draft<'_>) {
        let is_artifact = |rewrite: &&Rewrite| rewrite.code == RewriteCode::ArtifactBecameReview;
        let (artifact, other): (Vec<&Rewrite>, Vec<&Rewrite>) =
            self.valid.rewrites.iter().partition(is_artifact);
        for (kind, rewrites) in [
            (EventType::StagedResultAutoNormalized, other),
            (EventType::ArtifactTypeAutoNormalized, artifact),
        ] {
            if !rewrites.is_empty() {
                let rewrites: Value = rewrites.iter().map(|rewrite| rewrite.document()).collect();
                let payload = build([("normalizations", rewrites)]);
                draft.emit(kind, context.turn.about(), payload);
            }
        }
    }

    /// Removes the turn from the active turns, books its cost and updates its delegations.
    ///
    /// Clauses: AX-HS-LEAVES.
    fn book(
        &self,
        context: &Context,
        draft: &mut Draft<'_>,
        overrun: Option<Object>,
    ) -> Option<Exceeded> {
        let (turn, config) = (&context.turn, &context.inputs.config);
        let result = &self.valid.result;
        let state = &mut draft.state;
        rule!(state.remove_turn(turn.id()); AcceptedStaysActive => None);
        state.set(doc::State::LAST_COMPLETED_TURN_ID, turn.id());
        if let Some(reference) = self.observation.integration_ref() {
            state.set(doc::State::ACCEPTED_INTEGRATION_REF, reference);
        }
        let over_budget = budget::book(state, config, turn.id(), self.cost_usd(context));
        let delegated = delegation::book(state, turn, result.document(), context.now);
        // An agent may propose `human` or a role that does not exist. Only a declared role is
        // stored, because the next assignment reads this member.
        let proposed = result.proposed_next_role().filter(|role| config.role(role).is_some());
        let next = delegated.or_else(|| proposed.map(str::to_owned));
        state.set(doc::State::NEXT_RECOMMENDED_ROLE, next);
        let payload = build([
            ("accepted_sequence", state.accepted_sequence().into()),
            ("status", result.status().as_str().into()),
            ("summary", result.summary().into()),
        ]);
        // The dispatch of a turn must precede its acceptance in the timeline.
        if !turn.was_dispatched() {
            draft.emit(EventType::TurnDispatched, turn.about(), Object::new());
        }
        draft.emit(EventType::TurnAccepted, turn.about(), payload);
        if let Some(payload) = overrun {
            draft.emit(EventType::BudgetExceededWarn, turn.about(), payload);
        }
        if let Some(conflict) = &self.overlap.conflict {
            let mut payload = conflict.document(context.now);
            context.add_merger(&mut payload);
            draft.emit(EventType::ConflictResolved, turn.about(), payload);
        }
        over_budget
    }

    /// Applies the requests of the result, then the time limits and the budget.
    fn apply(
        &self,
        context: &Context,
        draft: &mut Draft<'_>,
        over: Option<Exceeded>,
    ) -> Result<()> {
        let (turn, now, result) = (&context.turn, context.now, &self.valid.result);
        let inputs = GateInputs {
            config: &context.inputs.config,
            files: &self.files,
            index: &context.inputs.index,
            turn,
            verification: result.verification(),
            now,
        };
        // This comes before the requests of the turn: they would execute a queued request.
        gate_effects::withdraw_undecided(draft, &inputs);
        match result.status() {
            TurnStatusClaim::Completed => gate_effects::apply_requests(draft, result, &inputs)?,
            status @ (TurnStatusClaim::NeedsHuman | TurnStatusClaim::Blocked) => {
                let summary = (status == TurnStatusClaim::Blocked).then_some(result.summary());
                let reason = result.needs_human_reason().or(summary);
                draft.block(&Block::needs_human(reason, turn.id()), turn, now)?;
            }
            // A failed turn is part of the history, but its requests have no effect.
            TurnStatusClaim::Failed => {}
        }
        // The requests come first: a phase that the turn has just left cannot time out any more.
        apply_timeouts(draft, &inputs)?;
        match over {
            Some(Exceeded::Warn(payload)) => {
                draft.emit(EventType::BudgetExceededWarn, None, payload);
            }
            // A run that waits for approval or has ended keeps its status. The next assignment
            // checks the budget again.
            Some(Exceeded::Block(block)) if draft.state.status() == Status::Active => {
                draft.block(&block, turn, now)?;
            }
            _ => {}
        }
        // This event is emitted here and not where the status changes, because no event of the run
        // may follow it.
        if draft.state.status() == Status::Completed {
            let payload = build([doc::GateEvent::GATE_TYPE.to(GateType::RunCompletion)]);
            draft.emit(EventType::RunCompleted, None, payload);
        }
        Ok(())
    }
}

fn apply_timeouts(draft: &mut Draft<'_>, inputs: &GateInputs<'_>) -> Result<()> {
    let (turn, now) = (inputs.turn, inputs.now);
    for overrun in timeout::overruns(&draft.state, inputs.config, Some(turn), now) {
        // The requests or an earlier limit may have stopped the run already.
        if draft.state.status() != Status::Active {
            break;
        }
        let details = build([
            ("scope", overrun.scope.as_str().into()),
            ("limit_minutes", overrun.limit_minutes.into()),
            ("elapsed_minutes", overrun.elapsed_minutes.into()),
            ("action", overrun.action.as_str().into()),
        ]);
        if overrun.action == TimeoutAction::Warn {
            draft.note(LedgerType::TimeoutWarning, now, details);
            continue;
        }
        draft.note(LedgerType::Timeout, now, details);
        let skips = overrun.action == TimeoutAction::SkipPhase;
        if !(skips && gate_effects::skip_phase(draft, inputs)?) {
            let block = Block::timeout(overrun.scope, &overrun.detail());
            draft.block(&block, turn, now)?;
        }
    }
    Ok(())
}
