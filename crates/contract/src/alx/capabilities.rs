//! The capabilities that a side advertises. They prove nothing, and unknown ones are ignored.

use crate::wire::Extensible;
use crate::wire_enum;

/// The capabilities as they were sent. Unknown ones are kept, in order.
pub type Capabilities = Vec<Extensible<Capability>>;

wire_enum! {
    /// A capability that ALX 1.1 names.
    pub enum Capability("Capability", closed) {
        /// Solve requests are carried out as runs.
        Runs = "runs",
    }
}

/// The known capabilities, without duplicates.
/// Clauses: ALX-CLIENT-2, ALX-UNKNOWN-CAPABILITY, ALX-C2.
pub fn known_capabilities(capabilities: &Capabilities) -> Vec<Capability> {
    let mut known = Vec::new();
    for capability in capabilities.iter().filter_map(Extensible::known) {
        if !known.contains(&capability) {
            known.push(capability);
        }
    }
    known
}
