//! Answers of the HTTP transport: messages as JSON, and its refusals, which get failure codes.

use accord_contract::{Code, Failure, Object, Protocol, Value};
use axum::body::Body;
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use rmcp::model::{ErrorData, JsonRpcError, NumberOrString, ServerJsonRpcMessage};

use super::{lines, malformed};
use accord_serving::reply::{self, Foreign};
use accord_serving::{Refusal, errors};

/// A message as the one document of an answer.
pub(crate) fn json(message: &ServerJsonRpcMessage) -> Result<Response, Failure> {
    let text = match message {
        ServerJsonRpcMessage::Error(error) => {
            let explained = malformed::explained(error.error.clone());
            serde_json::to_string(&JsonRpcError::new(error.id.clone(), explained))
        }
        message => serde_json::to_string(message),
    };
    let text = text.map_err(|error| {
        tracing::error!(%error, "an MCP message cannot be written");
        Failure::new(Code::HttpFault, "the MCP transport failed")
    })?;
    Ok(reply::json(StatusCode::OK, text))
}

/// Gives a refusal of the transport, which is plain text, a failure code. An answer to a JSON-RPC
/// message stays one. `sent` is the body of the request.
pub(crate) async fn answer(
    protocol: Protocol,
    response: Response,
    sent: &Bytes,
) -> Result<Response, Failure> {
    let status = response.status();
    let is_json = |value: &HeaderValue| value.as_bytes().starts_with(b"application/json");
    let is_message = response.headers().get(CONTENT_TYPE).is_some_and(is_json);
    let allow = response.headers().get(ALLOW).cloned();
    let (head, body) = response.into_parts();
    let body = axum::body::to_bytes(body, 1 << 20).await.unwrap_or_default();
    if is_message {
        let mut response = Response::from_parts(head, Body::from(explained(body)));
        response.headers_mut().remove(hyper::header::CONTENT_LENGTH);
        response.extensions_mut().insert(Foreign);
        return Ok(response);
    }
    let text = String::from_utf8_lossy(&body);
    let text = text.trim();
    let failure = match status {
        StatusCode::NOT_FOUND => {
            Failure::new(Code::McpSessionUnknown, "there is no such MCP session")
        }
        StatusCode::METHOD_NOT_ALLOWED => Failure::new(
            Code::HttpMethodNotAllowed,
            "this client has no session, so there is no stream to read and none to end",
        ),
        StatusCode::PAYLOAD_TOO_LARGE => {
            Failure::new(errors::code_in(protocol, Code::InputTooLarge), text)
        }
        // The headers were checked before, so this is about the body.
        StatusCode::UNSUPPORTED_MEDIA_TYPE => {
            let why = lines::problem(sent).map_or(NOT_A_MESSAGE, |problem| problem.message);
            Failure::new(Code::McpRequestInvalid, format!("the body {why}"))
        }
        StatusCode::BAD_REQUEST if text.ends_with(SESSION_REQUIRED) => {
            if let Some(response) = malformed_initialize(sent) {
                return Ok(response);
            }
            let message = "the header Mcp-Session-Id is missing";
            Failure::new(Code::McpRequestInvalid, message).suggesting(
                "start a session with initialize and name it in that header, or send each request \
                 in the form of 2026-07-28, which has no sessions",
            )
        }
        status if status.is_server_error() => {
            tracing::error!(%status, text, "the MCP transport failed");
            Failure::new(Code::HttpFault, "the MCP transport failed")
        }
        _ => Failure::new(Code::McpRequestInvalid, text),
    };
    let mut response = Refusal(failure).into_response();
    if let Some(allow) = allow {
        response.headers_mut().insert(ALLOW, allow);
    }
    Ok(response)
}

/// How the transport says that a request names no session.
const SESSION_REQUIRED: &str = "Session ID is required";

const NOT_A_MESSAGE: &str =
    "is not a JSON-RPC 2.0 message; an id is a string or a whole number, and params are an object";

/// The answer to `initialize` with params of another form, which the transport takes for a request
/// without a session.
fn malformed_initialize(sent: &Bytes) -> Option<Response> {
    let request: Object = serde_json::from_slice(sent).ok()?;
    let method = request.get("method").and_then(Value::as_str).filter(|it| *it == "initialize")?;
    let id = match request.get("id") {
        Some(Value::String(id)) => Some(NumberOrString::String(id.as_str().into())),
        Some(id) => id.as_i64().map(NumberOrString::Number),
        None => None,
    };
    let error = JsonRpcError::new(id, malformed::error(method, request.get("params")));
    let text = serde_json::to_string(&error).ok()?;
    let mut response = reply::json(StatusCode::BAD_REQUEST, text);
    response.extensions_mut().insert(Foreign);
    Some(response)
}

/// An error message in JSON, with a message that says more than the name of a method.
fn explained(body: Bytes) -> Bytes {
    let read = || {
        let mut message: Value = serde_json::from_slice(&body).ok()?;
        let error: ErrorData = serde_json::from_value(message.get("error")?.clone()).ok()?;
        let explained = malformed::explained(error.clone());
        if explained == error {
            return None;
        }
        message["error"] = serde_json::to_value(explained).ok()?;
        Some(Bytes::from(message.to_string()))
    };
    read().unwrap_or(body)
}
