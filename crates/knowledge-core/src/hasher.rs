//! Computing a block's identity from the text of its envelope.

use accord_canon::{
    Canonicalizer, Digest, Numbers, Part, Profile, keccak256, raw_sha256_cid, sha256,
};

use crate::sources::SourceWriter;
use crate::{IdentityRule, KB_V1, KbError, SourceMode};

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct HashOptions {
    /// What happens to a source that is listed twice.
    pub sources: SourceMode,
    /// What happens to integers that a double cannot represent.
    pub numbers: Numbers,
}

/// Computes identities, one envelope after the other, reusing its buffers.
#[derive(Debug)]
pub struct KbHasher {
    rule: IdentityRule,
    options: HashOptions,
    canonicalizer: Canonicalizer,
    sources: SourceWriter,
    /// The tag, then the canonical form: hashing one slice is faster than two.
    hashed: Vec<u8>,
}

/// An envelope's identity and the bytes that were hashed.
#[derive(Clone, Copy, Debug)]
pub struct Identified<'a> {
    /// The digest under the domain tag.
    pub kb_hash: Digest,
    /// What was hashed: the tag, then the canonical form.
    pub hashed: &'a [u8],
    /// The canonical form of the hashed members.
    pub canonical: &'a [u8],
}

impl Identified<'_> {
    /// The content id of the canonical form.
    pub fn cid(&self) -> String {
        raw_sha256_cid(&sha256(self.canonical))
    }
}

impl KbHasher {
    /// A hasher under the current rule.
    pub fn new(options: HashOptions) -> Self {
        Self::with_rule(KB_V1, options)
    }

    /// A hasher under any rule, current or former.
    pub fn with_rule(rule: IdentityRule, options: HashOptions) -> Self {
        Self {
            rule,
            options,
            canonicalizer: Canonicalizer::with_numbers(rule.profile, options.numbers),
            sources: SourceWriter::new(rule.profile, options.numbers),
            hashed: Vec::new(),
        }
    }

    /// The identity of the envelope in `text`. Fails when the text is no envelope or a hashed
    /// member has no canonical form.
    /// Clauses: ALX-KB-TAG, ALX-ID-EXCLUDED, ALX-ID-ABSENT, ALX-ID-SOURCES-DEFAULT,
    /// ALX-ID-PARENTS, ALX-ID-NULL, ALX-ID-UNVALIDATED, ALX-ID-KEY-ORDER, ALX-ID-OBJECT.
    ///
    /// Members outside the scope are ignored. Absent members inside it stay absent, except
    /// `sources`, which is always present and sorted.
    pub fn identify(&mut self, text: &[u8]) -> Result<Identified<'_>, KbError> {
        let scope = self.rule.scope;
        let projection = self
            .canonicalizer
            .project(text, |key| match key {
                // Raw: their elements are sorted first, and the canonicaliser keeps their order.
                "sources" | "parents" => Part::Raw,
                key if scope.contains(&key) => Part::Canonical,
                _ => Part::Ignored,
            })?
            .ok_or_else(KbError::not_an_object)?;
        let tag = self.rule.tag.as_bytes();
        let hashed = &mut self.hashed;
        hashed.clear();
        hashed.reserve(tag.len() + text.len() + "\"sources\":[],".len());
        hashed.extend_from_slice(tag);
        hashed.push(b'{');
        let mut first = true;
        // The scope is in canonical order, and its names need no escapes. So the members can be
        // written one by one, and the result is canonical without a second pass.
        for name in scope {
            let value = projection.canonical(name);
            if value.is_none() && *name != "sources" {
                continue;
            }
            if !std::mem::replace(&mut first, false) {
                hashed.push(b',');
            }
            hashed.push(b'"');
            hashed.extend_from_slice(name.as_bytes());
            hashed.extend_from_slice(b"\":");
            if let Some(value) = value {
                hashed.extend_from_slice(value);
                continue;
            }
            // `parents`, the older name, counts only if `sources` is absent.
            let listed = ["sources", "parents"].into_iter().find_map(|name| {
                let (text, offset) = projection.raw(name)?;
                // `null` is absent, as in the reference: `sources ?? parents ?? []`.
                (text != b"null").then_some((name, text, offset))
            });
            match listed {
                Some((name, list, offset)) => {
                    self.sources.write(list, name, offset, self.options.sources, hashed)?;
                }
                None => hashed.extend_from_slice(b"[]"),
            }
        }
        hashed.push(b'}');
        Ok(Identified {
            kb_hash: self.rule.hash.of(&[hashed]),
            hashed,
            canonical: &hashed[tag.len()..],
        })
    }
}

/// The hash of a payload's canonical form, under no tag. Fails when the payload has no canonical
/// form. Clauses: ALX-ID-ARTIFACT-PAYLOAD.
pub fn artifact_hash(payload: &[u8], numbers: Numbers) -> Result<Digest, KbError> {
    let mut canonicalizer = Canonicalizer::with_numbers(Profile::Alx, numbers);
    Ok(keccak256(canonicalizer.canonicalize(payload)?))
}
