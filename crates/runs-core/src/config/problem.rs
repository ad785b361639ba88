//! Problems of a configuration.

use accord_contract::{Code, Failure, Object, Value};

#[derive(Clone, Debug, PartialEq)]
pub struct ConfigProblem {
    pub code: Code,
    /// The path of the member, joined by dots; empty for the whole document.
    pub field: String,
    pub message: String,
    /// Details for programs, named by the protocol.
    pub details: Object,
}

/// The failure for a list of problems. The first one determines the code.
pub fn refusal(problems: &[ConfigProblem]) -> Failure {
    let Some(first) = problems.first() else {
        return Failure::new(Code::XchainInvalidConfig, "the configuration is not a JSON object");
    };
    let messages: Value =
        problems.iter().map(|problem| Value::from(problem.message.as_str())).collect();
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
    pub(super) fn new(code: Code, field: impl Into<String>, message: impl Into<String>) -> Self {
        Self { code, field: field.into(), message: message.into(), details: Object::new() }
    }

    pub(super) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.insert(name.to_owned(), value.into());
        self
    }
}
