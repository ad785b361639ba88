//! The operations on tasks, one file each.
//!
//! Each is a method of [`Tree`](crate::Tree) that takes a request message and
//! [`By`](accord_base::By), and answers with a message.

mod adopt;
mod adopt_writer;
mod apply;
mod board;
mod briefing;
mod claim;
mod claim_next;
mod comment;
pub(crate) mod create;
mod create_many;
mod decide;
mod depend;
mod edit;
mod end_run;
mod events;
mod heartbeat;
mod init;
mod lint;
mod list;
mod merge;
mod message;
mod outputs;
mod poll;
mod release;
mod reopen;
mod review;
mod session_end;
mod show;
mod stage_output;
mod undelete;
mod waiting;
mod worker_run;

pub(crate) use briefing::{files, text};
pub use outputs::TaskFileContent;
pub use worker_run::Claimed;
pub(crate) use worker_run::{ms, worker};
