//! What a person decides about, as one digest: the task file, the recorded result and the files
//! in `outputs/`.
//!
//! The digest is the SHA-256 of a list in canonical JSON (RFC 8785). Equal facts have equal
//! digests.

use std::fmt;

use accord_canon::{Profile, canonicalize, sha256};
use accord_contract::codes::{Code, Failure};
use serde_json::json;

/// The version of the list. Another list has another version.
const FORMAT: &str = "accord-task-evidence/1";
/// The shortest beginning of a digest that identifies it.
const SHORTEST: usize = 12;

/// A file in `outputs/`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Output {
    /// Its path, within the task's folder.
    pub path: String,
    /// Its size.
    pub bytes: u64,
    /// The SHA-256 of its content; `None` if it is too large to be read.
    pub sha256: Option<String>,
}

/// The digest of evidence: 64 hexadecimal digits.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct EvidenceDigest(String);

impl EvidenceDigest {
    /// The digest of a task file, the recorded result and the outputs, in the order of their paths.
    pub fn of(task: &str, result: Option<&str>, outputs: &[Output]) -> Self {
        let hex = |text: &str| sha256(text.as_bytes()).hex();
        let outputs: Vec<_> = outputs
            .iter()
            .map(|output| json!([output.path, output.bytes, output.sha256]))
            .collect();
        let list = json!({
            "format": FORMAT,
            "task": hex(task),
            "result": result.map(hex),
            "outputs": outputs,
        });
        let text = list.to_string();
        // Only a size past 2^53 cannot be written as canonical JSON.
        let bytes =
            canonicalize(Profile::Jcs, text.as_bytes()).unwrap_or_else(|_| text.into_bytes());
        Self(sha256(&bytes).hex())
    }

    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Checks that this is the evidence that a person saw: a digest or its beginning.
    ///
    /// # Errors
    /// `evidence_changed`; `field_value` for a text that is no digest.
    pub fn check(&self, expected: Option<&str>) -> Result<(), Failure> {
        let Some(expected) = expected else { return Ok(()) };
        let digits = expected.to_ascii_lowercase();
        let is_digest = (SHORTEST..=self.0.len()).contains(&digits.len())
            && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        if !is_digest {
            let message = format!("{expected:?} is not a digest: give 12 to 64 of its digits");
            return Err(Failure::new(Code::WireFieldValue, message).at("/expect"));
        }
        if self.0.starts_with(&digits) {
            return Ok(());
        }
        let message = format!("the task changed: its evidence is {}, not {expected}", self.0);
        Err(Failure::new(Code::XchainEvidenceChanged, message)
            .with("expected", expected)
            .with("evidence", self.0.as_str()))
    }
}

impl fmt::Display for EvidenceDigest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}
