//! What is wrong with a configuration.

use accord_contract::codes::{Code, Failure};
use accord_contract::wire::{Object, Value};

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ConfigProblem {
    /// Which rule it breaks.
    pub code: Code,
    /// The member, with dots between the names; empty for the whole document.
    pub field: String,
    /// What is wrong, for people.
    pub message: String,
    /// What programs need beside it, under the names that the protocol gives them.
    pub details: Object,
}

/// The failure that a list of problems is: the first decides its code.
pub fn refusal(problems: &[ConfigProblem]) -> Failure {
    let Some(first) = problems.first() else {
        return Failure::new(
            Code::XchainInvalidConfig,
            "the configuration is not a JSON object",
        );
    };
    let messages: Value = problems
        .iter()
        .map(|problem| Value::from(problem.message.as_str()))
        .collect();
    let mut failure = Failure::new(first.code, first.message.clone()).with("errors", messages);
    if !first.field.is_empty() {
        failure = failure
            .at(format!("/{}", first.field.replace('.', "/")))
            .with("error_field", first.field.as_str());
    }
    for (name, value) in &first.details {
        failure = failure.with(name, value.clone());
    }
    failure
}

impl ConfigProblem {
    /// A problem without details.
    pub(super) fn new(code: Code, field: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            code,
            field: field.into(),
            message: message.into(),
            details: Object::new(),
        }
    }

    /// The same problem, with a detail.
    pub(super) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.insert(name.to_owned(), value.into());
        self
    }
}
