//! Gadgets: hooks and components of packages that a page can use.

mod descriptor;
mod gate;
pub mod names;
mod wire;

pub use descriptor::GadgetDescriptor;
pub use gate::check_gadgets;
pub use wire::{ClientCapabilities, GadgetUse};

/// The package whose gadgets come with every page.
pub const STANDARD_PACKAGE: &str = "@ggui-ai/gadgets";
