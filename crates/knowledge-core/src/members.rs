//! The members of an envelope that its identity covers, as values.

use accord_canon::{Canonicalizer, Part, read};
use serde_json::{Map, Value};

use crate::{KB_V1, KbError};

/// Reads the members that are hashed. No check refuses a block for others. Clauses:
/// ALX-BLOCK-OBJECT.
pub(crate) fn read_scope(text: &[u8]) -> Result<Map<String, Value>, KbError> {
    let mut canonicalizer = Canonicalizer::new(KB_V1.profile);
    let projection = canonicalizer
        .project(text, |key| if KB_V1.scope.contains(&key) { Part::Raw } else { Part::Ignored })?
        .ok_or_else(KbError::not_an_object)?;
    let mut members = Map::new();
    for name in KB_V1.scope {
        if let Some((member, offset)) = projection.raw(name) {
            let value = read(member).map_err(|error| error.within(&format!("/{name}"), offset))?;
            members.insert((*name).to_owned(), value);
        }
    }
    Ok(members)
}
