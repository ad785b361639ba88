//! Queries, read from the parameters of a request.
//!
//! Invariants:
//! - every number that comes from outside is within its bounds, or refused;
//! - a search query is plain text, never the syntax of an engine;
//! - a cursor is a position in an order, so that an insertion between two pages neither repeats nor
//!   hides a row.

mod cursor;
mod digest;
mod facts;
mod lists;
mod orient;
mod params;
mod pull;
mod terms;

pub use cursor::{FactPosition, PackagePosition, QuestionPosition, SessionPosition};
pub use digest::{DEFAULT_SNIPPETS, DigestQuery, Focus, MAX_SNIPPETS};
pub use facts::{DEFAULT_FACTS, FactQuery, FactTime, InvalidateQuery, MAX_FACTS, assert_options};
pub use lists::{DEFAULT_LIST, MAX_LIST, ProjectQuery, SessionQuery};
pub use orient::{
    DEFAULT_RECENT, DEFAULT_WINDOW_DAYS, MAX_TOKENS, MAX_WINDOW_DAYS, MIN_TOKENS, OrientQuery,
};
pub use params::Params;
pub use pull::{DEFAULT_PULL, Latest, MAX_PULL, PackageFilter, Pull, Relevant};
pub(crate) use terms::is_of_word;
pub use terms::{MAX_QUERY_BYTES, MAX_TERMS, Terms};
