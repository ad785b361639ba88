//! What is kept of an answer for the memory of the project, beyond the life of the session.
//!
//! Invariant: a field that may be secret is not kept: its schema, or one that it refers to, has
//! `writeOnly`, `x-secret` or the format `password`, or its name is that of a secret.

use accord_base::decision::DecisionId;
use accord_canon::sha256;
use accord_contract::{Object, Value};

use super::Content;
use super::ledger::LedgerRow;
use super::redact::is_secret_name;
use crate::contract::ActionEntry;
use crate::json::members;

/// The longest data of an answer that are kept, in bytes of their text.
const MOST_BYTES: usize = 32 * 1024;
/// The prop that has the rest of a question.
const DETAILS: &str = "details";

/// An answer that the memory keeps.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptAnswer {
    /// The record of the person's decision.
    pub decision_id: DecisionId,
    /// The question, the answer in words, and what was entered.
    pub document: Value,
}

/// The id of the package in which a memory keeps the answer of a decision.
pub fn package_id(decision: &DecisionId) -> String {
    let record = Value::from(["live.answer", decision.as_str()].as_slice());
    format!("pkg_{}", &sha256(record.to_string().as_bytes()).hex()[..32])
}

/// What is kept of an answer to what the content shows. `is_refused`: a form was not filled in.
pub(super) fn of_answer(
    decision_id: DecisionId,
    row: &LedgerRow,
    content: &Content,
    (entry, is_refused): (Option<&ActionEntry>, bool),
) -> KeptAnswer {
    let prompt = content.ui.get("prompt").and_then(Value::as_str).unwrap_or_default();
    let details = content.props.as_ref().and_then(|props| props.get(DETAILS)?.as_str());
    let question = details.map_or(prompt.to_owned(), |more| format!("{prompt}\n{more}"));
    let action = row.action().unwrap_or_default();
    let label = entry.map_or(action, |entry| entry.label.as_str());
    let mut document = members([
        ("question", question.trim().into()),
        ("action", action.into()),
        ("label", label.into()),
    ]);
    if is_refused {
        document.insert("refused".into(), true.into());
    }
    let schema = entry.and_then(|entry| entry.schema.as_ref());
    let data = row.data.get("payload").and_then(|payload| payload.get("data"));
    if let Some((data, schema)) = data.zip(schema) {
        let data = kept_data(data, schema);
        if data.as_ref().is_some_and(|data| data.to_string().len() <= MOST_BYTES) {
            document.insert("data".into(), data.unwrap_or_default());
        } else {
            document.insert("left_out".into(), true.into());
        }
    }
    KeptAnswer { decision_id, document: Value::Object(document) }
}

/// What was entered, without its secret fields; `None` if all of it may be secret.
pub fn kept_data(data: &Value, schema: &Value) -> Option<Value> {
    without_secrets(data, Some(schema), schema)
}

fn without_secrets(value: &Value, schema: Option<&Value>, root: &Value) -> Option<Value> {
    match value {
        Value::Object(fields) => {
            let schema = schema.map(|schema| resolved(schema, root));
            let of = |name: &str| schema?.get("properties")?.get(name);
            let kept = fields.iter().filter_map(|(name, value)| {
                let own = of(name);
                let is_secret = is_secret_name(&name.to_ascii_lowercase())
                    || own.is_some_and(is_marked)
                    // A property may be said elsewhere, as in `allOf`.
                    || (own.is_none() && may_be_secret(root, root));
                let inner = (!is_secret).then(|| without_secrets(value, own, root)).flatten()?;
                Some((name.clone(), inner))
            });
            Some(Value::Object(kept.collect::<Object>()))
        }
        _ if schema.is_some_and(|schema| may_be_secret(schema, root)) => None,
        Value::Array(items) => {
            let of = schema.map(|schema| resolved(schema, root)).and_then(|it| it.get("items"));
            let kept = items.iter().map(|item| without_secrets(item, of, root));
            kept.collect::<Option<Vec<_>>>().map(Value::Array)
        }
        _ => Some(value.clone()),
    }
}

/// Whether a schema itself says that its value is secret.
fn is_marked(schema: &Value) -> bool {
    let is_true = |name: &str| schema.get(name) == Some(&Value::Bool(true));
    is_true("writeOnly")
        || is_true("x-secret")
        || schema.get("format").and_then(Value::as_str) == Some("password")
}

/// Whether a schema, a part of it or one that it refers to says that a value is secret.
fn may_be_secret(schema: &Value, root: &Value) -> bool {
    let (mut left, mut seen) = (vec![schema], Vec::new());
    while let Some(schema) = left.pop() {
        if is_marked(schema) {
            return true;
        }
        match schema {
            Value::Object(parts) => {
                let target = resolved(schema, root);
                left.extend(parts.values());
                if !std::ptr::eq(target, schema) && !seen.contains(&std::ptr::from_ref(target)) {
                    seen.push(std::ptr::from_ref(target));
                    left.push(target);
                }
            }
            Value::Array(parts) => left.extend(parts),
            _ => {}
        }
    }
    false
}

/// The schema that a schema refers to, or itself.
fn resolved<'s>(schema: &'s Value, root: &'s Value) -> &'s Value {
    let named = schema.get("$ref").and_then(Value::as_str);
    let pointer = named.and_then(|named| named.strip_prefix('#'));
    pointer.and_then(|pointer| root.pointer(pointer)).unwrap_or(schema)
}
