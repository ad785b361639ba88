//! The digest of the evidence that a person decides about. Each protocol lists its own evidence; a
//! decision can require the digest that the person read.

use std::fmt;

use accord_contract::{Code, Failure};

/// The shortest beginning of a digest that identifies it.
const SHORTEST: usize = 12;
/// The number of digits of a digest.
const LENGTH: usize = 64;

/// The digest of evidence: 64 hexadecimal digits.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct EvidenceDigest(String);

/// A digest, or the beginning of one, that a person expects.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ExpectedDigest(String);

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

    /// Checks that the evidence is the expected one. `shown_by` names the commands that show it.
    pub fn check(&self, digest: &EvidenceDigest, shown_by: &str) -> Result<(), Failure> {
        if digest.0.starts_with(&self.0) {
            return Ok(());
        }
        let message = format!("the evidence is {digest} now, not {}", self.0);
        let help =
            format!("look at what changed and at the digest in {shown_by}, then decide again");
        Err(Failure::new(Code::XchainEvidenceChanged, message)
            .with("evidence_digest", digest.as_str())
            .with("expected_digest", self.0.as_str())
            .suggesting(help))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(first: char) -> EvidenceDigest {
        EvidenceDigest(format!("{first}{}", "0".repeat(LENGTH - 1)))
    }

    #[test]
    fn an_expected_digest_has_at_least_twelve_digits() {
        for wrong in ["", "a0000000000", "g00000000000", &"a".repeat(65), "sha256:a00000000000"] {
            assert!(ExpectedDigest::parse(wrong).is_err(), "{wrong}");
        }
        for right in ["A00000000000", "a00000000000", digest('a').as_str()] {
            let expected = ExpectedDigest::parse(right).expect("digits");
            expected.check(&digest('a'), "").expect("the same");
        }
        ExpectedDigest::exactly(&digest('a')).check(&digest('a'), "").expect("the same");
    }

    #[test]
    fn other_evidence_is_refused_with_both_digests() {
        let expected = ExpectedDigest::parse("a00000000000").expect("digits");
        let refused = expected.check(&digest('b'), "`accord run status`").unwrap_err();
        assert_eq!(refused.code, Code::XchainEvidenceChanged);
        let details = refused.details.expect("details");
        assert_eq!(details["evidence_digest"], digest('b').as_str());
        assert_eq!(details["expected_digest"], "a00000000000");
        assert!(refused.suggestion.expect("what to do").contains("accord run status"));
    }
}
