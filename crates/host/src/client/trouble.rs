//! What can go wrong between us and a host, in words that say what to do.

use std::io;
use std::time::Duration;

use accord_contract::codes::{Code, Failure};
use rustls::CertificateError;

use super::address::Address;

/// The failure that ended a body before its end.
pub fn body_failure(error: axum::Error) -> Failure {
    match error.into_inner().downcast::<Failure>() {
        Ok(failure) => *failure,
        Err(other) => Failure::new(
            Code::HostUnreachable,
            format!("the answer broke off before its end: {other}"),
        ),
    }
}

/// No connection.
pub(super) fn unreachable(address: &Address, why: &str) -> Failure {
    Failure::new(
        Code::HostUnreachable,
        format!("{address} cannot be reached: {why}"),
    )
}

/// No connection, as the system tells it.
pub(super) fn refused(address: &Address, error: &io::Error) -> Failure {
    use io::ErrorKind::{ConnectionRefused, NotFound, PermissionDenied};
    match error.kind() {
        ConnectionRefused => unreachable(address, "nothing listens there"),
        NotFound => unreachable(address, "there is no such socket"),
        PermissionDenied => unreachable(address, "you may not open it"),
        _ => unreachable(address, &error.to_string()),
    }
}

/// The host keeps silent.
pub(super) fn silent(address: &Address, limit: Duration) -> Failure {
    let seconds = limit.as_secs_f64();
    Failure::new(
        Code::HostTimeout,
        format!("{address} has been silent for {seconds} s"),
    )
}

/// An exchange broke off.
pub(super) fn broken(address: &Address, error: &hyper::Error) -> Failure {
    if let Some(failure) = find::<Failure>(error) {
        // Our own side of the body came to no end.
        return failure.clone();
    }
    if error.is_parse() {
        let failure = Failure::new(
            Code::HostProtocol,
            format!("what answers at {address} does not speak HTTP/1.1"),
        );
        return match address {
            Address::Network(network) if !network.is_secure => {
                failure.suggesting("if the host has a certificate, its URL begins with https://")
            }
            _ => failure,
        };
    }
    let why = match find::<io::Error>(error) {
        Some(error) => error.to_string(),
        None => error.to_string(),
    };
    Failure::new(
        Code::HostUnreachable,
        format!("the connection to {address} broke off: {why}"),
    )
}

/// No secure connection.
pub(super) fn insecure(address: &Address, error: &io::Error) -> Failure {
    let inner = error
        .get_ref()
        .and_then(|error| error.downcast_ref::<rustls::Error>());
    let (why, help) = match inner {
        None => return refused(address, error),
        Some(rustls::Error::InvalidCertificate(problem)) => certificate(problem),
        Some(rustls::Error::InvalidMessage(_)) => (
            "what answers there does not speak TLS".to_owned(),
            Some("if the host has no certificate, its URL begins with http://"),
        ),
        Some(other) => (other.to_string(), None),
    };
    let failure = Failure::new(
        Code::HostTls,
        format!("no secure connection to {address}: {why}"),
    );
    match help {
        Some(help) => failure.suggesting(help),
        None => failure,
    }
}

/// No certificate can be for such a name.
pub(super) fn no_name(address: &Address) -> Failure {
    Failure::new(
        Code::Usage,
        format!("{address} has a host name that no certificate can be for"),
    )
}

fn certificate(problem: &CertificateError) -> (String, Option<&'static str>) {
    use CertificateError as Problem;
    match problem {
        // Somebody else of the issuer's name may be trusted.
        Problem::UnknownIssuer
        | Problem::BadSignature
        | Problem::UnsupportedSignatureAlgorithmForPublicKeyContext { .. } => (
            "nobody whom this system trusts has issued its certificate".to_owned(),
            Some("name the file with the issuer's certificate in SSL_CERT_FILE"),
        ),
        Problem::Expired | Problem::ExpiredContext { .. } => (
            "its certificate has expired".to_owned(),
            Some("renew the host's certificate, or set this machine's clock"),
        ),
        Problem::NotValidYet | Problem::NotValidYetContext { .. } => (
            "its certificate is not valid yet".to_owned(),
            Some("set this machine's clock, or wait"),
        ),
        Problem::NotValidForName | Problem::NotValidForNameContext { .. } => (
            "its certificate is for another name".to_owned(),
            Some("use a name that stands in the certificate"),
        ),
        other => (format!("its certificate cannot be used: {other}"), None),
    }
}

/// An error in the chain of causes of another.
fn find<'a, E: std::error::Error + 'static>(
    error: &'a (dyn std::error::Error + 'static),
) -> Option<&'a E> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        next = error.source();
    }
    None
}
