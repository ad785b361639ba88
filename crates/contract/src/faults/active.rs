//! The active fault, and the faults whose places were reached.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::sync::{PoisonError, RwLock};

/// A seeded fault. Faults of different protocols can share a name, but not a clause.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Fault {
    /// The name.
    pub name: &'static str,
    /// The clause of the protocol that it breaks.
    pub clause: &'static str,
}

thread_local! {
    static ACTIVE: Cell<Option<Fault>> = const { Cell::new(None) };
    static REACHED: RefCell<BTreeSet<Fault>> = const { RefCell::new(BTreeSet::new()) };
}

/// The active fault of the threads that have none of their own.
static EVERYWHERE: RwLock<Option<Fault>> = RwLock::new(None);

/// The active fault of this thread.
pub fn active() -> Option<Fault> {
    ACTIVE.get().or_else(|| *EVERYWHERE.read().unwrap_or_else(PoisonError::into_inner))
}

/// Whether a fault is active. Records that its place was reached.
pub fn seeded(fault: Fault) -> bool {
    REACHED.with_borrow_mut(|reached| reached.insert(fault));
    active() == Some(fault)
}

/// Runs `work` and returns the faults whose places it reached; no other can change its result.
pub fn reached<T>(work: impl FnOnce() -> T) -> (T, BTreeSet<Fault>) {
    REACHED.with_borrow_mut(BTreeSet::clear);
    let done = work();
    (done, REACHED.take())
}

impl Fault {
    /// Runs `work` with this fault active on this thread.
    pub fn during<T>(self, work: impl FnOnce() -> T) -> T {
        let _reset = Reset(ACTIVE.replace(Some(self)));
        work()
    }

    /// Activates this fault on every thread of the process, until the result is dropped: a server
    /// works on many threads. Only a process that does nothing else can do that.
    #[must_use]
    pub fn everywhere(self) -> Everywhere {
        let mut fault = EVERYWHERE.write().unwrap_or_else(PoisonError::into_inner);
        Everywhere(fault.replace(self))
    }
}

/// A fault that is active on every thread.
#[derive(Debug)]
pub struct Everywhere(Option<Fault>);

impl Drop for Everywhere {
    fn drop(&mut self) {
        *EVERYWHERE.write().unwrap_or_else(PoisonError::into_inner) = self.0.take();
    }
}

/// Restores the previous fault, also when the work panics.
struct Reset(Option<Fault>);

impl Drop for Reset {
    fn drop(&mut self) {
        ACTIVE.set(self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Fault = Fault { name: "any-version", clause: "AX-CS-VERSION" };
    const OTHER: Fault = Fault { name: "any-version", clause: "AOF-ENV-VERSION" };

    #[test]
    fn a_fault_is_active_only_inside_its_scope() {
        assert!(!seeded(ONE));
        ONE.during(|| {
            assert!(seeded(ONE) && !seeded(OTHER));
            OTHER.during(|| assert!(!seeded(ONE)));
            assert!(seeded(ONE));
            let broken = std::panic::catch_unwind(|| OTHER.during(|| panic!("broken")));
            assert!(broken.is_err() && seeded(ONE));
        });
        assert!(!seeded(ONE));
    }

    #[test]
    fn reached_places_are_reported() {
        seeded(OTHER);
        let (said, places) = reached(|| seeded(ONE));
        assert_eq!((said, places), (false, [ONE].into()));
    }
}
