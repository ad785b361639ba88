//! The request of a tool to the host, and the answer.

use std::fmt::Display;

use accord_api::body::AnswerBody;
use accord_api::{Call as OperationCall, Encoded, Operation, Received};
use accord_contract::alx::ErrorEnvelope;
use accord_contract::text::percent_encoded;
use accord_contract::{Code, Failure, Object, Value, Wire as _};
use accord_memory_core::compact;
use axum::body::Body;
use http_body_util::{BodyExt as _, Limited};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Method, Uri};

use super::tool_result::ToolError;
use accord_serving::reply::{NEW_PROJECT, SUPERSEDED_BY};
use accord_serving::{Api, Request};

/// The largest answer that is read.
const LARGEST_ANSWER: usize = 64 * 1024 * 1024;

/// A request to a host.
#[derive(Clone, Debug)]
pub struct HostRequest {
    method: Method,
    path: String,
    query: Vec<Parameter>,
    /// The text of a JSON document.
    body: Option<String>,
    about: Object,
}

/// A query parameter.
#[derive(Clone, Debug)]
struct Parameter {
    name: String,
    value: String,
    /// Whether an older host may not know it.
    is_recent: bool,
}

/// What a host answered to a request that it carried out.
#[derive(Clone, Debug)]
pub struct Answer {
    created: bool,
    text: String,
    superseded_by: Option<String>,
    new_project: Option<String>,
    unknown: Vec<String>,
}

impl HostRequest {
    /// A request for an operation.
    pub fn operation<O: Operation>(call: &OperationCall<O>) -> Self {
        call.encode().into()
    }

    /// A GET of a path, given as unencoded segments.
    pub fn get(path: &[&str]) -> Self {
        Self::new(Method::GET, path)
    }

    /// A POST of a document.
    pub fn post(path: &[&str], body: Object) -> Self {
        let mut ask = Self::new(Method::POST, path);
        ask.body = Some(Value::Object(body).to_string());
        ask
    }

    /// Adds a query parameter, if it has a value.
    #[must_use]
    pub fn query(mut self, name: &str, value: Option<impl Display>) -> Self {
        let (name, value) = (name.to_owned(), value.map(|value| value.to_string()));
        self.query.extend(value.map(|value| Parameter { name, value, is_recent: false }));
        self
    }

    /// Marks query parameters that an older host may not know. Such a host is asked again without
    /// them.
    #[must_use]
    pub fn recently(mut self, names: &[&str]) -> Self {
        for parameter in &mut self.query {
            parameter.is_recent |= names.contains(&parameter.name.as_str());
        }
        self
    }

    /// Adds a detail that the caller needs if no answer arrives.
    #[must_use]
    pub fn about(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.about.insert(name.into(), value.into());
        self
    }

    /// Sends the request and reads the answer.
    pub async fn send(mut self, api: &dyn Api) -> Result<Answer, ToolError> {
        let mut unknown = Vec::new();
        loop {
            let error = match self.clone().send_once(api).await {
                Ok(answer) => return Ok(Answer { unknown, ..answer }),
                Err(error) => error,
            };
            let refused = error.unknown_parameter();
            let place = self.query.iter().position(|parameter| {
                parameter.is_recent && refused.as_ref() == Some(&parameter.name)
            });
            let Some(place) = place else {
                return Err(error);
            };
            unknown.push(self.query.remove(place).name);
        }
    }

    async fn send_once(self, api: &dyn Api) -> Result<Answer, ToolError> {
        let about = self.about.clone();
        let unanswered = |failure: Failure| ToolError::from(failure).with_details(&about);
        let response = api.call(self.request()?).await.map_err(unanswered)?;
        let status = response.status();
        let headers = response.headers();
        let is_json = headers.get(CONTENT_TYPE).is_none_or(is_json);
        let header = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let superseded_by = header(SUPERSEDED_BY).map(str::to_owned);
        let new_project = header(NEW_PROJECT).and_then(unescape);
        let body = Limited::new(response.into_body(), LARGEST_ANSWER).collect().await;
        let body = body.map_err(|_| {
            let message = "the answer of the host was interrupted, or is too large";
            unanswered(Failure::new(Code::HostProtocol, message))
        })?;
        let text = String::from_utf8(body.to_bytes().into())
            .map_err(|_| unanswered(Failure::new(Code::HostProtocol, "the answer is not UTF-8")))?;
        if status.is_success() {
            let created = status == hyper::StatusCode::CREATED;
            // Whitespace between JSON tokens costs a model tokens and means nothing.
            let text = if is_json { compact(&text) } else { text };
            let unknown = Vec::new();
            return Ok(Answer { created, text, superseded_by, new_project, unknown });
        }
        let envelope = serde_json::from_str(&text)
            .ok()
            .and_then(|value| ErrorEnvelope::from_document(value).ok());
        match envelope {
            Some(envelope) => Err(ToolError::from(envelope)),
            None => {
                let message = format!("the host answered {status} without a failure code");
                Err(unanswered(Failure::new(Code::HostProtocol, message)))
            }
        }
    }

    fn new(method: Method, path: &[&str]) -> Self {
        let mut target = String::new();
        for segment in path {
            target.push('/');
            // A segment of dots would be resolved as a relative path.
            if segment.bytes().all(|byte| byte == b'.') {
                target.push_str(&segment.replace('.', "%2E"));
            } else {
                target.extend(percent_encoded(segment));
            }
        }
        Self { method, path: target, query: Vec::new(), body: None, about: Object::new() }
    }

    fn request(self) -> Result<Request, Failure> {
        let mut target = self.path;
        for (index, parameter) in self.query.iter().enumerate() {
            target.push(if index == 0 { '?' } else { '&' });
            target.extend(percent_encoded(&parameter.name));
            target.push('=');
            target.extend(percent_encoded(&parameter.value));
        }
        let target: Uri = target.parse().map_err(|_| {
            let message = "the arguments are too long for a request; shorten them";
            Failure::new(Code::McpArgumentInvalid, message)
        })?;
        let mut request = Request::new(Body::empty());
        *request.method_mut() = self.method;
        *request.uri_mut() = target;
        if let Some(body) = self.body {
            let media_type = HeaderValue::from_static("application/json");
            request.headers_mut().insert(CONTENT_TYPE, media_type);
            *request.body_mut() = Body::from(body);
        }
        Ok(request)
    }
}

impl From<Encoded> for HostRequest {
    fn from(request: Encoded) -> Self {
        let parameter = |(name, value): (&str, String)| Parameter {
            name: name.to_owned(),
            value,
            is_recent: false,
        };
        let method = Method::from_bytes(request.method.as_str().as_bytes());
        Self {
            method: method.expect("the name of a method"),
            path: request.path,
            query: request.query.into_iter().map(parameter).collect(),
            body: request.body.map(|(_, text)| text),
            about: Object::new(),
        }
    }
}

impl Answer {
    /// The answer of an operation.
    pub fn read<A: AnswerBody>(&self) -> Result<A, Failure> {
        A::decode(&Received { media_type: None, text: self.text.clone() })
    }

    /// Whether the request created something.
    pub fn created(&self) -> bool {
        self.created
    }

    /// The document of the host. JSON has its tokens unchanged and no whitespace between them.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The ids of the packages that supersede the package that was read, if there are any.
    pub fn superseded_by(&self) -> Option<&str> {
        self.superseded_by.as_deref()
    }

    /// The id of the project, if the request created it.
    pub fn new_project(&self) -> Option<&str> {
        self.new_project.as_deref()
    }

    /// The parameters that the host does not know, and without which it answered.
    pub fn unknown(&self) -> &[String] {
        &self.unknown
    }

    /// The members of the document.
    pub fn object(&self) -> Result<Object, Failure> {
        serde_json::from_str(&self.text).map_err(|_| {
            let message = "the answer of the host is not a JSON object";
            Failure::new(Code::HostProtocol, message)
        })
    }
}

/// Whether a media type is JSON.
fn is_json(media_type: &HeaderValue) -> bool {
    let essence = media_type.as_bytes().split(|byte| *byte == b';').next().unwrap_or_default();
    essence.trim_ascii().eq_ignore_ascii_case(b"application/json")
}

/// Decodes a percent-encoded text.
pub fn unescape(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let (byte, after) = match (first, after) {
            (b'%', [high, low, after @ ..]) => {
                let digit = |byte: u8| char::from(byte).to_digit(16);
                (u8::try_from(digit(*high)? * 16 + digit(*low)?).ok()?, after)
            }
            (b'%', _) => return None,
            (byte, after) => (*byte, after),
        };
        bytes.push(byte);
        rest = after;
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::HostRequest;

    #[test]
    fn every_id_stands_for_itself_in_a_path() {
        let ask =
            HostRequest::get(&["v1", "packages", "日/ ?%"]).query("project_id", Some("a&b=c"));
        let request = ask.query("limit", None::<u8>).request().unwrap();
        assert_eq!(request.uri(), "/v1/packages/%E6%97%A5%2F%20%3F%25?project_id=a%26b%3Dc");
        let dots = HostRequest::get(&["v1", ".."]).request().unwrap();
        assert_eq!(dots.uri(), "/v1/%2E%2E");
    }

    #[test]
    fn a_query_that_is_too_long_is_refused() {
        let ask = HostRequest::get(&["v1"]).query("query", Some("x".repeat(100_000)));
        assert!(ask.request().is_err());
    }
}
