//! JSON as text: what must not be written again from a value is cut and joined
//! as it stands.

mod object;
mod read;
mod splice;

pub(crate) use object::{ListText, ObjectText, quoted};
pub(crate) use read::{check_size, document, object};
pub use splice::compact;
pub(crate) use splice::{append, insert_first, member, replace, without};
