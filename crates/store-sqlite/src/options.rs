//! Options of a store.

use std::time::Duration;

use accord_store::CommonTermLimits;

#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// How many reads may run at once; further ones wait.
    pub readers: usize,
    /// How many jobs may wait for the writer; more are refused as busy.
    pub queue: usize,
    /// How many jobs share a commit at most.
    pub group: usize,
    /// How large the database may become, in bytes.
    pub max_bytes: Option<u64>,
    /// Which terms are too common to search for.
    pub common: CommonTermLimits,
    /// After how long without writes unused memory is released.
    pub rest: Duration,
    /// Makes every commit take longer, as a slow disk would.
    #[cfg(feature = "testing")]
    pub commit_delay: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            readers: 8,
            queue: 1024,
            group: 256,
            max_bytes: None,
            common: CommonTermLimits::default(),
            rest: Duration::from_secs(10),
            #[cfg(feature = "testing")]
            commit_delay: Duration::ZERO,
        }
    }
}
