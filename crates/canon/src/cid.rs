//! Content ids: CIDv1 of raw bytes by SHA-256, in lowercase base32.

use data_encoding::BASE32_NOPAD;

use crate::Digest;

/// Version 1, codec raw, multihash SHA-256, 32 bytes.
const HEADER: [u8; 4] = [0x01, 0x55, 0x12, 0x20];

/// The CIDv1 of the bytes whose SHA-256 digest is given. Clauses: ALX-ID-CID.
pub fn raw_sha256_cid(digest: &Digest) -> String {
    let mut bytes = [0; 36];
    bytes[..4].copy_from_slice(&HEADER);
    bytes[4..].copy_from_slice(digest.as_bytes());
    // `b` is the multibase prefix for lowercase base32.
    format!("b{}", BASE32_NOPAD.encode(&bytes).to_ascii_lowercase())
}
