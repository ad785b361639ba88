//! What is derived from packages: counts, questions, answers, supersessions and search terms.
//!
//! It is computed here, and an engine only stores and finds the rows ([`PackageRows`]). A unit that
//! has these rows gets [`PackageWrites`](crate::PackageWrites) from here. The model has none of
//! them: it computes every answer from the packages, so that engines are compared with something
//! else than themselves.
//!
//! Invariants:
//! - rows are derived from packages, their logs and their [`PackageIndex`](crate::PackageIndex),
//!   in the transaction that writes the package;
//! - a row of an answer or a supersession is kept for every link, also while its package is not
//!   complete or the package that it names is missing, so that later writes can complete it.

mod check;
mod links;
mod lists;
mod questions;
mod rows;
mod tallies;
mod writes;

pub use check::{check_index, wrong_questions};
pub use links::add_links;
pub use lists::{link_targets, list_questions};
pub use questions::ALL_READERS;
pub use rows::{
    AnswerRow, AskedQuestion, LinkRows, ListedQuestion, PackageRows, QuestionRows, QuestionSource,
    QuestionState, QuestionUse, StoredQuestion, SupersessionRow, TermSample,
};
pub use tallies::{TallyChange, TallySums, TallyWindow};
