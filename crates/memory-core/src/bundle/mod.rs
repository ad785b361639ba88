//! The bundles of `orient` and `orchestrate`, which an actor reads when it starts to work. They are
//! built from rows that the caller has loaded.
//!
//! Invariants:
//! - packages are in a bundle as their stored text;
//! - `x-left_out` lists what was left out, and why;
//! - with a budget, a bundle has no more tokens than that.

mod briefing;
mod budget;
mod digest;
mod left_out;
mod orient;
mod page;
mod questions;
mod snippet;

pub use briefing::{
    ACTIVE_HOURS, Automatic, BriefingFact, BriefingPackage, BriefingPart, BriefingQuestion,
    BriefingRows, Counted, LOW_SIGNIFICANCE, Outline, ReviewNote, STANDING_SIGNIFICANCE, briefing,
};
pub use digest::{
    ActorCount, DigestRows, Highlight, MAX_DIGEST_FACTS, MAX_HIGHLIGHTS, ProjectCount, Snippet,
    TypeCount, digest,
};
pub use orient::{Mark, OrientRows, orient};
pub use page::{FittedPage, document_head, fit_page};
pub use questions::{MAX_QUESTION_ROWS, MAX_QUESTIONS, OpenQuestions};
pub use snippet::{Excerpt, excerpt};
