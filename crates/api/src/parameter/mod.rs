//! Parameters in paths, queries and headers.

mod common;
mod definition;
mod params;
mod set;

use accord_contract::TextForm;

pub use common::{ACTOR, Acting, DOOR, InProject};
pub use definition::{
    Definition, Described, Flag, Id, Moment, Number, Opaque, Segment, Sequence, Text, Word, Words,
};
pub use params::{Params, wrong};
#[doc(hidden)]
pub use set::pair;
pub use set::{DescribedMember, NoParams, ParamSet};

/// The position behind which a page begins. Only the list that it belongs to can check it.
pub const CURSOR: Opaque =
    Opaque::new("cursor", TextForm::ANY.not_empty().pattern("^[A-Za-z0-9_-]+$"));

/// The largest budget of tokens.
pub const MAX_TOKENS: u32 = 1_000_000;
