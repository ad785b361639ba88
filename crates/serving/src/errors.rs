//! Error bodies. Which protocol's codes and members a refusal has is a property of its route or its
//! tool.

use accord_contract::codes::RetryClass;
use accord_contract::{Code, Failure, Protocol, Value};
use axum::body::Body;
use axum::response::Response;
use hyper::header::{self, HeaderValue};

use super::Correlation;
use super::reply::status_of;

/// The protocol of refusals of requests that reach no route.
pub const WITHOUT_ROUTE: Protocol = Protocol::Agentic;

/// Conditions for which the Agentic Protocol has its own codes.
const AGENTIC: [(Code, Code); 2] =
    [(Code::Unauthorized, Code::AccessDenied), (Code::InputTooLarge, Code::AgenticPayloadTooLarge)];

/// The code that a protocol has for the condition that a code means.
pub fn code_in(protocol: Protocol, code: Code) -> Code {
    let is_agentic = protocol.has_agentic_errors();
    let found = AGENTIC.iter().find_map(|(common, agentic)| {
        let (from, to) = if is_agentic { (common, agentic) } else { (agentic, common) };
        (*from == code).then_some(*to)
    });
    found.unwrap_or(code)
}

/// The error body of a failure, as clients of a protocol read it.
pub fn body(failure: &Failure, protocol: Protocol, correlation: &Correlation) -> String {
    let mut body = failure.body(protocol, correlation.exchange());
    if protocol == Protocol::Xchain {
        // The reference verifier of AgentXchain looks for the message here.
        body["message"] = failure.message.as_str().into();
    }
    body.to_string()
}

pub fn response(failure: &Failure, protocol: Protocol, correlation: &Correlation) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status_of(failure.code);
    write(&mut response, failure, protocol, correlation);
    response
}

/// Gives a response the error body of a failure, and the headers that belong to it.
pub fn write(
    response: &mut Response,
    failure: &Failure,
    protocol: Protocol,
    correlation: &Correlation,
) {
    *response.body_mut() = Body::from(body(failure, protocol, correlation));
    let headers = response.headers_mut();
    // The length was that of the body that is replaced.
    headers.remove(header::CONTENT_LENGTH);
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if failure.code == Code::AuthRequired {
        let scheme = HeaderValue::from_static("Bearer realm=\"accord\"");
        headers.insert(header::WWW_AUTHENTICATE, scheme);
    }
    if failure.code.retry() == RetryClass::Backoff {
        headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    }
    let allow = failure.details.as_ref().and_then(|details| details.get("allow"));
    if let Some(allow) = allow.and_then(Value::as_str)
        && let Ok(allow) = HeaderValue::from_str(allow)
    {
        headers.insert(header::ALLOW, allow);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_has_the_code_of_its_protocol() {
        for (common, agentic) in AGENTIC {
            for code in [common, agentic] {
                assert_eq!(code_in(Protocol::Agentic, code), agentic);
                assert_eq!(code_in(Protocol::Aof, code), agentic);
                assert_eq!(code_in(Protocol::Xchain, code), common);
                assert_eq!(code_in(Protocol::Accord, code), common);
            }
        }
        assert_eq!(code_in(Protocol::Agentic, Code::HttpFault), Code::HttpFault);
    }
}
