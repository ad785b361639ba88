//! People: whom the operator knows, by the name in whose name they act.

use accord_contract::Timestamp;

use crate::Result;

/// The row of a person.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PersonRow {
    /// The name, unique in the store: the actor is `human:` and the name.
    pub name: String,
    /// When the person was added.
    pub added_at: Timestamp,
    /// The person as a JSON document, with the address.
    pub text: String,
}

/// Reads people.
pub trait People {
    /// The person of a name.
    fn person(&self, name: &str) -> Result<Option<PersonRow>>;

    /// All people, in the order of their names' bytes.
    fn people(&self) -> Result<Vec<PersonRow>>;
}

/// Writes people.
pub trait PersonWrites {
    /// Adds a person, or replaces the one of the same name.
    fn put_person(&mut self, row: &PersonRow) -> Result<()>;

    /// Removes a person. Returns whether there was one.
    fn remove_person(&mut self, name: &str) -> Result<bool>;
}
