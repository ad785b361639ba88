//! The steps of an acceptance, in their order.

use std::collections::{BTreeMap, BTreeSet};

use accord_contract::codes::{Code, Failure};
use accord_contract::wire::{self, Value};

use super::{Acceptance, Observation, Outcome, Step, Want, observe};
use crate::config::{PolicyAction, TimeoutAction};
use crate::doc;
use crate::gate::{self, PhaseExit, View};
use crate::hooks::{self, HookBatch, HookOutcome, HookPhase};
use crate::members::{array, build};
use crate::result::{self, Situation, TurnResult, TurnStatusClaim};
use crate::rule;
use crate::state::{Status, Turn};
use crate::{conflict, dispatch, policy, run, timeout};

/// Where a turn's result may be staged, the usual place first.
pub(super) fn staging_paths(turn: &Turn) -> Vec<String> {
    vec![
        dispatch::staging_path(turn.id()),
        dispatch::FLAT_STAGING_PATH.to_owned(),
    ]
}

impl Acceptance {
    /// The staged bytes are there, or are not.
    pub(super) fn staged(&mut self, staged: Option<(String, Vec<u8>)>) {
        let again = self.step == Step::StagingAgain;
        let (path, read) = match staged {
            None => (
                dispatch::staging_path(self.turn.id()),
                Err("there is no staged result".to_owned()),
            ),
            Some((path, bytes)) => (path, result::read_staged(&bytes)),
        };
        let claimed = read
            .as_ref()
            .ok()
            .and_then(|value| doc::Result::TURN_ID.get(value));
        if path == dispatch::FLAT_STAGING_PATH
            && let Some(claimed) = claimed.filter(|id| *id != self.turn.id().as_str())
        {
            let message = format!("{path} holds the result of {claimed}");
            self.refuse(Failure::new(Code::XchainStaleStaging, message));
            return;
        }
        self.found.flat_staging = path == dispatch::FLAT_STAGING_PATH;
        let payload =
            hooks::before_validation(&self.turn, &path, read.as_ref().map_err(String::as_str));
        let before = self.found.staged.replace(read);
        if again {
            self.found.rewritten_by_hook = before != self.found.staged;
        }
        if !again && self.ask_hooks(HookPhase::BeforeValidation, payload, Step::BeforeValidation) {
            return;
        }
        self.judge();
    }

    pub(super) fn before_validation_said(&mut self, said: &HookOutcome) {
        if self.stopped(said) {
            return;
        }
        // A hook may have mended the result.
        self.step = Step::StagingAgain;
        self.want = Want::Staging(staging_paths(&self.turn));
    }

    fn judge(&mut self) {
        let staged = self.found.staged.take();
        let staged = staged.unwrap_or_else(|| Err("there is no staged result".into()));
        let situation = Situation {
            config: &self.inputs.config,
            state: &self.inputs.state,
            turn: Some(&self.turn),
            index: &self.inputs.index,
        };
        let judged = result::judge(staged, &situation, self.options.leniency);
        let validation = &judged.validation;
        let payload = hooks::after_validation(
            &self.turn,
            &judged.result,
            validation.failed_stage.map(|stage| stage.as_str()),
            &validation.errors(),
            &validation.warnings,
        );
        self.found.warnings.clone_from(&validation.warnings);
        if self.found.rewritten_by_hook {
            let message = "a before_validation hook changed the staged result";
            self.found.warnings.push(message.to_owned());
        }
        self.found.judged = Some(judged);
        if !self.ask_hooks(HookPhase::AfterValidation, payload, Step::AfterValidation) {
            self.validated();
        }
    }

    pub(super) fn after_validation_said(&mut self, said: &HookOutcome) {
        if !self.stopped(said) {
            self.validated();
        }
    }

    fn validated(&mut self) {
        let judged = self.found.judged.as_ref();
        let failure = judged.and_then(|judged| judged.validation.failure());
        let failure = rule!(failure; UnsoundAccepted => None);
        let document = judged.map_or(Value::Null, |judged| judged.result.clone());
        let (None, Some(result)) = (&failure, TurnResult::new(document)) else {
            let unsound = Failure::new(Code::XchainValidationFailed, "there is no sound result");
            self.refuse(failure.unwrap_or(unsound));
            return;
        };
        if let Err(failure) = self.check_decisions(&result) {
            self.refuse(failure);
            return;
        }
        let ignored = result.ignored_outputs();
        self.found.result = Some(result);
        if ignored.is_empty() {
            self.observe();
        } else {
            self.step = Step::Cleaning;
            self.want = Want::Clean(ignored);
        }
    }

    /// Ids are the run's first use of them, and overrides are lawful, one for each target.
    fn check_decisions(&mut self, result: &TurnResult) -> Result<(), Failure> {
        let mut own = BTreeSet::new();
        let mut overridden = BTreeSet::new();
        for decision in result.decisions() {
            let used = self.inputs.index.decisions();
            let taken =
                |id: &str| own.contains(id) || rule!(used.contains(id); UsedIdAccepted => false);
            let id = crate::ledger::check_entry(&Value::Object(decision.clone()), taken)?;
            own.insert(id);
            let role = self.turn.role();
            let checked =
                self.inputs
                    .repo_decisions
                    .check_override(decision, role, &self.inputs.config)?;
            self.found.warnings.extend(checked);
            if let Some(target) = doc::Decision::OVERRIDES.get(decision)
                && !overridden.insert(target)
            {
                let message = format!("the result overrides {target} twice; keep one of the two");
                let failure = Failure::new(Code::XchainOverrideValidationFailed, message);
                return Err(failure.with("overrides", target));
            }
        }
        Ok(())
    }

    /// The result, from when it has passed.
    pub(super) fn result(&self) -> &TurnResult {
        let result = self.found.result.as_ref();
        result.expect("only a result that passed is looked at further")
    }

    pub(super) fn observe(&mut self) {
        self.step = Step::Observing;
        self.want = Want::Observe(self.turn.baseline());
    }

    pub(super) fn observed(&mut self, seen: Observation) {
        let result = self.result().clone();
        let checked = observe::check(&result, &self.turn, &self.inputs, &seen);
        self.found.observation = Some(seen);
        match checked {
            Err(failure) => self.refuse(failure),
            Ok(checked) => {
                self.found.changed = checked.changed;
                self.found.warnings.extend(checked.warnings);
                self.ask_gate_files(Step::GateFiles);
            }
        }
    }

    /// The files that a gate must see, when the result asks to pass one.
    fn ask_gate_files(&mut self, step: Step) {
        let result = self.result();
        let asks = result.status() == TurnStatusClaim::Completed
            && (result.wants_completion() || result.phase_request().is_some());
        let queued = [
            doc::State::QUEUED_PHASE_TRANSITION,
            doc::State::QUEUED_RUN_COMPLETION,
        ];
        let state = self.inputs.state.members();
        let queued = queued.iter().any(|member| member.given(state).is_some());
        let phase = self.inputs.state.phase();
        let skips = timeout::phase_action(&self.inputs.config, phase) == TimeoutAction::SkipPhase;
        let needed = gate::needed_files(&self.inputs.config, phase);
        if (asks || queued || skips) && !needed.is_empty() {
            self.step = step;
            self.want = Want::Files(needed);
        } else if step == Step::GateFiles {
            self.gate_files(BTreeMap::new());
        } else {
            self.commit();
        }
    }

    pub(super) fn gate_files(&mut self, files: BTreeMap<String, String>) {
        self.found.files = files;
        if let Err(failure) = self.gate_coverage() {
            self.refuse(failure);
            return;
        }
        let result = self.result();
        let commands: Vec<String> = result
            .evidence()
            .iter()
            .filter_map(|item| {
                doc::Evidence::COMMAND
                    .get(item.as_object()?)
                    .map(str::to_owned)
            })
            .collect();
        let claims = result.verification() == Some("pass") && !commands.is_empty();
        if claims && policy::wants_replay(&self.inputs.config) {
            self.step = Step::Replaying;
            self.want = Want::Replay(commands);
        } else {
            self.policies();
        }
    }

    /// Whoever asks to leave a phase has done something about what keeps its gate shut.
    fn gate_coverage(&mut self) -> Result<(), Failure> {
        let result = self.result();
        if result.status() != TurnStatusClaim::Completed {
            return Ok(());
        }
        let phase = self.inputs.state.phase().to_owned();
        let view = View {
            config: &self.inputs.config,
            phase: &phase,
            verification: result.verification(),
            files: &self.found.files,
            index: &self.inputs.index,
            asking_role: Some(self.turn.role()),
        };
        let PhaseExit::Failed { gate, failures } =
            gate::evaluate_phase_exit(result.phase_request(), &view)
        else {
            return Ok(());
        };
        let touched = |file: &String| self.found.changed.iter().any(|path| path.as_str() == file);
        if failures.files.is_empty() || failures.files.iter().any(touched) {
            return Ok(());
        }
        let gate = gate.unwrap_or_default();
        let files = failures.files.join(", ");
        let message = format!("the gate {gate} fails on {files}, which the turn did not touch");
        let strict = self
            .inputs
            .config
            .document()
            .get("gate_semantic_coverage_mode");
        if phase == "planning" {
            if let Some(result) = &mut self.found.result {
                result.strip_phase_request();
            }
            self.found
                .warnings
                .push(format!("{message}; its request to leave was dropped"));
            return Ok(());
        }
        if strict.is_some_and(|mode| mode != "strict") {
            self.found.warnings.push(message);
            return Ok(());
        }
        Err(Failure::new(Code::XchainGateSemanticCoverage, message)
            .with("files", array(&failures.files))
            .with("reasons", array(&failures.reasons)))
    }

    pub(super) fn replayed(&mut self, codes: &[Option<i64>]) {
        let result = self.result();
        let mut drifted = Vec::new();
        for (index, item) in result.evidence().iter().enumerate() {
            let expected = doc::Evidence::EXPECTED_EXIT_CODE
                .raw(item)
                .or_else(|| doc::Evidence::EXIT_CODE.raw(item));
            let expected = expected.and_then(wire::integer_of).unwrap_or(0);
            if codes.get(index).copied().flatten() != Some(expected) {
                let command = doc::Evidence::COMMAND.get(item).unwrap_or_default();
                drifted.push(command.to_owned());
            }
        }
        if !drifted.is_empty() {
            let message = format!("{} did not end as declared", drifted.join(", "));
            let failure = Failure::new(Code::XchainVerificationReplayDrift, message);
            self.refuse(failure.with("commands", array(&drifted)));
            return;
        }
        self.found.replay = Some(build([
            ("replayed_at", self.now.to_string().into()),
            ("commands", codes.len().into()),
            ("outcome", "match".into()),
        ]));
        self.policies();
    }

    fn policies(&mut self) {
        let result = self.result();
        let kind = self
            .turn
            .runtime_id()
            .and_then(|id| self.inputs.config.runtime(id));
        let worth = match &self.found.replay {
            Some(_) => "pass",
            None => result.normalized_verification(kind.map(|runtime| runtime.kind)),
        };
        let candidate = policy::Candidate {
            result,
            role: self.turn.role(),
            phase: self.inputs.state.phase(),
            verification: worth,
            index: &self.inputs.index,
        };
        let broken = policy::violations(&self.inputs.config, &candidate);
        let of = |action| {
            broken
                .iter()
                .find(move |violation| violation.action == action)
        };
        if let Some(violation) = of(PolicyAction::Block) {
            self.refuse(policy::refusal(violation));
            return;
        }
        if let Some(violation) = of(PolicyAction::Escalate) {
            let violation = violation.clone();
            self.refuse_policy(&violation);
            return;
        }
        let said = broken
            .iter()
            .map(|violation| format!("policy {}: {}", violation.id, violation.message));
        self.found.warnings.extend(said);
        self.conflicts();
    }

    fn conflicts(&mut self) {
        let overlap = conflict::detect(
            &self.turn,
            self.inputs.state.phase(),
            &self.found.changed,
            &self.inputs.index,
            &self.inputs.config,
        );
        let clash = overlap.conflict.clone();
        self.found.overlap = Some(overlap);
        if let Some(clash) = &clash
            && !self.options.human_merge
        {
            self.refuse_conflict(clash);
            return;
        }
        let result = self.result();
        let observed: Vec<String> = self.found.changed.iter().map(ToString::to_string).collect();
        let document = Value::Object(result.document().clone());
        let payload = hooks::before_acceptance(&self.turn, &document, &observed, clash.is_some());
        if !self.ask_hooks(HookPhase::BeforeAcceptance, payload, Step::BeforeAcceptance) {
            self.observe_again();
        }
    }

    pub(super) fn before_acceptance_said(&mut self, said: &HookOutcome) {
        if !self.stopped(said) {
            self.observe_again();
        }
    }

    /// Nothing may have moved meanwhile; without version control there is nothing to see.
    fn observe_again(&mut self) {
        if self
            .found
            .observation
            .as_ref()
            .is_some_and(Observation::is_git)
        {
            self.step = Step::ObservingAgain;
            self.want = Want::Observe(self.turn.baseline());
        } else {
            self.ask_gate_files(Step::GateFilesAgain);
        }
    }

    pub(super) fn observed_again(&mut self, seen: &Observation) {
        let drifted = self
            .found
            .observation
            .as_ref()
            .map(|before| before.drift(seen));
        match drifted.filter(|files| !files.is_empty()) {
            Some(files) => {
                let message = format!("{} changed meanwhile", files.join(", "));
                let failure = Failure::new(Code::XchainAcceptanceDrift, message);
                self.refuse(failure.with("files", array(&files)));
            }
            None => self.ask_gate_files(Step::GateFilesAgain),
        }
    }

    /// Everything is known: the commit.
    pub(super) fn commit(&mut self) {
        match self.build() {
            Err(failure) => self.refuse(failure),
            Ok((commit, accepted)) => {
                self.found.accepted = Some(Box::new(accepted));
                self.step = Step::Committing;
                self.want = Want::Commit(Box::new(commit));
            }
        }
    }

    pub(super) fn committed(&mut self) {
        let accepted = self.found.accepted.as_ref();
        let accepted = accepted.expect("the commit that was carried out accepted the turn");
        // The turn's own line is the last one by now.
        let index = self.inputs.index.length().saturating_sub(1);
        let payload =
            hooks::after_acceptance(&self.turn, &accepted.state, &accepted.history_entry, index);
        if !self.ask_hooks(HookPhase::AfterAcceptance, payload, Step::AfterAcceptance) {
            self.escalated();
        }
    }

    /// Nothing takes an acceptance back; a hook that tampered blocks what follows, unless the
    /// run has come to a stop already.
    pub(super) fn after_acceptance_said(&mut self, said: &HookOutcome) {
        let accepted = self.found.accepted.as_mut();
        let accepted = accepted.expect("the commit that was carried out accepted the turn");
        accepted.after_hooks = said.failure();
        if !matches!(accepted.state.status(), Status::Active | Status::Paused) {
            self.escalated();
            return;
        }
        let before = accepted.state.clone();
        let stopped = run::stopped_by_hook(&before, said, &mut self.ids, self.now);
        let Some(change) = stopped.and_then(|stopped| stopped.record) else {
            self.escalated();
            return;
        };
        accepted.state = change.state.clone();
        self.record_change(&before, &change);
    }

    /// A run that was blocked tells the hooks that wait for it.
    pub(super) fn escalated(&mut self) {
        let state = match (&self.found.accepted, &self.found.refused) {
            (Some(accepted), _) => &accepted.state,
            (None, Some((_, state))) => state,
            (None, None) => &self.inputs.state,
        };
        if state.status() != Status::Blocked {
            self.done();
            return;
        }
        let error = self
            .found
            .refused
            .as_ref()
            .map(|(failure, _)| failure)
            .or_else(|| self.found.accepted.as_ref()?.after_hooks.as_ref())
            .map(|failure| failure.message.as_str());
        let payload = hooks::on_escalation(state, Some(&self.turn), error);
        if !self.ask_hooks(HookPhase::OnEscalation, payload, Step::OnEscalation) {
            self.done();
        }
    }

    pub(super) fn recorded(&mut self) {
        self.escalated();
    }

    pub(super) fn done(&mut self) {
        let outcome = match self.found.accepted.take() {
            Some(accepted) => Outcome::Accepted(accepted),
            None => {
                let refused = self.found.refused.take();
                let (failure, state) = refused.expect("what is not accepted was refused");
                Outcome::Refused { failure, state }
            }
        };
        self.step = Step::Done;
        self.want = Want::Done(Box::new(outcome));
    }

    /// Asks for the hooks of a phase; false when it has none.
    pub(super) fn ask_hooks(
        &mut self,
        phase: HookPhase,
        payload: wire::Object,
        step: Step,
    ) -> bool {
        let run = self.inputs.state.run_id().map(ToString::to_string);
        let batch = HookBatch::new(phase, self.inputs.config.hooks(phase), payload, run);
        let Some(batch) = batch else {
            return false;
        };
        self.step = step;
        self.want = Want::Hooks(batch);
        true
    }

    /// Whether hooks stopped it; then the refusal is under way.
    fn stopped(&mut self, said: &HookOutcome) -> bool {
        let Some(failure) = said.failure() else {
            return false;
        };
        self.refuse_hook(failure, said);
        true
    }
}
