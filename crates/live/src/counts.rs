//! What happened since the start, for metrics.

use std::sync::atomic::{AtomicU64, Ordering};

use super::Live;

/// Counters, which every operation of a host shares.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) actions: AtomicU64,
    pub(crate) frames: AtomicU64,
    pub(crate) slow: AtomicU64,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Counts {
    /// Actions that were recorded. One that is sent again counts once.
    pub actions: u64,
    pub frames: u64,
    /// Subscribers that ended because they read too slowly.
    pub slow: u64,
}

impl Live {
    pub fn counts(&self) -> Counts {
        let Counters { actions, frames, slow } = &self.inner.counters;
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counts { actions: read(actions), frames: read(frames), slow: read(slow) }
    }
}

pub(crate) fn add(counter: &AtomicU64, count: usize) {
    counter.fetch_add(count as u64, Ordering::Relaxed);
}
