//! Projects as lines of JSON.
//!
//! A line is `{"kind": …, "data": …}`; that of a package also has its `content_hash` and,
//! as `x-revisions`, its revision log, and `x-rejected` if its work was rejected. The order of
//! lines is: the project, its sessions by start, its packages by `created_at`, its facts by
//! subject, predicate and start; equal ones in the order in which they were stored. The reader also
//! accepts bare documents of the protocol and rows of Relay, in any order. [`row_line`] converts
//! files of a backup of Relay.
//!
//! Invariant: exporting, importing and exporting again gives the same lines.

mod merge;
mod read;
mod rejected;
mod rows;
mod write;

pub use merge::{MergedPackage, MergedSession, merge_package, merge_session};
pub use read::{ExportLine, line_project, may_hold_project, read_line};
pub use rejected::Rejected;
pub use rows::{RowArchive, RowFile, in_protocol_words, row_line};
pub use write::{document_line, package_line};
