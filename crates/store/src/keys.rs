//! Keys. The store has only the hash of a key's secret.

use accord_base::ActorKey;
use accord_canon::Digest;
use accord_contract::Timestamp;

use crate::Result;

/// The row of a key.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct KeyRow {
    /// Identifies the key. It is not secret.
    pub key_id: String,
    /// The hash of the key.
    pub secret_hash: Digest,
    /// Its actor.
    pub actor: Option<ActorKey>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
    /// Its label, projects and verbs, as a JSON document.
    pub text: String,
}

/// Reads keys.
pub trait Keys {
    /// The key with a hash, revoked or not.
    fn key_of_hash(&self, secret_hash: &Digest) -> Result<Option<KeyRow>>;

    /// The key of an id.
    fn key(&self, key_id: &str) -> Result<Option<KeyRow>>;

    /// At most `limit` keys after `after`, in the order of their ids' bytes.
    fn keys(&self, after: Option<&str>, limit: usize) -> Result<Vec<KeyRow>>;
}

/// Writes keys.
pub trait KeyWrites {
    /// Adds a key. It is a conflict when another key has its id or hash.
    fn insert_key(&mut self, row: &KeyRow) -> Result<()>;

    /// Revokes a key. A revoked key does not change. It is a conflict when the key does not exist.
    fn revoke_key(&mut self, key_id: &str, at: &Timestamp) -> Result<()>;
}
