//! Operations without their types: what routers, documents and manuals are made from.

use accord_base::Need;
use accord_contract::wire::{Shape, json_schema};
use accord_contract::{Code, Object, Protocol, Value, Wire};
use serde_json::json;

use crate::Method;
use crate::parameter::Described;

/// An operation as documents describe it.
#[derive(Clone, Debug)]
pub struct Declaration {
    /// Its name: short, unique, stable.
    pub name: &'static str,
    /// The method.
    pub method: Method,
    /// The path, with `{name}` for each parameter.
    pub path: &'static str,
    /// What it does, in a sentence.
    pub summary: String,
    /// Its parameters: those in the path first.
    pub parameters: Vec<Parameter>,
    /// The request body; `None` if none is read.
    pub body: Option<Body>,
    /// Its successful answers.
    pub answers: Vec<Answer>,
    /// The protocol whose codes and error bodies its refusals have.
    pub protocol: Protocol,
    /// The name of its group. The list of the groups sets it.
    pub group: &'static str,
    /// What it needs of its caller.
    pub need: Need,
    /// Its own failure codes, without those that every route has.
    pub codes: Vec<Code>,
}

/// A parameter.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Where it is sent.
    pub location: Location,
    /// What it means.
    pub about: String,
    /// Whether it is required.
    pub required: bool,
    /// What its value must be.
    pub shape: Shape,
    /// The value that counts if it is not given.
    pub default: Option<Value>,
}

impl Parameter {
    /// A parameter at a place.
    pub fn new(
        location: Location,
        definition: Described,
        about: impl Into<String>,
        required: bool,
    ) -> Self {
        let Described { name, shape, default } = definition;
        Self { name, location, about: about.into(), required, shape, default }
    }
}

/// Where a parameter is sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Location {
    /// In the path.
    Path,
    /// In the query.
    Query,
    /// In the headers.
    Header,
}

/// A request body.
#[derive(Clone, Copy, Debug)]
pub struct Body {
    /// Its content.
    pub content: Content,
    /// Whether it must be sent.
    pub required: bool,
}

/// A successful answer.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// What it means.
    pub about: &'static str,
    /// The body, if it has one.
    pub content: Option<Content>,
}

/// The content of a body.
#[derive(Clone, Copy, Debug)]
pub enum Content {
    /// A JSON document with this JSON Schema.
    Json(fn() -> Value),
    /// JSON documents, one per line.
    Lines,
    /// Server-sent events.
    Events,
    /// Bytes.
    Bytes,
    /// Text of this media type.
    Text(&'static str),
}

impl Content {
    /// The JSON document of a message.
    pub fn json<T: Wire>() -> Self {
        Self::Json(json_schema::<T>)
    }

    /// The JSON document of one of two messages.
    pub fn either<A: Wire, B: Wire>() -> Self {
        Self::Json(|| either_schema(json_schema::<A>(), json_schema::<B>()))
    }

    /// Its media type, with parameters such as a charset.
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Json(_) => "application/json",
            Self::Lines => "application/x-ndjson",
            Self::Events => "text/event-stream",
            Self::Bytes => "application/octet-stream",
            Self::Text(media_type) => media_type,
        }
    }
}

fn either_schema(one: Value, other: Value) -> Value {
    let (mut choices, mut definitions) = (Vec::new(), Object::new());
    for mut schema in [one, other] {
        if let Value::Object(found) = schema["$defs"].take() {
            definitions.extend(found);
        }
        choices.push(json!({"$ref": schema["$ref"]}));
    }
    json!({"anyOf": choices, "$defs": definitions})
}
