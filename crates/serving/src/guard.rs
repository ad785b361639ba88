//! Checks the headers Host and Origin of requests from the network.
//!
//! A web page can make a browser send requests to this machine: openly, with the page's Origin, or
//! through a host name that its owner has pointed here (DNS rebinding), with that name as Host.
//! Both are refused unless the operator allows the origin or the name.
//!
//! The same applies behind a proxy: `Forwarded` and similar headers are ignored.

use std::net::{IpAddr, SocketAddr};

use accord_contract::{Code, Failure};
use axum::extract::Request;
use axum::response::{IntoResponse as _, Response};
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::http::uri::Authority;
use hyper::{HeaderMap, Method, StatusCode};

use crate::settings::Settings;

/// An origin that the operator allows to read answers.
#[derive(Clone, Debug)]
pub(crate) struct Listed(HeaderValue);

/// Refuses a request for another host. Returns the host that the request names.
pub(crate) fn check_host(
    settings: &Settings,
    local: SocketAddr,
    request: &Request,
) -> Result<Authority, Failure> {
    let host = one(request.headers(), &header::HOST)?
        .ok_or_else(|| malformed("the request has no Host header"))?;
    let host = authority(host).ok_or_else(|| malformed("the Host header does not name a host"))?;
    // A request line may have a whole URL, whose host counts instead of the header. Both are
    // checked.
    let absolute = request.uri().authority();
    for named in std::iter::once(&host).chain(absolute) {
        if !is_ours(settings, local, named) {
            let message = format!("{:?} is not a name of this server", named.as_str());
            return Err(Failure::new(Code::HttpHostRefused, message));
        }
    }
    Ok(host)
}

/// Refuses a request from a page of an origin that is not allowed. `host` is the host that the
/// request names.
pub(crate) fn check_origin(
    settings: &Settings,
    host: &Authority,
    request: &Request,
) -> Result<Option<Listed>, Failure> {
    let Some(origin) = one(request.headers(), &header::ORIGIN)? else { return Ok(None) };
    let text = origin.to_str().unwrap_or_default();
    let listed = settings.allowed_origins.iter();
    if listed.clone().any(|listed| listed.trim_end_matches('/') == text) {
        return Ok(Some(Listed(origin.clone())));
    }
    // A page of this server itself. The scheme is not compared: behind a proxy that terminates TLS
    // it differs.
    let site = text.split_once("://").map(|(_, site)| site);
    if site.is_some_and(|site| site.eq_ignore_ascii_case(host.as_str())) {
        return Ok(None);
    }
    let message = format!("the origin {text:?} is not allowed");
    Err(Failure::new(Code::HttpOriginRefused, message))
}

impl Listed {
    /// The answer to a CORS preflight request; `None` for any other request.
    pub(crate) fn preflight(&self, request: &Request) -> Option<Response> {
        let asks = request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
        if request.method() != Method::OPTIONS || !asks {
            return None;
        }
        let mut response = StatusCode::NO_CONTENT.into_response();
        let headers = response.headers_mut();
        for (name, value) in [
            (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST, PUT, PATCH, DELETE"),
            (
                header::ACCESS_CONTROL_ALLOW_HEADERS,
                "authorization, content-type, if-none-match, last-event-id, x-correlation-id, \
                 mcp-protocol-version, mcp-session-id",
            ),
            (header::ACCESS_CONTROL_MAX_AGE, "600"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        Some(response)
    }

    /// Allows the page to read an answer, including refusals.
    pub(crate) fn open(self, response: &mut Response) {
        let headers = response.headers_mut();
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, self.0);
        headers.append(header::VARY, HeaderValue::from_static("Origin"));
        let seen = "etag, x-content-hash, x-correlation-id, mcp-session-id";
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(seen));
    }
}

/// Whether a name belongs to this server.
fn is_ours(settings: &Settings, local: SocketAddr, named: &Authority) -> bool {
    let name = named.host();
    let listed = |listed: &String| {
        listed.eq_ignore_ascii_case(name) || listed.eq_ignore_ascii_case(named.as_str())
    };
    if settings.allowed_hosts.iter().any(listed) {
        return true;
    }
    // Without a port, the default port of the scheme is meant.
    let port = named.port_u16().unwrap_or(if settings.does_tls() { 443 } else { 80 });
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    let address = bare.parse::<IpAddr>().ok();
    let here = name.eq_ignore_ascii_case("localhost")
        // An IP address cannot be rebound, unlike a name.
        || address.is_some_and(|ip| ip.is_loopback() || ip == local.ip().to_canonical());
    here && port == local.port()
}

fn authority(header: &HeaderValue) -> Option<Authority> {
    let authority: Authority = header.as_bytes().try_into().ok()?;
    // An authority with a user name is not a host.
    (!authority.as_str().contains('@')).then_some(authority)
}

/// A header that may occur once. Two parsers could choose different ones of two.
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
