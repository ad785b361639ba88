//! What a tool gives back: a receipt, a document, nothing, or trouble.
//!
//! MCP has two places for a result: text, which every client shows its model, and structured content,
//! which some clients show instead and programs like to read. A tool that fills the second should repeat
//! it in the first, which for a long document would cost twice the tokens. So:
//! - a receipt of a write, and trouble, are short and stand in both places;
//! - a document that was read stands in the text alone, as the JSON that the host gave, token for token.

use accord_base::{ActorKey, SessionId};
use accord_contract::alx::ErrorEnvelope;
use accord_contract::codes::{Code, Failure};
use accord_contract::wire::{Field, Object, Value, Wire as _};
use rmcp::model::{CallToolResult, ContentBlock};

use super::toolset::{Advice, Toolset};
use crate::http::errors;

/// The result of a call that the host carried out.
#[derive(Clone, Debug)]
pub struct Outcome {
    content: Content,
    /// What the connection is to remember.
    pub(super) memo: Memo,
}

#[derive(Clone, Debug)]
enum Content {
    Receipt(Object),
    Document(String),
}

/// What a connection is to remember of a call.
#[derive(Clone, Debug)]
pub enum Memo {
    /// Nothing.
    Nothing,
    /// The session that was started: what follows belongs to it.
    Started(OpenSession),
    /// The session that was ended.
    Ended(SessionId),
}

/// A session that a connection has started.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OpenSession {
    /// Its id.
    pub session_id: SessionId,
    /// The project that it works on.
    pub project_id: String,
    /// Who works.
    pub actor: ActorKey,
}

/// Why a call came to nothing, and what to do about it.
#[derive(Clone, Debug)]
pub(super) struct Trouble {
    code: String,
    message: String,
    what_to_do: Option<String>,
    details: Object,
}

impl Outcome {
    /// A short answer to a write.
    pub fn receipt(members: Object) -> Self {
        Self {
            content: Content::Receipt(members),
            memo: Memo::Nothing,
        }
    }

    /// A document that was read: JSON.
    pub fn document(text: impl Into<String>) -> Self {
        Self {
            content: Content::Document(text.into()),
            memo: Memo::Nothing,
        }
    }

    /// The same outcome, with something to remember.
    #[must_use]
    pub fn remembering(mut self, memo: Memo) -> Self {
        self.memo = memo;
        self
    }

    /// The same receipt, with a member more. A document stays as it is.
    #[must_use]
    pub(super) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        if let Content::Receipt(members) = &mut self.content {
            members.insert(name.into(), value.into());
        }
        self
    }

    pub(super) fn result(self) -> CallToolResult {
        match self.content {
            Content::Receipt(members) => twofold(members, false),
            Content::Document(text) => CallToolResult::success(vec![ContentBlock::text(text)]),
        }
    }
}

/// The result when what was asked for is not there: `null`, and beside it why.
pub(super) fn nothing(trouble: &Trouble) -> CallToolResult {
    let why = ContentBlock::text(trouble.message.as_str());
    CallToolResult::success(vec![ContentBlock::text("null"), why])
}

impl Trouble {
    /// Whether it is this failure.
    pub(super) fn is(&self, code: Code) -> bool {
        self.code == code.as_str()
    }

    /// The same trouble, with what programs and models need to act on it.
    pub(super) fn with_details(mut self, details: &Object) -> Self {
        self.details.extend(details.clone());
        self
    }

    /// The result, with the code and the advice that the tool's set has for the failure.
    pub(super) fn result(mut self, set: &Toolset) -> CallToolResult {
        if let Some(code) = Code::parse(&self.code) {
            self.code = errors::code_in(set.protocol, code).as_str().to_owned();
        }
        let field = self.details.get("field").and_then(Value::as_str);
        let fits = |advice: &&Advice| {
            self.is(advice.code) && advice.field.is_none_or(|name| Some(name) == field)
        };
        let advice = set.advice.iter().find(fits).map(|advice| advice.what_to_do);
        let meaning = || Code::parse(&self.code).map(Code::meaning);
        let what_to_do = match (self.what_to_do.as_deref(), advice) {
            (Some(own), Some(advice)) => Some(format!("{} {advice}", sentence(own))),
            (own, advice) => own.or(advice).or_else(meaning).map(sentence),
        };
        let mut error = Object::new();
        error.insert("code".into(), self.code.into());
        error.insert("message".into(), self.message.into());
        if let Some(what_to_do) = what_to_do {
            error.insert("what_to_do".into(), what_to_do.into());
        }
        error.extend(self.details);
        let mut members = Object::new();
        members.insert("error".into(), error.into());
        twofold(members, true)
    }
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        let mut details = Object::new();
        let place = failure
            .pointer
            .as_deref()
            .map(|place| place.trim_start_matches('/'));
        if let Some(place) = place.filter(|place| !place.is_empty()) {
            details.insert("field".into(), place.into());
        }
        details.extend(failure.details.map(|details| *details).unwrap_or_default());
        Self {
            code: failure.code.as_str().to_owned(),
            message: failure.message,
            what_to_do: failure.suggestion,
            details,
        }
    }
}

impl From<ErrorEnvelope> for Trouble {
    fn from(envelope: ErrorEnvelope) -> Self {
        let error = envelope.error;
        let code = match error.code.encode() {
            Value::String(code) => code,
            other => other.to_string(),
        };
        let mut details = error.extra;
        // The field says the same for people.
        details.remove("pointer");
        Self {
            code,
            message: error.message,
            what_to_do: match error.suggestion {
                Field::Value(suggestion) => Some(suggestion),
                Field::Absent | Field::Null => None,
            },
            details,
        }
    }
}

/// Words as a sentence, so that another can follow.
fn sentence(words: &str) -> String {
    let mut letters = words.trim().chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    let mut sentence: String = first.chain(letters).collect();
    if !sentence.ends_with(['.', '!', '?']) {
        sentence.push('.');
    }
    sentence
}

/// A short result, in both places.
fn twofold(members: Object, is_error: bool) -> CallToolResult {
    let value = Value::Object(members);
    let text = vec![ContentBlock::text(value.to_string())];
    let mut result = if is_error {
        CallToolResult::error(text)
    } else {
        CallToolResult::success(text)
    };
    result.structured_content = Some(value);
    result
}
