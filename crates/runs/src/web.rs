//! Requests to the addresses that a configuration names: hooks, remote agents, MCP servers.

use std::time::{Duration, Instant};

use accord_client::{ClientError, ClientErrorKind, blocking};
use accord_contract::{Object, Value};
use accord_process::Cancel;
use bytes::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request};

#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum WebError {
    TimedOut,
    Cancelled,
    Failed(String),
}

impl From<ClientError> for WebError {
    fn from(error: ClientError) -> Self {
        match error.kind() {
            ClientErrorKind::Timeout => Self::TimedOut,
            ClientErrorKind::Cancelled => Self::Cancelled,
            _ => Self::Failed(error.to_string()),
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

pub(crate) fn post(
    url: &str,
    headers: &[(String, String)],
    document: String,
) -> Result<Request<Bytes>, WebError> {
    let mut request = request(Method::POST, url, headers, document.into())?;
    let json = HeaderValue::from_static("application/json");
    // The configuration may name a more specific type.
    request.headers_mut().entry(CONTENT_TYPE).or_insert(json);
    Ok(request)
}

pub(crate) fn request(
    method: Method,
    url: &str,
    headers: &[(String, String)],
    body: Bytes,
) -> Result<Request<Bytes>, WebError> {
    let mut request = Request::builder().method(method).uri(url);
    for (name, value) in headers {
        request = request.header(name, value);
    }
    // The error does not repeat the value of a header, which may be a secret.
    let invalid = |error| WebError::Failed(format!("the request is not valid: {error}"));
    request.body(body).map_err(invalid)
}

/// Sends a request and reads the whole response, of at most `max_bytes`.
pub(crate) fn exchange(
    request: Request<Bytes>,
    limit: Duration,
    cancel: Option<&Cancel>,
    max_bytes: usize,
) -> Result<Answer, WebError> {
    let is_cancelled = || cancel.is_some_and(Cancel::is_cancelled);
    let response = blocking::send(request, Instant::now() + limit, &is_cancelled)?;
    Ok(Answer {
        status: response.status().as_u16(),
        body: response.into_body().read_to_limit(max_bytes)?,
    })
}

/// The headers of a configuration, with variables expanded.
pub(crate) fn headers(settings: &Object) -> Result<Vec<(String, String)>, String> {
    let declared = settings.get("headers").and_then(Value::as_object);
    let declared = declared.into_iter().flatten();
    let texts = declared.filter_map(|(name, value)| Some((name, value.as_str()?)));
    texts.map(|(name, value)| Ok((name.clone(), expand(value, &[])?))).collect()
}

/// Expands variables: the given ones first, then those of the process. A value may be a secret, so
/// no message contains it.
pub(crate) fn expand(value: &str, variables: &[(String, String)]) -> Result<String, String> {
    let mut expanded = String::with_capacity(value.len());
    let mut rest = value;
    while let Some((before, behind)) = rest.split_once("${") {
        let (name, after) = behind.split_once('}').ok_or("a header has ${ without }")?;
        let own = variables.iter().find(|(own, _)| own == name);
        let found = own.map(|(_, value)| value.clone());
        let found = found.or_else(|| std::env::var(name).ok());
        let found = found.ok_or_else(|| {
            format!("a header needs the environment variable {name}, which is not set")
        })?;
        expanded.push_str(before);
        expanded.push_str(&found);
        rest = after;
    }
    expanded.push_str(rest);
    Ok(expanded)
}

#[cfg(test)]
mod tests {
    use super::expand;

    #[test]
    fn variables_are_put_in_or_named() {
        let own = [("TOKEN".to_owned(), "t".to_owned())];
        assert_eq!(expand("Bearer ${TOKEN}!", &own).unwrap(), "Bearer t!");
        assert_eq!(expand("plain", &own).unwrap(), "plain");
        let missing = expand("${ACCORD_NO_SUCH_VARIABLE}", &own).unwrap_err();
        assert!(missing.contains("ACCORD_NO_SUCH_VARIABLE"), "{missing}");
        assert!(expand("${TOKEN", &own).is_err());
    }
}
