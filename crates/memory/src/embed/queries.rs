//! The vectors of recent queries.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;

/// How many queries are kept: at most 4 MiB with vectors of 4,096 values.
const KEPT: usize = 256;

/// The vectors of recent queries, the last used first.
#[derive(Debug, Default)]
pub(super) struct QueryCache(Mutex<VecDeque<(String, Arc<[f32]>)>>);

impl QueryCache {
    pub(super) fn get(&self, text: &str) -> Option<Arc<[f32]>> {
        let mut kept = self.0.lock();
        let place = kept.iter().position(|(known, _)| known == text)?;
        let entry = kept.remove(place)?;
        let vector = Arc::clone(&entry.1);
        kept.push_front(entry);
        Some(vector)
    }

    pub(super) fn put(&self, text: &str, vector: Arc<[f32]>) {
        let mut kept = self.0.lock();
        kept.retain(|(known, _)| known != text);
        kept.push_front((text.to_owned(), vector));
        kept.truncate(KEPT);
    }

    /// Forgets all, because the model behind the name changed.
    pub(super) fn clear(&self) {
        self.0.lock().clear();
    }
}
