//! AOF/1: the rules about tasks.
//!
//! * [`message`]: the five messages, and how one is recognised.
//! * [`route`]: what a message does; [`lease`], [`run`]: who works on a task, and what a run
//!   leaves; [`event`]: what is recorded.
//! * [`verbs`]: what people and agents do to a task by verbs; [`By`]: who acts; [`evidence`]: what
//!   a person decides about.
//! * [`board`]: what a scheduler does.
//! * [`task`]: the task file; [`yaml`]: its front matter, edited in place.
//! * [`TaskId`], [`Status`]: the names of tasks, and how a task moves; [`aof_project_id`]: the
//!   names of projects.
//! * [`operations`]: what clients ask for, and what is answered.
//! * [`briefing`]: what an agent reads before it begins; [`plan`]: many tasks in one text.
//!
//! This crate is pure: the time and random bytes come in as arguments.
//!
//! ```
//! use accord_tasks_core::message::{Detected, detect_text};
//!
//! assert_eq!(detect_text("Done with the tests."), Detected::Other);
//! ```

pub mod board;
pub mod briefing;
pub mod event;
pub mod evidence;
pub mod faults;
pub mod finished;
mod id;
pub mod inbox;
pub mod lease;
pub mod merge;
pub mod message;
pub mod observed;
pub mod operations;
pub mod plan;
mod project;
pub mod referee;
pub mod route;
pub mod run;
mod status;
pub mod task;
pub mod uploads;
pub mod verbs;
pub mod yaml;

use accord_contract::rule;

pub use id::{DayNumbers, TaskDay, TaskId, TaskIdError};
pub use project::{aof_project_id, is_project_id};
pub use status::Status;
