//! The flow: what is decided in one protocol becomes a package of the memory.
//!
//! A package of the flow is a function of the record that it comes from: its id, its content and
//! its time. So a record that is looked at twice leaves one package. The record is what was
//! committed, and not the request: a host that was killed in between makes up for it at its next
//! start, and a command without a host leaves it to whoever opens the memory of its folder next.
//!
//! Invariants:
//! - a package of the flow names its source (`x-source`), and its author is `script:accord`;
//! - it is complete and needs no review, and nothing follows from it.

pub(crate) mod edges;
pub(crate) mod live;
pub mod runs;
mod tasks;

use std::path::Path;

use accord_base::credential;
use accord_contract::Value;
use accord_memory_core::package::flow::{APPROVED_BY, AUTHOR};
use accord_memory_core::sources::SOURCE;
use serde_json::json;

use crate::settings::Settings;

/// The longest title of a package, in characters.
const TITLE: usize = 200;
/// What replaces a line that is not kept.
const LEFT_OUT: &str = "(a line with a credential is left out)";
/// The name of the setting that stands for all projects.
const ALL: &str = "*";

/// Whether a list of projects has one.
fn has(list: &[String], project: &str) -> bool {
    list.iter().any(|name| name == ALL || name == project)
}

/// A text without the lines that have a credential. Nobody sees the package before it is stored, so
/// it must not be refused.
fn without_credentials(text: &str) -> String {
    if credential::find(text).is_none() {
        return text.to_owned();
    }
    let line = |line| if credential::find(line).is_some() { LEFT_OUT } else { line };
    let text = text.lines().map(line).collect::<Vec<_>>().join("\n");
    match credential::find(&text) {
        None => text,
        // A key of several lines.
        Some(_) => LEFT_OUT.to_owned(),
    }
}

/// A title of the length that a package may have.
fn title(text: &str) -> String {
    let text = without_credentials(text);
    match text.char_indices().nth(TITLE) {
        None => text,
        Some(_) => text.chars().take(TITLE - 1).chain(['…']).collect(),
    }
}

/// The members that all packages of the flow have.
fn package(id: &str, project: &str, title: &str, at: &str) -> Value {
    json!({
        "package_id": id,
        "project_id": project,
        "relay_version": "0.1",
        "title": title,
        "status": "complete",
        "package_type": "auto_deposit",
        "review_type": "none",
        "created_at": at,
        "created_by": {"id": AUTHOR, "type": "script"},
    })
}

/// Whether a folder has a tree of tasks.
fn is_tree(folder: &Path) -> bool {
    folder.join("project.yaml").is_file() && folder.join("tasks").is_dir()
}

/// Whether the finished tasks of a project leave packages.
fn keeps_tasks(settings: &Settings, project: &str) -> bool {
    !has(&settings.flows.tasks_off, project)
}
