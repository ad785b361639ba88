//! A task: its file, and what the file says.

mod comments;
mod due;
mod file;
mod front_matter;
mod section;
mod work_log;

pub use comments::{
    TaskComment, comments_text, split_comments, with_comment, with_comments, with_comments_of,
};
pub use due::{DUE, check_due, due, due_at, is_overdue};
pub use file::{FileError, TaskFile};
pub use front_matter::{
    Lease, OnViolation, Priority, Routing, Sla, Task, content_hash, delegation_depth,
    is_review_required,
};
pub use section::with_section;
pub use work_log::{LogEntry, split_work_log, with_entry};
