//! The text of a key: `accord_ID_SECRET`.
//!
//! The prefix lets scanners of source code recognise a key that got there; the id finds its row;
//! the secret proves it. Letters and digits alone, so that a double click selects all of it.

use accord_canon::{Digest, sha256};
use accord_system::random;
use data_encoding::BASE32_DNSSEC;

const PREFIX: &str = "accord_";

/// A key, as its holder has it. What is kept of it is its [`KeyText::digest`].
pub(crate) struct KeyText {
    id: String,
    text: String,
}

impl KeyText {
    /// A new key of 256 random bits.
    pub(crate) fn mint() -> Self {
        let id = BASE32_DNSSEC.encode(&random::<10>());
        let secret = BASE32_DNSSEC.encode(&random::<32>());
        let text = format!("{PREFIX}{id}_{secret}");
        Self { id, text }
    }

    /// Reads what a caller sent; `None` where it does not even look like a key.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let (id, secret) = text.strip_prefix(PREFIX)?.split_once('_')?;
        if id.is_empty() || secret.is_empty() {
            return None;
        }
        let (id, text) = (id.to_owned(), text.to_owned());
        Some(Self { id, text })
    }

    /// Names the key without giving it away.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// What is kept of the key.
    pub(crate) fn digest(&self) -> Digest {
        sha256(self.text.as_bytes())
    }

    /// The key itself, for its holder alone.
    pub(crate) fn reveal(self) -> String {
        self.text
    }
}
