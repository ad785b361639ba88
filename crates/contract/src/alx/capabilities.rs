//! What a side says that it can do. Capabilities are an advertisement: they prove
//! nothing, and one that is not known is passed over without a word.

use crate::wire::Extensible;
use crate::wire_enum;

/// The capabilities as they were sent: the unknown ones stay, in their order.
pub type Capabilities = Vec<Extensible<Capability>>;

wire_enum! {
    /// A capability that ALX 1.1 names.
    pub enum Capability("Capability", closed) {
        /// Solve requests are carried out as runs.
        Runs = "runs",
    }
}

/// The capabilities that this version knows, each once.
///
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
