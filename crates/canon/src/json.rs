//! Strict reading of JSON into a value.

use serde::Deserialize as _;
use serde_json::Value;

use crate::error::{CanonError, Refusal};
use crate::{Canonicalizer, Numbers, Profile};

/// Reads one JSON document, refusing what two readers could understand
/// differently: duplicate keys, half surrogates, numbers past a double, nesting
/// past the limit. Large integers pass, since nothing here is hashed.
///
/// # Errors
/// When the text is refused.
pub fn read(input: &[u8]) -> Result<Value, CanonError> {
    Canonicalizer::with_numbers(Profile::Jcs, Numbers::Round).canonicalize(input)?;
    // The depth is bounded by now, and far below what the stack holds.
    let mut deserializer = serde_json::Deserializer::from_slice(input);
    deserializer.disable_recursion_limit();
    Value::deserialize(&mut deserializer)
        .map_err(|error| CanonError::new(Refusal::InvalidJson, String::new(), 0, error.to_string()))
}
