//! Gates: what must hold before a phase or the run may end.

/// A gate.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Gate {
    /// Its id.
    pub id: String,
    /// Files that must be there, each path in its one spelling.
    pub requires_files: Vec<String>,
    /// Whether the result that asks must have passed its verification.
    pub requires_verification_pass: bool,
    /// Whether a person must approve.
    pub requires_human_approval: bool,
    /// Whether it touches credentials, so that only a person may approve.
    pub credentialed: bool,
    /// What is run when a person approves.
    pub actions: Vec<GateAction>,
}

/// A command that an approval runs.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct GateAction {
    /// The command, for a shell.
    pub run: String,
    /// What people call it.
    pub label: Option<String>,
    /// How long it may take.
    pub timeout_ms: u64,
}

/// How long a gate action may take when nothing is said.
pub(super) const DEFAULT_ACTION_TIMEOUT_MS: u64 = 900_000;
