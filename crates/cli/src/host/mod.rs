//! Requests to a host: a server by its URL, the host that serves a data folder, or one in this
//! process that opens the folder itself. The command of a worker asks through the socket of its
//! attempt, and nothing else.
//!
//! Invariants:
//! - a command does and prints the same with each of them;
//! - an error of the host is shown like any other: code, message, position, help;
//! - a key comes from a flag or the environment, goes into a header, and is never printed.

mod acting;
mod answer;
mod folder;
mod hub;
mod ids;
mod lines;
mod memory;
mod names;
mod new_folder;
mod only_project;
mod open;
mod refusal;
mod request;
mod sent_events;
mod shared_folder;
mod target;

pub(crate) use self::acting::{Acting, Actor, ActorArg, check_person, no_actor, own_actor, reader};
pub(crate) use self::answer::{Answer, print_answer, print_document, print_lines};
pub(crate) use self::folder::{DataFolder, full_path, settings_of};
pub(crate) use self::hub::{hub_here, hub_of};
pub(crate) use self::ids::{Candidate, choose};
pub(crate) use self::lines::{Update, follow};
pub(crate) use self::memory::{id_of, in_project, parameter, print_items, print_noted, text_as};
pub(crate) use self::names::{
    CredentialArgs, PageArgs, ProjectArg, WriteArgs, project_id, setting, work,
};
pub(crate) use self::open::{Connection, IfMissing, holds_data, holds_store, serving_runtime};
pub(crate) use self::request::HostRequest;
pub(crate) use self::sent_events::{Sent, SentEvents};
pub(crate) use self::shared_folder::{SharedFolder, TaskPlace};
pub(crate) use self::target::{FolderArgs, HostArgs, Target, TargetArgs, attempt_socket};
