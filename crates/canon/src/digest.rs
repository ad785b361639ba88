//! The two digests, hashing under a domain tag, and hashing with a secret.

use std::fmt;
use std::str::FromStr;

use data_encoding::HEXLOWER;

/// A digest function. Clauses: ALX-CANON-DIGESTS.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Hash {
    /// SHA-256.
    Sha256,
    /// Keccak-256 as it was before NIST changed its padding for SHA-3.
    Keccak256,
}

impl Hash {
    /// The digest of `parts`, one after the other.
    pub fn of(self, parts: &[&[u8]]) -> Digest {
        match self {
            Self::Sha256 => digest::<sha2::Sha256>(parts),
            Self::Keccak256 => digest::<sha3::Keccak256>(parts),
        }
    }
}

/// The SHA-256 digest of `bytes`.
pub fn sha256(bytes: &[u8]) -> Digest {
    Hash::Sha256.of(&[bytes])
}

/// The SHA-256 of bytes that come in parts.
pub fn sha256_parts<E>(parts: impl IntoIterator<Item = Result<Vec<u8>, E>>) -> Result<Digest, E> {
    use sha2::Digest as _;

    let mut hasher = sha2::Sha256::new();
    for part in parts {
        hasher.update(part?);
    }
    Ok(Digest(hasher.finalize().into()))
}

/// The Keccak-256 digest of `bytes`. Clauses: ALX-ID-ARTIFACT-BYTES.
pub fn keccak256(bytes: &[u8]) -> Digest {
    Hash::Keccak256.of(&[bytes])
}

/// The digest of `tag`, then `bytes`, with nothing between them: the same bytes
/// under another tag are another identity. Clauses: ALX-ID-DOMAIN-HASH.
pub fn hash_tagged(hash: Hash, tag: &str, bytes: &[u8]) -> Digest {
    hash.of(&[tag.as_bytes(), bytes])
}

/// HMAC-SHA256 (RFC 2104) of `message`.
pub fn hmac_sha256(secret: &[u8], message: &[u8]) -> Digest {
    const BLOCK: usize = 64;
    let mut key = [0_u8; BLOCK];
    if secret.len() > BLOCK {
        key[..32].copy_from_slice(sha256(secret).as_bytes());
    } else {
        key[..secret.len()].copy_from_slice(secret);
    }
    let inner = Hash::Sha256.of(&[&key.map(|byte| byte ^ 0x36), message]);
    Hash::Sha256.of(&[&key.map(|byte| byte ^ 0x5c), inner.as_bytes()])
}

/// The 32 bytes of a digest.
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Lowercase hexadecimal digits without a prefix.
    pub fn hex(&self) -> String {
        HEXLOWER.encode(&self.0)
    }

    /// `0x` and lowercase hexadecimal digits, as Knowledge Blocks write it.
    pub fn prefixed(&self) -> String {
        format!("0x{}", self.hex())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Digest({})", self.hex())
    }
}

impl From<[u8; 32]> for Digest {
    fn from(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl FromStr for Digest {
    type Err = DigestError;

    /// Reads 64 lowercase hexadecimal digits, with or without `0x`.
    fn from_str(text: &str) -> Result<Self, DigestError> {
        let digits = text.strip_prefix("0x").unwrap_or(text);
        let bytes = HEXLOWER.decode(digits.as_bytes()).map_err(|_| DigestError)?;
        Ok(Self(bytes.try_into().map_err(|_| DigestError)?))
    }
}

/// The text is not a digest.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("a digest is 64 lowercase hexadecimal digits, with or without 0x before them")]
pub struct DigestError;

fn digest<D: sha2::Digest<OutputSize = sha2::digest::consts::U32>>(parts: &[&[u8]]) -> Digest {
    let mut hasher = D::new();
    for part in parts {
        hasher.update(part);
    }
    Digest(hasher.finalize().into())
}
