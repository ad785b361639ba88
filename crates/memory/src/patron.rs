//! Long work on another thread, and whether somebody still waits for it.
//!
//! When the future that waits is dropped, because the client went away or the host closes, the work is told at
//! its next look, and ends early. It must be of the kind that can be begun again.

use std::sync::{Arc, Weak};

/// Whoever waits for a piece of work. Dropped, nobody does.
#[derive(Debug)]
pub(super) struct Patron(Arc<()>);

/// What the work looks at.
#[derive(Clone, Debug)]
pub(super) struct Patronage(Weak<()>);

impl Patron {
    pub(super) fn new() -> (Self, Patronage) {
        let waits = Arc::new(());
        let seen = Arc::downgrade(&waits);
        (Self(waits), Patronage(seen))
    }

    /// The work is done, and was waited for.
    pub(super) fn served(self) {
        drop(self.0);
    }
}

impl Patronage {
    /// Whether nobody waits any more.
    pub(super) fn is_gone(&self) -> bool {
        self.0.strong_count() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_sees_that_nobody_waits() {
        let (patron, patronage) = Patron::new();
        assert!(!patronage.is_gone());
        patron.served();
        assert!(patronage.is_gone());
    }
}
