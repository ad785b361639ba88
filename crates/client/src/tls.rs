//! Which certificate authorities are trusted: those of the system. A system without any gets those
//! that browsers trust. `SSL_CERT_FILE` and `SSL_CERT_DIR` name others.

use std::sync::{Arc, LazyLock};

use rustls::{ClientConfig, RootCertStore};

/// Reading the system's certificates takes milliseconds, so it is done once.
pub(crate) static CONFIG: LazyLock<Result<Arc<ClientConfig>, rustls::Error>> =
    LazyLock::new(|| {
        // Named here instead of installed for the process, which only one crate could do.
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder =
            ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
        let config = builder.with_root_certificates(trusted_roots());
        Ok(Arc::new(config.with_no_client_auth()))
    });

fn trusted_roots() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    // Systems carry certificates that no current library can parse. The others are enough.
    let found = rustls_native_certs::load_native_certs();
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    roots
}
