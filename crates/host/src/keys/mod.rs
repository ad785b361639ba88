//! Keys: who may come in through the network.
//!
//! Invariants:
//! - a key itself is told once, when it is made, and never kept: rows have its SHA-256;
//! - all keys are in memory, so that to recognise a caller costs no read of the store;
//! - memory follows the store: a key is valid from the answer that told it, and no longer from the answer
//!   that revoked it;
//! - no key is ever forgotten. Once there was one, callers need one, also when all are revoked.

mod messages;
mod secret;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use accord_base::{ActorKey, Caller, StoredKey, Verb};
use accord_canon::Digest;
use accord_contract::codes::{Code, Failure};
use accord_contract::time::{Time, Timestamp};
use accord_contract::wire::{Object, Wire as _};
use accord_memory::{Memory, UnitError};
use accord_store::{KeyRow, Scope, StoreExt as _};
use subtle::ConstantTimeEq as _;

use self::secret::KeyText;

pub use self::messages::{Key, KeyRequest};

/// How often it is written down that a key is in use, in milliseconds.
const USE_NOTED: i64 = 3_600_000;

/// What the settings of the store that note the use of a key begin with.
const USED: &str = "key.used.";

/// How many keys are read at once.
const PAGE: usize = 500;

/// The keys of a host. A clone is the same keys.
#[derive(Clone)]
pub struct Keys {
    memory: Memory,
    known: Arc<RwLock<BTreeMap<String, Known>>>,
}

/// A key that was made.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Made {
    /// What is known about it.
    pub key: Key,
    /// The key itself, for its holder alone.
    pub secret: String,
}

struct Known {
    secret_hash: Digest,
    kept: StoredKey,
    created_at: Timestamp,
    revoked_at: Option<Timestamp>,
    /// When its use was last noted, in milliseconds; zero for never.
    used: AtomicI64,
    caller: Caller,
}

impl Keys {
    /// The keys of a store.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn load(memory: &Memory) -> Result<Self, Failure> {
        let store = memory.store();
        let rows = store.read(|unit| {
            let mut rows: Vec<KeyRow> = Vec::new();
            loop {
                let last = rows.last().map(|row| row.key_id.as_str());
                let page = unit.keys(last, PAGE)?;
                let more = page.len() == PAGE;
                rows.extend(page);
                if !more {
                    return Ok::<_, UnitError>((rows, unit.settings(Scope::Store)?));
                }
            }
        });
        let (rows, settings) = rows.map_err(UnitError::into_failure)?;
        let mut known = BTreeMap::new();
        for row in rows {
            let used = settings.iter().find_map(|(name, value)| {
                let id = name.strip_prefix(USED)?;
                (id == row.key_id).then(|| value.parse().ok())?
            });
            let entry = Known::new(&row, StoredKey::read(&row.text)?, used.unwrap_or(0));
            known.insert(row.key_id, entry);
        }
        Ok(Self {
            memory: memory.clone(),
            known: Arc::new(RwLock::new(known)),
        })
    }

    /// Whether callers from the network need a key.
    pub fn required(&self) -> bool {
        !self.read_known().is_empty()
    }

    /// Who has a key.
    ///
    /// # Errors
    /// With `unauthorized` when there is no such key, or it is not valid any more.
    pub fn recognise(&self, sent: &str) -> Result<Caller, Failure> {
        let unknown = || refused("this key is not known");
        let sent = KeyText::read(sent).ok_or_else(unknown)?;
        let digest = sent.digest();
        let known = self.read_known();
        let entry = known.get(sent.id()).ok_or_else(unknown)?;
        // Only whoever has the key learns what became of it.
        if !bool::from(entry.secret_hash.as_bytes().ct_eq(digest.as_bytes())) {
            return Err(unknown());
        }
        if entry.revoked_at.is_some() {
            return Err(refused("this key was revoked"));
        }
        let now = self.memory.now();
        let ends = entry.kept.expires_at.as_ref();
        if ends.is_some_and(|ends| ends.time() <= now) {
            return Err(refused("this key has expired"));
        }
        self.note_use(sent.id(), entry, now);
        Ok(entry.caller.clone())
    }

    /// Makes a key.
    ///
    /// # Errors
    /// When the caller may not, or the request is not sound.
    pub async fn create(&self, caller: &Caller, request: KeyRequest) -> Result<Made, Failure> {
        may_manage(caller)?;
        let kept = request.into_stored()?;
        let ends = kept.expires_at.as_ref();
        if ends.is_some_and(|ends| ends.time() <= self.memory.now()) {
            let message =
                "the key would have expired before it is made; name a time that is to come";
            return Err(Failure::new(Code::WireFieldValue, message).at("/expires_at"));
        }
        let secret = KeyText::mint();
        let row = KeyRow {
            key_id: secret.id().to_owned(),
            secret_hash: secret.digest(),
            actor: kept.scope.actor.as_ref().map(|actor| ActorKey {
                id: actor.id.clone(),
                kind: actor.kind,
            }),
            created_at: Timestamp::emit(self.memory.now()),
            revoked_at: None,
            text: kept.encode().to_string(),
        };
        let entry = Known::new(&row, kept, 0);
        let key = entry.describe(&row.key_id);
        let key_id = row.key_id.clone();
        self.memory
            .write(move |unit| Ok(unit.insert_key(&row)?))
            .await?;
        self.write_known().insert(key_id, entry);
        let secret = secret.reveal();
        Ok(Made { key, secret })
    }

    /// All keys, in the order of their making.
    ///
    /// # Errors
    /// When the caller may not see them.
    pub fn list(&self, caller: &Caller) -> Result<Vec<Key>, Failure> {
        may_manage(caller)?;
        let known = self.read_known();
        let mut keys: Vec<Key> = known.iter().map(|(id, key)| key.describe(id)).collect();
        keys.sort_by_key(|key| key.created_at.time());
        Ok(keys)
    }

    /// Revokes a key; one that is revoked stays as it is.
    ///
    /// # Errors
    /// When the caller may not, or there is no such key.
    pub async fn revoke(&self, caller: &Caller, key_id: &str) -> Result<Key, Failure> {
        may_manage(caller)?;
        let missing = || {
            let message = format!("there is no key {key_id:?}");
            Failure::new(Code::KeyNotFound, message)
        };
        if !self.read_known().contains_key(key_id) {
            return Err(missing());
        }
        let at = Timestamp::emit(self.memory.now());
        let (id, revoked_at) = (key_id.to_owned(), at.clone());
        self.memory
            .write(move |unit| Ok(unit.revoke_key(&id, &revoked_at)?))
            .await?;
        let mut known = self.write_known();
        let entry = known.get_mut(key_id).ok_or_else(missing)?;
        entry.revoked_at.get_or_insert(at);
        Ok(entry.describe(key_id))
    }

    /// Writes down, now and then, that a key is in use.
    fn note_use(&self, key_id: &str, entry: &Known, now: Time) {
        let now = now.unix_seconds().saturating_mul(1_000);
        let noted = entry.used.load(Ordering::Relaxed);
        if now.saturating_sub(noted) < USE_NOTED {
            return;
        }
        let swapped =
            (entry.used).compare_exchange(noted, now, Ordering::Relaxed, Ordering::Relaxed);
        if swapped.is_err() {
            return;
        }
        let name = format!("{USED}{key_id}");
        let job = move |unit: &mut dyn accord_store::WriteUnit| {
            unit.put_setting(Scope::Store, &name, Some(&now.to_string()))
        };
        // Nobody waits for it, and it comes again if it fails.
        self.memory.store().enqueue(job, |outcome| {
            if let Err(error) = outcome {
                tracing::debug!(detail = error.detail(), "the use of a key was not noted");
            }
        });
    }

    fn read_known(&self) -> RwLockReadGuard<'_, BTreeMap<String, Known>> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_known(&self) -> RwLockWriteGuard<'_, BTreeMap<String, Known>> {
        self.known.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn new(row: &KeyRow, kept: StoredKey, used: i64) -> Self {
        Self {
            secret_hash: row.secret_hash,
            created_at: row.created_at.clone(),
            revoked_at: row.revoked_at.clone(),
            used: AtomicI64::new(used),
            caller: Caller::key(&row.key_id, &kept.scope),
            kept,
        }
    }

    fn describe(&self, key_id: &str) -> Key {
        let scope = self.kept.scope.clone();
        let used = self.used.load(Ordering::Relaxed);
        Key {
            key_id: key_id.to_owned(),
            label: self.kept.label.clone(),
            verbs: scope.verbs,
            projects: scope.projects,
            actor: scope.actor,
            act_as: scope.act_as,
            created_at: self.created_at.clone(),
            expires_at: self.kept.expires_at.clone(),
            revoked_at: self.revoked_at.clone(),
            last_used_at: (used > 0).then(|| Timestamp::emit(Time::from_unix_millis(used))),
            extra: Object::new(),
        }
    }
}

/// Refuses whoever may not manage keys: a key that covers some projects could make one that covers
/// all of them.
pub(crate) fn may_manage(caller: &Caller) -> Result<(), Failure> {
    let access = caller.access();
    access.may_anywhere(Verb::Admin)?;
    match access.projects() {
        None => Ok(()),
        Some(_) => Err(refused("this key does not cover all projects")),
    }
}

fn refused(message: &str) -> Failure {
    Failure::new(Code::AgenticUnauthorized, message)
}
