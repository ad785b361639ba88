//! Reads documents strictly.

use accord_canon::{Canonicalizer, Numbers, Part, Profile};
use accord_contract::{Code, Failure, Object, Value};

use crate::refuse;

/// The value in `text`, which must have been checked: valid JSON, no duplicate members, nesting
/// within the limit.
pub(crate) fn document(text: &[u8]) -> Result<Value, Failure> {
    use serde::Deserialize as _;
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    // The depth was checked before, and is far below what the stack allows.
    deserializer.disable_recursion_limit();
    Value::deserialize(&mut deserializer).map_err(|error| refuse::schema("", error.to_string()))
}

/// The object in `text`, checked as strictly as a package, of at most `limit` bytes.
pub(crate) fn object(text: &[u8], limit: usize) -> Result<Object, Failure> {
    check_size(text, limit)?;
    Canonicalizer::new(Profile::Agentic).canonicalize(text).map_err(refuse::canon)?;
    match document(text)? {
        Value::Object(members) => Ok(members),
        _ => Err(refuse::schema("", "expected a JSON object")),
    }
}

/// The object in `text`, a request of which only the member `kept` is stored. The others can have
/// integers of any size: they are not hashed.
pub(crate) fn request(text: &[u8], limit: usize, kept: &str) -> Result<Object, Failure> {
    check_size(text, limit)?;
    let mut reader = Canonicalizer::new(Profile::Agentic);
    let part = |name: &str| if name == kept { Part::Canonical } else { Part::Ignored };
    reader.project(text, part).map_err(refuse::canon)?;
    let mut reader = Canonicalizer::with_numbers(Profile::Agentic, Numbers::Round);
    reader.canonicalize(text).map_err(refuse::canon)?;
    match document(text)? {
        Value::Object(members) => Ok(members),
        _ => Err(refuse::schema("", "expected a JSON object")),
    }
}

/// Refuses a text of more than `limit` bytes.
pub(crate) fn check_size(text: &[u8], limit: usize) -> Result<(), Failure> {
    if text.len() <= limit {
        return Ok(());
    }
    let message = format!("the body has {} bytes; the limit is {limit}", text.len());
    Err(Failure::new(Code::AgenticPayloadTooLarge, message))
}
