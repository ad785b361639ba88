//! Gadgets: hooks and components of packages that a page can use.
//!
//! * [`ClientCapabilities`]: the gadgets that a contract names.
//! * [`GadgetDescriptor`]: a package that an app has registered.
//! * [`check_gadgets`]: whether an app allows the gadgets of a contract.
//! * [`names`]: the forms of their names.

mod descriptor;
mod gate;
pub mod names;
mod wire;

pub use descriptor::GadgetDescriptor;
pub use gate::{GadgetRefusal, check_gadgets};
pub use wire::{ClientCapabilities, GadgetUse};

/// The package whose gadgets come with every page.
pub const STANDARD_PACKAGE: &str = "@ggui-ai/gadgets";
