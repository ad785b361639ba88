//! The signature of a webhook: HMAC-SHA256 over the time and the body.

use accord_canon::hmac_sha256;

/// The header with the signature: `t=<seconds since 1970>,v1=<hexadecimal digits>`.
pub const SIGNATURE: &str = "x-accord-signature";

/// The value of the header [`SIGNATURE`]. The receiver computes HMAC-SHA256 of the time, a full
/// stop and the body with the shared secret, compares, and refuses old times.
pub fn signature(secret: &[u8], seconds: i64, body: &str) -> String {
    let digest = hmac_sha256(secret, format!("{seconds}.{body}").as_bytes());
    format!("t={seconds},v1={}", digest.hex())
}
