//! Gates: conditions for the end of a phase or of the run.

#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    pub id: String,
    /// Files that must exist, as normalized paths.
    pub requires_files: Vec<String>,
    /// Whether the verification of the requesting result must have passed.
    pub requires_verification_pass: bool,
    pub requires_human_approval: bool,
    /// Whether it involves credentials, so that only a person may approve it.
    pub credentialed: bool,
    pub actions: Vec<GateAction>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct GateAction {
    /// The shell command.
    pub run: String,
    pub label: Option<String>,
    pub timeout_ms: u64,
}

pub(super) const DEFAULT_ACTION_TIMEOUT_MS: u64 = 900_000;
