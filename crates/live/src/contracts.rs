//! Compiled contracts, in a cache that is bounded by number and by memory.
//!
//! Sessions with the same contract share one. An entry of a session is used only for the revision
//! of its UI that it was made from.

use std::{collections::HashMap, hash::Hash, sync::Arc};

use accord_contract::{Code, Failure, Object, Value};
use accord_live_core::contract::{ANSWER_RULES, CompiledContract, SPECS};
use accord_live_core::{SessionId, violation::summary};
use parking_lot::Mutex;

/// Contracts in use. Each of the two halves of a cache has this many at most.
const SESSIONS: usize = 8192;
const CONTRACTS: usize = 512;

/// Bytes of the contracts of one half. A contract that several sessions share counts for each.
const MOST_BYTES: usize = 32 * 1024 * 1024;

/// A contract, with the revision of the UI of a session that it was made from; else with 0.
type Cached = (u64, Arc<CompiledContract>);

#[derive(Default)]
pub(crate) struct Contracts {
    by_session: Mutex<TwoGenerationCache<SessionId>>,
    by_text: Mutex<TwoGenerationCache<String>>,
}

/// A map that forgets what was not used for a while: a full young half becomes the old one, and the
/// old one goes away.
struct TwoGenerationCache<K> {
    young: HashMap<K, Cached>,
    old: HashMap<K, Cached>,
    bytes: usize,
}

impl<K> Default for TwoGenerationCache<K> {
    fn default() -> Self {
        Self { young: HashMap::new(), old: HashMap::new(), bytes: 0 }
    }
}

impl<K: Eq + Hash + Clone> TwoGenerationCache<K> {
    fn get(&mut self, key: &K, most: usize) -> Option<Cached> {
        if let Some(value) = self.young.get(key) {
            return Some(value.clone());
        }
        let value = self.old.remove(key)?;
        self.put(key.clone(), value.clone(), most);
        Some(value)
    }

    fn put(&mut self, key: K, value: Cached, most: usize) {
        let bytes = value.1.memory();
        if self.young.len() >= most || self.bytes + bytes > MOST_BYTES {
            self.old = std::mem::take(&mut self.young);
            self.bytes = 0;
        }
        let before = self.young.insert(key, value);
        self.bytes += bytes;
        self.bytes -= before.map_or(0, |(_, contract)| contract.memory());
    }
}

pub(crate) fn document_of(ui: &Object) -> Object {
    let names = SPECS.iter().chain(&ANSWER_RULES);
    names.filter_map(|name| Some(((*name).to_owned(), ui.get(*name)?.clone()))).collect()
}

impl Contracts {
    /// The contract of a revision of a session's UI, if it is in the cache.
    pub(crate) fn of_session(
        &self,
        session: &SessionId,
        revision: u64,
    ) -> Option<Arc<CompiledContract>> {
        let found = self.by_session.lock().get(session, SESSIONS);
        found.filter(|(of, _)| *of == revision).map(|(_, contract)| contract)
    }

    /// The contract of a UI, which is compiled if it is new. Fails when the stored UI has no valid
    /// contract.
    pub(crate) fn of_ui(&self, ui: &Object) -> Result<Arc<CompiledContract>, Failure> {
        let document = Value::Object(document_of(ui));
        let text = document.to_string();
        if let Some((_, found)) = self.by_text.lock().get(&text, CONTRACTS) {
            return Ok(found);
        }
        let compiled = CompiledContract::read(&document).map_err(|refusal| {
            Failure::new(Code::GguiToolContractValidationFailed, summary(&refusal.violations))
        })?;
        let compiled = Arc::new(compiled);
        self.by_text.lock().put(text, (0, Arc::clone(&compiled)), CONTRACTS);
        Ok(compiled)
    }

    pub(crate) fn remember(&self, id: &SessionId, revision: u64, contract: &Arc<CompiledContract>) {
        let value = (revision, Arc::clone(contract));
        self.by_session.lock().put(id.clone(), value, SESSIONS);
    }
}
