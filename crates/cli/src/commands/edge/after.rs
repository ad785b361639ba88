//! What a command of runs or tasks sends when it ends, if its folder is joined and the hub answers
//! quickly. It never fails, takes a short time at most, and prints nothing, unless the mark of the
//! work tree was changed.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use accord_edge::{Edges, sources_in};

use super::hub::HubClient;
use super::{joined_of, note_changed_mark};
use crate::host::attempt_socket;

/// How long the hub may take.
const LIMIT: Duration = Duration::from_secs(2);
/// How long a hub that did not answer is not asked again.
const PAUSE: Duration = Duration::from_secs(20);

/// The options that name a folder.
const FOLDERS: [&str; 2] = ["--repo", "--root"];

/// Sends what the command did.
pub(crate) fn send_after() {
    if attempt_socket().is_some() {
        return;
    }
    let Ok(edges) = Edges::of_user() else { return };
    let known = edges.all();
    if known.is_empty() {
        return;
    }
    let folder = named_folder(std::env::args_os()).unwrap_or_else(|| PathBuf::from("."));
    let Ok(folder) = folder.canonicalize() else { return };
    let is_of = |root: &str| folder.starts_with(Path::new(root));
    if !known.iter().any(|joined| is_of(&joined.join.root)) {
        return;
    }
    let Ok(sources) = sources_in(&folder) else { return };
    let found = joined_of(&edges, sources).inspect_err(note_changed_mark);
    let Ok(found) = found else { return };
    for (source, joined) in found {
        if joined.had_trouble_within(PAUSE) {
            drop(joined.collect_only(&source));
            continue;
        }
        let Ok(hub) = HubClient::within(&joined.join, Some(LIMIT)) else { continue };
        // What cannot be sent waits in the outbox; `accord edge status` says why.
        drop(joined.pass(&source, &hub));
    }
}

fn named_folder(mut arguments: impl Iterator<Item = OsString>) -> Option<PathBuf> {
    while let Some(argument) = arguments.next() {
        let text = argument.to_string_lossy();
        for name in FOLDERS {
            if text == name {
                return arguments.next().map(PathBuf::from);
            }
            if let Some(value) = text.strip_prefix(name).and_then(|it| it.strip_prefix('=')) {
                return Some(PathBuf::from(value));
            }
        }
    }
    None
}
