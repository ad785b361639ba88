//! Keys in the model.

use std::ops::Bound::{Excluded, Unbounded};

use accord_canon::Digest;
use accord_contract::Timestamp;

use super::{State, insert};
use crate::{KeyRow, KeyWrites, Keys, Result, StoreError};

impl Keys for State {
    fn key_of_hash(&self, secret_hash: &Digest) -> Result<Option<KeyRow>> {
        Ok(self.keys.values().find(|key| key.secret_hash == *secret_hash).cloned())
    }

    fn key(&self, key_id: &str) -> Result<Option<KeyRow>> {
        Ok(self.keys.get(key_id).cloned())
    }

    fn keys(&self, after: Option<&str>, limit: usize) -> Result<Vec<KeyRow>> {
        let behind = (after.map_or(Unbounded, Excluded), Unbounded);
        Ok(self.keys.range::<str, _>(behind).take(limit).map(|(_, key)| key.clone()).collect())
    }
}

impl KeyWrites for State {
    fn insert_key(&mut self, row: &KeyRow) -> Result<()> {
        if self.key_of_hash(&row.secret_hash)?.is_some() {
            return Err(StoreError::conflict("key", &row.key_id));
        }
        insert(&mut self.keys, row.key_id.clone(), row.clone(), "key")
    }

    fn revoke_key(&mut self, key_id: &str, at: &Timestamp) -> Result<()> {
        let found = self.keys.get_mut(key_id);
        let key = found.ok_or_else(|| StoreError::conflict("no key", key_id))?;
        key.revoked_at.get_or_insert_with(|| at.clone());
        Ok(())
    }
}
