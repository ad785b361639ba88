//! Compares the hashes that an envelope states with the computed ones.

use accord_canon::{Canonicalizer, Digest, Part, keccak256};
use accord_contract::{Code, wire_enum};

use crate::{HashOptions, KB_V1, KbError, KbHasher};

wire_enum! {
    /// How a stated hash compares with the computed one.
    pub enum Check("HashCheck", closed) {
        Match = "match",
        Mismatch = "mismatch",
        Absent = "absent",
    }
}

impl Check {
    fn of(stated: Option<String>, computed: Option<&Digest>) -> Self {
        match (stated, computed) {
            (None, _) => Self::Absent,
            (Some(stated), Some(computed)) if stated == computed.prefixed() => Self::Match,
            // Also an artifact hash without a payload: it is the hash of nothing.
            _ => Self::Mismatch,
        }
    }
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Verification {
    pub kb_hash: Digest,
    /// The computed hash of the payload, if there is one.
    pub artifact_hash: Option<Digest>,
    /// The stated identity compared with the computed one.
    pub kb_hash_check: Check,
    /// The stated artifact hash compared with that of the payload.
    pub artifact_check: Check,
}

impl Verification {
    /// Nothing that is stated is wrong.
    pub fn is_valid(&self) -> bool {
        self.failures().is_empty()
    }

    /// Nothing is stated, so nothing was verified.
    pub fn is_empty(&self) -> bool {
        self.checks() == [Check::Absent; 2]
    }

    /// The failure codes of the stated hashes that are wrong.
    pub fn failures(&self) -> Vec<Code> {
        let codes = [Code::KbHashMismatch, Code::KbArtifactMismatch];
        let wrong = self.checks().map(|check| check == Check::Mismatch);
        codes.into_iter().zip(wrong).filter_map(|(code, wrong)| wrong.then_some(code)).collect()
    }

    fn checks(&self) -> [Check; 2] {
        [self.kb_hash_check, self.artifact_check]
    }
}

/// Verifies the envelope in `text` against `expected`, or else against its own `kbHash` member.
/// Fails when the envelope has no identity at all. Clauses: ALX-ID-VERIFY.
pub fn verify(
    text: &[u8],
    expected: Option<&str>,
    options: HashOptions,
) -> Result<Verification, KbError> {
    let kb_hash = KbHasher::new(options).identify(text)?.kb_hash;
    let mut canonicalizer = Canonicalizer::with_numbers(KB_V1.profile, options.numbers);
    let projection = canonicalizer
        .project(text, |key| match key {
            "payload" => Part::Canonical,
            "kbHash" | "artifactHash" => Part::Raw,
            _ => Part::Ignored,
        })?
        .ok_or_else(KbError::not_an_object)?;
    let artifact = projection.canonical("payload").map(keccak256);
    let stated = |name: &str| projection.raw(name).map(|(text, _)| stated_text(text));
    let stated_hash = expected.map(str::to_owned).or_else(|| stated("kbHash"));
    Ok(Verification {
        kb_hash,
        artifact_hash: artifact,
        kb_hash_check: Check::of(stated_hash, Some(&kb_hash)),
        artifact_check: Check::of(stated("artifactHash"), artifact.as_ref()),
    })
}

/// The hash that a member states. A value that is not a string states a wrong hash.
fn stated_text(text: &[u8]) -> String {
    serde_json::from_slice(text).unwrap_or_default()
}
