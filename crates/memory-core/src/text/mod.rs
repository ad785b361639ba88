//! Edits JSON as text, without rewriting it from parsed values.

mod object;
mod read;
mod splice;

pub(crate) use object::{ObjectText, list, quoted};
pub(crate) use read::{check_size, document, object, request};
pub use splice::compact;
pub(crate) use splice::{append, insert_first, member, replace, without};
