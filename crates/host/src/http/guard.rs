//! What the headers Host and Origin must say of a request from the network.
//!
//! A page of another site can make a browser send requests to this machine: openly, with its own
//! Origin, or under a name of its own that it has pointed here (DNS rebinding), with that name as
//! Host. Both are refused unless the operator lists the site or the name.
//!
//! Behind a proxy the same holds: what `Forwarded` and its like say is never looked at.

use std::net::{IpAddr, SocketAddr};

use accord_contract::codes::{Code, Failure};
use axum::extract::Request;
use axum::response::{IntoResponse as _, Response};
use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, HOST,
    HeaderName, HeaderValue, ORIGIN, VARY,
};
use hyper::http::uri::Authority;
use hyper::{HeaderMap, Method, StatusCode};

use crate::settings::Settings;

/// A site that the operator lists, and which may therefore read our answers.
#[derive(Clone, Debug)]
pub(super) struct Listed(HeaderValue);

/// Checks where a request was sent to, and which page sent it.
///
/// # Errors
/// When it names a host that is not ours, or comes from a site that is not listed.
pub(super) fn check(
    settings: &Settings,
    local: SocketAddr,
    request: &Request,
) -> Result<Option<Listed>, Failure> {
    let host = one(request.headers(), &HOST)?
        .ok_or_else(|| malformed("the request has no Host header"))?;
    let host = authority(host).ok_or_else(|| malformed("the Host header names no host"))?;
    let absolute = request.uri().authority();
    for named in std::iter::once(&host).chain(absolute) {
        if !is_ours(settings, local, named) {
            let message = format!("this server does not go by the name {:?}", named.as_str());
            return Err(Failure::new(Code::HttpHostRefused, message));
        }
    }
    let Some(origin) = one(request.headers(), &ORIGIN)? else {
        return Ok(None);
    };
    let text = origin.to_str().unwrap_or_default();
    let listed = settings.allowed_origins.iter();
    if listed
        .clone()
        .any(|listed| listed.trim_end_matches('/') == text)
    {
        return Ok(Some(Listed(origin.clone())));
    }
    let site = text.split_once("://").map(|(_, site)| site);
    match site.is_some_and(|site| site.eq_ignore_ascii_case(host.as_str())) {
        true => Ok(None),
        false => {
            let message = format!("pages of {text:?} may not use this server");
            Err(Failure::new(Code::HttpOriginRefused, message))
        }
    }
}

impl Listed {
    /// The answer to a browser that asks whether the page may send a request; `None` when
    /// this is the request itself.
    pub(super) fn preflight(&self, request: &Request) -> Option<Response> {
        let asks = request
            .headers()
            .contains_key(ACCESS_CONTROL_REQUEST_METHOD);
        if request.method() != Method::OPTIONS || !asks {
            return None;
        }
        let mut response = StatusCode::NO_CONTENT.into_response();
        let headers = response.headers_mut();
        for (name, value) in [
            (
                ACCESS_CONTROL_ALLOW_METHODS,
                "GET, POST, PUT, PATCH, DELETE",
            ),
            (
                ACCESS_CONTROL_ALLOW_HEADERS,
                "authorization, content-type, if-none-match, last-event-id, x-correlation-id, \
                 mcp-protocol-version, mcp-session-id",
            ),
            (ACCESS_CONTROL_MAX_AGE, "600"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        Some(response)
    }

    /// Lets the page read an answer, refusals included.
    pub(super) fn open(self, response: &mut Response) {
        let headers = response.headers_mut();
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, self.0);
        headers.append(VARY, HeaderValue::from_static("Origin"));
        let seen = "etag, x-content-hash, x-correlation-id, mcp-session-id";
        headers.insert(
            ACCESS_CONTROL_EXPOSE_HEADERS,
            HeaderValue::from_static(seen),
        );
    }
}

/// Whether a name is one of this server's.
fn is_ours(settings: &Settings, local: SocketAddr, named: &Authority) -> bool {
    let name = named.host();
    let listed = |listed: &String| {
        listed.eq_ignore_ascii_case(name) || listed.eq_ignore_ascii_case(named.as_str())
    };
    if settings.allowed_hosts.iter().any(listed) {
        return true;
    }
    // No port means the scheme's own.
    let port = named.port_u16();
    let port = port.unwrap_or(if settings.does_tls() { 443 } else { 80 });
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    let address = bare.parse::<IpAddr>().ok();
    let here = name.eq_ignore_ascii_case("localhost")
        // An address cannot be pointed elsewhere, as a name can.
        || address.is_some_and(|ip| ip.is_loopback() || ip == local.ip().to_canonical());
    here && port == local.port()
}

fn authority(header: &HeaderValue) -> Option<Authority> {
    let authority: Authority = header.as_bytes().try_into().ok()?;
    // A name with a user before it is no host.
    (!authority.as_str().contains('@')).then_some(authority)
}

/// The only header of a name; two of them could be understood differently.
fn one<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h HeaderValue>, Failure> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (_, Some(_)) => Err(malformed(&format!("the request has two {name} headers"))),
        (value, None) => Ok(value),
    }
}

fn malformed(message: &str) -> Failure {
    Failure::new(Code::HttpMalformed, message)
}
