//! The error response of a host as a [`CliError`].

use accord_contract::codes::{Category, Code, WireCode};
use accord_contract::wire::{Extensible, Object, Value};
use hyper::HeaderMap;

use crate::error::CliError;
use crate::render::clean;

/// Reads an error response: the ALX envelope, or as much as can be understood of another body.
pub(super) fn error_of(status: u16, headers: &HeaderMap, text: &str) -> CliError {
    let body: Value = serde_json::from_str(text).unwrap_or_default();
    let error = &body["error"];
    // The text goes to a terminal, and comes from a server that may be anything.
    let member = |name: &str| error[name].as_str().map(clean);
    let Some(code) = member("code").or_else(|| body["code"].as_str().map(clean)) else {
        return unknown(status);
    };
    let code = WireCode::from_text(code);
    let kind = match (member("type"), code.known()) {
        (Some(kind), _) => Extensible::<Category>::from_text(kind),
        (None, Some(known)) => known.category().into(),
        (None, None) => Category::Execution.into(),
    };
    let message = member("message").unwrap_or_else(|| format!("the host refused ({status})"));
    let known = code.known();
    let mut failure = CliError::from_server(code, kind, message);
    failure = failure.with_details(details(error));
    let place = member("pointer").or_else(|| member("field"));
    if let Some(place) = place {
        failure = failure.at(&place);
    }
    // A host suggests a header. Here the key comes from a variable or a flag.
    let suggested = member("suggestion").filter(|_| known != Some(Code::AuthRequired));
    if let Some(help) = suggested.or_else(|| about_keys(known).map(str::to_owned)) {
        failure = failure.help(help);
    }
    let correlation = body["correlationId"].as_str();
    let correlation = correlation.or_else(|| headers.get("x-correlation-id")?.to_str().ok());
    if let Some(id) = correlation {
        failure = failure.correlated(clean(id));
    }
    failure
}

/// The members of an error that are not the same in every error.
fn details(error: &Value) -> Object {
    const COMMON: [&str; 6] = ["type", "code", "message", "suggestion", "pointer", "field"];
    let members = error.as_object().into_iter().flatten();
    let own = members.filter(|(name, _)| !COMMON.contains(&name.as_str()));
    own.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Help for a missing or insufficient key, in terms of this command.
fn about_keys(code: Option<Code>) -> Option<&'static str> {
    match code? {
        Code::AuthRequired => Some(
            "this host requires a key in ACCORD_KEY; `accord key create` on its data folder \
             creates one",
        ),
        Code::AgenticUnauthorized | Code::Unauthorized => Some(
            "the key in ACCORD_KEY or --key is unknown, expired, or lacks the scope for this \
             request; `accord key list` on the data folder of the host lists the scopes",
        ),
        _ => None,
    }
}

/// An error response without an error body: from a proxy, or from something that is no host.
fn unknown(status: u16) -> CliError {
    let message = format!("the response has the status {status} and no error body of a host");
    let failure = CliError::new(Code::HostProtocol, message);
    match status {
        404 | 405 => failure.help("check the URL: the server there has no such route"),
        502..=504 => {
            failure.help("a proxy answered instead of the host; check that the host is running")
        }
        _ => failure,
    }
}
