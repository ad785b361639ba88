//! A result that passed, as types.

use accord_contract::wire::{Object, Value};
use accord_contract::wire_enum;

use crate::RepoPath;
use crate::config::RuntimeType;
use crate::doc;
use crate::history::cost_usd;

wire_enum! {
    /// What a result says about its turn.
    pub enum TurnStatusClaim("TurnResultStatus", closed) {
        /// It did what it was to do.
        Completed = "completed",
        /// It cannot go on.
        Blocked = "blocked",
        /// A person must decide.
        NeedsHuman = "needs_human",
        /// It failed.
        Failed = "failed",
    }
}

wire_enum! {
    /// What a result says about its verification.
    pub enum Verification("VerificationStatus", closed) {
        /// It holds.
        Pass = "pass",
        /// It does not.
        Fail = "fail",
        /// It was not checked.
        Skipped = "skipped",
    }
}

/// A result that passed all stages, or at least is an object.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnResult {
    document: Object,
}

impl TurnResult {
    /// A result; `None` when it is no object.
    pub fn new(document: Value) -> Option<Self> {
        match document {
            Value::Object(document) => Some(Self { document }),
            _ => None,
        }
    }

    /// The document.
    pub fn document(&self) -> &Object {
        &self.document
    }

    /// What it says about the turn; a result that says nothing sound failed.
    pub fn status(&self) -> TurnStatusClaim {
        let status = doc::Result::STATUS
            .get(&self.document)
            .and_then(TurnStatusClaim::parse);
        status.unwrap_or(TurnStatusClaim::Failed)
    }

    /// What it says about its verification, as it says it.
    pub fn verification(&self) -> Option<&str> {
        doc::Verification::STATUS.get(doc::Result::VERIFICATION.get(&self.document)?)
    }

    /// What its verification is worth, given who carried the turn out.
    pub fn normalized_verification(&self, runtime: Option<RuntimeType>) -> &'static str {
        match self.verification().and_then(Verification::parse) {
            Some(Verification::Fail) => "fail",
            None | Some(Verification::Skipped) => "skipped",
            Some(Verification::Pass) => {
                if runtime.is_some_and(RuntimeType::only_attests) {
                    return "attested_pass";
                }
                let evidence = self.evidence();
                let zero = |item: &Value| doc::Evidence::EXIT_CODE.get(item) == Some(0);
                if !evidence.is_empty() && evidence.iter().all(zero) {
                    "pass"
                } else {
                    "not_reproducible"
                }
            }
        }
    }

    /// The commands that it ran, with how they ended.
    pub fn evidence(&self) -> &[Value] {
        let verification = doc::Result::VERIFICATION.get(&self.document);
        verification.map_or(&[], |verification| {
            doc::Verification::MACHINE_EVIDENCE.get(verification)
        })
    }

    /// Whether it names a check that it ran.
    pub fn ran_checks(&self) -> bool {
        let says = |text: &str| !text.trim().is_empty();
        let verification = doc::Result::VERIFICATION.get(&self.document);
        let named = verification.is_some_and(|verification| {
            let commands = doc::Verification::COMMANDS.get(verification);
            commands.iter().any(|command| says(command))
        });
        let proven = |item: &Value| {
            let command = doc::Evidence::COMMAND.get(item);
            command.is_some_and(says)
        };
        named || self.evidence().iter().any(proven)
    }

    /// The files that it says it changed, as paths; others are ignored.
    pub fn files_changed(&self) -> Vec<RepoPath> {
        let files = doc::Result::FILES_CHANGED.get(&self.document);
        files
            .iter()
            .filter_map(|file| RepoPath::parse(file).ok())
            .collect()
    }

    /// Every file that it says it changed, or proposes to change.
    pub fn named_files(&self) -> Vec<RepoPath> {
        let proposed = doc::Result::PROPOSED_CHANGES.get(&self.document);
        let proposed = proposed
            .iter()
            .filter_map(|change| RepoPath::parse(doc::Proposed::PATH.get(change)?).ok());
        self.files_changed().into_iter().chain(proposed).collect()
    }

    /// The files that it proposes to delete, or those that it proposes to write.
    pub(crate) fn proposed(&self, deleted: bool) -> Vec<RepoPath> {
        let changes = doc::Result::PROPOSED_CHANGES.get(&self.document).iter();
        let changes = changes.filter(|change| {
            let action = doc::Proposed::ACTION.get(change);
            (action == Some("delete")) == deleted
        });
        changes
            .filter_map(|change| RepoPath::parse(doc::Proposed::PATH.get(change)?).ok())
            .collect()
    }

    /// Files that its verification left behind and that are to be deleted.
    pub fn ignored_outputs(&self) -> Vec<RepoPath> {
        self.produced("ignore")
    }

    /// Files that its verification produced and that belong to its work.
    pub fn produced_artifacts(&self) -> Vec<RepoPath> {
        self.produced("artifact")
    }

    fn produced(&self, disposition: &str) -> Vec<RepoPath> {
        let Some(verification) = doc::Result::VERIFICATION.get(&self.document) else {
            return Vec::new();
        };
        let files = doc::Verification::PRODUCED_FILES.objects(verification);
        files
            .filter(|file| {
                doc::ProducedFile::DISPOSITION
                    .get(file)
                    .unwrap_or("artifact")
                    == disposition
            })
            .filter_map(|file| RepoPath::parse(doc::ProducedFile::PATH.get(file)?).ok())
            .collect()
    }

    /// Its decisions.
    pub fn decisions(&self) -> impl Iterator<Item = &Object> {
        doc::Result::DECISIONS.objects(&self.document)
    }

    /// Its objections.
    pub fn objections(&self) -> &[Value] {
        doc::Result::OBJECTIONS.get(&self.document)
    }

    /// What kind of work it claims.
    pub fn artifact_type(&self) -> Option<&str> {
        doc::Artifact::TYPE.get(doc::Result::ARTIFACT.get(&self.document)?)
    }

    /// The phase that it wants to go to.
    pub fn phase_request(&self) -> Option<&str> {
        doc::Result::PHASE_TRANSITION_REQUEST.filled(&self.document)
    }

    /// Whether it wants the run to end.
    pub fn wants_completion(&self) -> bool {
        doc::Result::RUN_COMPLETION_REQUEST.get(&self.document)
    }

    /// The role that it proposes for the next turn.
    pub fn proposed_next_role(&self) -> Option<&str> {
        doc::Result::PROPOSED_NEXT_ROLE.get(&self.document)
    }

    /// Why a person must decide.
    pub fn needs_human_reason(&self) -> Option<&str> {
        doc::Result::NEEDS_HUMAN_REASON.filled(&self.document)
    }

    /// What it did, in a sentence.
    pub fn summary(&self) -> &str {
        doc::Result::SUMMARY.get(&self.document).unwrap_or_default()
    }

    /// What it cost, in dollars.
    pub fn cost_usd(&self) -> f64 {
        cost_usd(&self.document)
    }

    /// Drops its request to leave the phase.
    pub(crate) fn strip_phase_request(&mut self) {
        doc::Result::PHASE_TRANSITION_REQUEST.set(&mut self.document, Value::Null);
    }
}
