//! A case as an adapter reads it: the operation and its arguments.

use accord_contract::{Failure, Object, Value};

use crate::{Answered, Reply};

#[derive(Clone, Debug)]
pub struct Call {
    pub operation: String,
    /// The setup; empty when the case has none.
    pub setup: Object,
    /// Whether the case has a setup. Some formats require one.
    pub has_setup: bool,
    pub args: Object,
    pub expected: Value,
    pub profile: Option<String>,
}

/// A case that is not understood, or that cannot be performed.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct BadCall(String);

/// The members of a success, or why there are none.
pub(crate) type Outcome = Result<Value, Stop>;

/// Why an operation did not succeed.
pub(crate) enum Stop {
    Bad(BadCall),
    NotImplemented,
    /// The implementation refused the operation, which is an outcome too.
    Refused(Failure),
}

impl Stop {
    /// The reply to the call; `refused` writes a refusal in the words of the protocol.
    pub(crate) fn reply(self, refused: impl FnOnce(Failure) -> Reply) -> Answered {
        match self {
            Self::Bad(bad) => Err(bad),
            Self::NotImplemented => Ok(Reply::NotImplemented),
            Self::Refused(failure) => Ok(refused(failure)),
        }
    }
}

impl From<BadCall> for Stop {
    fn from(bad: BadCall) -> Self {
        Self::Bad(bad)
    }
}

impl<E: Into<Failure>> From<E> for Stop {
    fn from(refusal: E) -> Self {
        Self::Refused(refusal.into())
    }
}

impl Call {
    /// Reads a case document. Fails when it has no operation, or its parts have the wrong type.
    pub fn read(case: &Value) -> Result<Self, BadCall> {
        let input = case.get("input").ok_or_else(|| BadCall::new("the case has no input"))?;
        let operation = input.get("operation").and_then(Value::as_str);
        let expected = case.get("expected").cloned();
        Ok(Self {
            operation: operation
                .ok_or_else(|| BadCall::kind("input.operation", "a string"))?
                .into(),
            setup: object(case.get("setup"), "setup")?,
            has_setup: case.get("setup").is_some(),
            args: object(input.get("args"), "input.args")?,
            expected: expected.ok_or_else(|| BadCall::new("the case expects nothing"))?,
            profile: case.pointer("/x-case/profile").and_then(Value::as_str).map(str::to_owned),
        })
    }

    /// Refuses a setup with unknown members, which describes another situation.
    pub(crate) fn allow_setup(&self, known: &[&str]) -> Result<(), BadCall> {
        match self.setup.keys().find(|key| !known.contains(&key.as_str())) {
            None => Ok(()),
            Some(key) => {
                Err(BadCall(format!("the operation {} knows no setup {key:?}", self.operation)))
            }
        }
    }

    pub(crate) fn text(&self, name: &str) -> Result<&str, BadCall> {
        self.optional_text(name)?.ok_or_else(|| BadCall::missing(name))
    }

    pub(crate) fn optional_text(&self, name: &str) -> Result<Option<&str>, BadCall> {
        self.args
            .get(name)
            .map(|value| value.as_str().ok_or_else(|| BadCall::kind(name, "a string")))
            .transpose()
    }

    pub(crate) fn list(&self, name: &str) -> Result<&[Value], BadCall> {
        match self.value(name)? {
            Value::Array(elements) => Ok(elements),
            _ => Err(BadCall::kind(name, "a list")),
        }
    }

    /// A required list of strings.
    pub(crate) fn texts(&self, name: &str) -> Result<Vec<String>, BadCall> {
        optional_texts(Some(self.value(name)?), name)
    }

    /// An optional list of strings; empty if it is absent.
    pub(crate) fn optional_texts(&self, name: &str) -> Result<Vec<String>, BadCall> {
        optional_texts(self.args.get(name), name)
    }

    /// An optional list argument; empty if it is absent.
    pub(crate) fn optional_list(&self, name: &str) -> Result<&[Value], BadCall> {
        if self.args.contains_key(name) { self.list(name) } else { Ok(&[]) }
    }

    pub(crate) fn object(&self, name: &str) -> Result<&Object, BadCall> {
        self.value(name)?.as_object().ok_or_else(|| BadCall::kind(name, "an object"))
    }

    pub(crate) fn optional_object(&self, name: &str) -> Result<Option<&Object>, BadCall> {
        if self.args.contains_key(name) { self.object(name).map(Some) } else { Ok(None) }
    }

    /// An optional argument that is true or false; absent is `default`.
    pub(crate) fn flag(&self, name: &str, default: bool) -> Result<bool, BadCall> {
        match self.args.get(name) {
            None => Ok(default),
            Some(value) => value.as_bool().ok_or_else(|| BadCall::kind(name, "true or false")),
        }
    }

    pub(crate) fn optional_integer(&self, name: &str) -> Result<Option<i64>, BadCall> {
        let wrong = || BadCall::kind(name, "a whole number");
        self.args.get(name).map(|value| value.as_i64().ok_or_else(wrong)).transpose()
    }

    /// An optional whole number from zero.
    pub(crate) fn optional_count(&self, name: &str) -> Result<Option<u64>, BadCall> {
        let count = self.optional_integer(name)?.map(u64::try_from).transpose();
        count.map_err(|_| BadCall::kind(name, "a whole number from zero"))
    }

    pub(crate) fn value(&self, name: &str) -> Result<&Value, BadCall> {
        self.args.get(name).ok_or_else(|| BadCall::missing(name))
    }
}

impl BadCall {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    pub(crate) fn kind(name: &str, kind: &str) -> Self {
        Self(format!("{name} must be {kind}"))
    }

    /// An error that is no answer of the implementation.
    pub(crate) fn from_error(error: impl std::fmt::Display) -> Self {
        Self(error.to_string())
    }

    fn missing(name: &str) -> Self {
        Self(format!("the argument {name} is missing"))
    }
}

/// A list of strings; empty if it is absent.
pub(crate) fn optional_texts(value: Option<&Value>, name: &str) -> Result<Vec<String>, BadCall> {
    let Some(value) = value else { return Ok(Vec::new()) };
    let list = value.as_array().ok_or_else(|| BadCall::kind(name, "a list"))?;
    let texts = list.iter().map(|value| value.as_str().map(str::to_owned)).collect::<Option<_>>();
    texts.ok_or_else(|| BadCall::kind(name, "a list of strings"))
}

/// The members of an object; none if it is absent.
fn object(value: Option<&Value>, name: &str) -> Result<Object, BadCall> {
    let Some(value) = value else { return Ok(Object::new()) };
    value.as_object().cloned().ok_or_else(|| BadCall::kind(name, "an object"))
}
