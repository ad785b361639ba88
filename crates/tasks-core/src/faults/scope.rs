//! The active fault, and the faults whose places were reached.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use super::Fault;

thread_local! {
    static ACTIVE: Cell<Option<Fault>> = const { Cell::new(None) };
    static REACHED: RefCell<BTreeSet<Fault>> = const { RefCell::new(BTreeSet::new()) };
}

/// Whether a fault is active. Records that its place was reached.
pub fn seeded(fault: Fault) -> bool {
    REACHED.with_borrow_mut(|reached| reached.insert(fault));
    ACTIVE.get() == Some(fault)
}

/// Runs `work` and returns the faults whose places it reached on this thread. Other faults cannot
/// change its result.
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

    #[test]
    fn a_fault_is_active_only_inside_its_scope() {
        let fault = Fault::NestedDelegation;
        assert!(!seeded(fault));
        fault.during(|| {
            assert!(seeded(fault) && !seeded(Fault::AnyVersion));
            Fault::AnyVersion.during(|| assert!(!seeded(fault)));
            assert!(seeded(fault));
            let broken = std::panic::catch_unwind(|| Fault::AnyVersion.during(|| panic!("broken")));
            assert!(broken.is_err() && seeded(fault));
        });
        assert!(!seeded(fault));
    }

    #[test]
    fn reached_places_are_reported() {
        seeded(Fault::AnyVersion);
        let (said, places) = reached(|| seeded(Fault::NestedDelegation));
        assert_eq!((said, places), (false, [Fault::NestedDelegation].into()));
    }
}
