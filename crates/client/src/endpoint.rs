//! Where a server listens.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;

use hyper::Uri;
use hyper::header::HeaderValue;
use hyper::http::uri::Scheme;
use tokio::net::unix::UCred;

use crate::errors::ClientError;

/// Says why the process that listens on a socket must not be used, if so. The system names it by
/// its credentials.
pub type CheckServer = fn(&UCred) -> Result<(), String>;

/// Where a server listens: a Unix socket, or a port of a machine.
#[derive(Clone, Debug)]
pub struct Endpoint(pub(crate) Address);

#[derive(Clone, Debug)]
pub(crate) enum Address {
    Socket(PathBuf, CheckServer),
    Network(Network),
}

#[derive(Clone, Debug)]
pub(crate) struct Network {
    /// A name or an address, without brackets.
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) is_tls: bool,
    /// Host and port as the URI spells them, without user name and password.
    authority: HeaderValue,
}

impl Endpoint {
    /// The server behind a Unix socket, if the check permits its process.
    pub fn socket(path: impl Into<PathBuf>, check: CheckServer) -> Self {
        Self(Address::Socket(path.into(), check))
    }

    /// The server that an absolute `http` or `https` URI names. Path and query are ignored.
    pub fn from_uri(uri: &Uri) -> Result<Self, ClientError> {
        let is_tls = match uri.scheme() {
            Some(scheme) if *scheme == Scheme::HTTPS => true,
            Some(scheme) if *scheme == Scheme::HTTP => false,
            _ => return Err(ClientError::usage("it must begin with http:// or https://")),
        };
        let no_host = || ClientError::usage("it has no host");
        let authority = uri.authority().ok_or_else(no_host)?;
        let bracketed = authority.host();
        // `Uri` keeps the brackets of an IPv6 address; sockets and certificates want it without.
        let bare = bracketed.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let host = bare.unwrap_or(bracketed);
        if host.is_empty() {
            return Err(no_host());
        }
        let text = authority.as_str();
        // This text is sent as `Host` and shown in messages, so it must not contain the password.
        let without_user = text.rsplit_once('@').map_or(text, |(_, rest)| rest);
        Ok(Self(Address::Network(Network {
            host: host.to_owned(),
            port: authority.port_u16().unwrap_or(if is_tls { 443 } else { 80 }),
            is_tls,
            authority: HeaderValue::from_str(without_user)
                .map_err(|_| ClientError::usage("its host is not a valid header value"))?,
        })))
    }

    /// Whether requests cross a network without encryption.
    pub fn is_unencrypted(&self) -> bool {
        match &self.0 {
            Address::Socket(..) => false,
            Address::Network(network) => !network.is_tls && !network.is_loopback(),
        }
    }

    pub(crate) fn host_header(&self) -> HeaderValue {
        match &self.0 {
            // HTTP/1.1 requires a `Host`, and a host accepts this name without further settings.
            Address::Socket(..) => HeaderValue::from_static("localhost"),
            Address::Network(network) => network.authority.clone(),
        }
    }
}

impl Network {
    fn is_loopback(&self) -> bool {
        match self.host.parse::<IpAddr>() {
            Ok(address) => address.is_loopback(),
            // RFC 6761 reserves both for loopback. Other names are not looked up: the answer could
            // change.
            Err(_) => self.host == "localhost" || self.host.ends_with(".localhost"),
        }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Address::Socket(path, _) => write!(formatter, "{}", path.display()),
            Address::Network(network) => {
                let scheme = if network.is_tls { "https" } else { "http" };
                let authority = network.authority.to_str().unwrap_or_default();
                write!(formatter, "{scheme}://{authority}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(text: &str) -> Result<Endpoint, ClientError> {
        Endpoint::from_uri(&text.parse().expect("a URI"))
    }

    fn parts(text: &str) -> (String, u16, bool) {
        match endpoint(text).expect("an endpoint").0 {
            Address::Network(network) => (network.host, network.port, network.is_tls),
            Address::Socket(..) => panic!("a URI is not a socket"),
        }
    }

    #[test]
    fn uris_are_read_with_their_defaults() {
        let owned = |host: &str, port, is_tls| (host.to_owned(), port, is_tls);
        assert_eq!(parts("http://127.0.0.1:7171"), owned("127.0.0.1", 7171, false));
        assert_eq!(parts("https://a.example.org/x?y"), owned("a.example.org", 443, true));
        assert_eq!(parts("http://[::1]:80"), owned("::1", 80, false));
        for (text, expected) in [
            ("http://[::1]", false),
            ("http://localhost", false),
            ("https://a.example.org", false),
            ("http://a.example.org", true),
        ] {
            assert_eq!(endpoint(text).unwrap().is_unencrypted(), expected, "{text}");
        }
    }

    #[test]
    fn other_uris_are_refused() {
        for text in ["/path", "a.example.org:80", "ftp://a.example.org"] {
            assert!(endpoint(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_password_is_never_shown() {
        let endpoint = endpoint("http://lead:secret@example.org/x").unwrap();
        assert_eq!(endpoint.to_string(), "http://example.org");
        assert_eq!(endpoint.host_header(), "example.org");
    }
}
