//! A refusal of a host, as any other failure.

use accord_contract::codes::{Category, Code, WireCode};
use accord_contract::wire::{Extensible, Value};
use hyper::HeaderMap;

use crate::error::CliError;
use crate::show::clean;

/// The failure that an error body tells. Ours is the ALX envelope; of others, what can be
/// understood is taken.
pub(super) fn told(status: u16, headers: &HeaderMap, text: &str) -> CliError {
    let body: Value = serde_json::from_str(text).unwrap_or_default();
    let error = &body["error"];
    // A server's words go to a terminal.
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
    let mut failure = CliError::told(code, kind, message);
    let place = member("pointer").or_else(|| member("field"));
    if let Some(place) = place {
        failure = failure.at(&place);
    }
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

/// What to do about a key that is missing or too little, in the words of this command.
fn about_keys(code: Option<Code>) -> Option<&'static str> {
    match code? {
        Code::AuthRequired => Some(
            "this host wants a key: put one into ACCORD_KEY; `accord key create` on its data folder makes one",
        ),
        Code::AgenticUnauthorized | Code::Unauthorized => Some(
            "the key in ACCORD_KEY or --key is not known to this host, has ended, or does not cover this; `accord key list` on its data folder shows what its keys cover",
        ),
        _ => None,
    }
}

/// An answer that only its status tells something about: it came from something before a host, or
/// from something else altogether.
fn unknown(status: u16) -> CliError {
    let message = format!("the answer has the status {status}, and no error as a host tells one");
    let failure = CliError::new(Code::HostProtocol, message);
    match status {
        404 | 405 => failure.help("check the URL: what is there has no such route"),
        502..=504 => failure.help("a proxy answered in the host's place; check that the host runs"),
        _ => failure,
    }
}
