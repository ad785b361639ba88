//! TLS of the server.

use std::path::Path;
use std::sync::Arc;

use accord_contract::{Code, Failure};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

use crate::settings::Settings;

/// The TLS acceptor, if the settings name a certificate.
/// Clauses: AGENTIC-R-114.
pub fn acceptor(settings: &Settings) -> Result<Option<TlsAcceptor>, Failure> {
    let (Some(cert), Some(key)) = (&settings.tls.cert, &settings.tls.key) else { return Ok(None) };
    let chain: Vec<_> = CertificateDer::pem_file_iter(cert)
        .and_then(Iterator::collect)
        .map_err(|error| invalid(cert, &error))?;
    if chain.is_empty() {
        return Err(invalid(cert, &"it contains no certificate"));
    }
    let secret = PrivateKeyDer::from_pem_file(key).map_err(|error| invalid(key, &error))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map(|config| config.with_no_client_auth())
        .and_then(|config| config.with_single_cert(chain, secret))
        .map_err(|error| invalid(cert, &error))?;
    // The server speaks only HTTP/1.1, so a client must not choose HTTP/2.
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Some(TlsAcceptor::from(Arc::new(config))))
}

fn invalid(path: &Path, problem: &dyn std::fmt::Display) -> Failure {
    let message = format!("{}: {problem}", path.display());
    Failure::new(Code::ServeTlsInvalid, message)
}
