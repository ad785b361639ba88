//! What an actor needs to start its work: the bundles of `orient` and `orchestrate`, put
//! together from rows that were loaded before.
//!
//! Invariants:
//! - packages stand in a bundle as the text that they are;
//! - what was left out, and why, is said (`x-left_out`);
//! - with a budget, a bundle has no more tokens than that.

mod budget;
mod digest;
mod left_out;
mod orient;
mod questions;
mod snippet;

pub use digest::{
    ActorCount, DigestRows, Highlight, MAX_DIGEST_FACTS, MAX_HIGHLIGHTS, ProjectCount, Snippet,
    TypeCount, digest,
};
pub use orient::{OrientRows, orient, tokens};
pub use questions::{MAX_QUESTION_ROWS, MAX_QUESTIONS, OpenQuestions};
pub use snippet::{Excerpt, excerpt};
