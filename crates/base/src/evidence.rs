//! The digest of the evidence that a person decides about. Each protocol lists its own evidence; a
//! decision can require the digest that the person read.

use std::fmt;

use accord_contract::{Code, Failure};

/// The shortest beginning of a digest that identifies it.
const SHORTEST: usize = 32;
/// The number of digits of a digest.
const LENGTH: usize = 64;

/// The digest of evidence: 64 hexadecimal digits.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct EvidenceDigest(String);

/// A digest, or the beginning of one, that a person expects.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ExpectedDigest(String);

/// A decision that was taken, for a later one about the same thing.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LastDecision {
    /// Who decided, for example `human:lead`.
    pub by: String,
    /// What was decided, for example `approved`.
    pub outcome: String,
    pub at: String,
    /// The digest of the evidence that it was about.
    pub evidence: Option<String>,
}

impl EvidenceDigest {
    /// Reads the 64 digits of a record.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        (digits && text.len() == LENGTH).then(|| Self(text.to_owned()))
    }

    /// The 64 digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<accord_canon::Digest> for EvidenceDigest {
    fn from(digest: accord_canon::Digest) -> Self {
        Self(digest.hex())
    }
}

impl fmt::Display for EvidenceDigest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl ExpectedDigest {
    /// Reads a digest or the beginning of one. Fails unless it has 12 to 64 hexadecimal digits.
    pub fn parse(text: &str) -> Result<Self, String> {
        let digits = text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if digits && (SHORTEST..=LENGTH).contains(&text.len()) {
            return Ok(Self(text.to_ascii_lowercase()));
        }
        Err(format!("a digest has {LENGTH} hexadecimal digits; give at least {SHORTEST} of them"))
    }

    pub fn exactly(digest: &EvidenceDigest) -> Self {
        Self(digest.0.clone())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn is(&self, digest: &str) -> bool {
        digest.starts_with(&self.0)
    }

    /// Checks that a decision is about what the person saw. `now` is the evidence, if there is any,
    /// and whether it waits for the decision. `last` is the last decision about the same thing.
    /// `shown_by` names the commands that show the evidence. Fails with `decision_stale` if
    /// somebody else decided, with `evidence_changed` if only the evidence is another one.
    pub fn check(
        &self,
        now: Option<(&EvidenceDigest, bool)>,
        last: Option<&LastDecision>,
        shown_by: &str,
    ) -> Result<(), Failure> {
        let is_same = |it: &LastDecision| it.evidence.as_ref().is_some_and(|it| self.is(it));
        match (now, last) {
            (Some((now, _)), _) if self.is(&now.0) => Ok(()),
            (_, Some(last)) if !now.is_some_and(|(_, waits)| waits) || is_same(last) => {
                Err(last.stale(self, shown_by))
            }
            (Some((now, _)), _) => Err(self.changed(now, shown_by)),
            (None, _) => Ok(()),
        }
    }

    fn changed(&self, digest: &EvidenceDigest, shown_by: &str) -> Failure {
        let message = format!("the evidence is {digest} now, not {}", self.0);
        let help =
            format!("look at what changed and at the digest in {shown_by}, then decide again");
        Failure::new(Code::XchainEvidenceChanged, message)
            .with("evidence_digest", digest.as_str())
            .with("expected_digest", self.0.as_str())
            .suggesting(help)
    }
}

impl LastDecision {
    fn stale(&self, expected: &ExpectedDigest, shown_by: &str) -> Failure {
        let Self { by, outcome, at, .. } = self;
        let what = outcome.replace('_', " ");
        let message = format!("{by} decided before you: {what}, at {at}");
        let help = format!("look at what waits now in {shown_by}, then decide again");
        Failure::new(Code::DecisionStale, message)
            .with("actor", by.as_str())
            .with("outcome", outcome.as_str())
            .with("at", at.as_str())
            .with("expected_digest", expected.as_str())
            .suggesting(help)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first digits of `digest('a')`, and one too few.
    const BEGIN: &str = "a0000000000000000000000000000000";
    const SHORT: &str = "a000000000000000000000000000000";

    fn digest(first: char) -> EvidenceDigest {
        EvidenceDigest(format!("{first}{}", "0".repeat(LENGTH - 1)))
    }

    #[test]
    fn an_expected_digest_has_at_least_half_of_the_digits() {
        for wrong in ["", SHORT, &format!("g{SHORT}"), &"a".repeat(65), &format!("sha256:{BEGIN}")]
        {
            assert!(ExpectedDigest::parse(wrong).is_err(), "{wrong}");
        }
        for right in [&BEGIN.to_uppercase(), BEGIN, digest('a').as_str()] {
            let expected = ExpectedDigest::parse(right).expect("digits");
            expected.check(Some((&digest('a'), true)), None, "").expect("the same");
        }
        let exactly = ExpectedDigest::exactly(&digest('a'));
        exactly.check(Some((&digest('a'), true)), None, "").expect("the same");
    }

    #[test]
    fn other_evidence_is_refused_with_both_digests() {
        let expected = ExpectedDigest::parse(BEGIN).expect("digits");
        let refused = expected.check(Some((&digest('b'), true)), None, "`accord run status`");
        let refused = refused.unwrap_err();
        assert_eq!(refused.code, Code::XchainEvidenceChanged);
        let details = refused.details.expect("details");
        assert_eq!(details["evidence_digest"], digest('b').as_str());
        assert_eq!(details["expected_digest"], BEGIN);
        assert!(refused.suggestion.expect("what to do").contains("accord run status"));
    }

    #[test]
    fn a_decision_of_somebody_else_is_named() {
        let expected = ExpectedDigest::parse(BEGIN).expect("digits");
        let last = |evidence: char| LastDecision {
            by: "human:lead".to_owned(),
            outcome: "sent_back".to_owned(),
            at: "2026-03-01T10:00:00Z".to_owned(),
            evidence: Some(digest(evidence).0),
        };
        let check = |now: Option<(char, bool)>, last: Option<&LastDecision>| {
            let now = now.map(|(now, waits)| (digest(now), waits));
            let now = now.as_ref().map(|(now, waits)| (now, *waits));
            expected.check(now, last, "`accord task show`")
        };
        let b_waits = Some(('b', true));
        for (now, about) in [(b_waits, 'a'), (Some(('b', false)), 'c'), (None, 'a'), (None, 'c')] {
            let refused = check(now, Some(&last(about))).unwrap_err();
            assert_eq!(refused.code, Code::DecisionStale, "{now:?} {about}");
            assert!(refused.message.contains("human:lead decided before you: sent back"));
            let details = refused.details.expect("details");
            assert_eq!(details["actor"], "human:lead");
            assert_eq!(details["outcome"], "sent_back");
            assert_eq!(details["at"], "2026-03-01T10:00:00Z");
        }
        // A decision about other evidence is not why the evidence is another one now.
        let refused = check(b_waits, Some(&last('c'))).unwrap_err();
        assert_eq!(refused.code, Code::XchainEvidenceChanged);
        for waits in [true, false] {
            check(Some(('a', waits)), Some(&last('a'))).expect("the person saw it as it is");
        }
        check(None, None).expect("nothing says who decided: the operation refuses it");
    }
}
