//! Comparing what an envelope says of itself with what it is.

use accord_canon::{Digest, read};
use serde_json::Value;

use crate::{HashOptions, KbError, KbHasher, artifact_hash};

/// How a stated hash compares with the computed one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Check {
    /// They are the same.
    Match,
    /// They differ.
    Mismatch,
    /// Nothing is stated.
    Absent,
}

impl Check {
    /// The word for reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Match => "match",
            Self::Mismatch => "mismatch",
            Self::Absent => "absent",
        }
    }

    fn of(stated: Option<&str>, computed: Option<&Digest>) -> Self {
        match (stated, computed) {
            (None, _) => Self::Absent,
            (Some(stated), Some(computed)) if stated == computed.prefixed() => Self::Match,
            _ => Self::Mismatch,
        }
    }
}

/// What verifying an envelope gave.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Verification {
    /// The computed identity.
    pub kb_hash: Digest,
    /// The computed hash of the payload, if there is one.
    pub artifact_hash: Option<Digest>,
    /// The stated identity against the computed one.
    pub kb_hash_check: Check,
    /// The stated artifact hash against that of the payload.
    pub artifact_check: Check,
}

impl Verification {
    /// Nothing that is stated is wrong.
    pub fn is_valid(&self) -> bool {
        !self.checks().contains(&Check::Mismatch)
    }

    /// Nothing is stated, so that there was nothing to verify.
    pub fn is_empty(&self) -> bool {
        self.checks() == [Check::Absent; 2]
    }

    fn checks(&self) -> [Check; 2] {
        [self.kb_hash_check, self.artifact_check]
    }
}

/// Verifies the envelope in `text`. The identity that it should have is
/// `expected`, or else what its own `kbHash` member says.
///
/// # Errors
/// When the envelope has no identity at all.
pub fn verify(
    text: &[u8],
    expected: Option<&str>,
    options: HashOptions,
) -> Result<Verification, KbError> {
    let kb_hash = KbHasher::new(options).identify(text)?.kb_hash;
    let envelope = read(text)?;
    let artifact = match envelope.get("payload") {
        Some(payload) => Some(artifact_hash(
            payload.to_string().as_bytes(),
            options.numbers,
        )?),
        None => None,
    };
    let stated = |name: &str| envelope.get(name).map(stated_text);
    Ok(Verification {
        kb_hash,
        artifact_hash: artifact,
        kb_hash_check: Check::of(expected.or(stated("kbHash")), Some(&kb_hash)),
        artifact_check: Check::of(stated("artifactHash"), artifact.as_ref()),
    })
}

/// What a member states; another kind of value states nothing that is right.
fn stated_text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
