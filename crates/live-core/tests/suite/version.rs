//! The version handshake.

use accord_live_core::version::{PROTOCOL_VERSION, is_supported};

#[test]
fn a_client_without_versions_is_supported() {
    assert!(is_supported(None));
    assert!(is_supported(Some(&[])));
}

#[test]
fn a_client_is_supported_by_the_exact_version_alone() {
    let others = vec!["draft-2026-06-12".to_owned(), format!("{PROTOCOL_VERSION}-1")];
    assert!(!is_supported(Some(&others)));
    assert!(is_supported(Some(&[others[0].clone(), PROTOCOL_VERSION.to_owned()])));
}
