//! A case as an adapter reads it: the operation and its arguments.

use serde_json::{Map, Value};

#[derive(Clone, Debug)]
pub struct Call {
    pub operation: String,
    /// The setup; empty when the case has none.
    pub setup: Map<String, Value>,
    /// Whether the case has a setup. Some formats require one.
    pub has_setup: bool,
    pub args: Map<String, Value>,
    pub expected: Value,
    pub profile: Option<String>,
}

/// A case that is not understood, or that cannot be performed.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct BadCall(String);

impl Call {
    /// Reads a case document. Fails when it has no operation, or its parts have the wrong type.
    pub fn read(case: &Value) -> Result<Self, BadCall> {
        let input = case.get("input").ok_or_else(|| BadCall::new("the case has no input"))?;
        let operation = input
            .get("operation")
            .and_then(Value::as_str)
            .ok_or_else(|| BadCall::new("input.operation must be a string"))?;
        Ok(Self {
            operation: operation.to_owned(),
            setup: object(case.get("setup"), "setup")?,
            has_setup: case.get("setup").is_some(),
            args: object(input.get("args"), "input.args")?,
            expected: case
                .get("expected")
                .cloned()
                .ok_or_else(|| BadCall::new("the case expects nothing"))?,
            profile: case.pointer("/x-case/profile").and_then(Value::as_str).map(str::to_owned),
        })
    }

    /// Refuses a setup with unknown members. To ignore them would judge another situation than
    /// the case describes.
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
        texts(self.list(name)?, name)
    }

    /// An optional list argument; empty if it is absent.
    pub(crate) fn optional_list(&self, name: &str) -> Result<&[Value], BadCall> {
        if self.args.contains_key(name) { self.list(name) } else { Ok(&[]) }
    }

    pub(crate) fn object(&self, name: &str) -> Result<&Map<String, Value>, BadCall> {
        self.value(name)?.as_object().ok_or_else(|| BadCall::kind(name, "an object"))
    }

    pub(crate) fn optional_object(
        &self,
        name: &str,
    ) -> Result<Option<&Map<String, Value>>, BadCall> {
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
        let read =
            |value: &Value| value.as_i64().ok_or_else(|| BadCall::kind(name, "a whole number"));
        self.args.get(name).map(read).transpose()
    }

    /// An optional whole number from zero.
    pub(crate) fn optional_count(&self, name: &str) -> Result<Option<u64>, BadCall> {
        let count = |number: i64| {
            u64::try_from(number).map_err(|_| BadCall::kind(name, "a whole number from zero"))
        };
        self.optional_integer(name)?.map(count).transpose()
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

    fn missing(name: &str) -> Self {
        Self(format!("the argument {name} is missing"))
    }
}

pub(crate) fn texts(list: &[Value], name: &str) -> Result<Vec<String>, BadCall> {
    list.iter()
        .map(|value| value.as_str().map(str::to_owned))
        .collect::<Option<_>>()
        .ok_or_else(|| BadCall::kind(name, "a list of strings"))
}

fn object(value: Option<&Value>, name: &str) -> Result<Map<String, Value>, BadCall> {
    match value {
        None => Ok(Map::new()),
        Some(Value::Object(members)) => Ok(members.clone()),
        Some(_) => Err(BadCall::kind(name, "an object")),
    }
}
