//! A project as lines of JSON, and back.
//!
//! A line is `{"kind": …, "data": …}`; that of a package also has its `content_hash` and,
//! as `x-revisions`, its revision log. Lines stand in this order: the project, its
//! sessions by start, its packages by `created_at`, its facts by subject, predicate and
//! start; where that leaves a choice, as they came into the store. Reading also takes the
//! bare documents of the protocol, in any order, and [`row_line`] makes lines of what the
//! protocol's reference tool backs up.
//!
//! Invariant: what was exported, imported and exported again gives the same lines.

mod merge;
mod read;
mod rows;
mod write;

pub use merge::{MergedPackage, MergedSession, merge_package, merge_session};
pub use read::{ExportLine, may_hold_project, read_line};
pub use rows::{RowFile, row_line};
pub use write::{fact_line, package_line, project_line, session_line};
