//! What a person decides about: the task file, the recorded result, the files in `outputs/`, and
//! declared files that are missing. The task file has what Accord observed. The digest is the
//! SHA-256 of a list in canonical JSON (RFC 8785). Equal facts have equal digests.

use accord_base::evidence::{EvidenceDigest, ExpectedDigest, LastDecision};
use accord_canon::{Profile, canonicalize, sha256};
use accord_contract::{Code, Failure};
use serde_json::json;

use crate::Status;
use crate::task::Task;

/// The version of the list. Another list has another version.
const FORMAT: &str = "accord-task-evidence/3";

/// A file in `outputs/`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Output {
    /// Its path, within the task's folder.
    pub path: String,
    pub bytes: u64,
    /// The SHA-256 of its content; `None` if it is too large to be read.
    pub sha256: Option<String>,
    pub is_executable: bool,
}

/// The digest of a task file, the recorded result and the outputs, in the order of their paths.
/// `others` are what is no file, each with its kind. `marks` change with what is not read.
pub fn digest(
    (task, result): (&str, Option<&str>),
    outputs: &[Output],
    others: &[String],
    marks: &[String],
    missing: &[String],
) -> EvidenceDigest {
    let hex = |text: &str| sha256(text.as_bytes()).hex();
    let of_output = |output: &Output| {
        let mut item = vec![json!(output.path), json!(output.bytes), json!(output.sha256)];
        item.extend(output.is_executable.then(|| json!("executable")));
        item
    };
    let outputs: Vec<_> = outputs.iter().map(of_output).collect();
    let mut list = json!({
        "format": FORMAT,
        "task": hex(task),
        "result": result.map(hex),
        "outputs": outputs,
        "others": others,
        "missing": missing,
    });
    if !marks.is_empty() {
        list["marks"] = json!(marks);
    }
    let text = list.to_string();
    // Only a size past 2^53 cannot be written as canonical JSON.
    let bytes = canonicalize(Profile::Jcs, text.as_bytes()).unwrap_or_else(|_| text.into_bytes());
    sha256(&bytes).into()
}

/// The digest of evidence with an edit that a person is asked to take over.
pub fn with_edit(evidence: &EvidenceDigest, edit: &str) -> EvidenceDigest {
    sha256(format!("{evidence}\n{edit}").as_bytes()).into()
}

/// The digest of the outputs alone, and of what is no file. The approval of a task has it, so that
/// a later change is noticed.
pub fn outputs_digest(outputs: &[Output], others: &[String]) -> String {
    digest(("", None), outputs, others, &[], &[]).to_string()
}

/// The member of an approval with the digest of the outputs.
pub const OUTPUTS: &str = "outputs";

/// The digest of the outputs that a person approved, if the task is done.
pub fn approved_outputs(task: &Task) -> Option<&str> {
    let approval = task.metadata("approval").filter(|_| task.status == Status::Done);
    approval?.get(OUTPUTS)?.as_str()
}

/// Checks that a decision is about what a person saw: a digest, or at least 32 digits of one. Takes
/// the evidence now, whether the task waits for the decision, and the last decision.
pub fn check(
    (digest, waits): (&EvidenceDigest, bool),
    expected: Option<&str>,
    last: Option<&LastDecision>,
) -> Result<(), Failure> {
    let Some(expected) = expected else { return Ok(()) };
    let expected = ExpectedDigest::parse(expected)
        .map_err(|why| Failure::new(Code::WireFieldValue, why).at("/expect"))?;
    expected.check(Some((digest, waits)), last, "`accord task show`")
}
