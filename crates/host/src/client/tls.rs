//! Whom a client trusts: the authorities of the system, or where that has none, those that browsers
//! trust. `SSL_CERT_FILE` and `SSL_CERT_DIR` name others.

use std::sync::Arc;

use accord_contract::codes::{Code, Failure};
use rustls::{ClientConfig, RootCertStore};

use super::address::Address;

pub(super) fn config(address: &Address) -> Result<ClientConfig, Failure> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| {
        Failure::new(
            Code::HostTls,
            format!("no secure connection to {address} is possible: {error}"),
        )
    })?;
    let config = builder.with_root_certificates(trusted());
    Ok(config.with_no_client_auth())
}

fn trusted() -> RootCertStore {
    let mut trusted = RootCertStore::empty();
    // A system has certificates that nobody can read any more; the others count.
    let found = rustls_native_certs::load_native_certs();
    trusted.add_parsable_certificates(found.certs);
    if trusted.is_empty() {
        trusted.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    trusted
}
