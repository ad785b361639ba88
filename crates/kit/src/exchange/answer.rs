//! The answer of a server.

use std::collections::BTreeMap;

use accord_contract::{Object, Value};
use serde_json::json;

use super::events;
use crate::corpus::{AnswerForm, Requests, Route};

#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// By name in lower case; several of one name are joined with commas.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) text: String,
    /// Whether TLS protected the exchange, or it was local.
    pub(crate) protected: bool,
}

impl Answer {
    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    pub(crate) fn document(&self, route: &Route) -> Option<Value> {
        // A failure is one JSON document, also where a success has another form.
        let form = if self.is_success() { route.answer() } else { AnswerForm::Json };
        match form {
            AnswerForm::Json => {
                let document: Value = serde_json::from_str(&self.text).ok()?;
                Some(match (&route.list, document) {
                    // Both forms of a list are allowed, and the cases need one expectation.
                    (Some(member), Value::Array(items)) => json!({ member: items }),
                    (_, document) => document,
                })
            }
            AnswerForm::Lines => {
                let lines = self.text.lines().filter(|line| !line.trim().is_empty());
                let lines: Result<Vec<Value>, _> = lines.map(serde_json::from_str).collect();
                Some(json!({"lines": lines.ok()?}))
            }
            AnswerForm::Events => Some(json!({"events": events::read(&self.text)})),
        }
    }

    /// Whether the server has no such route: by the status, without a code for something not found.
    pub(crate) fn lacks_route(&self, routes: Requests<'_>) -> bool {
        match self.status {
            // 404 alone does not say whether the route or the thing at the route is missing.
            405 | 501 => true,
            404 => {
                let body: Value = serde_json::from_str(&self.text).unwrap_or_default();
                !routes.not_found_codes().any(|code| names(&body, code))
            }
            _ => false,
        }
    }

    /// Whether the answer has a text somewhere in its body or headers.
    pub(crate) fn contains(&self, text: &str) -> bool {
        self.text.contains(text) || self.headers.values().any(|value| value.contains(text))
    }

    pub(crate) fn header_document(&self) -> Value {
        let headers = self.headers.iter();
        let members: Object =
            headers.map(|(name, value)| (name.clone(), value.as_str().into())).collect();
        Value::Object(members)
    }
}

/// Whether some string in a document is exactly this text.
pub(crate) fn names(document: &Value, text: &str) -> bool {
    match document {
        Value::String(found) => found == text,
        Value::Array(items) => items.iter().any(|item| names(item, text)),
        Value::Object(members) => members.values().any(|member| names(member, text)),
        _ => false,
    }
}
