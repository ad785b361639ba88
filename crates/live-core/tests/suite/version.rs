//! The version handshake.

use accord_contract::Code;
use accord_live_core::version::{PROTOCOL_VERSION, VersionPolicy, check, is_supported};
use serde_json::json;

#[test]
fn a_client_without_versions_is_supported() {
    assert!(is_supported(None, PROTOCOL_VERSION));
    assert!(is_supported(Some(&[]), PROTOCOL_VERSION));
}

#[test]
fn a_client_is_supported_by_the_exact_version_alone() {
    let others = vec!["draft-2026-06-12".to_owned(), format!("{PROTOCOL_VERSION}-1")];
    assert!(!is_supported(Some(&others), PROTOCOL_VERSION));
    let with_ours = [others[0].clone(), PROTOCOL_VERSION.to_owned()];
    assert!(is_supported(Some(&with_ours), PROTOCOL_VERSION));
    // The version that a session advertises counts, not the constant.
    assert!(!is_supported(Some(&with_ours), "99.99-unsupported"));
}

#[test]
fn a_refusal_names_both_sides_and_the_policy() {
    for policy in [VersionPolicy::Reject, VersionPolicy::Advisory] {
        let failure = check(Some(&["old".to_owned()]), "new", policy).unwrap_err();
        assert_eq!(failure.code, Code::GguiUpgradeRequired);
        assert_eq!(
            serde_json::Value::Object(*failure.details.unwrap()),
            json!({
                "serverVersion": "new",
                "clientSupportedVersions": ["old"],
                "policy": policy.as_str(),
            }),
        );
    }
}
