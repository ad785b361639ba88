//! What a tool returns: a receipt, a document, `null`, or an error.
//!
//! MCP has two places for a result: text, which every client shows its model, and structured
//! content, which some clients show instead. A tool that fills the second should repeat it in the
//! first, which would double the tokens of a long document. So:
//! - Receipts of writes, and errors, are short and are in both places.
//! - A document that was read is only in the text, as the JSON of the host, token for token.
//! - A note is a text of its own. With a receipt it is also the member `x-note` of the structured
//!   content: Claude Code and Codex show their models nothing else.

use accord_base::{ActorKey, SessionId};
use accord_contract::{Code, Failure, Field, Object, Value, Wire as _, alx::ErrorEnvelope};
use accord_memory_core::Session;
use rmcp::model::{CallToolResult, ContentBlock, MetaObject};

use super::{Advice, HostRequest, Toolset};
use accord_serving::errors;

/// The member of structured content that repeats a note.
const NOTE: &str = "x-note";

#[derive(Clone, Debug)]
pub struct ToolResult {
    content: Content,
    /// A second text, about the first.
    note: Option<String>,
    /// What a host of pages gets beside it, by name.
    meta: Object,
    /// What the connection remembers of it.
    pub memo: Memo,
    /// What is sent to the host once the result was written.
    pub confirmation: Option<HostRequest>,
}

#[derive(Clone, Debug)]
enum Content {
    Receipt(Object),
    Document(String),
}

#[derive(Clone, Debug)]
pub enum Memo {
    Nothing,
    /// A session was started; later calls belong to it.
    Started(OpenSession),
    Ended(SessionId),
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OpenSession {
    pub session_id: SessionId,
    pub project_id: String,
    pub actor: ActorKey,
}

#[derive(Clone, Debug)]
pub struct ToolError {
    code: String,
    message: String,
    what_to_do: Option<String>,
    details: Object,
}

impl From<Session> for OpenSession {
    fn from(session: Session) -> Self {
        Self {
            session_id: session.session_id,
            project_id: session.project_id.into_string(),
            actor: ActorKey { id: session.actor_id, kind: session.actor_type },
        }
    }
}

impl ToolResult {
    /// A short answer to a write.
    pub fn receipt(members: Object) -> Self {
        Self::new(Content::Receipt(members))
    }

    /// A document that was read: JSON.
    pub fn document(text: impl Into<String>) -> Self {
        Self::new(Content::Document(text.into()))
    }

    fn new(content: Content) -> Self {
        let (meta, memo) = (Object::new(), Memo::Nothing);
        Self { content, note: None, meta, memo, confirmation: None }
    }

    /// Adds a sentence for the model, beside the result.
    #[must_use]
    pub fn noting(mut self, note: impl Into<String>) -> Self {
        let note = note.into();
        self.note = Some(match self.note.take() {
            Some(before) => format!("{before}\n{note}"),
            None => note,
        });
        self
    }

    /// Adds something for the host of pages, which no model sees.
    #[must_use]
    pub fn with_meta(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.meta.insert(name.into(), value.into());
        self
    }

    #[must_use]
    pub fn remembering(mut self, memo: Memo) -> Self {
        self.memo = memo;
        self
    }

    /// Confirms the result to the host once it was written.
    #[must_use]
    pub fn confirming(mut self, request: HostRequest) -> Self {
        self.confirmation = Some(request);
        self
    }

    /// Adds a member to a receipt. A document is not changed.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        if let Content::Receipt(members) = &mut self.content {
            members.insert(name.into(), value.into());
        }
        self
    }

    pub fn result(self) -> CallToolResult {
        let mut result = match self.content {
            Content::Receipt(members) => in_both_places(members, false),
            Content::Document(text) => CallToolResult::success(vec![ContentBlock::text(text)]),
        };
        if let Some(note) = self.note {
            if let Some(Value::Object(members)) = &mut result.structured_content {
                members.insert(NOTE.into(), note.as_str().into());
            }
            result.content.push(ContentBlock::text(note));
        }
        result.meta = (!self.meta.is_empty()).then_some(MetaObject(self.meta));
        result
    }
}

/// The result `null`, with the reason as a second text.
pub fn null_result(error: &ToolError) -> CallToolResult {
    let why = ContentBlock::text(error.message.as_str());
    CallToolResult::success(vec![ContentBlock::text("null"), why])
}

impl ToolError {
    pub fn code(&self) -> &str {
        &self.code
    }

    pub fn is(&self, code: Code) -> bool {
        self.code == code.as_str()
    }

    /// The query parameter that the host refuses because it does not know it.
    pub fn unknown_parameter(&self) -> Option<String> {
        let is_unknown = self.is(Code::AgenticInvalidSchema)
            && self.message.starts_with("this route has no query parameter ");
        let field = self.details.get("field").and_then(Value::as_str);
        field.filter(|_| is_unknown).map(str::to_owned)
    }

    /// Adds details that programs and models need to act on it.
    pub fn with_details(mut self, details: &Object) -> Self {
        self.details.extend(details.clone());
        self
    }

    /// The result, with the code and the advice that the tool's set has for the failure.
    pub fn result(self, set: &Toolset) -> CallToolResult {
        let mut members = Object::new();
        members.insert("error".into(), self.described(set).into());
        in_both_places(members, true)
    }

    /// The code, a message with what to do, and all details.
    pub fn parts(self, set: &Toolset) -> (String, String, Object) {
        let error = self.described(set);
        let member = |name: &str| error.get(name).and_then(Value::as_str).unwrap_or_default();
        let (code, what_to_do) = (member("code").to_owned(), member("what_to_do"));
        let message = format!("{code}: {}. {what_to_do}", member("message"));
        (code, message, error)
    }

    fn described(mut self, set: &Toolset) -> Object {
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
        error
    }
}

impl From<Failure> for ToolError {
    fn from(failure: Failure) -> Self {
        let mut details = Object::new();
        let place = failure.pointer.as_deref().map(|place| place.trim_start_matches('/'));
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

impl From<ErrorEnvelope> for ToolError {
    fn from(envelope: ErrorEnvelope) -> Self {
        let error = envelope.error;
        let code = match error.code.encode() {
            Value::String(code) => code,
            other => other.to_string(),
        };
        let mut details = error.extra;
        // `field` has the same information.
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

/// Capitalises a text and ends it with a full stop.
fn sentence(words: &str) -> String {
    let mut letters = words.trim().chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    let mut sentence: String = first.chain(letters).collect();
    if !sentence.ends_with(['.', '!', '?']) {
        sentence.push('.');
    }
    sentence
}

/// A short result, as text and as structured content.
fn in_both_places(members: Object, is_error: bool) -> CallToolResult {
    let value = Value::Object(members);
    let text = vec![ContentBlock::text(value.to_string())];
    let result = if is_error { CallToolResult::error } else { CallToolResult::success };
    let mut result = result(text);
    result.structured_content = Some(value);
    result
}
