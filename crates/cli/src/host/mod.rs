//! Asking a host: the one that a URL names, the one that serves a data folder, or one in this
//! process that opens the folder itself.
//!
//! Invariants:
//! - a command is the same whichever of the three answers it, and so is what it prints;
//! - a refusal of the host is shown as any other failure: code, sentence, place, what to do;
//! - a key is read from a flag or the environment, goes into a header, and is never printed.

mod answer;
mod ask;
mod lines;
mod names;
mod open;
mod refusal;
mod target;

pub(crate) use self::ask::Ask;
pub(crate) use self::lines::{Said, follow};
pub(crate) use self::names::{Actor, ActorArg, ProjectArg, SessionArg, setting};
pub(crate) use self::open::{Connection, Creating, holds_store};
pub(crate) use self::target::{DEFAULT_FOLDER, FolderArgs, HostArgs, Target, TargetArgs};
