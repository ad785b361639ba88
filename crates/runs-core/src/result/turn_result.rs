//! A result that passed, as types.

use accord_contract::wire::{self, Object, Value};
use accord_contract::wire_enum;

use crate::RepoPath;
use crate::config::RuntimeType;
use crate::history::cost_usd;
use crate::members::{self, filled, holds, list, text, texts};

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
        /// Nobody looked.
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
        let status = text(&self.document, "status").and_then(TurnStatusClaim::parse);
        status.unwrap_or(TurnStatusClaim::Failed)
    }

    /// What it says about its verification, as it says it.
    pub fn verification(&self) -> Option<&str> {
        text(members::object(&self.document, "verification")?, "status")
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
                let zero =
                    |item: &Value| item.get("exit_code").and_then(wire::integer_of) == Some(0);
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
        let verification = members::object(&self.document, "verification");
        verification.map_or(&[], |verification| list(verification, "machine_evidence"))
    }

    /// Whether it names a check that it ran.
    pub fn ran_checks(&self) -> bool {
        let says = |text: &str| !text.trim().is_empty();
        let verification = members::object(&self.document, "verification");
        let named = verification.is_some_and(|verification| {
            let commands = texts(verification, "commands");
            commands.iter().any(|command| says(command))
        });
        let proven = |item: &Value| {
            let command = item.get("command").and_then(Value::as_str);
            command.is_some_and(says)
        };
        named || self.evidence().iter().any(proven)
    }

    /// The files that it says it changed, as paths; those that are none are passed over.
    pub fn files_changed(&self) -> Vec<RepoPath> {
        let files = texts(&self.document, "files_changed");
        files
            .iter()
            .filter_map(|file| RepoPath::parse(file).ok())
            .collect()
    }

    /// Every file that it says it changed, or proposes to change.
    pub fn named_files(&self) -> Vec<RepoPath> {
        let proposed = list(&self.document, "proposed_changes");
        let proposed = proposed
            .iter()
            .filter_map(|change| RepoPath::parse(change.get("path")?.as_str()?).ok());
        self.files_changed().into_iter().chain(proposed).collect()
    }

    /// The files that it proposes to delete, or those that it proposes to write.
    pub(crate) fn proposed(&self, deleted: bool) -> Vec<RepoPath> {
        let changes = list(&self.document, "proposed_changes").iter();
        let changes = changes.filter(|change| {
            let action = change.get("action").and_then(Value::as_str);
            (action == Some("delete")) == deleted
        });
        changes
            .filter_map(|change| RepoPath::parse(change.get("path")?.as_str()?).ok())
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
        let Some(verification) = members::object(&self.document, "verification") else {
            return Vec::new();
        };
        let files = list(verification, "produced_files")
            .iter()
            .filter_map(Value::as_object);
        files
            .filter(|file| text(file, "disposition").unwrap_or("artifact") == disposition)
            .filter_map(|file| RepoPath::parse(text(file, "path")?).ok())
            .collect()
    }

    /// Its decisions.
    pub fn decisions(&self) -> impl Iterator<Item = &Object> {
        list(&self.document, "decisions")
            .iter()
            .filter_map(Value::as_object)
    }

    /// Its objections.
    pub fn objections(&self) -> &[Value] {
        list(&self.document, "objections")
    }

    /// What kind of work it claims.
    pub fn artifact_type(&self) -> Option<&str> {
        text(members::object(&self.document, "artifact")?, "type")
    }

    /// The phase that it wants to go to.
    pub fn phase_request(&self) -> Option<&str> {
        filled(&self.document, "phase_transition_request")
    }

    /// Whether it wants the run to end.
    pub fn wants_completion(&self) -> bool {
        holds(&self.document, "run_completion_request")
    }

    /// Whom it wants to go next.
    pub fn proposed_next_role(&self) -> Option<&str> {
        text(&self.document, "proposed_next_role")
    }

    /// Why a person must decide.
    pub fn needs_human_reason(&self) -> Option<&str> {
        filled(&self.document, "needs_human_reason")
    }

    /// What it did, in a sentence.
    pub fn summary(&self) -> &str {
        text(&self.document, "summary").unwrap_or_default()
    }

    /// What it cost, in dollars.
    pub fn cost_usd(&self) -> f64 {
        cost_usd(&self.document)
    }

    /// Drops its request to leave the phase.
    pub(crate) fn strip_phase_request(&mut self) {
        self.document
            .insert("phase_transition_request".into(), Value::Null);
    }
}
