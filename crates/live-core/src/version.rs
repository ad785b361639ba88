//! The version of the protocol. A version is a plain text: it is equal or it is not.

/// The version that this server speaks, in `ack.serverVersion` and in `schemaVersion`.
pub const PROTOCOL_VERSION: &str = "draft-2026-08-19";

/// Whether a client that names the versions it supports can speak with this server. A client that
/// names none did not ask for the check.
pub fn is_supported(versions: Option<&[String]>) -> bool {
    match versions {
        None | Some([]) => true,
        Some(versions) => versions.iter().any(|version| version == PROTOCOL_VERSION),
    }
}
