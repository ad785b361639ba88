//! An envelope's members: what the registry checks, and what a strict reader checks beyond that.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use accord_canon::Digest;
use serde_json::{Map, Value};

use crate::members::read_scope;
use crate::payload::check_payload;
use crate::{HashOptions, KbError, KbHasher};

/// The tiers, from free to closed.
pub const TIERS: [&str; 4] = ["open", "verified", "premium", "restricted"];

/// The ways in which a block can be made from others.
pub const DERIVATION_TYPES: [&str; 4] = ["compose", "transform", "extract", "summarize"];

/// An envelope that satisfies every rule that can be checked without a registry.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Validated {
    pub kind: String,
    pub tier: String,
    pub kb_hash: Digest,
}

/// Checks the envelope in `text` strictly: the rules of the registry, and also tier, artifact hash,
/// source format, payload type and derivation type, which the reference registry does not check.
/// Clauses: ALX-BLOCK-TIER, ALX-BLOCK-ARTIFACT, ALX-BLOCK-SOURCE-FORM, ALX-BLOCK-HASHABLE,
/// ALX-PAYLOAD-TYPE.
pub fn validate(text: &[u8]) -> Result<Validated, KbError> {
    let members = read_scope(text)?;
    let outline = Outline::of(&members)?;
    let tier = one_of(outline.members, "tier", &TIERS)?;
    let artifact = text_member(outline.members, "artifactHash")?;
    check_digest("/artifactHash", artifact)?;
    for (index, source) in outline.sources.iter().enumerate() {
        check_digest(&format!("/sources/{index}"), source)?;
    }
    outline.check_sources()?;
    check_payload(outline.kind, outline.payload)?;
    if outline.payload["type"] != outline.kind {
        return Err(KbError::schema(
            "/payload/type".to_owned(),
            format!("payload.type must be {:?}, as type says", outline.kind),
        ));
    }
    outline.check_derivation_inputs()?;
    outline.check_derivation_strictly()?;
    let mut hasher = KbHasher::new(HashOptions::default());
    Ok(Validated {
        kind: outline.kind.to_owned(),
        tier: tier.to_owned(),
        kb_hash: hasher.identify(text)?.kb_hash,
    })
}

/// The members that every envelope must have.
#[derive(Debug)]
pub(crate) struct Outline<'a> {
    pub(crate) members: &'a Map<String, Value>,
    pub(crate) kind: &'a str,
    pub(crate) sources: Vec<&'a str>,
    pub(crate) payload: &'a Value,
}

impl<'a> Outline<'a> {
    /// Clauses: ALX-BLOCK-MEMBERS.
    pub(crate) fn of(members: &'a Map<String, Value>) -> Result<Self, KbError> {
        let kind = text_member(members, "type")?;
        text_member(members, "domain")?;
        let Some(Value::Array(listed)) = members.get("sources") else {
            return Err(KbError::envelope(
                "/sources".to_owned(),
                "sources must be a list of block ids; an empty list is fine".to_owned(),
            ));
        };
        let mut sources = Vec::with_capacity(listed.len());
        for (index, source) in listed.iter().enumerate() {
            sources.push(source.as_str().ok_or_else(|| {
                KbError::envelope(
                    format!("/sources/{index}"),
                    "a source must be a string that names a block".to_owned(),
                )
            })?);
        }
        let payload = members.get("payload").filter(|payload| !payload.is_null());
        let payload = payload.ok_or_else(|| {
            KbError::envelope(
                "/payload".to_owned(),
                "payload is missing; it must be an object".to_owned(),
            )
        })?;
        Ok(Self { members, kind, sources, payload })
    }

    /// No source twice, whether or not it is written with `0x`; then the order.
    /// Clauses: ALX-BLOCK-SOURCES, ALX-LINEAGE-PREFIX.
    pub(crate) fn check_sources(&self) -> Result<(), KbError> {
        let mut seen = BTreeSet::new();
        for (index, source) in self.sources.iter().enumerate() {
            if !seen.insert(with_prefix(source)) {
                return Err(KbError::envelope(
                    format!("/sources/{index}"),
                    "a source is named twice; remove one of the two".to_owned(),
                ));
            }
        }
        for (index, pair) in self.sources.windows(2).enumerate() {
            if utf16_order(pair[0], pair[1]).is_gt() {
                return Err(KbError::SourcesNotSorted {
                    pointer: format!("/sources/{}", index + 1),
                });
            }
        }
        Ok(())
    }

    /// Every input of the derivation must be among the sources. Clauses: ALX-DERIVATION-INPUTS.
    pub(crate) fn check_derivation_inputs(&self) -> Result<(), KbError> {
        let Some(derivation) = self.members.get("derivation") else { return Ok(()) };
        // `get` gives `None` on a value that is no object, which is refused here, too.
        let Some(Value::Array(inputs)) = derivation.get("inputs") else {
            return Err(KbError::envelope(
                "/derivation/inputs".to_owned(),
                "a derivation must list its inputs".to_owned(),
            ));
        };
        let sources: BTreeSet<String> = self.sources.iter().map(|id| with_prefix(id)).collect();
        for (index, input) in inputs.iter().enumerate() {
            let id = input.get("kbId").and_then(Value::as_str).map(with_prefix);
            let known = id.is_some_and(|id| sources.contains(&id));
            if !known {
                return Err(KbError::envelope(
                    format!("/derivation/inputs/{index}/kbId"),
                    "an input of the derivation must be one of the sources; add it there"
                        .to_owned(),
                ));
            }
        }
        Ok(())
    }

    /// Clauses: ALX-DERIVATION-TYPE.
    fn check_derivation_strictly(&self) -> Result<(), KbError> {
        let Some(derivation) = self.members.get("derivation") else { return Ok(()) };
        let members = derivation.as_object().ok_or_else(|| {
            KbError::envelope("/derivation".to_owned(), "derivation must be an object".to_owned())
        })?;
        one_of(members, "type", &DERIVATION_TYPES).map_err(|error| within(error, "/derivation"))?;
        if !members.get("recipe").is_some_and(Value::is_object) {
            return Err(KbError::envelope(
                "/derivation/recipe".to_owned(),
                "a derivation must have a recipe, which is an object".to_owned(),
            ));
        }
        let inputs = members.get("inputs").and_then(Value::as_array);
        for (index, input) in inputs.into_iter().flatten().enumerate() {
            let selectors = input.get("selectors").and_then(Value::as_array);
            if !selectors.is_some_and(|all| all.iter().all(Value::is_string)) {
                return Err(KbError::envelope(
                    format!("/derivation/inputs/{index}/selectors"),
                    "an input must list its selectors, which are strings".to_owned(),
                ));
            }
        }
        Ok(())
    }
}

/// The id in the form that the registry uses.
pub(crate) fn with_prefix(id: &str) -> String {
    if id.starts_with("0x") { id.to_owned() } else { format!("0x{id}") }
}

/// The order of sources: by UTF-16 code unit.
pub(crate) fn utf16_order(left: &str, right: &str) -> Ordering {
    left.encode_utf16().cmp(right.encode_utf16())
}

fn text_member<'a>(members: &'a Map<String, Value>, name: &str) -> Result<&'a str, KbError> {
    match members.get(name).and_then(Value::as_str) {
        Some(text) if !text.is_empty() => Ok(text),
        _ => Err(KbError::envelope(
            format!("/{name}"),
            format!("{name} must be a string that is not empty"),
        )),
    }
}

fn one_of<'a>(
    members: &'a Map<String, Value>,
    name: &str,
    choices: &[&str],
) -> Result<&'a str, KbError> {
    match members.get(name).and_then(Value::as_str) {
        Some(text) if choices.contains(&text) => Ok(text),
        _ => Err(KbError::envelope(
            format!("/{name}"),
            format!("{name} must be one of {}", choices.join(", ")),
        )),
    }
}

fn check_digest(pointer: &str, text: &str) -> Result<(), KbError> {
    // `Digest` also parses digits without `0x`, which a strict envelope must not have.
    let digest = text.strip_prefix("0x").map(str::parse::<Digest>);
    match digest {
        Some(Ok(_)) => Ok(()),
        _ => Err(KbError::envelope(
            pointer.to_owned(),
            "a block id or artifact hash is 0x and 64 lowercase hexadecimal digits".to_owned(),
        )),
    }
}

fn within(error: KbError, prefix: &str) -> KbError {
    match error {
        KbError::InvalidEnvelope { pointer, detail } => {
            KbError::envelope(format!("{prefix}{pointer}"), detail)
        }
        other => other,
    }
}
