//! The steps of an acceptance. Each step holds what is known by then, and moves into the next.

use std::collections::{BTreeMap, BTreeSet};

use accord_contract::codes::{Code, Failure};
use accord_contract::wire::{self, Object, Value};

use super::refuse::Refusal;
use super::{Accepted, Conclusion, Context, Next, Observation, Step, Want, observe};
use crate::config::{PolicyAction, TimeoutAction};
use crate::conflict::{self, Overlap};
use crate::gate::{self, PhaseExit, View};
use crate::hooks::{self, HookPhase, HookReport};
use crate::members::{array, build};
use crate::result::{self, Rewrite, Situation, TurnResult, TurnStatusClaim};
use crate::state::Status;
use crate::{RepoPath, dispatch, doc, ledger, policy, rule, run, timeout};

/// The staged result was read, or could not be.
#[derive(Clone, Debug)]
pub(super) struct Staged {
    result: Result<Value, String>,
    /// Whether it was staged at the path from when a run had one turn at a time.
    at_flat_path: bool,
}

/// The result was corrected and judged.
#[derive(Clone, Debug)]
pub(super) struct Judged {
    result: Value,
    rewrites: Vec<Rewrite>,
    failure: Option<Failure>,
    warnings: Vec<String>,
    at_flat_path: bool,
}

/// The result passed its judgement.
#[derive(Clone, Debug)]
pub(super) struct Sound {
    pub(super) result: TurnResult,
    pub(super) rewrites: Vec<Rewrite>,
    pub(super) warnings: Vec<String>,
    pub(super) at_flat_path: bool,
}

/// The changes in the repository match the result.
#[derive(Clone, Debug)]
pub(super) struct Observed {
    sound: Sound,
    observation: Observation,
    changed: Vec<RepoPath>,
}

/// The files of the gate were read.
#[derive(Clone, Debug)]
pub(super) struct Gated {
    observed: Observed,
    files: BTreeMap<String, String>,
}

/// Policies are kept, and conflicts are absent or merged.
#[derive(Clone, Debug)]
pub(super) struct Cleared {
    pub(super) sound: Sound,
    pub(super) observation: Observation,
    /// The files that count as changed by the turn.
    pub(super) changed: Vec<RepoPath>,
    pub(super) files: BTreeMap<String, String>,
    /// How the declared commands ended when they ran again, where a policy asks for that.
    pub(super) replay: Option<Object>,
    pub(super) overlap: Overlap,
}

/// Asks for the staged result.
pub(super) fn ask_staging(context: &Context) -> Want {
    Want::Staging(vec![
        dispatch::staging_path(context.turn.id()),
        dispatch::FLAT_STAGING_PATH.to_owned(),
    ])
}

impl Staged {
    /// The result is read for the first time; hooks may still change it.
    pub(super) fn read(
        context: &Context,
        staged: Option<(String, Vec<u8>)>,
    ) -> Result<Next, Refusal> {
        let (staged, path) = Self::parse(context, staged)?;
        let result = staged.result.as_ref().map_err(String::as_str);
        let payload = hooks::before_validation(&context.turn, &path, result);
        match context.hooks(HookPhase::BeforeValidation, payload) {
            Some(batch) => Ok((Step::BeforeValidation(staged), Want::Hooks(batch))),
            None => staged.judge(context, false),
        }
    }

    /// The hooks ran; one of them may have corrected the result.
    pub(super) fn after_hooks(
        self,
        context: &Context,
        report: &HookReport,
    ) -> Result<Next, Refusal> {
        check_hooks(report)?;
        Ok((Step::ReadingAgain(self), ask_staging(context)))
    }

    /// The result is read again after the hooks.
    pub(super) fn read_again(
        self,
        context: &Context,
        staged: Option<(String, Vec<u8>)>,
    ) -> Result<Next, Refusal> {
        let (staged, _) = Self::parse(context, staged)?;
        let is_changed = staged.result != self.result;
        staged.judge(context, is_changed)
    }

    fn parse(
        context: &Context,
        staged: Option<(String, Vec<u8>)>,
    ) -> Result<(Self, String), Failure> {
        let (path, result) = match staged {
            None => {
                let path = dispatch::staging_path(context.turn.id());
                (path, Err("there is no staged result".to_owned()))
            }
            Some((path, bytes)) => (path, result::read_staged(&bytes)),
        };
        let at_flat_path = path == dispatch::FLAT_STAGING_PATH;
        let claimed = result
            .as_ref()
            .ok()
            .and_then(|value| doc::Result::TURN_ID.get(value));
        if let Some(claimed) =
            claimed.filter(|id| at_flat_path && *id != context.turn.id().as_str())
        {
            let message = format!("{path} holds the result of {claimed}");
            return Err(Failure::new(Code::XchainStaleStaging, message));
        }
        let staged = Self {
            result,
            at_flat_path,
        };
        Ok((staged, path))
    }

    /// Clauses: AX-HS-VALIDATED.
    fn judge(self, context: &Context, is_changed_by_hook: bool) -> Result<Next, Refusal> {
        let situation = Situation {
            config: &context.inputs.config,
            state: &context.inputs.state,
            turn: Some(&context.turn),
            index: &context.inputs.index,
        };
        let judged = result::judge(self.result, &situation, context.options.leniency);
        let validation = &judged.validation;
        let payload = hooks::after_validation(
            &context.turn,
            &judged.result,
            validation.failed_stage.map(|stage| stage.as_str()),
            &validation.errors(),
            &validation.warnings,
        );
        let failure = validation.failure();
        let mut warnings = judged.validation.warnings;
        if is_changed_by_hook {
            warnings.push("a before_validation hook changed the staged result".to_owned());
        }
        let judged = Judged {
            result: judged.result,
            rewrites: judged.rewrites,
            failure,
            warnings,
            at_flat_path: self.at_flat_path,
        };
        match context.hooks(HookPhase::AfterValidation, payload) {
            Some(batch) => Ok((Step::AfterValidation(judged), Want::Hooks(batch))),
            None => judged.pass(context),
        }
    }
}

impl Judged {
    pub(super) fn after_hooks(
        self,
        context: &Context,
        report: &HookReport,
    ) -> Result<Next, Refusal> {
        check_hooks(report)?;
        self.pass(context)
    }

    fn pass(self, context: &Context) -> Result<Next, Refusal> {
        if let Some(failure) = rule!(self.failure; UnsoundAccepted => None) {
            return Err(failure.into());
        }
        let result = TurnResult::new(self.result).ok_or_else(|| {
            Failure::new(Code::XchainValidationFailed, "there is no sound result")
        })?;
        let mut sound = Sound {
            result,
            rewrites: self.rewrites,
            warnings: self.warnings,
            at_flat_path: self.at_flat_path,
        };
        sound.check_decisions(context)?;
        // A file that existed when the turn was assigned, or that belongs to the run, is kept.
        let dirty = context
            .turn
            .baseline()
            .map_or_else(Vec::new, |baseline| baseline.dirty);
        let existed = |path: &RepoPath| dirty.iter().any(|(known, _)| known == path.as_str());
        let mut outputs = sound.result.ignored_outputs();
        outputs.retain(|path| !existed(path) && !path.is_reserved());
        if outputs.is_empty() {
            Ok(sound.observe(context))
        } else {
            Ok((Step::Cleaning(sound), Want::Clean(outputs)))
        }
    }
}

impl Sound {
    /// Checks that decision ids are new in the run, and that overrides are allowed, one for each
    /// target.
    ///
    /// Clauses: AX-DL-DUPLICATE-ACCEPT.
    fn check_decisions(&mut self, context: &Context) -> Result<(), Failure> {
        let inputs = &context.inputs;
        let used = inputs.index.decisions();
        let mut own = BTreeSet::new();
        let mut overridden = BTreeSet::new();
        for decision in self.result.decisions() {
            let taken =
                |id: &str| own.contains(id) || rule!(used.contains(id); UsedIdAccepted => false);
            let id = ledger::check_entry(&Value::Object(decision.clone()), taken)?;
            own.insert(id);
            let role = context.turn.role();
            let warning = inputs
                .repo_decisions
                .check_override(decision, role, &inputs.config)?;
            self.warnings.extend(warning);
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

    /// Asks for the changes in the repository.
    pub(super) fn observe(self, context: &Context) -> Next {
        let want = self.ask_changes(context);
        (Step::Observing(self), want)
    }

    fn ask_changes(&self, context: &Context) -> Want {
        Want::Observe {
            baseline: context.turn.baseline(),
            named: self.result.named_files(),
            proposed: self.result.proposed(false),
        }
    }

    /// The files that a gate needs, when the turn may pass one.
    fn gate_files(&self, context: &Context) -> Vec<RepoPath> {
        let (config, state) = (&context.inputs.config, &context.inputs.state);
        let asks = self.result.status() == TurnStatusClaim::Completed
            && (self.result.wants_completion() || self.result.phase_request().is_some());
        let queued = [
            doc::State::QUEUED_PHASE_TRANSITION,
            doc::State::QUEUED_RUN_COMPLETION,
        ];
        let is_queued = || {
            queued
                .iter()
                .any(|request| request.given(state.members()).is_some())
        };
        let skips = || timeout::phase_action(config, state.phase()) == TimeoutAction::SkipPhase;
        if asks || is_queued() || skips() {
            gate::needed_files(config, state.phase())
        } else {
            Vec::new()
        }
    }

    /// Compares the changes in the repository with the result.
    pub(super) fn observed(
        mut self,
        context: &mut Context,
        observation: Observation,
    ) -> Result<Next, Refusal> {
        let checked = observe::check(&self.result, &context.turn, &context.inputs, &observation)?;
        self.warnings.extend(checked.warnings);
        let files = self.gate_files(context);
        let observed = Observed {
            sound: self,
            observation,
            changed: checked.changed,
        };
        if files.is_empty() {
            observed.gated(context, BTreeMap::new())
        } else {
            Ok((Step::GateFiles(observed), Want::Files(files)))
        }
    }
}

impl Observed {
    /// The files of the gate were read. Evidence is run again where a policy asks for that.
    pub(super) fn gated(
        mut self,
        context: &mut Context,
        files: BTreeMap<String, String>,
    ) -> Result<Next, Refusal> {
        self.check_gate_coverage(context, &files)?;
        let result = &self.sound.result;
        let evidence = result.evidence().iter().filter_map(Value::as_object);
        let commands: Vec<String> = evidence
            .filter_map(|item| doc::Evidence::COMMAND.get(item).map(str::to_owned))
            .collect();
        let claims = result.verification() == Some("pass") && !commands.is_empty();
        let gated = Gated {
            observed: self,
            files,
        };
        if claims && policy::wants_replay(&context.inputs.config) {
            Ok((Step::Replaying(gated), Want::Replay(commands)))
        } else {
            gated.clear(context, None)
        }
    }

    /// A turn that asks to leave a phase must have changed one of the files that keep its gate
    /// shut. In the planning phase only the request is dropped.
    fn check_gate_coverage(
        &mut self,
        context: &Context,
        files: &BTreeMap<String, String>,
    ) -> Result<(), Failure> {
        let result = &mut self.sound.result;
        if result.status() != TurnStatusClaim::Completed {
            return Ok(());
        }
        let (config, phase) = (&context.inputs.config, context.inputs.state.phase());
        let view = View {
            config,
            phase,
            verification: result.verification(),
            files,
            index: &context.inputs.index,
            asking_role: Some(context.turn.role()),
        };
        let PhaseExit::Failed { gate, failures } =
            gate::evaluate_phase_exit(result.phase_request(), &view)
        else {
            return Ok(());
        };
        let touched = |file: &String| self.changed.iter().any(|path| path.as_str() == file);
        if failures.files.is_empty() || failures.files.iter().any(touched) {
            return Ok(());
        }
        let gate = gate.unwrap_or_default();
        let files = failures.files.join(", ");
        let message = format!("the gate {gate} fails on {files}, which the turn did not touch");
        if phase == "planning" {
            result.strip_phase_request();
            let warning = format!("{message}; its request to leave was dropped");
            self.sound.warnings.push(warning);
            return Ok(());
        }
        let mode = config.document().get("gate_semantic_coverage_mode");
        if mode.is_some_and(|mode| mode != "strict") {
            self.sound.warnings.push(message);
            return Ok(());
        }
        Err(Failure::new(Code::XchainGateSemanticCoverage, message)
            .with("files", array(&failures.files))
            .with("reasons", array(&failures.reasons)))
    }
}

impl Gated {
    /// The commands of the evidence ran again.
    pub(super) fn replayed(
        self,
        context: &mut Context,
        codes: &[Option<i64>],
    ) -> Result<Next, Refusal> {
        let evidence = self.observed.sound.result.evidence().iter().enumerate();
        let drifted: Vec<&str> = evidence
            .filter(|(index, item)| {
                let expected = doc::Evidence::EXPECTED_EXIT_CODE.raw(item);
                let expected = expected.or_else(|| doc::Evidence::EXIT_CODE.raw(item));
                let expected = expected.and_then(wire::integer_of).unwrap_or(0);
                codes.get(*index).copied().flatten() != Some(expected)
            })
            .map(|(_, item)| doc::Evidence::COMMAND.get(item).unwrap_or_default())
            .collect();
        if !drifted.is_empty() {
            let message = format!("{} did not end as declared", drifted.join(", "));
            let failure = Failure::new(Code::XchainVerificationReplayDrift, message);
            return Err(failure.with("commands", array(&drifted)).into());
        }
        let replay = build([
            ("replayed_at", context.now.to_string().into()),
            ("commands", codes.len().into()),
            ("outcome", "match".into()),
        ]);
        self.clear(context, Some(replay))
    }

    /// Checks policies and conflicts, then asks the last hooks before the commit.
    fn clear(mut self, context: &mut Context, replay: Option<Object>) -> Result<Next, Refusal> {
        let warnings = self.check_policies(context, replay.is_some())?;
        let Self { observed, files } = self;
        let Observed {
            mut sound,
            observation,
            changed,
        } = observed;
        sound.warnings.extend(warnings);
        let inputs = &context.inputs;
        let phase = inputs.state.phase();
        let overlap = conflict::detect(
            &context.turn,
            phase,
            &changed,
            &inputs.index,
            &inputs.config,
        );
        if let Some(conflict) = overlap
            .conflict
            .as_ref()
            .filter(|_| !context.options.human_merge)
        {
            return Err(Refusal::Conflict(conflict.clone()));
        }
        let document = Value::Object(sound.result.document().clone());
        let names: Vec<String> = changed.iter().map(ToString::to_string).collect();
        let conflicts = overlap.conflict.is_some();
        let payload = hooks::before_acceptance(&context.turn, &document, &names, conflicts);
        let cleared = Cleared {
            sound,
            observation,
            changed,
            files,
            replay,
            overlap,
        };
        match context.hooks(HookPhase::BeforeAcceptance, payload) {
            Some(batch) => Ok((Step::BeforeAcceptance(cleared), Want::Hooks(batch))),
            None => cleared.observe_again(context),
        }
    }

    fn check_policies(
        &mut self,
        context: &Context,
        replayed: bool,
    ) -> Result<Vec<String>, Refusal> {
        let result = &self.observed.sound.result;
        let verification = if replayed {
            "pass"
        } else {
            result.normalized_verification(context.runtime())
        };
        let candidate = policy::Candidate {
            result,
            role: context.turn.role(),
            phase: context.inputs.state.phase(),
            verification,
            index: &context.inputs.index,
        };
        let broken = policy::violations(&context.inputs.config, &candidate);
        let of = |action| {
            broken
                .iter()
                .find(move |violation| violation.action == action)
        };
        if let Some(violation) = of(PolicyAction::Block) {
            return Err(policy::refusal(violation).into());
        }
        if let Some(violation) = of(PolicyAction::Escalate) {
            return Err(Refusal::Policy(violation.clone()));
        }
        let warning = |violation: &policy::Violation| {
            format!("policy {}: {}", violation.id, violation.message)
        };
        Ok(broken.iter().map(warning).collect())
    }
}

impl Cleared {
    pub(super) fn after_hooks(
        self,
        context: &mut Context,
        report: &HookReport,
    ) -> Result<Next, Refusal> {
        check_hooks(report)?;
        self.observe_again(context)
    }

    /// Nothing may have changed meanwhile. Without version control that cannot be checked.
    fn observe_again(self, context: &mut Context) -> Result<Next, Refusal> {
        if self.observation.is_git() {
            let want = self.sound.ask_changes(context);
            Ok((Step::ObservingAgain(self), want))
        } else {
            self.read_gate_again(context)
        }
    }

    pub(super) fn observed_again(
        self,
        context: &mut Context,
        seen: &Observation,
    ) -> Result<Next, Refusal> {
        let files = self.observation.drift(seen);
        if files.is_empty() {
            return self.read_gate_again(context);
        }
        let message = format!("{} changed meanwhile", files.join(", "));
        let failure = Failure::new(Code::XchainAcceptanceDrift, message);
        Err(failure.with("files", array(&files)).into())
    }

    fn read_gate_again(self, context: &mut Context) -> Result<Next, Refusal> {
        let files = self.sound.gate_files(context);
        if files.is_empty() {
            self.commit(context)
        } else {
            Ok((Step::GateFilesAgain(self), Want::Files(files)))
        }
    }

    pub(super) fn gated_again(
        mut self,
        context: &mut Context,
        files: BTreeMap<String, String>,
    ) -> Result<Next, Refusal> {
        self.files = files;
        self.commit(context)
    }

    fn commit(self, context: &mut Context) -> Result<Next, Refusal> {
        let (commit, accepted) = self.build(context)?;
        Ok((
            Step::Committing(Box::new(accepted)),
            Want::Commit(Box::new(commit)),
        ))
    }
}

impl Accepted {
    /// The commit is on disk.
    pub(super) fn committed(self: Box<Self>, context: &Context) -> Next {
        // The turn's own line is the last one now.
        let index = context.inputs.index.length().saturating_sub(1);
        let payload =
            hooks::after_acceptance(&context.turn, &self.state, &self.history_entry, index);
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
        report: &HookReport,
    ) -> Next {
        self.after_hooks = report.failure();
        let before = self.state.clone();
        let goes_on = matches!(before.status(), Status::Active | Status::Paused);
        let stopped = if goes_on {
            run::stopped_by_hook(&before, report, &mut context.ids, context.now)
        } else {
            None
        };
        let Some(change) = stopped.and_then(|stopped| stopped.record) else {
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

fn check_hooks(report: &HookReport) -> Result<(), Refusal> {
    match report.failure() {
        None => Ok(()),
        Some(failure) => Err(Refusal::Hook {
            failure,
            phase: report.phase,
            hook: report.stopper().unwrap_or_default().to_owned(),
        }),
    }
}
