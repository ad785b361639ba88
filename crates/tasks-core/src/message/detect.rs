//! Whether an input is a message of the protocol.

use crate::rule;
use accord_contract::text::excerpt;
use accord_contract::{Code, Object, Time, Timestamp, Value};
use serde_json::json;

use super::{Message, MessageType};

/// What a text begins with that is a message.
pub const PREFIX: &str = "AOF/1 ";

/// The longest text that is read.
const MAX_BYTES: usize = 10 * 1024 * 1024;

#[derive(Clone, Debug, PartialEq)]
pub enum Detected {
    /// Something else, such as chat. It is none of the protocol's business.
    Other,
    Message(Box<Message>),
    /// A message of a type that this version does not know.
    Unknown {
        kind: String,
        /// The task that it names, as it was written.
        task: Option<String>,
    },
    /// Something that was meant as a message and is not a valid one.
    Rejected(Rejection),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Rejection {
    pub reason: Code,
    /// Details, for the event that records the rejection.
    pub details: Object,
    /// What the input says of its sender and its task, as far as it can be read.
    pub sender: Option<String>,
    /// The task that it names, as it was written.
    pub task: Option<String>,
}

/// Recognises a message in an event: the event itself, or its member `payload`, `message` or
/// `content`, as an object or a text.
/// Clauses: AOF-DETECT-OBJECT, AOF-DETECT-JSON, AOF-DETECT-PREFIX.
pub fn detect(event: &Value) -> Detected {
    // An envelope has a member `payload` too, so it must be tried first.
    if is_aof(event) {
        return read(event.clone());
    }
    let Some(members) = event.as_object() else {
        return event.as_str().map_or(Detected::Other, detect_text);
    };
    let inner = ["payload", "message", "content"].iter().find_map(|name| members.get(*name));
    match inner {
        Some(Value::String(text)) => detect_text(text),
        Some(inner) if is_aof(inner) => read(inner.clone()),
        _ => Detected::Other,
    }
}

/// Recognises a message in a text: JSON, or JSON after [`PREFIX`].
/// Clauses: AOF-DETECT-JSON, AOF-DETECT-PREFIX, AOF-ENV-JSON.
pub fn detect_text(text: &str) -> Detected {
    let text = text.trim();
    let (json, source) = match rule!(text.strip_prefix(PREFIX); PrefixUnknown => None) {
        Some(rest) => (rest.trim(), "AOF/1 prefix"),
        None if rule!(text.starts_with('{'); JsonIsChat => false) => (text, "json"),
        None => return Detected::Other,
    };
    if text.len() > MAX_BYTES {
        let details = json!({"maxBytes": MAX_BYTES});
        return rejected(Code::AgenticPayloadTooLarge, details, None);
    }
    match accord_canon::read(json.as_bytes()) {
        Err(error) => {
            let details = json!({"source": source, "error": excerpt(&error.to_string(), 200)});
            rejected(Code::AofInvalidJson, details, None)
        }
        Ok(document) if is_aof(&document) => read(document),
        // The prefix says that it is a message.
        Ok(document) if source != "json" => {
            let details = json!({"errors": ["/protocol: expected \"aof\""]});
            rejected(Code::AofInvalidEnvelope, details, Some(&document))
        }
        // JSON that is not for the protocol.
        Ok(_) => Detected::Other,
    }
}

fn is_aof(document: &Value) -> bool {
    document.get("protocol").and_then(Value::as_str) == Some("aof")
}

/// Clauses: AOF-ENV-UNKNOWN-TYPE, AOF-ENV-INVALID.
fn read(document: Value) -> Detected {
    let version = document.get("version").and_then(Value::as_i64);
    let kind = document.get("type").and_then(Value::as_str);
    if let (Some(1), Some(kind)) = (version, kind)
        && rule!(MessageType::parse(kind).is_none(); UnknownIsInvalid => false)
    {
        let task = document.get("taskId").and_then(Value::as_str).map(str::to_owned);
        return Detected::Unknown { kind: kind.to_owned(), task };
    }
    let Value::Object(members) = document.clone() else { return Detected::Other };
    match Message::read(members) {
        Ok(message) => Detected::Message(Box::new(message)),
        Err(errors) => {
            rejected(Code::AofInvalidEnvelope, json!({"errors": errors}), Some(&document))
        }
    }
}

fn rejected(reason: Code, details: Value, document: Option<&Value>) -> Detected {
    let text = |name: &str| {
        document.and_then(|document| document.get(name)?.as_str()).map(|text| excerpt(text, 200))
    };
    let Value::Object(details) = details else { return Detected::Other };
    Detected::Rejected(Rejection {
        reason,
        details,
        sender: text("fromAgent"),
        task: text("taskId"),
    })
}

/// The text of a message with another time at which it was sent. What is no object stays as it is.
pub fn sent_at(text: String, now: Time) -> String {
    let json = text.trim().strip_prefix(PREFIX).unwrap_or(&text);
    match serde_json::from_str(json) {
        Ok(Value::Object(mut message)) => {
            message.insert("sentAt".to_owned(), Timestamp::emit(now).as_str().into());
            Value::Object(message).to_string()
        }
        _ => text,
    }
}
