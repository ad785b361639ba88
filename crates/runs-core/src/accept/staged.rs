//! Steps from the staged result to its validation.

use accord_contract::{Code, Failure, Value};

use super::refuse::check_hooks;
use super::validated::Valid;
use super::{Context, Outcome, StagedFile, Step, Want};
use crate::result::{self, Rewrite, Situation, TurnResult};
use crate::{HookPhase, HookReport, RepoPath, Result, dispatch, doc, hooks, rule};

/// The staged result was read, or could not be.
#[derive(Clone, Debug)]
pub(super) struct Staged {
    result: Result<Value, String>,
    /// Whether it was staged at the path from when a run had one turn at a time.
    at_flat_path: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Judged {
    result: Value,
    rewrites: Vec<Rewrite>,
    failure: Option<Failure>,
    warnings: Vec<String>,
    at_flat_path: bool,
}

pub(super) fn ask_staging(context: &Context) -> Want {
    Want::Staging(vec![
        // The turn's own path comes first. The flat path is the older one of the reference runner.
        dispatch::staging_path(context.turn.id()),
        dispatch::FLAT_STAGING_PATH.to_owned(),
    ])
}

impl Staged {
    /// The result is read for the first time; hooks may still change it.
    pub(super) fn read(context: &Context, staged: Option<StagedFile>) -> Outcome {
        let (staged, path) = Self::parse(context, staged)?;
        // The hooks also run for a result that cannot be read, because they may correct it.
        let result = staged.result.as_ref().map_err(String::as_str);
        let payload = hooks::before_validation(&context.turn, &path, result);
        match context.hooks(HookPhase::BeforeValidation, payload) {
            Some(batch) => Ok((Step::BeforeValidation(staged), Want::Hooks(batch))),
            None => staged.judge(context, false),
        }
    }

    /// The hooks ran; one of them may have corrected the result.
    pub(super) fn after_hooks(self, context: &Context, report: &HookReport) -> Outcome {
        check_hooks(report)?;
        Ok((Step::ReadingAgain(self), ask_staging(context)))
    }

    pub(super) fn read_again(self, context: &Context, staged: Option<StagedFile>) -> Outcome {
        let (staged, _) = Self::parse(context, staged)?;
        // People must see that the accepted words are not only those of the worker.
        let is_changed = staged.result != self.result;
        staged.judge(context, is_changed)
    }

    fn parse(context: &Context, staged: Option<StagedFile>) -> Result<(Self, String)> {
        let (path, result) = match staged {
            None => {
                let path = dispatch::staging_path(context.turn.id());
                let missing = format!("there is no staged result at {path}");
                (path, Err(missing))
            }
            Some((path, bytes)) => (path, result::read_staged(&bytes)),
        };
        let at_flat_path = path == dispatch::FLAT_STAGING_PATH;
        // Only the flat path is shared between turns. A wrong id at the turn's own path is an error
        // of the validation.
        let claimed = result.as_ref().ok().and_then(|value| doc::Result::TURN_ID.get(value));
        let own = context.turn.id().as_str();
        if let Some(claimed) = claimed.filter(|id| at_flat_path && *id != own) {
            let message = format!("{path} contains the result of {claimed}");
            return Err(Failure::new(Code::XchainStaleStaging, message));
        }
        let staged = Self { result, at_flat_path };
        Ok((staged, path))
    }

    /// Clauses: AX-HS-VALIDATED.
    fn judge(self, context: &Context, is_changed_by_hook: bool) -> Outcome {
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
        // These hooks also see invalid results; their payload has the errors. The refusal follows
        // in `pass`.
        match context.hooks(HookPhase::AfterValidation, payload) {
            Some(batch) => Ok((Step::AfterValidation(judged), Want::Hooks(batch))),
            None => judged.pass(context),
        }
    }
}

impl Judged {
    pub(super) fn after_hooks(self, context: &Context, report: &HookReport) -> Outcome {
        check_hooks(report)?;
        self.pass(context)
    }

    fn pass(self, context: &Context) -> Outcome {
        if let Some(failure) = rule!(self.failure; UnsoundAccepted => None) {
            return Err(failure.into());
        }
        let invalid = || Failure::new(Code::XchainValidationFailed, "the result is not an object");
        let result = TurnResult::new(self.result).ok_or_else(invalid)?;
        let mut valid = Valid {
            result,
            rewrites: self.rewrites,
            warnings: self.warnings,
            at_flat_path: self.at_flat_path,
        };
        // This is a check of the acceptance. The protocol's validation never looks up an overridden
        // decision.
        valid.check_decisions(context)?;
        // A file that existed when the turn was assigned, or that belongs to the run, is kept.
        let dirty = context.turn.baseline().map_or_else(Vec::new, |baseline| baseline.dirty);
        let existed = |path: &RepoPath| dirty.iter().any(|(known, _)| known == path.as_str());
        let mut outputs = valid.result.ignored_outputs();
        outputs.retain(|path| !existed(path) && !path.is_reserved());
        if outputs.is_empty() {
            Ok(valid.observe(context))
        } else {
            Ok((Step::Cleaning(valid), Want::Clean(outputs)))
        }
    }
}
