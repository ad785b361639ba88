//! Requests as a client makes them, and answers as it receives them.

use std::fmt;

use accord_contract::Failure;
use accord_contract::text::percent_encoded;

use crate::body::{AnswerBody, BodyKind as _, RequestBody as _};
use crate::parameter::{ParamSet, Params};
use crate::{Method, Operation};

/// A request for an operation.
pub struct Call<O: Operation> {
    /// The parameters in the path.
    pub path: O::Path,
    /// The parameters in the query.
    pub query: O::Query,
    /// The body.
    pub body: O::Body,
}

/// A request as it is sent.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Encoded {
    /// The method.
    pub method: Method,
    /// The path, percent-encoded.
    pub path: String,
    /// The query: names and values, not encoded.
    pub query: Vec<(&'static str, String)>,
    /// The headers of the operation: names and values.
    pub headers: Vec<(&'static str, String)>,
    /// The media type of the answer.
    pub accept: &'static str,
    /// The media type and the body, if there is a body.
    pub body: Option<(&'static str, String)>,
}

/// An answer as it was received.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Received {
    /// Its media type, if it has one.
    pub media_type: Option<String>,
    /// Its text.
    pub text: String,
}

/// A typed answer, and the text that was received.
#[derive(Clone, Debug)]
pub struct Answered<A> {
    /// The text.
    pub text: String,
    /// What it says.
    pub answer: A,
}

impl<O: Operation> Call<O> {
    /// A request.
    pub fn new(path: O::Path, query: O::Query, body: O::Body) -> Self {
        Self { path, query, body }
    }

    /// The request as it is sent.
    pub fn encode(&self) -> Encoded {
        let contents = O::Answer::contents();
        Encoded {
            method: O::METHOD,
            path: target(O::PATH, &self.path.write()),
            query: self.query.write(),
            headers: Vec::new(),
            accept: contents.first().map_or("*/*", |content| content.media_type()),
            body: self.body.encode(),
        }
    }

    /// Reads a request. A wrong parameter is named before a wrong body.
    pub fn decode(path: &Params<'_>, query: &Params<'_>, body: &[u8]) -> Result<Self, Failure> {
        let (path, query) = (O::Path::read(path)?, O::Query::read(query)?);
        Ok(Self { path, query, body: O::Body::decode(body)? })
    }
}

impl<O: Operation<Path: fmt::Debug, Query: fmt::Debug, Body: fmt::Debug>> fmt::Debug for Call<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut call = f.debug_struct(O::NAME);
        call.field("path", &self.path).field("query", &self.query).field("body", &self.body);
        call.finish()
    }
}

impl Encoded {
    /// The same with the headers of the operation.
    #[must_use]
    pub fn with_headers<H: ParamSet>(mut self, headers: &H) -> Self {
        self.headers.extend(headers.write());
        self
    }

    /// The path and the query, as the first line of a request has them.
    pub fn target(&self) -> String {
        let mut target = self.path.clone();
        for (index, (name, value)) in self.query.iter().enumerate() {
            target.push(if index == 0 { '?' } else { '&' });
            target.extend(percent_encoded(name));
            target.push('=');
            target.extend(percent_encoded(value));
        }
        target
    }
}

impl Received {
    /// Reads the answer of an operation, and keeps its text.
    pub fn read<A: AnswerBody>(self) -> Result<Answered<A>, Failure> {
        let answer = A::decode(&self)?;
        Ok(Answered { text: self.text, answer })
    }

    /// Whether it has a media type, whatever the parameters such as a charset are.
    pub fn is_of(&self, media_type: &str) -> bool {
        let essence = |text: &str| {
            let essence = text.split(';').next().unwrap_or_default();
            essence.trim().to_ascii_lowercase()
        };
        self.media_type.as_deref().is_some_and(|own| essence(own) == essence(media_type))
    }
}

/// The path of a template, with a percent-encoded value for each parameter. Panics if one has none.
pub fn target(template: &str, values: &[(&'static str, String)]) -> String {
    let mut target = String::with_capacity(template.len() + 32);
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}').expect("a parameter of a template ends");
        let found = values.iter().find(|(given, _)| *given == name);
        let (_, value) = found.expect("every parameter of a template has a value");
        target.push_str(before);
        // A segment of dots would be resolved as a relative path.
        match value.bytes().all(|byte| byte == b'.') {
            true => target.push_str(&value.replace('.', "%2E")),
            false => target.extend(percent_encoded(value)),
        }
        rest = after;
    }
    target.push_str(rest);
    target
}
