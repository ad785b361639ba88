//! The commit of a turn that is accepted: what follows from it, all at once.

use accord_contract::codes::Failure;
use accord_contract::wire::{Object, Value};

use super::commit::{append, state_write};
use super::replay::leftovers;
use super::{Acceptance, Accepted, Commit, Record, Write, run_record, talk};
use crate::budget::{self, Exceeded};
use crate::config::{TimeoutAction, WriteAuthority};
use crate::dispatch;
use crate::doc;
use crate::event::{Emitter, EventType};
use crate::ledger;
use crate::members::{array, build};
use crate::outcome::{self, Asking};
use crate::repo_decisions::RepoDecisions;
use crate::result::{Rewrite, RewriteCode, TurnResult, TurnStatusClaim};
use crate::rule;
use crate::state::{Block, State, Status};
use crate::{delegation, timeout};

/// What an acceptance adds, while it is put together.
struct Draft<'a> {
    state: State,
    ledger: Vec<Object>,
    emitter: Emitter<'a>,
}

impl Acceptance {
    /// Puts the commit together.
    pub(super) fn build(&mut self) -> Result<(Commit, Accepted), Failure> {
        let result = self.result().clone();
        let overrun = budget::overrun(&self.inputs.config, result.cost_usd());
        let overrun = overrun.map(|(message, payload)| {
            self.found.warnings.push(message);
            payload
        });
        let mut ids = self.ids.clone();
        let mut state = self.inputs.state.clone();
        let accepted_sequence = state.tick_acceptance();
        let entry = self.history_entry(&result, accepted_sequence);
        let emitter = Emitter::new(&state, &mut ids, self.now)?;
        self.inputs.index.add_history(&entry);
        let mut draft = Draft {
            state,
            ledger: self.decision_lines(&result),
            emitter,
        };
        self.said_rewrites(&mut draft);
        let over_budget = self.book(&mut draft, &result, overrun);
        let mut decisions = self.inputs.repo_decisions.clone();
        let lasting =
            decisions.accept(result.decisions(), &self.turn, &self.inputs.state, self.now);
        if lasting {
            let active: Vec<Value> = decisions.active().cloned().map(Value::Object).collect();
            draft.state.set(doc::State::REPO_DECISIONS, active);
        }
        self.consequences(&mut draft, &result, over_budget);
        let Draft {
            state,
            ledger,
            emitter,
        } = draft;
        let events = emitter.finish();

        let mut writes =
            rule!(vec![append(Record::History, &entry)]; HistoryForgotten => Vec::new());
        writes.extend(ledger.iter().map(|line| append(Record::Ledger, line)));
        if lasting {
            let lines: Vec<String> = decisions
                .lines()
                .iter()
                .map(|line| Value::Object(line.clone()).to_string() + "\n")
                .collect();
            writes.push(Write::Replace {
                path: RepoDecisions::path(),
                text: lines.concat(),
            });
        }
        writes.push(talk::section(
            &result,
            &self.turn,
            self.inputs.state.phase(),
        ));
        writes.extend(self.papers(&result));
        if let Some(record) = run_record(&state, &self.inputs.config, &self.inputs.index, self.now)
        {
            writes.push(append(Record::RunHistory, &record));
        }
        writes.extend(
            events
                .iter()
                .map(|event| append(Record::Events, event.line())),
        );
        writes.push(state_write(&state));
        writes.extend(leftovers(self.turn.id()));
        if self.found.flat_staging {
            writes.push(Write::Remove {
                path: dispatch::FLAT_STAGING_PATH.to_owned(),
            });
        }
        let id = self.turn.id();
        let commit =
            Commit::of_acceptance(id, accepted_sequence, &state, writes, &mut ids, self.now);
        self.ids = ids;
        let accepted = Accepted {
            turn_id: id.clone(),
            accepted_sequence,
            history_entry: entry,
            state,
            warnings: self.found.warnings.clone(),
            after_hooks: None,
        };
        Ok((commit, accepted))
    }

    fn decision_lines(&self, result: &TurnResult) -> Vec<Object> {
        let state = &self.inputs.state;
        let line = |decision: &Object| {
            ledger::decision_line(decision, result.objections(), &self.turn, state, self.now)
        };
        let mut lines: Vec<Object> = result.decisions().map(line).collect();
        let Some(overlap) = &self.found.overlap else {
            return lines;
        };
        let about = |name: &str, files: &[String]| {
            build([
                ("turn_id", self.turn.id().as_str().into()),
                ("role", self.turn.role().into()),
                (name, array(files)),
            ])
        };
        if !overlap.forward_revisions.is_empty() {
            let details = about("files", &overlap.forward_revisions);
            lines.push(ledger::governance(
                "forward_revision_accepted",
                state,
                self.now,
                details,
            ));
        }
        if let Some(conflict) = &overlap.conflict {
            let details = about("conflicting_files", &conflict.files);
            lines.push(ledger::governance(
                "conflict_resolved",
                state,
                self.now,
                details,
            ));
        }
        lines
    }

    fn said_rewrites(&self, draft: &mut Draft<'_>) {
        let rewrites = self
            .found
            .judged
            .as_ref()
            .map_or(&[][..], |judged| &judged.rewrites);
        let about = Some((self.turn.id().as_str(), self.turn.role()));
        let is_artifact = |rewrite: &&Rewrite| rewrite.code == RewriteCode::ArtifactBecameReview;
        for (kind, rewrites) in [
            (
                EventType::StagedResultAutoNormalized,
                rewrites
                    .iter()
                    .filter(|rewrite| !is_artifact(rewrite))
                    .collect::<Vec<_>>(),
            ),
            (
                EventType::ArtifactTypeAutoNormalized,
                rewrites.iter().filter(is_artifact).collect(),
            ),
        ] {
            if rewrites.is_empty() {
                continue;
            }
            let rewrites: Vec<Value> = rewrites
                .iter()
                .map(|rewrite| rewrite.document().into())
                .collect();
            let payload = build([("normalizations", rewrites.into())]);
            draft.emitter.emit(kind, &draft.state, about, payload);
        }
    }

    /// The turn leaves, its cost is booked, its delegations move.
    fn book(
        &self,
        draft: &mut Draft<'_>,
        result: &TurnResult,
        overrun: Option<Object>,
    ) -> Option<Exceeded> {
        let (config, id) = (&self.inputs.config, self.turn.id());
        let state = &mut draft.state;
        rule!(state.remove_turn(id); AcceptedStaysActive => None);
        state.set(doc::State::LAST_COMPLETED_TURN_ID, id.as_str());
        let seen = self.found.observation.as_ref();
        if let Some(reference) = seen.and_then(super::Observation::integration_ref) {
            state.set(doc::State::ACCEPTED_INTEGRATION_REF, reference);
        }
        let over_budget = budget::book(state, config, id, result.cost_usd());
        let delegated = delegation::book(state, &self.turn, result.document(), self.now);
        let proposed = result
            .proposed_next_role()
            .filter(|role| config.role(role).is_some());
        let next = delegated.or_else(|| proposed.map(str::to_owned));
        state.set(doc::State::NEXT_RECOMMENDED_ROLE, next);
        // A timeline in which a turn is accepted says first that it was handed out.
        if !self.turn.was_dispatched() {
            draft.emitter.emit(
                EventType::TurnDispatched,
                &draft.state,
                Some((id.as_str(), self.turn.role())),
                Object::new(),
            );
        }
        let state = &draft.state;
        let payload = build([
            ("accepted_sequence", state.accepted_sequence().into()),
            ("status", result.status().as_str().into()),
            ("summary", result.summary().into()),
        ]);
        let about = Some((id.as_str(), self.turn.role()));
        draft
            .emitter
            .emit(EventType::TurnAccepted, &draft.state, about, payload);
        if let Some(payload) = overrun {
            let kind = EventType::BudgetExceededWarn;
            draft.emitter.emit(kind, &draft.state, about, payload);
        }
        let merged = self
            .found
            .overlap
            .as_ref()
            .and_then(|overlap| overlap.conflict.as_ref());
        if let Some(conflict) = merged {
            let payload = conflict.document(self.now);
            draft
                .emitter
                .emit(EventType::ConflictResolved, &draft.state, about, payload);
        }
        over_budget
    }

    /// What the result asks for, then what time and money say.
    fn consequences(
        &self,
        draft: &mut Draft<'_>,
        result: &TurnResult,
        over_budget: Option<Exceeded>,
    ) {
        let asking = Asking {
            config: &self.inputs.config,
            files: &self.found.files,
            index: &self.inputs.index,
            turn: &self.turn,
            changed: &self.found.changed,
            verification: result.verification(),
            now: self.now,
        };
        outcome::withdraw_unfounded(
            &mut draft.state,
            &asking,
            &mut draft.ledger,
            &mut draft.emitter,
        );
        match result.status() {
            TurnStatusClaim::Completed => {
                outcome::requests(
                    &mut draft.state,
                    result,
                    &asking,
                    &mut draft.ledger,
                    &mut draft.emitter,
                );
            }
            TurnStatusClaim::NeedsHuman => {
                self.block(
                    draft,
                    &Block::needs_human(result.needs_human_reason(), self.turn.id()),
                );
            }
            TurnStatusClaim::Blocked => {
                let reason = result
                    .needs_human_reason()
                    .unwrap_or_else(|| result.summary());
                self.block(draft, &Block::needs_human(Some(reason), self.turn.id()));
            }
            TurnStatusClaim::Failed => {}
        }
        self.time(draft, &asking);
        match over_budget {
            Some(Exceeded::Warn(payload)) => {
                draft
                    .emitter
                    .emit(EventType::BudgetExceededWarn, &draft.state, None, payload);
            }
            Some(Exceeded::Block(block)) if draft.state.status() == Status::Active => {
                self.block(draft, &block);
            }
            _ => {}
        }
        if draft.state.status() == Status::Completed {
            let payload = build([("gate_type", "run_completion".into())]);
            draft
                .emitter
                .emit(EventType::RunCompleted, &draft.state, None, payload);
        }
    }

    fn time(&self, draft: &mut Draft<'_>, asking: &Asking<'_>) {
        let (config, now) = (&self.inputs.config, self.now);
        for overrun in timeout::overruns(&draft.state, config, Some(&self.turn), now) {
            if draft.state.status() != Status::Active {
                return;
            }
            let details = build([
                ("scope", overrun.scope.as_str().into()),
                ("limit_minutes", overrun.limit_minutes.into()),
                ("elapsed_minutes", overrun.elapsed_minutes.into()),
                ("action", overrun.action.as_str().into()),
            ]);
            let kind = if overrun.action == TimeoutAction::Warn {
                "timeout_warning"
            } else {
                "timeout"
            };
            draft
                .ledger
                .push(ledger::typed(kind, &draft.state, now, details));
            let skipped = overrun.action == TimeoutAction::SkipPhase
                && outcome::skip_phase(
                    &mut draft.state,
                    asking,
                    &mut draft.ledger,
                    &mut draft.emitter,
                );
            if overrun.action != TimeoutAction::Warn && !skipped {
                self.block(
                    draft,
                    &Block::timeout(overrun.scope.as_str(), &overrun.detail()),
                );
            }
        }
    }

    fn block(&self, draft: &mut Draft<'_>, block: &Block) {
        draft.state.block(block, self.now);
        let about = Some((self.turn.id().as_str(), self.turn.role()));
        let payload = crate::run::block_payload(block);
        draft
            .emitter
            .emit(EventType::RunBlocked, &draft.state, about, payload);
    }

    /// What people read beside `TALK.md`.
    fn papers(&self, result: &TurnResult) -> Vec<Write> {
        let role = self.inputs.config.role(self.turn.role());
        let authority = role.map_or(WriteAuthority::ReviewOnly, |role| role.authority);
        let runtime = self
            .turn
            .runtime_id()
            .and_then(|id| self.inputs.config.runtime(id));
        let runtime = runtime.map(|runtime| runtime.kind);
        let mut writes = talk::proposal(result, &self.turn);
        writes.extend(talk::review(result, &self.turn, authority, runtime));
        writes
    }
}
