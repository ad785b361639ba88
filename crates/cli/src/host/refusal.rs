//! The error response of a host as a [`CliError`].

use accord_contract::codes::Category;
use accord_contract::{Code, Extensible, Field, Wire as _, WireCode, message};
use hyper::HeaderMap;

use crate::CliError;
use crate::render::clean;

message! {
    /// An error response: the ALX envelope, or as much of it as another server sends.
    struct AnyRefusal("AnyRefusal", open) {
        /// What went wrong.
        nullable error: AnyError = "error", "failure";
        /// The code, if it stands alone.
        nullable code: String = "code", "failure-code";
        /// The id that joins the answer to its request.
        nullable correlation_id: String = "correlationId", "correlation-id";
    }

    /// What went wrong. Other members are details.
    struct AnyError("AnyError", open) {
        /// The category.
        nullable kind: String = "type", "failure-category";
        /// The code.
        nullable code: String = "code", "failure-code";
        /// What happened.
        nullable message: String = "message", "text-for-people";
        /// What to do.
        nullable suggestion: String = "suggestion", "text-for-people";
        /// The place in the request.
        nullable pointer: String = "pointer", "pointer";
        /// The member of the request.
        nullable field: String = "field", "pointer";
    }
}

pub(super) fn error_of(status: u16, headers: &HeaderMap, text: &str) -> CliError {
    let document = serde_json::from_str(text).unwrap_or_default();
    let Ok(refusal) = AnyRefusal::from_answer(document) else { return unknown(status) };
    let AnyRefusal { error, code, correlation_id, .. } = refusal;
    let error = error.value().cloned();
    // The text goes to a terminal, and comes from a server that may be anything.
    let member = |read: fn(&AnyError) -> &Field<String>| {
        error.as_ref().and_then(|error| read(error).value()).map(|text| clean(text))
    };
    let alone = code.value().map(|code| clean(code));
    let Some(code) = member(|error| &error.code).or(alone) else { return unknown(status) };
    let code = WireCode::from_text(code);
    let known = code.known();
    let kind = match (member(|error| &error.kind), known) {
        (Some(kind), _) => Extensible::<Category>::from_text(kind),
        (None, Some(known)) => known.category().into(),
        (None, None) => Category::Execution.into(),
    };
    let message = member(|error| &error.message);
    let message = message.unwrap_or_else(|| format!("the host refused ({status})"));
    let mut failure = CliError::from_server(code, kind, message);
    let place = member(|error| &error.pointer).or_else(|| member(|error| &error.field));
    if let Some(place) = place {
        failure = failure.at(&place);
    }
    // A host suggests a header. Here the key comes from a variable or a flag.
    let suggested = member(|error| &error.suggestion);
    let suggested = suggested.filter(|_| known != Some(Code::AuthRequired));
    if let Some(help) = suggested.or_else(|| about_keys(known).map(str::to_owned)) {
        failure = failure.help(help);
    }
    let in_header = || headers.get("x-correlation-id")?.to_str().ok();
    if let Some(id) = correlation_id.value().map(String::as_str).or_else(in_header) {
        failure = failure.correlated(clean(id));
    }
    failure.with_details(error.map(|error| error.extra).unwrap_or_default())
}

/// Help for a missing or insufficient key, in terms of this command.
fn about_keys(code: Option<Code>) -> Option<&'static str> {
    match code? {
        Code::AuthRequired => Some(
            "this host requires a key in ACCORD_KEY; `accord key create` on its data folder \
             creates one",
        ),
        Code::AccessDenied | Code::Unauthorized => Some(
            "the key in ACCORD_KEY or --key is unknown, expired, or lacks the scope for this \
             request; `accord key list` on the data folder of the host lists the scopes",
        ),
        _ => None,
    }
}

/// An error response without an error body: from a proxy, or from something that is no host.
fn unknown(status: u16) -> CliError {
    let message = format!("the response has the status {status} and no error body of a host");
    // A proxy says so while the host starts again.
    let is_away = (502..=504).contains(&status);
    let code = if is_away { Code::HostUnreachable } else { Code::HostProtocol };
    let failure = CliError::new(code, message);
    match status {
        404 | 405 => failure.help("check the URL: the server there has no such route"),
        502..=504 => {
            failure.help("a proxy answered instead of the host; check that the host is running")
        }
        _ => failure,
    }
}
