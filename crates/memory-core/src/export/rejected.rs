//! A package of work that was rejected, which is not shown.

use accord_contract::{Failure, Timestamp, Value};
use serde_json::json;

use crate::refuse;

/// The member of a line that says it.
pub(super) const REJECTED: &str = "x-rejected";

/// Since when a package is not shown, and whose work was rejected.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Rejected {
    pub at: Timestamp,
    /// What the worker worked on, such as a task.
    pub work: String,
}

impl Rejected {
    pub(super) fn document(&self) -> Value {
        json!({"at": self.at.as_str(), "work": self.work})
    }

    /// Fails with `invalid_schema` if it cannot be read: the package must not count as good.
    pub(super) fn read(said: &Value) -> Result<Self, Failure> {
        let text = |name: &str| said.get(name).and_then(Value::as_str);
        let at = text("at").and_then(|at| Timestamp::parse(at).ok());
        let read = at.zip(text("work")).map(|(at, work)| Self { at, work: work.to_owned() });
        let message = "expected an object with a time `at` and a text `work`";
        read.ok_or_else(|| refuse::schema(format!("/{REJECTED}"), message))
    }
}
