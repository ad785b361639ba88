//! Journal files: the commit point of a commit. A journal that exists says that its commit has
//! happened. It is synced before any other file changes, and removed once all writes are applied.
//! Its content is up to the protocol; it should include the [`Lengths`] of the files that grow, so
//! that a replay finds what an earlier attempt has appended.

use accord_contract::text::pretty;
use accord_contract::{Object, Value};

use crate::commit::Lengths;
use crate::disk::{Disk, join, parent, read_file};
use crate::{Kind, Result, TreeError, atomic, limits};

/// Writes a journal: with this the commit has happened. If it fails, the journal does not exist,
/// except after [`TreeError::Unfinished`].
pub(crate) fn write(disk: &dyn Disk, path: &str, journal: &Object) -> Result<()> {
    let Err(error) = atomic::write(disk, path, pretty(journal).as_bytes()) else { return Ok(()) };
    // The rename may have happened although its sync failed. A journal that stays would be applied
    // later, so it is removed before the caller learns that nothing was written.
    let is_gone = matches!(disk.stat(path), Ok(None)) || remove(disk, path).is_ok();
    Err(if is_gone { error } else { TreeError::unfinished(path, error) })
}

/// Removes a journal and syncs its folder.
pub(crate) fn remove(disk: &dyn Disk, path: &str) -> Result<()> {
    if disk.remove_file(path)? {
        disk.sync_folder(parent(path))?;
    }
    Ok(())
}

/// The `.json` files of a folder without temporary files: path, and name without the extension.
pub fn list(disk: &dyn Disk, folder: &str) -> Result<Vec<(String, String)>> {
    let mut journals = Vec::new();
    for entry in disk.list(folder)?.unwrap_or_default() {
        // A temporary file also ends in `.json`. Its commit has not happened.
        if atomic::is_temporary(&entry.name) || entry.kind == Kind::Folder {
            continue;
        }
        if let Some(stem) = entry.name.strip_suffix(".json") {
            journals.push((join(folder, &entry.name), stem.to_owned()));
        }
    }
    Ok(journals)
}

/// Reads a journal; `None` if it does not exist any more. Fails if it is not a JSON object.
pub fn read(disk: &dyn Disk, path: &str) -> Result<Option<Object>> {
    let Some(bytes) = read_file(disk, path, limits::DOCUMENT)? else { return Ok(None) };
    match accord_canon::read(&bytes) {
        Ok(Value::Object(journal)) => Ok(Some(journal)),
        Ok(_) => Err(TreeError::damaged(path, "the journal is not a JSON object")),
        Err(error) => Err(TreeError::damaged(path, format!("the journal is not JSON: {error}"))),
    }
}

pub fn lengths_member(lengths: &Lengths) -> Value {
    lengths.iter().map(|(path, length)| (path.clone(), Value::from(*length))).collect()
}

/// The lengths in a member of a journal; none if it is absent, as in journals of other programs.
pub fn read_lengths(member: Option<&Value>) -> Lengths {
    let members = member.and_then(Value::as_object).into_iter().flatten();
    members.filter_map(|(path, length)| Some((path.clone(), length.as_u64()?))).collect()
}
