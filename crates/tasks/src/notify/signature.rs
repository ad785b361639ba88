//! The signature of a webhook: HMAC-SHA256 over the time and the body.

use accord_canon::sha256;

/// The header with the signature: `t=<seconds since 1970>,v1=<hexadecimal digits>`.
pub const SIGNATURE: &str = "x-accord-signature";

/// The block of SHA-256.
const BLOCK: usize = 64;

/// The value of the header [`SIGNATURE`]. The receiver computes HMAC-SHA256 of the time, a full
/// stop and the body with the shared secret, compares, and refuses old times.
pub fn signature(secret: &[u8], seconds: i64, body: &str) -> String {
    let digest = hmac_sha256(secret, format!("{seconds}.{body}").as_bytes());
    format!("t={seconds},v1={digest}")
}

/// RFC 2104, in hexadecimal digits.
fn hmac_sha256(secret: &[u8], message: &[u8]) -> String {
    let mut key = [0_u8; BLOCK];
    if secret.len() > BLOCK {
        let digest = sha256(secret);
        key[..32].copy_from_slice(digest.as_bytes());
    } else {
        key[..secret.len()].copy_from_slice(secret);
    }
    let padded = |pad: u8| key.map(|byte| byte ^ pad);
    let inner = sha256(&[&padded(0x36)[..], message].concat());
    sha256(&[&padded(0x5c)[..], &inner.as_bytes()[..]].concat()).hex()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The vectors of RFC 4231, cases 1, 2 and 6.
    #[test]
    fn the_digest_is_that_of_the_rfc() {
        assert_eq!(
            hmac_sha256(&[0x0b; 20], b"Hi There"),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        );
        assert_eq!(
            hmac_sha256(b"Jefe", b"what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
        assert_eq!(
            hmac_sha256(&[0xaa; 131], b"Test Using Larger Than Block-Size Key - Hash Key First"),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        );
    }
}
