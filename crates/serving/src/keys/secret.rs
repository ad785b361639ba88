//! The text of a key: `accord_ID_SECRET`.
//!
//! Secret scanners recognise the prefix. The id finds the row, and the secret authenticates. There
//! are only letters and digits, so that a double click selects all of it.

use accord_base::KEY_PREFIX;
use accord_canon::{Digest, sha256};
use accord_system::random;
use data_encoding::BASE32_DNSSEC;

/// A key, as its holder has it. The store has only its [`KeyText::digest`].
pub(super) struct KeyText {
    id: String,
    text: String,
}

impl KeyText {
    /// A new key of 256 random bits.
    pub(super) fn mint() -> Self {
        let id = BASE32_DNSSEC.encode(&random::<10>());
        let secret = BASE32_DNSSEC.encode(&random::<32>());
        let text = format!("{KEY_PREFIX}{id}_{secret}");
        Self { id, text }
    }

    /// Parses what a caller sent; `None` if it does not have the form of a key.
    pub(super) fn read(text: &str) -> Option<Self> {
        // Neither part contains an underscore, so the first one ends the id.
        let (id, secret) = text.strip_prefix(KEY_PREFIX)?.split_once('_')?;
        if id.is_empty() || secret.is_empty() {
            return None;
        }
        let (id, text) = (id.to_owned(), text.to_owned());
        Some(Self { id, text })
    }

    /// The id of the key. It is not secret.
    pub(super) fn id(&self) -> &str {
        &self.id
    }

    pub(super) fn digest(&self) -> Digest {
        // A fast hash is enough: 256 random bits cannot be guessed as a password can.
        sha256(self.text.as_bytes())
    }

    /// The key itself, for its holder only.
    pub(super) fn reveal(self) -> String {
        self.text
    }
}
