//! Steps after the changes were observed: gate, replay of the evidence, policies, conflicts.

use accord_contract::text::counted;
use accord_contract::wire;
use accord_contract::{Code, Failure, Object, Value};

use super::cleared::Cleared;
use super::refuse::Refusal;
use super::validated::Valid;
use super::{Context, Inputs, Observation, Outcome, Step, Texts, Want};
use crate::config::PolicyAction;
use crate::gate::{self, PhaseExit, View};
use crate::result::TurnStatusClaim;
use crate::{HookPhase, RepoPath, Result, array, build, conflict, doc, hooks, name_files, policy};

/// The changes in the repository match the result.
#[derive(Clone, Debug)]
pub(super) struct Observed {
    pub(super) valid: Valid,
    pub(super) observation: Observation,
    pub(super) changed: Vec<RepoPath>,
}

/// The files of the gate were read.
#[derive(Clone, Debug)]
pub(super) struct Gated {
    observed: Observed,
    files: Texts,
}

/// The evidence was reproduced.
#[derive(Clone, Debug)]
pub(super) struct Replayed {
    gated: Gated,
    record: Object,
}

impl Replayed {
    /// Asks for the changes that the commands made. Without version control they are not known.
    pub(super) fn observe(self, context: &mut Context) -> Outcome {
        let observed = &self.gated.observed;
        if !observed.observation.is_git() {
            return self.gated.clear(context, Some(self.record));
        }
        let want = observed.valid.ask_changes(context);
        Ok((Step::ObservingReplay(self), want))
    }

    /// No file may have changed. Nothing else ran since the first observation, so the commands
    /// wrote what did.
    pub(super) fn observed(self, context: &mut Context, seen: &Observation) -> Outcome {
        let observed = &self.gated.observed;
        let files = observed.observation.drift(seen);
        let result = &observed.valid.result;
        let named = [result.files_changed(), result.produced_artifacts()].concat();
        let is_named = |file: &&String| named.iter().any(|path| path.as_str() == file.as_str());
        let unnamed: Vec<&String> = files.iter().filter(|file| !is_named(file)).collect();
        if !unnamed.is_empty() {
            let message = format!(
                "the declared checks, run again, wrote {} that the result does not name: {}",
                counted(unnamed.len() as u64, "file"),
                name_files(&unnamed)
            );
            let failure = Failure::new(Code::XchainUndeclaredVerificationOutputs, message);
            return Err(failure.with("files", array(&unnamed)).into());
        }
        if !files.is_empty() {
            let message = format!("the declared checks, run again, changed {}", name_files(&files));
            let failure = Failure::new(Code::XchainAcceptanceDrift, message);
            return Err(failure.with("files", array(&files)).into());
        }
        self.gated.clear(context, Some(self.record))
    }
}

impl Observed {
    /// The files of the gate were read. Runs the evidence again where a policy requires it.
    pub(super) fn gated(mut self, context: &mut Context, files: Texts) -> Outcome {
        self.check_gate_coverage(context, &files)?;
        let result = &self.valid.result;
        let evidence = result.evidence().iter().filter_map(Value::as_object);
        let command = |item| doc::Evidence::COMMAND.get(item).map(str::to_owned);
        let commands: Vec<String> = evidence.filter_map(command).collect();
        let claims = result.verification() == Some("pass") && !commands.is_empty();
        let gated = Gated { observed: self, files };
        if claims && policy::wants_replay(&context.inputs.config) {
            Ok((Step::Replaying(gated), Want::Replay(commands)))
        } else {
            gated.clear(context, None)
        }
    }

    /// A turn that requests the next phase must have changed one of the files on which the gate
    /// fails. In the planning phase the request is dropped instead of a refusal.
    fn check_gate_coverage(&mut self, context: &Context, files: &Texts) -> Result<()> {
        let result = &mut self.valid.result;
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
        // Only an unmet condition of the gate matters here. Unknown phases and missing requests are
        // handled at the commit.
        let PhaseExit::Failed { gate, failures } =
            gate::evaluate_phase_exit(result.phase_request(), &view)
        else {
            return Ok(());
        };
        let touched = |file: &String| self.changed.iter().any(|path| path.as_str() == file);
        // No change of files fixes a failure without files, such as a missing verification.
        if failures.files.is_empty() || failures.files.iter().any(touched) {
            return Ok(());
        }
        let gate = gate.unwrap_or_default();
        let files = failures.files.join(", ");
        let message = format!("the gate {gate} fails on {files}, which the turn did not touch");
        // The reference runner strips the request in this phase, and refuses the turn elsewhere.
        if phase == "planning" {
            result.strip_phase_request();
            self.valid.warnings.push(format!("{message}; its request to leave was dropped"));
            return Ok(());
        }
        let mode = config.document().get("gate_semantic_coverage_mode");
        // An absent mode is strict.
        if mode.is_some_and(|mode| mode != "strict") {
            self.valid.warnings.push(message);
            return Ok(());
        }
        Err(Failure::new(Code::XchainGateSemanticCoverage, message)
            .with("files", array(&failures.files))
            .with("reasons", array(&failures.reasons)))
    }
}

impl Gated {
    /// The commands of the evidence ran again.
    pub(super) fn replayed(self, context: &mut Context, codes: &[Option<i64>]) -> Outcome {
        // Validation requires a command in every item, so positions match those of the commands.
        let evidence = self.observed.valid.result.evidence().iter().enumerate();
        let drifted: Vec<&str> = evidence
            .filter(|(index, item)| {
                let expected = doc::Evidence::EXPECTED_EXIT_CODE
                    .raw(item)
                    .or_else(|| doc::Evidence::EXIT_CODE.raw(item))
                    .and_then(wire::integer_of)
                    .unwrap_or(0);
                // A command without an exit code was killed or did not start. That never matches.
                codes.get(*index).copied().flatten() != Some(expected)
            })
            .map(|(_, item)| doc::Evidence::COMMAND.get(item).unwrap_or_default())
            .collect();
        if !drifted.is_empty() {
            let message = format!("{} did not end as declared", drifted.join(", "));
            let failure = Failure::new(Code::XchainVerificationReplayDrift, message);
            return Err(failure.with("commands", array(&drifted)).into());
        }
        let record = build([
            ("replayed_at", context.now.to_string().into()),
            ("commands", codes.len().into()),
            ("exit_codes", codes.iter().map(|code| Value::from(*code)).collect()),
            ("outcome", "match".into()),
        ]);
        let outputs = self.observed.valid.result.ignored_outputs();
        let replayed = Replayed { gated: self, record };
        if outputs.is_empty() {
            replayed.observe(context)
        } else {
            // The commands wrote them again.
            Ok((Step::CleaningReplay(replayed), Want::Clean(outputs)))
        }
    }

    /// Checks policies and conflicts, then requests the last hooks before the commit.
    fn clear(self, context: &mut Context, replay: Option<Object>) -> Outcome {
        let warnings = self.check_policies(context, replay.is_some())?;
        let Self { observed, files } = self;
        let Observed { mut valid, observation, changed } = observed;
        valid.warnings.extend(warnings);
        let Inputs { config, state, index, .. } = &context.inputs;
        let overlap = conflict::detect(&context.turn, state.phase(), &changed, index, config);
        let merged = context.options.human_merge.is_some();
        if let Some(conflict) = overlap.conflict.as_ref().filter(|_| !merged) {
            return Err(Refusal::Conflict(conflict.clone()));
        }
        let document = Value::Object(valid.result.document().clone());
        let names: Vec<String> = changed.iter().map(ToString::to_string).collect();
        let conflicts = overlap.conflict.is_some();
        let payload = hooks::before_acceptance(&context.turn, &document, &names, conflicts);
        let cleared = Cleared { valid, observation, changed, files, replay, overlap };
        match context.hooks(HookPhase::BeforeAcceptance, payload) {
            Some(batch) => Ok((Step::BeforeAcceptance(cleared), Want::Hooks(batch))),
            None => cleared.observe_again(context),
        }
    }

    fn check_policies(&self, context: &Context, replayed: bool) -> Result<Vec<String>, Refusal> {
        let result = &self.observed.valid.result;
        // Evidence that was just reproduced counts more than what the runtime can attest.
        let attested = result.normalized_verification(context.runtime());
        let verification = if replayed { "pass" } else { attested };
        let candidate = policy::Candidate {
            result,
            role: context.turn.role(),
            phase: context.inputs.state.phase(),
            verification,
            index: &context.inputs.index,
            cost_usd: context.turn.cost_usd(result.cost_usd()),
        };
        let broken = policy::violations(&context.inputs.config, &candidate);
        let of = |action| broken.iter().find(move |violation| violation.action == action);
        // Both refuse the result, but only an escalation stops the run. A blocking policy wins.
        if let Some(violation) = of(PolicyAction::Block) {
            return Err(policy::refusal(violation).into());
        }
        if let Some(violation) = of(PolicyAction::Escalate) {
            return Err(Refusal::Policy(violation.clone()));
        }
        let warning = |it: &policy::Violation| format!("policy {}: {}", it.id, it.message);
        Ok(broken.iter().map(warning).collect())
    }
}
