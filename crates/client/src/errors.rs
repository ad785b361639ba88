//! Why a request got no response, or a response did not arrive completely.

use std::error::Error as StdError;
use std::io;
use std::time::Duration;

use rustls::CertificateError;

use crate::BoxError;
use crate::endpoint::{Address, Endpoint};

/// Why a request got no response, or a response did not arrive completely.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct ClientError {
    kind: ClientErrorKind,
    message: String,
    help: Option<&'static str>,
    source: Option<BoxError>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ClientErrorKind {
    /// The request or its address is not valid.
    Usage,
    /// No connection, or it was lost.
    Unreachable,
    /// The server did not answer in time.
    Timeout,
    Tls,
    /// The server does not speak HTTP/1.1.
    Protocol,
    /// The response is larger than the caller's limit.
    TooLarge,
    /// The process that listens must not be used.
    Server,
    /// The caller's request body failed; the source is its error.
    RequestBody,
    Cancelled,
}

impl ClientError {
    pub fn kind(&self) -> ClientErrorKind {
        self.kind
    }

    pub fn help(&self) -> Option<&'static str> {
        self.help
    }

    pub fn find_cause<E: StdError + 'static>(&self) -> Option<&E> {
        find_cause(self)
    }

    fn new(kind: ClientErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), help: None, source: None }
    }

    fn with_help(mut self, help: Option<&'static str>) -> Self {
        self.help = help;
        self
    }

    pub(crate) fn usage(message: &str) -> Self {
        Self::new(ClientErrorKind::Usage, message)
    }

    pub(crate) fn server(why: String) -> Self {
        let help = "end that process, and start the host again with `accord serve`";
        Self::new(ClientErrorKind::Server, why).with_help(Some(help))
    }

    pub(crate) fn cancelled() -> Self {
        Self::new(ClientErrorKind::Cancelled, "the request was cancelled")
    }

    pub(crate) fn deadline() -> Self {
        Self::new(ClientErrorKind::Timeout, "no complete response in time")
    }

    pub(crate) fn too_large(limit: usize) -> Self {
        let message = format!("the response is larger than {limit} bytes");
        Self::new(ClientErrorKind::TooLarge, message)
    }

    pub(crate) fn no_runtime(error: &io::Error) -> Self {
        let message = format!("cannot start a runtime for the request: {error}");
        Self::new(ClientErrorKind::Unreachable, message)
    }

    pub(crate) fn connect_timeout(endpoint: &Endpoint, timeout: Duration) -> Self {
        let seconds = timeout.as_secs_f64();
        let message = format!("cannot connect to {endpoint}: no answer within {seconds} s");
        Self::new(ClientErrorKind::Unreachable, message)
    }

    pub(crate) fn connect(endpoint: &Endpoint, error: &io::Error) -> Self {
        let reason = match error.kind() {
            io::ErrorKind::ConnectionRefused => "connection refused",
            io::ErrorKind::NotFound => "no such socket",
            io::ErrorKind::PermissionDenied => "permission denied",
            _ => &error.to_string(),
        };
        let message = format!("cannot connect to {endpoint}: {reason}");
        Self::new(ClientErrorKind::Unreachable, message)
    }

    pub(crate) fn inactive(endpoint: &Endpoint, timeout: Duration) -> Self {
        let seconds = timeout.as_secs_f64();
        let message = format!("no response from {endpoint} for {seconds} s");
        Self::new(ClientErrorKind::Timeout, message)
    }

    pub(crate) fn exchange(endpoint: &Endpoint, error: hyper::Error) -> Self {
        // hyper counts an error of the request body as an error of its user.
        if error.is_user() {
            let message = error.source().map_or_else(|| error.to_string(), ToString::to_string);
            let body_error = Self::new(ClientErrorKind::RequestBody, message);
            return Self { source: Some(Box::new(error)), ..body_error };
        }
        // The usual cause is a TLS server, which answers plain HTTP with a TLS alert.
        if error.is_parse() {
            let message = format!("the server at {endpoint} does not speak HTTP/1.1");
            let help = match &endpoint.0 {
                Address::Network(network) if !network.is_tls => {
                    Some("if the server uses TLS, write its URL with https://")
                }
                _ => None,
            };
            return Self::new(ClientErrorKind::Protocol, message).with_help(help);
        }
        let cause = find_cause::<io::Error>(&error);
        let reason = cause.map_or_else(|| error.to_string(), ToString::to_string);
        let message = format!("the connection to {endpoint} was lost: {reason}");
        Self::new(ClientErrorKind::Unreachable, message)
    }

    pub(crate) fn tls_handshake(endpoint: &Endpoint, error: &io::Error) -> Self {
        let tls_error = error.get_ref().and_then(|error| error.downcast_ref::<rustls::Error>());
        let (reason, help) = match tls_error {
            // Not an error of rustls: the connection was lost during the handshake.
            None => return Self::connect(endpoint, error),
            Some(rustls::Error::InvalidCertificate(problem)) => certificate(problem),
            Some(rustls::Error::InvalidMessage(_)) => (
                "the server does not speak TLS".to_owned(),
                Some("if the server does not use TLS, write its URL with http://"),
            ),
            Some(other) => (other.to_string(), None),
        };
        let message = format!("no TLS connection to {endpoint}: {reason}");
        Self::new(ClientErrorKind::Tls, message).with_help(help)
    }

    pub(crate) fn no_tls(endpoint: &Endpoint, error: &rustls::Error) -> Self {
        let message = format!("no TLS connection to {endpoint}: {error}");
        Self::new(ClientErrorKind::Tls, message)
    }

    pub(crate) fn server_name(endpoint: &Endpoint) -> Self {
        let message = format!("{endpoint}: no certificate can be valid for this host name");
        Self::new(ClientErrorKind::Usage, message)
    }
}

fn certificate(problem: &CertificateError) -> (String, Option<&'static str>) {
    use CertificateError as Problem;
    match problem {
        // An untrusted issuer can have the same name as a trusted one; then the signature is wrong.
        Problem::UnknownIssuer
        | Problem::BadSignature
        | Problem::UnsupportedSignatureAlgorithmForPublicKeyContext { .. } => (
            "its certificate is not from an authority that this system trusts".to_owned(),
            Some("name the file with the issuer's certificate in SSL_CERT_FILE"),
        ),
        Problem::Expired | Problem::ExpiredContext { .. } => (
            "its certificate has expired".to_owned(),
            Some("renew the server's certificate, or correct this machine's clock"),
        ),
        Problem::NotValidYet | Problem::NotValidYetContext { .. } => (
            "its certificate is not valid yet".to_owned(),
            Some("correct this machine's clock, or wait"),
        ),
        Problem::NotValidForName | Problem::NotValidForNameContext { .. } => (
            "its certificate is for another name".to_owned(),
            Some("use a name that is in the certificate"),
        ),
        other => {
            let reason = other.to_string();
            // The usual certificate of a trial: `openssl req -x509` makes a CA by default.
            if reason.contains("CaUsedAsEndEntity") {
                let reason = "its certificate is that of an authority (CA), which must not be";
                let help = "give the server a certificate with basicConstraints CA:FALSE";
                return (format!("{reason} a server's"), Some(help));
            }
            (format!("its certificate cannot be used: {reason}"), None)
        }
    }
}

fn find_cause<'a, E: StdError + 'static>(error: &'a (dyn StdError + 'static)) -> Option<&'a E> {
    let mut next = error.source();
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        next = error.source();
    }
    None
}
