//! Answers as people read them.
//!
//! Invariants:
//! - what an answer lacks is left out, never made up: a server of somebody else's may say less;
//! - texts come from others: a control character in one is shown, never carried out;
//! - colours are for terminals, and `NO_COLOR` is honoured.

mod digest;
mod fact;
mod key;
mod orient;
mod package;
mod page;
mod project;
mod session;
mod table;
mod text;

pub(crate) use self::digest::digest;
pub(crate) use self::fact::{fact, facts};
pub(crate) use self::key::{key, keys};
pub(crate) use self::orient::orientation;
pub(crate) use self::package::{brief, packages, revisions, whole};
pub(crate) use self::page::{Ink, Page, colours};
pub(crate) use self::project::{project, projects};
pub(crate) use self::session::{session, sessions};
pub(crate) use self::table::table;
pub(crate) use self::text::{clean, counted, member, moment, one_line};
