//! Requests of pages, before anybody is signed in.
//!
//! Invariants:
//! - A request that changes something says that it comes from a page of this origin: a missing
//!   Origin is no permission, and an origin that the operator allows for other routes is another
//!   one here. It carries JSON, so that no form of another page can send it.

use accord_contract::{Code, Failure};
use axum::extract::FromRequestParts;
use hyper::header::{CONTENT_TYPE, HOST, ORIGIN};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method};

use crate::query::check_query;
use crate::{Door, Refusal, Visitor};

/// A page of this origin that may not be signed in yet, or a program on this machine. Its route
/// checks requests itself.
pub struct FromPage<D> {
    pub visitor: Visitor<D>,
    pub headers: HeaderMap,
}

impl<D: Door> FromRequestParts<D> for FromPage<D> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, host: &D) -> Result<Self, Refusal> {
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
