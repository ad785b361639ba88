//! What commits add up to.

use accord_contract::Object;

use super::Record;

/// What a protocol remembers of commits beyond the life of their records: nothing else has it.
pub trait Committed: Default + Send {
    /// The state in the head of a log; `None` in a log of a version that had none.
    fn load(saved: Option<&Object>) -> Self;

    /// Takes a commit over. The same commits in the same order make the same state.
    fn apply(&mut self, record: &Record);

    /// The state, for the head of the next log.
    fn save(&self) -> Object;
}

/// A protocol that remembers nothing.
impl Committed for () {
    fn load(_: Option<&Object>) -> Self {}

    fn apply(&mut self, _: &Record) {}

    fn save(&self) -> Object {
        Object::new()
    }
}
