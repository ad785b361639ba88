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
mod ids;
mod lists;
mod orient;
mod pull;
mod terms;

pub use accord_api::parameter::{
    CURSOR, Described, Flag, Id, MAX_TOKENS, Moment, Number, Params, Text, Word,
};
use cursor::after;
pub use cursor::{FactPosition, PackagePosition, QuestionPosition, SessionPosition};
pub use digest::{DEFAULT_SNIPPETS, DigestQuery, FOCUS, Focus, MAX_SNIPPETS, PROJECT_ID, SNIPPETS};
pub use facts::{DEFAULT_FACTS, FACT_LIMIT, FactQuery, FactTime, MAX_FACTS};
pub use ids::{IdKind, IdQuery, MAX_IDS};
pub use lists::{
    DEFAULT_LIST, INCLUDE_ARCHIVED, LIST_LIMIT, MAX_LIST, ProjectQuery, QuestionQuery, SessionQuery,
};
pub use orient::{
    BriefingForm, BriefingQuery, DEFAULT_BRIEFING_TOKENS, DEFAULT_RECENT, DEFAULT_WINDOW_DAYS,
    MAX_WINDOW_DAYS, MIN_BRIEFING_TOKENS, MIN_TOKENS, OrientFormat, OrientQuery, Orientation,
    PAGE_TOKENS, RECENT, TOKENS, WINDOW_DAYS,
};
pub use pull::{
    DEFAULT_PULL, Latest, MAX_PULL, PULL_LIMIT, PackageFilter, Pull, PullMode, REVIEW_LIMIT,
    Relevant,
};
pub(crate) use terms::is_of_word;
pub use terms::{MAX_QUERY_BYTES, MAX_TERMS, Terms};
