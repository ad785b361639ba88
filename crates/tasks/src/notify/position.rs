//! How far the events of a tree were looked at by the notifier.

use accord_contract::Value;
use accord_contract::text::pretty;
use accord_trees::{atomic, read_file};

use crate::event_log::EventPlace;
use crate::layout::OWN;
use crate::tree::failure;
use crate::{Result, Tree};

/// The largest file.
const MAX_BYTES: u64 = 64 * 1024;

/// The position in a tree; `None` if nothing was looked at.
pub(super) fn read(tree: &Tree) -> Result<Option<EventPlace>> {
    let bytes = read_file(tree.disk(), &path(), MAX_BYTES).map_err(|error| failure(&error))?;
    let document = bytes.and_then(|bytes| accord_canon::read(&bytes).ok());
    Ok(document.and_then(|document| EventPlace::read(&document)))
}

pub(super) fn write(tree: &Tree, place: &EventPlace) -> Result<()> {
    let Value::Object(document) = place.document() else { return Ok(()) };
    let disk = tree.disk();
    let written = atomic::make_folders(disk, OWN)
        .and_then(|()| atomic::write(disk, &path(), pretty(&document).as_bytes()));
    written.map_err(|error| failure(&error))
}

fn path() -> String {
    format!("{OWN}/notified.json")
}
