//! The channels that belong to the server: names that begin with `_ggui:`.
//!
//! Contracts declare no name with this prefix. Of these names only two exist; any other is an
//! unknown channel, so that a mistyped name does not vanish silently.

mod lifecycle;
mod preview;

use accord_contract::{Value, wire_enum};

use crate::violation::Violation;

pub use preview::{CATALOG, COMPONENTS};

/// What the names of reserved channels begin with.
pub const PREFIX: &str = "_ggui:";

wire_enum! {
    /// A reserved channel.
    pub enum Channel("GguiReservedChannel", closed) {
        /// What is shown until the component is ready.
        Preview = "_ggui:preview",
        /// How far an agent is.
        Lifecycle = "_ggui:lifecycle",
    }
}

/// Whether a name may not be declared in a contract.
///
/// Clauses: GGUI-CONTRACT-RESERVED-NAMES.
pub fn is_reserved(name: &str) -> bool {
    name.starts_with(PREFIX)
}

impl Channel {
    /// Every place where a payload does not have the shape of the channel.
    ///
    /// Clauses: GGUI-RESERVED-LIFECYCLE, GGUI-RESERVED-PREVIEW.
    pub fn check(self, payload: &Value) -> Vec<Violation> {
        match self {
            Self::Preview => preview::check(payload),
            Self::Lifecycle => lifecycle::check(payload),
        }
    }
}
