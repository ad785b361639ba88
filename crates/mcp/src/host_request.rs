//! The request of a tool to the host, and the answer.

use accord_api::parameter::ParamSet;
use accord_api::{Call as OperationCall, Encoded, Operation, Received, body::AnswerBody};
use accord_contract::text::{percent_decoded, percent_encoded};
use accord_contract::{Code, Failure, Object, Value, Wire as _, alx::ErrorEnvelope};
use accord_memory_core::compact;
use axum::body::Body;
use http_body_util::{BodyExt as _, Limited};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Method, Uri};

use super::tool_result::ToolError;
use accord_serving::reply::{NEW_PROJECT, REVIEW, SUPERSEDED_BY, WARNINGS};
use accord_serving::{Api, Request};

const LARGEST_ANSWER: usize = 64 * 1024 * 1024;

#[derive(Clone, Debug)]
pub struct HostRequest {
    encoded: Encoded,
    /// The query parameters that an older host may not know.
    recent: &'static [&'static str],
    about: Object,
}

/// What a host answered to a request that it carried out.
#[derive(Clone, Debug)]
pub struct Answer {
    created: bool,
    text: String,
    superseded_by: Option<String>,
    review: Option<String>,
    new_project: Option<String>,
    warnings: Option<Value>,
    unknown: Vec<&'static str>,
}

impl HostRequest {
    pub fn operation<O: Operation>(call: &OperationCall<O>) -> Self {
        Self { encoded: call.encode(), recent: &[], about: Object::new() }
    }

    /// Adds the headers of the operation.
    #[must_use]
    pub fn with_headers<H: ParamSet>(mut self, headers: &H) -> Self {
        self.encoded = self.encoded.with_headers(headers);
        self
    }

    /// Marks query parameters that an older host may not know. Such a host is asked again without
    /// them.
    #[must_use]
    pub fn recently(mut self, names: &'static [&'static str]) -> Self {
        self.recent = names;
        self
    }

    /// Adds a detail that the caller needs if no answer arrives.
    #[must_use]
    pub fn about(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.about.insert(name.into(), value.into());
        self
    }

    pub async fn send(mut self, api: &dyn Api) -> Result<Answer, ToolError> {
        let mut unknown = Vec::new();
        loop {
            let error = match self.clone().send_once(api).await {
                Ok(answer) => return Ok(Answer { unknown, ..answer }),
                Err(error) => error,
            };
            let refused = error.unknown_parameter();
            let is_refused = |name| self.recent.contains(name) && refused.as_deref() == Some(*name);
            let place = self.encoded.query.iter().position(|(name, _)| is_refused(name));
            let Some(place) = place else { return Err(error) };
            unknown.push(self.encoded.query.remove(place).0);
        }
    }

    async fn send_once(self, api: &dyn Api) -> Result<Answer, ToolError> {
        let about = self.about.clone();
        let unanswered = |failure: Failure| ToolError::from(failure).with_details(&about);
        let broken = |message: &str| unanswered(Failure::new(Code::HostProtocol, message));
        let interrupted = |_| broken("the answer of the host was interrupted, or is too large");
        let response = api.call(self.request()?).await.map_err(unanswered)?;
        let status = response.status();
        let headers = response.headers();
        let is_json = headers.get(CONTENT_TYPE).is_none_or(is_json);
        let header = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let superseded_by = header(SUPERSEDED_BY).map(str::to_owned);
        let review = header(REVIEW).map(str::to_owned);
        let new_project = header(NEW_PROJECT).and_then(percent_decoded);
        let warnings = header(WARNINGS).and_then(|text| serde_json::from_str(text).ok());
        let body = Limited::new(response.into_body(), LARGEST_ANSWER).collect().await;
        let body = body.map_err(interrupted)?.to_bytes();
        let text = String::from_utf8(body.into()).map_err(|_| broken("the answer is not UTF-8"))?;
        if status.is_success() {
            let created = status == hyper::StatusCode::CREATED;
            // Whitespace between JSON tokens costs a model tokens and means nothing.
            let text = if is_json { compact(&text) } else { text };
            let unknown = Vec::new();
            return Ok(Answer {
                created,
                text,
                superseded_by,
                review,
                new_project,
                warnings,
                unknown,
            });
        }
        let envelope = serde_json::from_str(&text).ok();
        let envelope = envelope.and_then(|value| ErrorEnvelope::from_document(value).ok());
        let coded = envelope.map(ToolError::from);
        let without = || broken(&format!("the host answered {status} without a failure code"));
        Err(coded.unwrap_or_else(without))
    }

    fn request(self) -> Result<Request, Failure> {
        let Encoded { method, path: mut target, query, headers, body, .. } = self.encoded;
        for (index, (name, value)) in query.iter().enumerate() {
            target.push(if index == 0 { '?' } else { '&' });
            target.extend(percent_encoded(name));
            target.push('=');
            target.extend(percent_encoded(value));
        }
        let target: Uri = target.parse().map_err(|_| {
            let message = "the arguments are too long for a request; shorten them";
            Failure::new(Code::McpArgumentInvalid, message)
        })?;
        let mut request = Request::new(Body::empty());
        let method = Method::from_bytes(method.as_str().as_bytes());
        *request.method_mut() = method.expect("the name of a method");
        *request.uri_mut() = target;
        for (name, value) in headers {
            let value = HeaderValue::try_from(value).map_err(|_| {
                Failure::new(Code::McpArgumentInvalid, format!("{name} cannot be sent"))
            })?;
            request.headers_mut().insert(name, value);
        }
        if let Some((_, body)) = body {
            let media_type = HeaderValue::from_static("application/json");
            request.headers_mut().insert(CONTENT_TYPE, media_type);
            *request.body_mut() = Body::from(body);
        }
        Ok(request)
    }
}

impl Answer {
    pub fn read<A: AnswerBody>(&self) -> Result<A, Failure> {
        A::decode(&Received { media_type: None, text: self.text.clone() })
    }

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

    /// The latest state of the package that has a note, as JSON, if there is one.
    pub fn review(&self) -> Option<&str> {
        self.review.as_deref()
    }

    pub fn new_project(&self) -> Option<&str> {
        self.new_project.as_deref()
    }

    /// The parameters that the host does not know, and without which it answered.
    pub fn unknown(&self) -> &[&'static str] {
        &self.unknown
    }

    pub fn object(&self) -> Result<Object, Failure> {
        let message = "the answer of the host is not a JSON object";
        serde_json::from_str(&self.text).map_err(|_| Failure::new(Code::HostProtocol, message))
    }

    /// The members of the answer that a receipt repeats. Its warnings are those of the host, also
    /// if the document has a member of that name.
    pub fn picked(&self, names: &[&str]) -> Result<Object, Failure> {
        let mut document = self.object()?;
        match &self.warnings {
            Some(Value::Array(warnings)) if !warnings.is_empty() => {
                document.insert("warnings".into(), warnings.clone().into());
            }
            Some(_) => drop(document.remove("warnings")),
            None => {}
        }
        let members = names.iter();
        Ok(members.filter_map(|name| Some(((*name).to_owned(), document.remove(*name)?))).collect())
    }
}

fn is_json(media_type: &HeaderValue) -> bool {
    let essence = media_type.as_bytes().split(|byte| *byte == b';').next().unwrap_or_default();
    essence.trim_ascii().eq_ignore_ascii_case(b"application/json")
}

#[cfg(test)]
mod tests {
    use accord_api::{Encoded, Method};

    use super::{HostRequest, Object};

    fn asking(value: &str) -> HostRequest {
        let query = vec![("project_id", value.to_owned())];
        let path = "/v1/packages".to_owned();
        let (method, headers) = (Method::Get, Vec::new());
        let encoded = Encoded { method, path, query, headers, accept: "", body: None };
        HostRequest { encoded, recent: &[], about: Object::new() }
    }

    #[test]
    fn every_value_stands_for_itself_in_a_query() {
        let request = asking("日/ ?&a=b").request().unwrap();
        let target = "/v1/packages?project_id=%E6%97%A5%2F%20%3F%26a%3Db";
        assert_eq!(request.uri(), target);
    }

    #[test]
    fn a_query_that_is_too_long_is_refused() {
        assert!(asking(&"x".repeat(100_000)).request().is_err());
    }
}
