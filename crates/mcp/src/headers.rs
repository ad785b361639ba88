//! The headers of MCP over streamable HTTP.

use accord_contract::{Code, Failure};
use axum::response::Response;
use hyper::Method;
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};

use super::endpoints::SESSION;
use accord_serving::body::check_media_type;

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

/// Checks what the client accepts and what it sends. Then writes both in the one spelling that the
/// transport understands.
pub(crate) fn check(method: &Method, headers: &mut HeaderMap) -> Result<(), Failure> {
    let needed: &[&str] = match *method {
        Method::POST => &[JSON, EVENTS],
        Method::GET => &[EVENTS],
        _ => return Ok(()),
    };
    if !needed.iter().all(|needed| accepts(headers, needed)) {
        let message = format!("the client must accept {}", needed.join(" and "));
        let failure = Failure::new(Code::HttpNotAcceptable, message);
        let send = format!("send the header Accept: {}", needed.join(", "));
        return Err(failure.suggesting(send));
    }
    headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    if *method == Method::POST {
        let takes = "an MCP endpoint accepts JSON";
        if !headers.contains_key(CONTENT_TYPE) {
            let failure = Failure::new(Code::HttpMediaType, takes);
            return Err(failure.suggesting("send the header Content-Type: application/json"));
        }
        check_media_type(headers, |essence| essence == JSON, takes, JSON)?;
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    }
    Ok(())
}

/// The response, with the session that another one names.
pub(crate) fn with_session(mut response: Response, other: &HeaderMap) -> Response {
    if let Some(session) = other.get(SESSION) {
        response.headers_mut().insert(SESSION, session.clone());
    }
    response
}

/// Whether the client accepts a media type, by its name or a wildcard.
fn accepts(headers: &HeaderMap, media_type: &str) -> bool {
    let family = media_type.split('/').next().unwrap_or_default();
    headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok()).any(|value| {
        value.to_ascii_lowercase().split(',').any(|range| {
            let mut parts = range.split(';').map(str::trim);
            let named = parts.next().unwrap_or_default();
            let is_refused = parts.any(|part| {
                let weight = part.strip_prefix("q=").and_then(|weight| weight.parse().ok());
                weight.is_some_and(|weight: f32| weight <= 0.0)
            });
            let fits = named == media_type || named == "*/*" || named == format!("{family}/*");
            fits && !is_refused
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_media_type_is_accepted_by_name_or_wildcard() {
        for (sent, json, events) in [
            ("application/json, text/event-stream", true, true),
            ("text/event-stream;q=0.5, APPLICATION/JSON", true, true),
            ("*/*", true, true),
            ("application/*", true, false),
            ("application/json", true, false),
            ("text/event-stream", false, true),
            ("application/json;q=0, text/*", false, true),
            ("text/html", false, false),
            ("", false, false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT, HeaderValue::from_static(sent));
            assert_eq!(
                (accepts(&headers, JSON), accepts(&headers, EVENTS)),
                (json, events),
                "{sent}"
            );
        }
        assert!(!accepts(&HeaderMap::new(), JSON));
    }
}
