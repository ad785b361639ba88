//! What a person is asked for, from a schema: kinds of answers, choices, and texts as values.

use accord_contract::Value;

use super::Schema;

#[derive(Clone, Debug, Default)]
pub struct Question {
    /// Without the branch for null: the answer can be left out instead.
    schema: Value,
}

/// A member of the answer to a question for an object.
#[derive(Clone, Debug)]
pub struct QuestionMember {
    pub name: String,
    pub question: Question,
    pub is_required: bool,
}

/// How a value is asked for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum QuestionKind {
    /// Member by member.
    Group,
    /// Entry by entry.
    List,
    /// As one text.
    Scalar,
}

impl Question {
    pub fn new(schema: &Value) -> Self {
        Self { schema: plain(schema) }
    }

    /// What the value is about.
    pub fn about(&self) -> Option<&str> {
        self.schema["description"].as_str()
    }

    /// The value if nothing is answered.
    pub fn default_value(&self) -> Option<&Value> {
        self.schema.get("default").filter(|default| !default.is_null())
    }

    pub fn kind(&self) -> QuestionKind {
        let members = self.schema["properties"].as_object();
        if self.is_object() && members.is_some_and(|members| !members.is_empty()) {
            return QuestionKind::Group;
        }
        let items = self.items();
        let is_flat =
            !items.types().is_empty() && !items.is_object() && !items.types().contains(&"array");
        match self.types().contains(&"array") && is_flat {
            true => QuestionKind::List,
            false => QuestionKind::Scalar,
        }
    }

    pub fn is_object(&self) -> bool {
        self.types().contains(&"object") || self.schema["properties"].is_object()
    }

    pub fn members(&self) -> impl Iterator<Item = QuestionMember> {
        let needed = self.schema["required"].as_array();
        let members = self.schema["properties"].as_object().into_iter().flatten();
        members.map(move |(name, schema)| QuestionMember {
            name: name.clone(),
            question: Self::new(schema),
            is_required: needed.is_some_and(|needed| needed.iter().any(|own| own == name.as_str())),
        })
    }

    /// A member of the value. One that the schema does not name can be anything.
    pub fn member(&self, name: &str) -> Self {
        Self::new(&self.schema["properties"][name])
    }

    pub fn items(&self) -> Self {
        Self::new(&self.schema["items"])
    }

    /// What the value must be, in words; empty if it can be anything.
    pub fn allowed(&self) -> String {
        if let Some(choices) = self.schema["enum"].as_array() {
            return choices.iter().map(written).collect::<Vec<_>>().join(" | ");
        }
        match self.types().as_slice() {
            ["boolean"] => "yes or no".to_owned(),
            types => types.join(" or "),
        }
    }

    /// A value from its text. A text needs no quotes; anything else is JSON. The error says what
    /// was expected, for people.
    pub fn read(&self, text: &str) -> Result<Value, String> {
        let types = self.types();
        let choices = self.schema["enum"].as_array().into_iter().flatten();
        if let Some(choice) = choices.into_iter().find(|choice| written(choice) == text) {
            return Ok(choice.clone());
        }
        if types.is_empty() || types.contains(&"string") {
            return Ok(text.into());
        }
        if types == ["boolean"] {
            match text.to_lowercase().as_str() {
                "y" | "yes" => return Ok(true.into()),
                "n" | "no" => return Ok(false.into()),
                _ => {}
            }
        }
        serde_json::from_str(text).map_err(|_| match types == ["boolean"] {
            true => "expected yes or no".to_owned(),
            false => format!("expected {} as JSON", types.join(" or ")),
        })
    }

    /// A value that the schema allows, from its text. The error says what is wrong, for people.
    pub fn read_checked(&self, text: &str) -> Result<Value, String> {
        let value = self.read(text)?;
        let problem = self.problem(&value);
        problem.map_or(Ok(value), Err)
    }

    /// What is wrong with a value. Where the schema itself is wrong, the host decides.
    pub fn problem(&self, value: &Value) -> Option<String> {
        let violations = Schema::compile(&self.schema).ok()?.check(value, "");
        let reasons = violations.iter().map(|violation| match violation.field.as_str() {
            "" => violation.message.clone(),
            place => format!("{place}: {}", violation.message),
        });
        let reasons: Vec<String> = reasons.collect();
        (!reasons.is_empty()).then(|| reasons.join("; "))
    }

    fn types(&self) -> Vec<&str> {
        types(&self.schema)
    }
}

/// A value as people type it: a text without its quotes.
pub fn written(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn plain(schema: &Value) -> Value {
    let branches = schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Value::as_array);
    let is_null = |branch: &&Value| types(branch) == ["null"];
    let (Some(branches), Some(outer)) = (branches, schema.as_object()) else {
        return schema.clone();
    };
    let (nulls, others): (Vec<&Value>, Vec<&Value>) = branches.iter().partition(is_null);
    let ([_], [Value::Object(only)]) = (nulls.as_slice(), others.as_slice()) else {
        return schema.clone();
    };
    let mut merged = outer.clone();
    merged.retain(|name, _| !matches!(name.as_str(), "anyOf" | "oneOf"));
    merged.extend(only.clone());
    Value::Object(merged)
}

/// The types that a schema names.
pub(crate) fn types(schema: &Value) -> Vec<&str> {
    match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}
