//! Steps before the commit: nothing may have changed since the checks.

use accord_contract::{Code, Failure, Object};

use super::refuse::check_hooks;
use super::validated::Valid;
use super::{Context, Observation, Outcome, Step, Texts, Want};
use crate::conflict::Overlap;
use crate::{HookReport, RepoPath, array, name_files};

/// Policies are kept, and conflicts are absent or merged.
#[derive(Clone, Debug)]
pub(super) struct Cleared {
    pub(super) valid: Valid,
    pub(super) observation: Observation,
    pub(super) changed: Vec<RepoPath>,
    pub(super) files: Texts,
    /// The record of the replayed evidence, where a policy requires one.
    pub(super) replay: Option<Object>,
    pub(super) overlap: Overlap,
}

impl Cleared {
    pub(super) fn after_hooks(self, context: &mut Context, report: &HookReport) -> Outcome {
        check_hooks(report)?;
        self.observe_again(context)
    }

    /// Nothing may have changed meanwhile. Without version control that cannot be checked.
    pub(super) fn observe_again(self, context: &mut Context) -> Outcome {
        // The hooks and the replayed commands could write files after the first observation.
        if self.observation.is_git() {
            let want = self.valid.ask_changes(context);
            Ok((Step::ObservingAgain(self), want))
        } else {
            self.read_gate_again(context)
        }
    }

    pub(super) fn observed_again(self, context: &mut Context, seen: &Observation) -> Outcome {
        let files = self.observation.drift(seen);
        if files.is_empty() {
            return self.read_gate_again(context);
        }
        let message = format!("{} changed during the acceptance", name_files(&files));
        let failure = Failure::new(Code::XchainAcceptanceDrift, message);
        Err(failure.with("files", array(&files)).into())
    }

    // The gate decides on the content at the commit. Without version control this is the only check
    // of changes made in the meantime.
    fn read_gate_again(self, context: &mut Context) -> Outcome {
        let files = self.valid.gate_files(context);
        if files.is_empty() {
            self.commit(context)
        } else {
            Ok((Step::GateFilesAgain(self), Want::Files(files)))
        }
    }

    pub(super) fn gated_again(mut self, context: &mut Context, files: Texts) -> Outcome {
        self.files = files;
        self.commit(context)
    }

    fn commit(self, context: &mut Context) -> Outcome {
        let (commit, accepted) = self.build(context)?;
        Ok((Step::Committing(Box::new(accepted)), Want::Commit(Box::new(commit))))
    }
}
