//! The fault at hand, and the places that work came by.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use super::Fault;

thread_local! {
    static AT_HAND: Cell<Option<Fault>> = const { Cell::new(None) };
    static REACHED: RefCell<BTreeSet<Fault>> = const { RefCell::new(BTreeSet::new()) };
}

/// Whether this rule is to be wrong now.
pub fn seeded(fault: Fault) -> bool {
    REACHED.with_borrow_mut(|reached| reached.insert(fault));
    AT_HAND.get() == Some(fault)
}

/// Does some work, and tells which faults' places it came by on this thread. Any
/// other fault would have changed nothing about it.
pub fn reached<T>(work: impl FnOnce() -> T) -> (T, BTreeSet<Fault>) {
    REACHED.with_borrow_mut(BTreeSet::clear);
    let done = work();
    (done, REACHED.take())
}

impl Fault {
    /// Does some work with this fault, on this thread.
    pub fn during<T>(self, work: impl FnOnce() -> T) -> T {
        let _over = Over(AT_HAND.replace(Some(self)));
        work()
    }
}

/// Puts back what was at hand before, also when the work panics.
struct Over(Option<Fault>);

impl Drop for Over {
    fn drop(&mut self) {
        AT_HAND.set(self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_at_hand_inside_its_scope_alone() {
        let fault = Fault::ChallengeWaived;
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
    fn the_places_that_work_comes_by_are_told() {
        seeded(Fault::AnyVersion);
        let (said, places) = reached(|| seeded(Fault::ChallengeWaived));
        assert_eq!((said, places), (false, [Fault::ChallengeWaived].into()));
    }
}
