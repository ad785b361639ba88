//! What pages show of what agents write.

mod escaping;
mod forms;
mod snapshots;
mod support;
