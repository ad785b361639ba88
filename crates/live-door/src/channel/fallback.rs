//! What the routes beside the channel have in common: a session in the path and a token for it in
//! the query.

use accord_contract::{Code, Failure};
use accord_live_core::{SessionId, refuse, token::Claims};
use axum::extract::FromRequestParts;
use hyper::{HeaderMap, header::HOST, http::request::Parts};

use super::access::Sent;
use crate::{LiveDoor, TokenHolder, Visitor, pages::is_secure};
use accord_serving::Refusal;
use accord_serving::query::{Query, path_params};

/// The bearer of a token for the session in the path.
pub(super) struct Bearer {
    pub(super) host: LiveDoor,
    pub(super) claims: Claims,
    /// Whose token it is, if it names somebody.
    pub(super) holder: Option<TokenHolder>,
    pub(super) token: String,
    pub(super) query: Query,
    /// The address at which it reaches the host.
    pub(super) base: String,
}

impl FromRequestParts<LiveDoor> for Bearer {
    type Rejection = Refusal;

    /// Clauses: GGUI-HTTP-AUTH.
    async fn from_request_parts(parts: &mut Parts, host: &LiveDoor) -> Result<Self, Refusal> {
        let params = path_params(parts).await?;
        let id = params.iter().last().map_or("", |(_, id)| id);
        let session = SessionId::new(id)
            .map_err(|error| refuse::invalid_message(error.to_string()).at("/session_id"))?;
        let query = Query::of(&parts.uri)?;
        let Ok(visitor) = Visitor::from_request_parts(parts, host).await;
        let sent = Sent::of(&query, &parts.headers)?;
        sent.check_origin(&visitor)?;
        let Some(secret) = host.live().secret() else {
            return Err(refuse::unauthenticated("this server issues no tokens").into());
        };
        let claims = secret.authorize(sent.ws_token.as_deref(), &session, host.live().now())?;
        let holder = TokenHolder::of(host, &claims).await?;
        let token = sent.ws_token.unwrap_or_default();
        let base = base_url(host, &parts.headers);
        Ok(Self { host: host.clone(), claims, holder, token, query, base })
    }
}

/// The address at which the sender of a request reaches the host. The header Host was checked.
fn base_url(host: &LiveDoor, headers: &HeaderMap) -> String {
    let scheme = if is_secure(host) { "https" } else { "http" };
    let named = headers.get(HOST).and_then(|named| named.to_str().ok());
    let named = named.map_or_else(|| host.settings().listen.to_string(), str::to_owned);
    format!("{scheme}://{named}")
}

/// The same refusal with the code that ggui has for a missing session. Only the tools have another
/// one, `session_not_found`.
pub(crate) fn of_session(failure: Failure) -> Failure {
    match failure.code {
        Code::AgenticSessionNotFound => refuse::session_not_found(failure.message),
        _ => failure,
    }
}
