//! Reporters: the same events as lines for people, one JSON document, JUnit XML, or lines of JSON.

mod json;
mod junit;
mod ndjson;
mod text;
mod text_levels;
mod text_style;

pub use json::JsonReporter;
pub use junit::JunitReporter;
pub use ndjson::NdjsonReporter;
pub(crate) use text::printable;
pub use text::{TextOptions, TextReporter};
pub(crate) use text_style::{Colour, Style};
