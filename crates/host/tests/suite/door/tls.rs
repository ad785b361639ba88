//! TLS of the server itself. The certificate and its key in `pem` are for these tests alone.

use std::sync::Arc;

use rustls::ClientConfig;
use rustls::RootCertStore;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::limits::wait_for_connections;
use super::{Answer, Door, PATIENCE, request, settings_of};
use crate::support::opened;

const CERT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/suite/door/pem/cert.pem");
const KEY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/suite/door/pem/key.pem");
const OTHER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/suite/door/pem/other-key.pem");

fn connector() -> TlsConnector {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(CERT).unwrap()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    TlsConnector::from(Arc::new(config))
}

#[tokio::test]
async fn answers_come_over_tls_alone() {
    let settings = [
        ("tls.cert", CERT),
        ("tls.key", KEY),
        ("limits.connections", "2"),
        ("limits.header_timeout", "5s"),
    ];
    let door = Door::open(&settings).await;
    let name = ServerName::try_from("localhost").unwrap();
    let ask = async || {
        let stream = door.connect().await;
        let mut stream = connector().connect(name.clone(), stream).await.unwrap();
        let request = request(&door.address.to_string(), "GET", "/healthz", &[], "");
        stream.write_all(request.as_bytes()).await.unwrap();
        Answer::read(&mut stream).await
    };
    assert_eq!(ask().await.status, 200);
    // Without TLS there is no HTTP.
    let mut plain = door.connect().await;
    plain.write_all(b"GET /healthz HTTP/1.1\r\n\r\n").await.unwrap();
    let mut bytes = Vec::new();
    let _ = timeout(PATIENCE, plain.read_to_end(&mut bytes)).await.unwrap();
    assert!(!bytes.starts_with(b"HTTP"));
    // A client that never shakes hands is let go, and leaves room.
    let mut silent = [door.connect().await, door.connect().await];
    wait_for_connections(&door, 2).await;
    let refused = ask().await;
    refused.refused(503, "HTTP_TOO_MANY_CONNECTIONS");
    for stream in &mut silent {
        let mut nothing = Vec::new();
        let _ = timeout(PATIENCE, stream.read_to_end(&mut nothing)).await.unwrap();
    }
    wait_for_connections(&door, 0).await;
    assert_eq!(ask().await.status, 200);
    door.close().await;
}

#[tokio::test]
async fn files_that_do_not_belong_together_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (cert, key) in [(CERT, OTHER), (KEY, KEY), (CERT, CERT), ("/nowhere", KEY)] {
        let settings = settings_of(folder.path(), &[("tls.cert", cert), ("tls.key", key)]);
        let host = opened(folder.path(), settings).await;
        let bound = accord_host::serve::Server::bind(host).await;
        let refused = bound.map(|_| ()).unwrap_err();
        assert_eq!(refused.code.as_str(), "SERVE_TLS_INVALID", "{cert} {key}");
    }
}
