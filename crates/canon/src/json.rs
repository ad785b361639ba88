//! Strict reading of JSON into a value.

use serde::Deserialize as _;
use serde_json::Value;

use crate::error::{CanonError, Refusal};
use crate::{Canonicalizer, Numbers, Profile};

/// Reads one JSON document. Refuses what two readers could understand differently, numbers too
/// large for a double, and nesting past the limit. Large integers are accepted: nothing is hashed.
pub fn read(input: &[u8]) -> Result<Value, CanonError> {
    Canonicalizer::with_numbers(Profile::Jcs, Numbers::Round).canonicalize(input)?;
    // The scan has checked the depth, so serde's recursion cannot overflow the stack.
    let mut deserializer = serde_json::Deserializer::from_slice(input);
    deserializer.disable_recursion_limit();
    Value::deserialize(&mut deserializer)
        .map_err(|error| CanonError::new(Refusal::InvalidJson, String::new(), 0, error.to_string()))
}
