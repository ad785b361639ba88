//! Keys: authentication of requests from the network.
//!
//! Invariants:
//! - The secret of a key is shown once, when the key is created. The store has its SHA-256.
//! - Keys are read through the store. A bounded cache makes that no read per request; what another
//!   host creates is valid at once, and what it revokes is refused within a second.
//! - A revocation by this host is effective before it is answered.
//! - Keys are never deleted. Once one exists, requests need a key, even if all are revoked.

mod cache;
mod secret;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use accord_api::operations::keys::{Key, KeyRequest};
use accord_base::{ActorKey, Author, Caller, Decision, Need, StoredKey, Verb};
use accord_contract::{Code, Failure, Object, Time, Timestamp, Wire as _};
use accord_store::{KeyRow, ReadUnit, Scope, StoreExt as _, UnitError, Units};
use accord_system::Clock;
use subtle::ConstantTimeEq as _;

use self::cache::{CachedKey, KeyCache};
use self::secret::KeyText;

/// How often the use of a key is recorded, in milliseconds.
const USE_INTERVAL: i64 = 3_600_000;
/// How long no use is recorded after that failed, in milliseconds. It is the same store for all
/// keys.
const RETRY_INTERVAL: i64 = 60_000;
/// How often the caller of an open stream is checked. With the age of a cached key, a revoked one
/// is noticed within a second.
pub const CHECK_INTERVAL: Duration = Duration::from_millis(400);
/// The prefix of the store settings that record the use of keys.
const USED: &str = "key.used.";
/// How many keys are read at once.
const PAGE: usize = 500;

/// The keys of a host. A clone is the same keys.
#[derive(Clone)]
pub struct Keys {
    units: Units,
    clock: Arc<Clock>,
    cache: Arc<KeyCache>,
    /// When a use could not be recorded, in milliseconds; 0 for never.
    unrecorded_at: Arc<AtomicI64>,
}

#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CreatedKey {
    pub key: Key,
    /// The key itself, for its holder only.
    pub secret: String,
}

impl Keys {
    pub fn new(units: &Units) -> Self {
        Self {
            units: units.clone(),
            clock: Arc::default(),
            cache: Arc::default(),
            unrecorded_at: Arc::default(),
        }
    }

    /// Whether requests from the network need a key.
    pub async fn required(&self) -> Result<bool, Failure> {
        if let Some(has_keys) = self.cache.has_keys() {
            return Ok(has_keys);
        }
        let start = self.cache.start_read();
        let first = self.units.read(|unit| Ok(unit.keys(None, 1)?)).await?;
        self.cache.set_has_keys(start, !first.is_empty());
        Ok(!first.is_empty())
    }

    pub async fn authenticate(&self, sent: &str) -> Result<Caller, Failure> {
        let unknown = || refused("unknown key");
        let sent = KeyText::read(sent).ok_or_else(unknown)?;
        let key = self.find(sent.id()).await?.ok_or_else(unknown)?;
        // Only the holder of the secret may learn that the key was revoked or has expired.
        let digest = sent.digest();
        // In constant time, so that the time of an answer does not show how much of the hash is
        // right.
        if !bool::from(key.row.secret_hash.as_bytes().ct_eq(digest.as_bytes())) {
            return Err(unknown());
        }
        if key.row.revoked_at.is_some() {
            return Err(refused("this key was revoked"));
        }
        let now = self.clock.now();
        if key.stored.is_expired(now) {
            return Err(refused("this key has expired"));
        }
        self.record_use(&key, now);
        Ok(key.caller.clone())
    }

    /// Whether a caller who was accepted still is. A change is noticed within half a second.
    pub async fn accepts(&self, caller: &Caller) -> Result<bool, Failure> {
        if caller.is_local() {
            // A caller without a key is accepted until the first key is created.
            return Ok(!self.required().await?);
        }
        let Some(key_id) = caller.key_id() else { return Ok(true) };
        Ok(self.holder(key_id).await?.is_some())
    }

    /// The holder of the key of an id, if the key is valid. A change is noticed within half a
    /// second.
    pub async fn holder(&self, key_id: &str) -> Result<Option<Caller>, Failure> {
        let key = self.find(key_id).await?.filter(|key| self.is_valid(key));
        Ok(key.map(|key| key.caller.clone()))
    }

    pub async fn label(&self, key_id: &str) -> Result<Option<String>, Failure> {
        Ok(self.find(key_id).await?.map(|key| key.stored.label.clone()))
    }

    fn is_valid(&self, key: &CachedKey) -> bool {
        key.row.revoked_at.is_none() && !key.stored.is_expired(self.clock.now())
    }

    pub async fn create(&self, caller: &Caller, asked: KeyRequest) -> Result<CreatedKey, Failure> {
        may_manage(caller)?;
        // A worker could give itself the key of a person.
        caller.attribute(Need::Decide(Decision::Grant), Author::unnamed())?;
        let stored = asked.into_stored()?;
        if stored.is_expired(self.clock.now()) {
            let message = "the key would already have expired; use a time in the future";
            return Err(Failure::new(Code::WireFieldValue, message).at("/expires_at"));
        }
        let (secret, actor) = (KeyText::mint(), stored.scope.actor.as_ref());
        let row = KeyRow {
            key_id: secret.id().to_owned(),
            secret_hash: secret.digest(),
            actor: actor.map(|actor| ActorKey { id: actor.id.clone(), kind: actor.kind }),
            created_at: Timestamp::emit(self.clock.now()),
            revoked_at: None,
            text: stored.encode().to_string(),
        };
        let key = describe(&row, stored, 0);
        self.units.write(move |unit| Ok(unit.insert_key(&row)?)).await?;
        self.cache.set_has_keys(self.cache.start_read(), true);
        Ok(CreatedKey { key, secret: secret.reveal() })
    }

    /// All keys, oldest first.
    pub async fn list(&self, caller: &Caller) -> Result<Vec<Key>, Failure> {
        may_manage(caller)?;
        let read = self.units.read(|unit| {
            let mut rows: Vec<KeyRow> = Vec::new();
            loop {
                let last = rows.last().map(|row| row.key_id.as_str());
                let page = unit.keys(last, PAGE)?;
                let is_last = page.len() < PAGE;
                rows.extend(page);
                if is_last {
                    break;
                }
            }
            let used = rows.iter().map(|row| used(unit, &row.key_id));
            let used = used.collect::<Result<Vec<_>, UnitError>>()?;
            Ok(rows.into_iter().zip(used).collect::<Vec<_>>())
        });
        let keys = read.await?.into_iter().map(|(row, used)| {
            let used = used.max(self.cache.used(&row.key_id));
            Ok(describe(&row, StoredKey::read(&row.text)?, used))
        });
        let mut keys = keys.collect::<Result<Vec<Key>, Failure>>()?;
        keys.sort_by_key(|key| key.created_at.time());
        Ok(keys)
    }

    /// Revokes a key. A key that was revoked before keeps the time of its revocation.
    pub async fn revoke(&self, caller: &Caller, key_id: &str) -> Result<Key, Failure> {
        may_manage(caller)?;
        let at = Timestamp::emit(self.clock.now());
        let id = key_id.to_owned();
        let write = self.units.write(move |unit| {
            let missing = || {
                let message = format!("there is no key {id:?}");
                UnitError::from(Failure::new(Code::KeyNotFound, message))
            };
            unit.key(&id)?.ok_or_else(missing)?;
            unit.revoke_key(&id, &at)?;
            Ok((unit.key(&id)?.ok_or_else(missing)?, used(unit, &id)?))
        });
        let (row, used) = write.await?;
        let used = used.max(self.cache.used(key_id));
        // After the commit: a read that begins now sees the revocation, and one that began before
        // leaves no entry. Before the answer, so that the key is refused from then on.
        self.cache.revoke(key_id);
        Ok(describe(&row, StoredKey::read(&row.text)?, used))
    }

    /// The key with an id, at most half a second old.
    async fn find(&self, key_id: &str) -> Result<Option<Arc<CachedKey>>, Failure> {
        if let Some(key) = self.cache.get(key_id) {
            return Ok(Some(key));
        }
        if self.cache.is_missing(key_id) {
            return Ok(None);
        }
        let start = self.cache.start_read();
        let id = key_id.to_owned();
        let read = self.units.read(move |unit| {
            let row = unit.key(&id)?;
            row.map(|row| Ok::<_, UnitError>((row, used(unit, &id)?))).transpose()
        });
        let Some((row, used)) = read.await? else {
            self.cache.insert_missing(start, key_id);
            return Ok(None);
        };
        let stored = StoredKey::read(&row.text)?;
        let key = Arc::new(CachedKey {
            caller: Caller::key(&row.key_id, &stored.scope),
            row,
            stored,
            used: AtomicI64::new(used),
        });
        self.cache.insert(start, Arc::clone(&key));
        Ok(Some(key))
    }

    /// Records that a key is in use, about once per hour.
    fn record_use(&self, key: &CachedKey, now: Time) {
        let now = now.unix_seconds().saturating_mul(1_000);
        let recorded = key.used.load(Ordering::Relaxed);
        let failed = self.unrecorded_at.load(Ordering::Relaxed);
        if now.saturating_sub(recorded) < USE_INTERVAL
            || now.saturating_sub(failed) < RETRY_INTERVAL
        {
            return;
        }
        // Of several requests at the same time, one records the use.
        let order = Ordering::Relaxed;
        if key.used.compare_exchange(recorded, now, order, order).is_err() {
            return;
        }
        let name = format!("{USED}{}", key.row.key_id);
        let job = move |unit: &mut dyn accord_store::WriteUnit| {
            unit.put_setting(Scope::Store, &name, Some(&now.to_string()))
        };
        let (cache, unrecorded_at) = (Arc::clone(&self.cache), Arc::clone(&self.unrecorded_at));
        let key_id = key.row.key_id.clone();
        // The request does not wait for it. If it fails, a later request tries again.
        self.units.store().enqueue(job, move |outcome| {
            if let Err(error) = outcome {
                unrecorded_at.store(now, Ordering::Relaxed);
                cache.set_used(&key_id, now, recorded);
                tracing::debug!(detail = error.detail(), "the use of a key was not recorded");
            }
        });
    }
}

/// When the use of a key was last recorded in the store, in milliseconds; 0 for never.
fn used(unit: &dyn ReadUnit, key_id: &str) -> Result<i64, UnitError> {
    let recorded = unit.setting(Scope::Store, &format!("{USED}{key_id}"))?;
    Ok(recorded.and_then(|text| text.parse().ok()).unwrap_or(0))
}

fn describe(row: &KeyRow, stored: StoredKey, used: i64) -> Key {
    Key {
        key_id: row.key_id.clone(),
        label: stored.label,
        verbs: stored.scope.verbs,
        projects: stored.scope.projects,
        actor: stored.scope.actor,
        act_as: stored.scope.act_as,
        created_at: row.created_at.clone(),
        expires_at: stored.expires_at,
        revoked_at: row.revoked_at.clone(),
        last_used_at: (used > 0).then(|| Timestamp::emit(Time::from_unix_millis(used))),
        extra: Object::new(),
    }
}

/// Managing keys needs the verb `admin` for all projects: otherwise a key for some projects could
/// create one for all of them.
pub fn may_manage(caller: &Caller) -> Result<(), Failure> {
    let access = caller.access();
    access.may_anywhere(Verb::Admin)?;
    if access.projects().is_some() {
        return Err(refused("this key does not cover all projects"));
    }
    Ok(())
}

fn refused(message: &str) -> Failure {
    Failure::new(Code::Unauthorized, message)
}

#[cfg(test)]
mod tests {
    use accord_store::{Engine as _, ModelStore};

    use super::*;

    /// The keys of two hosts over one store.
    fn two_hosts() -> (Keys, Keys) {
        let store = Arc::new(ModelStore::new());
        let keys = || Keys::new(&Units::new(store.clone()));
        (keys(), keys())
    }

    fn request() -> KeyRequest {
        let document = serde_json::json!({"label": "builder", "verbs": ["read"]});
        KeyRequest::from_document(document).unwrap()
    }

    #[tokio::test]
    async fn a_key_of_one_host_is_valid_at_another_until_it_is_revoked() {
        let (one, other) = two_hosts();
        assert!(!other.required().await.unwrap());
        let created = one.create(&Caller::owner(), request()).await.unwrap();
        let caller = other.authenticate(&created.secret).await.unwrap();
        assert_eq!(caller.key_id(), Some(created.key.key_id.as_str()));
        // Now it is in the cache of the other host.
        let id = &created.key.key_id;
        one.revoke(&Caller::owner(), id).await.unwrap();
        assert!(one.authenticate(&created.secret).await.is_err(), "refused at once here");
        tokio::time::sleep(Duration::from_secs(1)).await;
        let refused = other.authenticate(&created.secret).await.unwrap_err();
        assert_eq!(refused.message, "this key was revoked");
        assert!(other.required().await.unwrap());
    }

    #[tokio::test]
    async fn a_key_that_is_used_all_the_time_is_revoked_within_a_second() {
        let (one, other) = two_hosts();
        let created = one.create(&Caller::owner(), request()).await.unwrap();
        let _ = other.authenticate(&created.secret).await.unwrap();
        let id = &created.key.key_id;
        one.revoke(&Caller::owner(), id).await.unwrap();
        let revoked = std::time::Instant::now();
        while other.authenticate(&created.secret).await.is_ok() {
            assert!(revoked.elapsed() < Duration::from_secs(1), "still accepted");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    #[tokio::test]
    async fn an_unknown_key_is_looked_up_once_for_many_requests() {
        let (one, _) = two_hosts();
        let unknown = KeyText::mint();
        let id = unknown.id().to_owned();
        let secret = unknown.reveal();
        assert!(!one.cache.is_missing(&id));
        assert_eq!(one.authenticate(&secret).await.unwrap_err().message, "unknown key");
        assert!(one.cache.is_missing(&id), "no second read");
        assert_eq!(one.authenticate(&secret).await.unwrap_err().message, "unknown key");
    }

    #[tokio::test]
    async fn a_use_that_was_not_recorded_is_recorded_later() {
        let store = Arc::new(ModelStore::new());
        let keys = Keys::new(&Units::new(Arc::clone(&store) as _));
        let created = keys.create(&Caller::owner(), request()).await.unwrap();
        let id = created.key.key_id.as_str();
        let key = keys.find(id).await.unwrap().unwrap();
        let minute = |number: i64| Time::from_unix_millis(4_000_000_000_000 + number * 60_000);
        // A closed store takes no writes.
        store.close().unwrap();
        keys.record_use(&key, minute(0));
        let failed_at = minute(0).unix_seconds() * 1_000;
        wait_for(|| keys.unrecorded_at.load(Ordering::Relaxed) == failed_at).await;
        assert_eq!(key.used.load(Ordering::Relaxed), 0, "it is not taken for recorded");
        keys.record_use(&key, minute(0));
        assert_eq!(key.used.load(Ordering::Relaxed), 0, "not at once");
        keys.record_use(&key, minute(1));
        wait_for(|| keys.unrecorded_at.load(Ordering::Relaxed) > failed_at).await;
    }

    async fn wait_for(condition: impl Fn() -> bool) {
        let waited = async {
            while !condition() {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), waited).await.expect("it happens");
    }

    #[tokio::test]
    async fn a_key_is_read_once_for_many_requests() {
        let (one, other) = two_hosts();
        let created = one.create(&Caller::owner(), request()).await.unwrap();
        let _ = other.authenticate(&created.secret).await.unwrap();
        let id = &created.key.key_id;
        let first = other.cache.get(id).expect("it is cached");
        let _ = other.authenticate(&created.secret).await.unwrap();
        let second = other.cache.get(id).expect("it is cached");
        assert!(Arc::ptr_eq(&first, &second), "no second read");
    }
}
