//! Seeded faults: rules that can be made wrong on purpose.
//!
//! A conformance kit must notice errors. Each fault is one plausible mistake at the place where a
//! rule is decided: a missing check, a reversed comparison, a line that is not written. The rule
//! and its faults are one [`rule!`](crate::rule). The faults of a protocol are one
//! [`seeded_faults!`](crate::seeded_faults), in the module `faults` of its core. The kit's
//! self-test activates the faults one at a time and expects a case of the broken clause to fail.
//!
//! Invariants:
//! - Without the feature `faults`, `rule!` expands to the rule alone and `seeded_faults!` to
//!   nothing. A release is built that way: the program contains neither state nor names of faults.
//! - With the feature, a fault is active only inside its own `Fault::during`, on that thread.
//!   Faulty and honest work can run at the same time. A server works on many threads: a process
//!   of its own activates a fault with `Fault::everywhere`.
//! - Up to the place of a fault, the engine does the same with and without it. Work that does not
//!   reach the place has the same result.

#[cfg(feature = "faults")]
mod active;

#[cfg(feature = "faults")]
pub use active::{Everywhere, Fault, active, reached, seeded};

/// A rule, and what the engine does instead under each seeded fault:
/// `rule!(turns >= limit; CapacityIgnored => false)`. The names are those of the table in
/// `crate::faults`. Without the feature `faults` this is the rule alone.
#[cfg(not(feature = "faults"))]
#[macro_export]
macro_rules! rule {
    ($rule:expr; $($fault:ident => $faulty:expr);+) => {
        // Braces, because Clippy sees `let a = rule!(a; …)` as a needless `let a = a`.
        { $rule }
    };
}

/// See the form without the feature.
#[cfg(feature = "faults")]
#[macro_export]
#[expect(clippy::crate_in_macro_def, reason = "the table is the one of the calling crate")]
macro_rules! rule {
    ($rule:expr; $($fault:ident => $faulty:expr);+) => {
        $(if $crate::faults::seeded(crate::faults::$fault) { $faulty } else)+ { $rule }
    };
}

/// The table of a protocol's faults: what the faulty engine does, the name, the broken clause.
/// Without the feature `faults` this is nothing.
#[cfg(not(feature = "faults"))]
#[macro_export]
macro_rules! seeded_faults {
    ($($table:tt)+) => {};
}

/// See the form without the feature.
#[cfg(feature = "faults")]
#[macro_export]
macro_rules! seeded_faults {
    ($($(#[doc = $doc:literal])+ $fault:ident = $name:literal breaks $clause:literal;)+) => {
        $(
            $(#[doc = $doc])+
            #[expect(non_upper_case_globals, reason = "a rule names its faults like variants")]
            pub const $fault: $crate::faults::Fault =
                $crate::faults::Fault { name: $name, clause: $clause };
        )+

        /// Every fault.
        pub const ALL: &[$crate::faults::Fault] = &[$($fault),+];
    };
}
