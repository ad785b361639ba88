//! Failures of the protocol. A wrong document is `invalid_schema` with a pointer. Limits have
//! their own codes.

use accord_base::credential::CredentialPlace;
use accord_canon::{CanonError, Refusal};
use accord_contract::{Code, Failure, Object, Value, Wire as _};

pub(crate) use accord_base::refuse::{decoded, schema};

use crate::Actor;
use crate::limits::MAX_ACTOR_BYTES;

/// A text that has no canonical form.
pub(crate) fn canon(error: CanonError) -> Failure {
    let code = match error.refusal() {
        Refusal::TooDeep => Code::AgenticTooDeep,
        _ => Code::AgenticInvalidSchema,
    };
    Failure::new(code, error.to_string()).at(error.pointer())
}

/// A list with more than `limit` items.
pub(crate) fn check_items(pointer: &str, found: usize, limit: usize) -> Result<(), Failure> {
    if found <= limit {
        return Ok(());
    }
    let message = format!("{pointer} has {found} items; the limit is {limit}");
    Err(Failure::new(Code::AgenticTooManyItems, message).at(pointer))
}

/// A document with credentials that are not allowed. The values are not repeated.
pub(crate) fn credentials(places: &[CredentialPlace]) -> Result<(), Failure> {
    let [first, others @ ..] = places else { return Ok(()) };
    let more = match others.len() {
        0 => String::new(),
        _ => {
            let others: Vec<_> = others.iter().map(CredentialPlace::member).collect();
            format!("; others are in {}", others.join(", "))
        }
    };
    let message = format!("{}, which is not stored{more}", first.in_words());
    let pointers = places.iter().map(|place| Value::from(place.pointer.as_str())).collect();
    let failure = Failure::new(Code::AgenticCredentialFound, message)
        .at(first.pointer.as_str())
        .with("credential", first.found.kind.as_str())
        .with("line", first.found.line as u64)
        .with("places", Value::Array(pointers));
    Err(failure.suggesting(
        "remove it; if it must be stored, allow it: --allow-credentials, the header \
         X-Accord-Allow-Credentials: true, or the argument allow_credentials",
    ))
}

/// Refuses values for members that the server sets. `null` is ignored.
pub(crate) fn not_yours(members: &mut Object, names: &[&str]) -> Result<(), Failure> {
    for name in names {
        if members.shift_remove(*name).is_some_and(|value| !value.is_null()) {
            let message = format!("{name} is set by the server; leave it out");
            return Err(schema(format!("/{name}"), message));
        }
    }
    Ok(())
}

/// An actor that is too large.
pub(crate) fn check_actor(pointer: &str, actor: &Actor) -> Result<(), Failure> {
    check_length(pointer, &actor.encode().to_string(), MAX_ACTOR_BYTES)
}

/// A text of more than `limit` bytes.
pub(crate) fn check_length(pointer: &str, text: &str, limit: usize) -> Result<(), Failure> {
    if text.len() <= limit {
        return Ok(());
    }
    let message = format!("{pointer} has {} bytes; the limit is {limit} bytes", text.len());
    Err(Failure::new(Code::AgenticTextTooLong, message).at(pointer))
}
