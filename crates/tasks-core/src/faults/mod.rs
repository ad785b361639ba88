//! Seeded faults: the rules of this engine, each of which can be made wrong on purpose.
//!
//! A conformance kit must notice errors. Each fault is one plausible mistake at the place where a
//! rule is decided: a missing check, a reversed comparison, a line that is not written. The rule
//! and its faults are one [`rule!`](crate::rule). The kit's self-test enables the faults one at a
//! time and expects a case of the broken clause to fail.
//!
//! Invariants:
//! - Without the feature `faults`, `rule!` expands to the rule alone. A release is built that way:
//!   the program contains neither state nor names of faults.
//! - With the feature, a fault is active only inside its own `Fault::during`, on that thread.
//!   Faulty and honest work can run at the same time.
//! - Up to the place of a fault, the engine does the same with and without it. Work that does not
//!   reach the place has the same result.

#[cfg(feature = "faults")]
mod scope;
#[cfg(feature = "faults")]
mod table;

#[cfg(feature = "faults")]
pub use scope::{reached, seeded};
#[cfg(feature = "faults")]
pub use table::Fault;

/// A rule, and what the engine does instead under each seeded fault:
/// `rule!(depth > MAX_DEPTH; NestedDelegation => false)`. Without the feature `faults` this is the
/// rule alone.
#[cfg(not(feature = "faults"))]
#[macro_export]
macro_rules! rule {
    ($rule:expr; $($fault:ident => $faulty:expr);+) => {
        $rule
    };
}

/// A rule, and what the engine does instead under each seeded fault:
/// `rule!(depth > MAX_DEPTH; NestedDelegation => false)`. Without the feature `faults` this is the
/// rule alone.
#[cfg(feature = "faults")]
#[macro_export]
macro_rules! rule {
    ($rule:expr; $($fault:ident => $faulty:expr);+) => {
        $(if $crate::faults::seeded($crate::faults::Fault::$fault) { $faulty } else)+ { $rule }
    };
}
