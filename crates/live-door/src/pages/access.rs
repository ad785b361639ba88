//! Which requests count as those of a signed-in page.
//!
//! Invariants:
//! - A request has both halves of a login; one alone opens nothing.
//! - A request that changes something says that it comes from a page of this origin: a missing
//!   Origin is no permission, and an origin that the operator allows for other routes is another
//!   one here. It carries JSON, so that no form of another page can send it.

use accord_contract::{Code, Failure};
use axum::extract::FromRequestParts;
use hyper::header::{CONTENT_TYPE, COOKIE, HOST, ORIGIN};
use hyper::{HeaderMap, Method, http::request::Parts};

use crate::{Context, LiveDoor, Visitor};
use accord_serving::logins::{Halves, Holder};
use accord_serving::{Refusal, query::check_query};

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

/// A page of this origin that may not be signed in yet, or a program on this machine.
pub(super) struct Anyone {
    pub(super) visitor: Visitor,
    pub(super) headers: HeaderMap,
}

impl FromRequestParts<LiveDoor> for SignedIn {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, host: &LiveDoor) -> Result<Self, Refusal> {
        let Anyone { visitor, headers } = Anyone::from_request_parts(parts, host).await?;
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

impl FromRequestParts<LiveDoor> for Anyone {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, host: &LiveDoor) -> Result<Self, Refusal> {
        let Ok(visitor) = Visitor::from_request_parts(parts, host).await;
        check_query(&parts.uri, &[])?;
        visitor.check_origin()?;
        if visitor.address().is_some() {
            check_site(&parts.method, &parts.headers)?;
        }
        Ok(Self { visitor, headers: parts.headers.clone() })
    }
}

/// Refuses a request from the network that a page of another origin can have sent.
fn check_site(method: &Method, headers: &HeaderMap) -> Result<(), Failure> {
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let refused = |message: &str| Failure::new(Code::HttpOriginRefused, message);
    if !matches!(text("sec-fetch-site"), None | Some("same-origin")) {
        return Err(refused("a page of another origin sent the request"));
    }
    let site = text(ORIGIN.as_str()).map(|origin| origin.split_once("://").map(|(_, site)| site));
    let is_own = |site: Option<&str>| {
        let host = text(HOST.as_str());
        site.zip(host).is_some_and(|(site, host)| site.eq_ignore_ascii_case(host))
    };
    match site {
        None if method.is_safe() => Ok(()),
        None => Err(refused("the request has no Origin header")),
        Some(site) if !is_own(site) => Err(refused("a page of another origin sent the request")),
        Some(_) if method.is_safe() || headers.contains_key(CONTENT_TYPE) => Ok(()),
        Some(_) => {
            let failure = Failure::new(Code::HttpMediaType, "the request has no Content-Type");
            Err(failure.suggesting("send the header Content-Type: application/json"))
        }
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
