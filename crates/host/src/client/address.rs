//! Where a host listens.

use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use accord_contract::codes::{Code, Failure};
use hyper::Uri;
use hyper::header::HeaderValue;
use hyper::http::uri::Scheme;

/// Where a host listens.
#[derive(Clone, Debug)]
pub(super) enum Address {
    /// A socket in a data folder.
    Socket(PathBuf),
    /// A port of a machine.
    Network(Network),
}

/// A port of a machine.
#[derive(Clone, Debug)]
pub(super) struct Network {
    /// A name or an address, without brackets.
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) is_secure: bool,
    /// What stands before every path, without a slash at its end.
    base: String,
    /// Host and port as the URL spells them.
    authority: HeaderValue,
}

impl Address {
    pub(super) fn socket(path: &Path) -> Self {
        Self::Socket(path.to_owned())
    }

    pub(super) fn url(text: &str) -> Result<Self, Failure> {
        let wrong = |why: &str| {
            // Whoever writes a password into a URL does not want to read it in a log.
            let shown = if text.contains('@') { "that" } else { text };
            Failure::new(
                Code::Usage,
                format!("{shown} is not the URL of a host: {why}"),
            )
            .suggesting("write it as http://127.0.0.1:7171 or https://memory.example.org")
        };
        let uri: Uri = text
            .trim()
            .parse()
            .map_err(|_| wrong("it cannot be read as a URL"))?;
        let is_secure = match uri.scheme() {
            Some(scheme) if *scheme == Scheme::HTTPS => true,
            Some(scheme) if *scheme == Scheme::HTTP => false,
            _ => return Err(wrong("it begins with neither http:// nor https://")),
        };
        let authority = uri.authority().ok_or_else(|| wrong("it names no host"))?;
        if authority.as_str().contains('@') {
            return Err(wrong("a key stands in ACCORD_KEY, not in the URL"));
        }
        if uri.query().is_some() || text.contains('#') {
            return Err(wrong("it has a query or a fragment"));
        }
        let host = authority.host();
        let bare = host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'));
        let host = bare.unwrap_or(host);
        if host.is_empty() {
            return Err(wrong("it names no host"));
        }
        Ok(Self::Network(Network {
            host: host.to_owned(),
            port: authority
                .port_u16()
                .unwrap_or(if is_secure { 443 } else { 80 }),
            is_secure,
            base: uri.path().trim_end_matches('/').to_owned(),
            authority: HeaderValue::from_str(authority.as_str())
                .map_err(|_| wrong("its host cannot stand in a header"))?,
        }))
    }

    /// Path and query of a request, as this host is asked for them.
    pub(super) fn target(&self, asked: &Uri) -> Result<Uri, Failure> {
        let path = asked.path_and_query().map_or("/", |path| path.as_str());
        let base = match self {
            Self::Socket(_) => "",
            Self::Network(network) => &network.base,
        };
        format!("{base}{path}").parse().map_err(|_| {
            Failure::new(
                Code::Usage,
                "an id, a name or a query is too long for the address of a request",
            )
        })
    }

    /// The name that the host is asked under.
    pub(super) fn host_header(&self) -> HeaderValue {
        match self {
            Self::Socket(_) => HeaderValue::from_static("localhost"),
            Self::Network(network) => network.authority.clone(),
        }
    }

    pub(super) fn is_readable_on_the_way(&self) -> bool {
        match self {
            Self::Socket(_) => false,
            Self::Network(network) => !network.is_secure && !network.is_loopback(),
        }
    }
}

impl Network {
    fn is_loopback(&self) -> bool {
        match self.host.parse::<IpAddr>() {
            Ok(address) => address.is_loopback(),
            Err(_) => self.host == "localhost" || self.host.ends_with(".localhost"),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Socket(path) => write!(formatter, "{}", path.display()),
            Self::Network(network) => {
                let scheme = if network.is_secure { "https" } else { "http" };
                let authority = network.authority.to_str().unwrap_or_default();
                write!(formatter, "{scheme}://{authority}{}", network.base)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(text: &str) -> Network {
        match Address::url(text).expect("a URL") {
            Address::Network(network) => network,
            Address::Socket(_) => panic!("a URL is no socket"),
        }
    }

    #[test]
    fn urls_are_read_with_their_defaults() {
        let plain = network("http://127.0.0.1:7171");
        assert_eq!(
            (plain.host.as_str(), plain.port, plain.is_secure),
            ("127.0.0.1", 7171, false)
        );
        let secure = network("https://memory.example.org/");
        assert_eq!(
            (secure.host.as_str(), secure.port, secure.is_secure),
            ("memory.example.org", 443, true)
        );
        let six = network("http://[::1]:80");
        assert_eq!((six.host.as_str(), six.port), ("::1", 80));
        assert!(six.is_loopback());
        assert!(!secure.is_loopback());
        assert!(network("http://localhost").is_loopback());
    }

    #[test]
    fn a_base_path_stands_before_every_path() {
        let address = Address::url("https://example.org/team/a/").expect("a URL");
        let asked: Uri = "/v1/projects?limit=1".parse().expect("a path");
        let target = address.target(&asked).expect("a target");
        assert_eq!(target.to_string(), "/team/a/v1/projects?limit=1");
        assert_eq!(address.to_string(), "https://example.org/team/a");
    }

    #[test]
    fn what_is_no_url_of_a_host_is_refused_without_repeating_a_password() {
        for text in [
            "",
            "127.0.0.1:7171",
            "ftp://example.org",
            "http://",
            "https://example.org/?a=b",
            "https://example.org/#a",
            "http://a b",
        ] {
            let failure = Address::url(text).expect_err(text);
            assert_eq!(failure.code, Code::Usage, "{text}");
        }
        let failure = Address::url("https://lead:secret@example.org").expect_err("a password");
        assert!(!failure.to_string().contains("secret"), "{failure}");
    }
}
