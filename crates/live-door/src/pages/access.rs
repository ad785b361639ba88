//! Which requests count as those of a signed-in page.
//!
//! Invariants:
//! - A request has both halves of a login; one alone opens nothing.
//! - A request that changes something comes from a page of this origin ([`FromPage`]).

use accord_contract::{Code, Failure};
use axum::extract::FromRequestParts;
use hyper::header::COOKIE;
use hyper::{HeaderMap, http::request::Parts};

use crate::{Context, LiveDoor, Visitor};
use accord_serving::logins::{Halves, Holder};
use accord_serving::{FromPage, Refusal};

/// The header with the half of a login that the storage of the origin has.
pub(super) const HALF: &str = "x-accord-console";

pub(super) struct SignedIn {
    /// The host, the caller of the login, and the id of the exchange.
    pub(super) context: Context,
    /// Whose login it is.
    pub(super) holder: Holder,
    /// What names the login in tokens.
    pub(super) login: String,
    pub(super) visitor: Visitor,
}

impl FromRequestParts<LiveDoor> for SignedIn {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, host: &LiveDoor) -> Result<Self, Refusal> {
        let FromPage { visitor, headers } = FromPage::from_request_parts(parts, host).await?;
        let halves = halves(host, &headers).ok_or_else(signed_out)?;
        let holder = host.logins().find(&halves, host.live().now()).await?;
        let (holder, login) = holder.ok_or_else(signed_out)?;
        let Some(caller) = holder.caller(host.keys()).await? else {
            host.logins().end(&halves).await?;
            return Err(signed_out().into());
        };
        let (caller, correlation) = (caller.signed_in(), visitor.correlation.clone());
        let context = Context { host: host.clone(), caller, correlation };
        Ok(Self { context, holder, login, visitor })
    }
}

pub(super) fn halves(host: &LiveDoor, headers: &HeaderMap) -> Option<Halves> {
    let secret = headers.get(HALF)?.to_str().ok()?;
    let name = cookie_name(host);
    let lines = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
    let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.split_once('='));
    let values = pairs.filter(|(found, _)| found.trim() == name).map(|(_, value)| value.trim());
    let halves = Halves::new(values, secret);
    (!halves.cookies.is_empty()).then_some(halves)
}

/// The name of the cookie. With TLS the browser keeps others from setting it.
pub(super) fn cookie_name(host: &LiveDoor) -> String {
    let prefix = if is_secure(host) { "__Host-" } else { "" };
    format!("{prefix}accord_{}", host.logins().name())
}

/// Whether browsers reach the host over TLS.
pub(crate) fn is_secure(host: &LiveDoor) -> bool {
    host.settings().does_tls() || host.settings().behind_proxy
}

fn signed_out() -> Failure {
    Failure::new(Code::LoginRequired, "this page is not signed in, or its login has ended")
}
