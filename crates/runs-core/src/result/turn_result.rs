//! A valid result as a type.

use accord_contract::{Object, Value, wire_enum};

use crate::history::cost_usd;
use crate::{RepoPath, RuntimeType, doc};

wire_enum! {
    pub enum TurnStatusClaim("TurnResultStatus", closed) {
        Completed = "completed",
        /// The work cannot continue.
        Blocked = "blocked",
        NeedsHuman = "needs_human",
        Failed = "failed",
    }

    pub enum Verification("VerificationStatus", closed) {
        Pass = "pass",
        Fail = "fail",
        Skipped = "skipped",
    }
}

/// A result that passed all stages. It is at least an object.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnResult {
    document: Object,
    /// The phase of a request that was dropped.
    dropped_request: Option<String>,
}

impl TurnResult {
    /// Wraps a document; `None` when it is not an object.
    pub fn new(document: Value) -> Option<Self> {
        let Value::Object(document) = document else { return None };
        Some(Self { document, dropped_request: None })
    }

    /// The result as it was validated.
    pub fn document(&self) -> &Object {
        &self.document
    }

    /// The claimed status. An invalid status counts as failed.
    pub fn status(&self) -> TurnStatusClaim {
        let status = doc::Result::STATUS.get(&self.document).and_then(TurnStatusClaim::parse);
        // A status that is not known must not count as success.
        status.unwrap_or(TurnStatusClaim::Failed)
    }

    /// The claimed status of the verification, as written.
    pub fn verification(&self) -> Option<&str> {
        doc::Verification::STATUS.get(doc::Result::VERIFICATION.get(&self.document)?)
    }

    /// The status of the verification, given how trustworthy the runtime is.
    pub(crate) fn normalized_verification(&self, runtime: Option<RuntimeType>) -> &'static str {
        match self.verification().and_then(Verification::parse) {
            Some(Verification::Fail) => "fail",
            None | Some(Verification::Skipped) => "skipped",
            Some(Verification::Pass) => {
                if runtime.is_some_and(RuntimeType::only_attests) {
                    return "attested_pass";
                }
                let evidence = self.evidence();
                // The expected exit code does not matter here: the protocol asks for zero.
                let zero = |item: &Value| doc::Evidence::EXIT_CODE.get(item) == Some(0);
                let reproduced = !evidence.is_empty() && evidence.iter().all(zero);
                if reproduced { "pass" } else { "not_reproducible" }
            }
        }
    }

    /// The commands of the verification, with their exit codes.
    pub fn evidence(&self) -> &[Value] {
        let verification = doc::Result::VERIFICATION.get(&self.document);
        verification.map_or(&[], |it| doc::Verification::MACHINE_EVIDENCE.get(it))
    }

    /// The files that it claims to have changed. Invalid paths are ignored.
    pub fn files_changed(&self) -> Vec<RepoPath> {
        let files = doc::Result::FILES_CHANGED.get(&self.document);
        files.iter().filter_map(|file| RepoPath::parse(file).ok()).collect()
    }

    /// Every file that it claims to have changed or proposes to change.
    pub(crate) fn named_files(&self) -> Vec<RepoPath> {
        self.files_changed().into_iter().chain(self.proposed(|_| true)).collect()
    }

    pub(crate) fn proposed_writes(&self) -> Vec<RepoPath> {
        self.proposed(|action| action != Some("delete"))
    }

    pub(crate) fn proposed_deletions(&self) -> Vec<RepoPath> {
        self.proposed(|action| action == Some("delete"))
    }

    fn proposed(&self, is_wanted: fn(Option<&str>) -> bool) -> Vec<RepoPath> {
        let changes = doc::Result::PROPOSED_CHANGES.get(&self.document).iter();
        let wanted = changes.filter(|change| is_wanted(doc::Proposed::ACTION.get(change)));
        wanted.filter_map(|change| RepoPath::parse(doc::Proposed::PATH.get(change)?).ok()).collect()
    }

    /// Files that its verification left behind, to be deleted.
    pub(crate) fn ignored_outputs(&self) -> Vec<RepoPath> {
        self.produced("ignore")
    }

    /// Files that its verification produced and that are part of the work.
    pub(crate) fn produced_artifacts(&self) -> Vec<RepoPath> {
        self.produced("artifact")
    }

    fn produced(&self, disposition: &str) -> Vec<RepoPath> {
        let verification = doc::Result::VERIFICATION.get(&self.document);
        let files = verification.map(|it| doc::Verification::PRODUCED_FILES.objects(it));
        let own = |file: &&Object| {
            doc::ProducedFile::DISPOSITION.get(file).unwrap_or("artifact") == disposition
        };
        let paths = files.into_iter().flatten().filter(own);
        paths.filter_map(|file| RepoPath::parse(doc::ProducedFile::PATH.get(file)?).ok()).collect()
    }

    /// Its decisions; other items are skipped.
    pub fn decisions(&self) -> impl Iterator<Item = &Object> {
        doc::Result::DECISIONS.objects(&self.document)
    }

    pub fn objections(&self) -> &[Value] {
        doc::Result::OBJECTIONS.get(&self.document)
    }

    pub fn artifact_type(&self) -> Option<&str> {
        doc::Artifact::TYPE.get(doc::Result::ARTIFACT.get(&self.document)?)
    }

    pub(crate) fn phase_request(&self) -> Option<&str> {
        doc::Result::PHASE_TRANSITION_REQUEST.filled(&self.document)
    }

    pub(crate) fn wants_completion(&self) -> bool {
        doc::Result::RUN_COMPLETION_REQUEST.get(&self.document)
    }

    pub fn proposed_next_role(&self) -> Option<&str> {
        doc::Result::PROPOSED_NEXT_ROLE.get(&self.document)
    }

    pub fn needs_human_reason(&self) -> Option<&str> {
        doc::Result::NEEDS_HUMAN_REASON.filled(&self.document)
    }

    pub fn summary(&self) -> &str {
        doc::Result::SUMMARY.get(&self.document).unwrap_or_default()
    }

    /// Its cost in dollars.
    pub(crate) fn cost_usd(&self) -> f64 {
        cost_usd(&self.document)
    }

    /// The phase that the turn requested in vain: the request was dropped.
    pub(crate) fn dropped_request(&self) -> Option<&str> {
        self.dropped_request.as_deref()
    }

    pub(crate) fn strip_phase_request(&mut self) {
        self.dropped_request = self.phase_request().map(str::to_owned);
        doc::Result::PHASE_TRANSITION_REQUEST.set(&mut self.document, Value::Null);
    }
}
