//! Gates: conditions for the end of a phase or of the run.

#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Gate {
    pub id: String,
    /// Files that must exist, as normalized paths.
    pub requires_files: Vec<String>,
    /// Whether the verification of the requesting result must have passed.
    pub requires_verification_pass: bool,
    /// Whether a person must approve.
    pub requires_human_approval: bool,
    /// Whether it involves credentials, so that only a person may approve it.
    pub credentialed: bool,
    /// The commands that an approval runs.
    pub actions: Vec<GateAction>,
}

/// A command that an approval runs.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct GateAction {
    /// The shell command.
    pub run: String,
    /// Its name for people.
    pub label: Option<String>,
    pub timeout_ms: u64,
}

/// The default timeout of a gate action.
pub(super) const DEFAULT_ACTION_TIMEOUT_MS: u64 = 900_000;
