//! Output for people.
//!
//! Invariants:
//! - members that a response lacks are left out: another server may send less;
//! - on a terminal, lists and texts fit its width, and no id is broken;
//! - two times of a list that differ look different;
//! - control characters in texts are escaped, so that a text cannot control the terminal;
//! - colours go to terminals only, and `NO_COLOR` is honoured.

mod decision;
mod digest;
mod edge;
mod edge_item;
mod event;
mod fact;
mod inbox;
mod joined_run;
mod key;
mod live;
mod orient;
mod package;
mod page;
mod people;
mod project;
mod question;
mod session;
mod table;
mod task;
mod task_change;
mod text;
mod time;

pub(crate) use self::decision::decisions;
pub(crate) use self::digest::digest;
pub(crate) use self::edge::{edge, edge_decision, edges};
pub(crate) use self::edge_item::edge_item;
pub(crate) use self::event::project_event;
pub(crate) use self::fact::{fact, facts};
pub(crate) use self::inbox::{inbox, inbox_item, inbox_marks};
pub(crate) use self::joined_run::{joined_run, joined_run_history, joined_runs};
pub(crate) use self::key::{key, keys};
pub(crate) use self::live::{live_ack, live_answers, live_asks, live_frame, live_sessions};
pub(crate) use self::package::{
    brief, packages, review_line, review_note, review_of, revisions, whole,
};
pub(crate) use self::page::{Page, Style, colours};
pub(crate) use self::people::people;
pub(crate) use self::project::{project, projects, removed_project};
pub(crate) use self::question::questions;
pub(crate) use self::session::{session, sessions};
pub(crate) use self::table::table;
pub(crate) use self::task::{
    adopted, board, changed_task, claim, created_task, differences, heartbeat, lint, next, or,
    poll, received, session_end, task, task_event, tasks, unmerged, writer,
};
pub(crate) use self::task_change::{
    commented_task, created_tasks, dependency_added, dependency_removed, left_tasks,
    nothing_claimed, undeleted_task,
};
pub(crate) use self::text::{actor_key, clean, counts_of, one_line};
pub(crate) use self::time::Times;
pub(crate) use accord_contract::text::counted;
