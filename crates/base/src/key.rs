//! Keys as the store keeps them.

use accord_contract::codes::{Code, Failure};
use accord_contract::message;
use accord_contract::time::{Time, Timestamp};
use accord_contract::wire::{Object, Wire as _};

use crate::KeyScope;

message! {
    /// What the store keeps of a key in addition to its id, its hash and its times.
    pub struct StoredKey("KeptKey", open) {
        /// What people call it.
        required label: String = "label", "text-for-people";
        /// What it covers.
        required scope: KeyScope = "scope", "key-scope";
        /// When it expires; null for never.
        required_or_null expires_at: Timestamp = "expires_at", "time:rfc-3339";
    }
}

impl StoredKey {
    /// A key that is to be stored.
    pub fn new(label: String, scope: KeyScope, expires_at: Option<Timestamp>) -> Self {
        Self { label, scope, expires_at, extra: Object::new() }
    }

    /// Reads the text of a stored key.
    ///
    /// # Errors
    /// With `store_corrupt` when the text is not a key.
    pub fn read(text: &str) -> Result<Self, Failure> {
        let damaged = || Failure::new(Code::StoreCorrupt, "a stored key cannot be read");
        let value = serde_json::from_str(text).map_err(|_| damaged())?;
        Self::from_document(value).map_err(|_| damaged())
    }

    /// Whether the key has expired at `now`.
    pub fn is_expired(&self, now: Time) -> bool {
        let end = self.expires_at.as_ref();
        end.is_some_and(|end| end.time() <= now)
    }
}
