//! The registry: the registered blocks and their lineage. The same content is stored once. A block
//! is registered after its sources; the check for cycles is for records that were restored here.

use std::collections::{BTreeMap, BTreeSet};

use accord_canon::Digest;

use crate::envelope::{Outline, with_prefix};
use crate::members::read_scope;
use crate::payload::check_payload;
use crate::{HashOptions, KbError, KbHasher};

/// The blocks that are registered, with the sources of each.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    sources: BTreeMap<String, Vec<String>>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Registered {
    pub kb_hash: Digest,
    pub is_new: bool,
}

impl Registry {
    /// Restores a registry from a record: each block's id and its sources.
    pub fn restore(record: impl IntoIterator<Item = (String, Vec<String>)>) -> Self {
        Self { sources: record.into_iter().collect() }
    }

    /// Registers the envelope in `text`, if it breaks no rule.
    /// Clauses: ALX-LINEAGE-ORDER, ALX-LINEAGE-NEW, ALX-LINEAGE-LENIENT.
    pub fn register(&mut self, text: &[u8]) -> Result<Registered, KbError> {
        let members = read_scope(text)?;
        let outline = Outline::of(&members)?;
        outline.check_sources()?;
        check_payload(outline.kind, outline.payload)?;
        outline.check_derivation_inputs()?;
        let mut hasher = KbHasher::new(HashOptions::default());
        let kb_hash = hasher.identify(text)?.kb_hash;
        // The sources are hashed verbatim, but looked up in one form. So two blocks that differ
        // only in `0x` have two ids and the same lineage.
        let sources = outline.sources.iter().map(|source| with_prefix(source));
        let is_new = self.admit(kb_hash.prefixed(), sources.collect())?;
        Ok(Registered { kb_hash, is_new })
    }

    pub fn contains(&self, id: &str) -> bool {
        self.sources.contains_key(id)
    }

    /// How many blocks are registered.
    pub fn len(&self) -> usize {
        self.sources.len()
    }

    /// Whether no block is registered.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// Adds a block if its lineage is valid; `false` if it was registered before.
    /// Clauses: ALX-LINEAGE-IDEMPOTENT, ALX-LINEAGE-REGISTERED, ALX-LINEAGE-FORKS.
    fn admit(&mut self, id: String, sources: Vec<String>) -> Result<bool, KbError> {
        // Before the lineage checks, which a registered block has passed.
        if self.contains(&id) {
            return Ok(false);
        }
        let pointer = |index: usize| format!("/sources/{index}");
        // An id is a hash that covers the sources, so registering cannot produce this refusal. It
        // keeps its place in the protocol's order of checks.
        if let Some(index) = sources.iter().position(|source| *source == id) {
            return Err(KbError::SelfReference { pointer: pointer(index) });
        }
        if let Some(index) = sources.iter().position(|source| !self.contains(source)) {
            return Err(KbError::UnregisteredSource {
                pointer: pointer(index),
                source_id: sources[index].clone(),
            });
        }
        if let Some(index) = sources.iter().position(|source| self.descends(source, &id)) {
            return Err(KbError::CycleDetected { pointer: pointer(index) });
        }
        self.sources.insert(id, sources);
        Ok(true)
    }

    /// Whether `ancestor` is an ancestor of `block`. Clauses: ALX-LINEAGE-ACYCLIC.
    fn descends(&self, block: &str, ancestor: &str) -> bool {
        let mut seen = BTreeSet::new();
        let mut open = vec![block];
        while let Some(id) = open.pop() {
            if id == ancestor {
                return true;
            }
            // Without `seen`, the search would be exponential, and endless in a cycle.
            if seen.insert(id) {
                open.extend(self.sources.get(id).into_iter().flatten().map(String::as_str));
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(|name| (*name).to_owned()).collect()
    }

    /// An id is a hash over the sources, so no envelope can name itself; this test uses invented
    /// ids.
    #[test]
    fn a_block_that_names_itself_is_refused_before_its_sources_are_looked_up() {
        let mut registry = Registry::default();
        let refused = registry.admit("0xa".to_owned(), names(&["0x0", "0xa"]));
        assert_eq!(refused, Err(KbError::SelfReference { pointer: "/sources/1".to_owned() }));
        assert!(registry.is_empty());
    }

    #[test]
    fn a_restored_record_with_a_loose_end_cannot_be_closed_to_a_circle() {
        let mut registry = Registry::restore([
            ("0xb".to_owned(), names(&["0xa"])),
            ("0xc".to_owned(), names(&["0xb"])),
        ]);
        let refused = registry.admit("0xa".to_owned(), names(&["0xc"]));
        assert_eq!(refused, Err(KbError::CycleDetected { pointer: "/sources/0".to_owned() }));
        assert!(!registry.contains("0xa"));
    }
}
