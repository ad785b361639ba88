//! The version of the protocol. A version is a plain text: it is equal or it is not.
//!
//! A client asks for the check by naming the versions that it supports. The version that a server
//! advertises can differ for one session; only the conformance control sets that.

use accord_contract::{Failure, Value, rule, wire_enum};

use crate::refuse;

/// The version that this server speaks, in `ack.serverVersion` and in `schemaVersion`.
pub const PROTOCOL_VERSION: &str = "draft-2026-08-19";

wire_enum! {
    /// What happens to a socket whose client does not support the version.
    pub enum VersionPolicy("GguiVersionPolicy", closed) {
        /// It is answered and closed.
        Reject = "reject",
        /// It is answered and stays open, without a subscription.
        Advisory = "advisory",
    }
}

/// Whether a client that names the versions it supports can speak with a server of a version. A
/// client that names none did not ask for the check.
///
/// Clauses: GGUI-VERSION-MEMBERSHIP.
pub fn is_supported(versions: Option<&[String]>, advertised: &str) -> bool {
    match versions {
        None | Some([]) => true,
        Some(versions) => {
            let is_one = versions.iter().any(|version| version == advertised);
            rule!(is_one; AnyVersion => true)
        }
    }
}

/// Checks the versions of a client. Fails with `UPGRADE_REQUIRED`, with the versions of both sides
/// and the policy.
///
/// Clauses: GGUI-VERSION-UPGRADE-REQUIRED.
pub fn check(
    versions: Option<&[String]>,
    advertised: &str,
    policy: VersionPolicy,
) -> Result<(), Failure> {
    if is_supported(versions, advertised) {
        return Ok(());
    }
    let versions: Vec<Value> =
        versions.into_iter().flatten().map(|version| version.as_str().into()).collect();
    let message = format!("this server speaks {advertised}, which the client does not support");
    let refusal = refuse::upgrade_required(message);
    Err(rule!(
        refusal
            .with("serverVersion", advertised)
            .with("clientSupportedVersions", versions)
            .with("policy", policy.as_str());
        VersionsUnnamed => refusal
    ))
}
