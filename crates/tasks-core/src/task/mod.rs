//! A task: its file, and what the file says.

mod file;
mod front_matter;
mod section;
mod work_log;

pub use file::{FileError, TaskFile};
pub use front_matter::{
    Lease, OnViolation, Priority, Routing, Sla, Task, content_hash, delegation_depth,
    is_review_required,
};
pub use section::with_section;
pub use work_log::{LogEntry, split_work_log, with_entry};
