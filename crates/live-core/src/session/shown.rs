//! What a person is shown before they answer: the question, its props and its contract.
//!
//! An agent can change the props of a session at any time. So an answer can carry the digest of
//! what its sender was shown, and the record of a decision has the digest and the text. The session
//! of a question never changes what it shows, and the answer to it carries a digest of what was
//! asked, so that it counts for no other question.

use accord_base::evidence::{EvidenceDigest, ExpectedDigest};
use accord_canon::{CanonError, sha256};
use accord_contract::{Code, Failure, Object, Value};

use super::Content;
use crate::contract::{AnswerRules, digest};
use crate::{json::members, refuse, schema::written};

/// The digest of what the sender of an action was shown.
pub(crate) const EXPECT: &str = "x-expect";

/// The digest of what was asked when an action was taken. Only the server writes it.
pub(crate) const ASKED: &str = "x-asked";

/// The member of a UI that is a question, which stays as it was asked.
pub(crate) const QUESTION: &str = "x-question";

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

    /// The digest of what the session asks, if its contract has rules about answers.
    pub(super) fn asked(&self) -> Option<String> {
        let rules = AnswerRules::of_ui(&self.ui);
        let prompt = self.ui.get("prompt").and_then(Value::as_str).unwrap_or_default();
        let (actions, props) = (self.ui.get("actionSpec"), self.props.clone().unwrap_or_default());
        rules.decides().then(|| asked(prompt, actions, &props).ok()).flatten()
    }

    /// Checks that the session may change what it shows. Fails with `LIVE_ASK_CONFLICT`.
    pub(super) fn check_changeable(&self) -> Result<(), Failure> {
        if self.ui.get(QUESTION) != Some(&Value::Bool(true)) {
            return Ok(());
        }
        let message = "the session is a question of `ask_person`, which stays as it was asked";
        Err(Failure::new(Code::LiveAskConflict, message)
            .at("/sessionId")
            .suggesting("ask another question with `ask_person`"))
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

/// The digest of what a question asks: what its people are shown, and what they can do. Fails when
/// it is nested past the limit of canonical JSON.
pub(crate) fn asked(
    prompt: &str,
    actions: Option<&Value>,
    props: &Object,
) -> Result<String, CanonError> {
    let asked = members([
        ("prompt", prompt.into()),
        ("actionSpec", actions.cloned().unwrap_or_default()),
        ("props", Value::Object(props.clone())),
    ]);
    Ok(format!("sha256:{}", digest(&Value::Object(asked))?.hex()))
}
