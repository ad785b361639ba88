//! What a person is shown before they answer: the question, its props and its contract.
//!
//! An agent can change the props of a session at any time. So an answer can carry the digest of
//! what its sender was shown, and the record of a decision has the digest and the text.

use accord_base::evidence::{EvidenceDigest, ExpectedDigest};
use accord_canon::sha256;
use accord_contract::{Code, Failure, Object, Value};

use super::Content;
use crate::{refuse, schema::written};

/// The digest of what the sender of an action was shown.
pub(crate) const EXPECT: &str = "x-expect";

/// The most characters of a question that a record keeps.
const KEPT_CHARS: usize = 16 * 1024;

impl Content {
    /// The digest of what the session shows: UI and props. The hash of its code stands for the
    /// code.
    pub fn shown(&self) -> EvidenceDigest {
        self.answered(&Value::Null)
    }

    /// The digest of what the session shows, and of the answer to it.
    pub(super) fn answered(&self, payload: &Value) -> EvidenceDigest {
        let mut ui = self.ui.clone();
        ui.shift_remove("componentCode");
        let parts = Value::from(vec![ui.into(), self.props.clone().into(), payload.clone()]);
        sha256(parts.to_string().as_bytes()).into()
    }

    /// What the session asks, as text: its prompt, and each prop.
    pub(super) fn question(&self) -> String {
        let prompt = self.ui.get("prompt").and_then(Value::as_str).map(str::to_owned);
        let props = self.props.iter().flatten();
        let props = props.map(|(name, value)| format!("{name}: {}", written(value)));
        let lines: Vec<String> = prompt.into_iter().chain(props).collect();
        lines.join("\n").chars().take(KEPT_CHARS).collect()
    }

    /// Checks that the sender of an action was shown what the session shows now. Fails with
    /// `evidence_changed`.
    pub(super) fn check_expected(&self, envelope: &Object) -> Result<(), Failure> {
        let Some(expected) = envelope.get(EXPECT) else { return Ok(()) };
        let expected = expected.as_str().unwrap_or_default();
        let expected = ExpectedDigest::parse(expected)
            .map_err(|message| refuse::invalid_message(message).with("field", EXPECT))?;
        let shown = self.shown();
        if expected.is(shown.as_str()) {
            return Ok(());
        }
        let message = "the agent changed the question after it was shown; nothing was recorded";
        Err(Failure::new(Code::XchainEvidenceChanged, message)
            .with("evidence_digest", shown.as_str())
            .with("expected_digest", expected.as_str())
            .suggesting("read the question again, on its page or with `accord live answer`"))
    }
}
