//! Files that are replaced in full or not at all. New content goes into a temporary file in the
//! same folder, is synced, and is renamed over the old file. The temporary names are those of the
//! reference runner of AgentXchain, so that each runner removes what another one left after a
//! crash.

use crate::disk::{Disk, join, parent};
use crate::{Kind, Result, TreeError};

pub fn is_temporary(name: &str) -> bool {
    let digits = name.strip_prefix(".tmp-").and_then(|rest| rest.strip_suffix(".json"));
    let is_hex = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    digits.is_some_and(|digits| digits.len() == 12 && is_hex(digits))
}

pub fn temporaries(disk: &dyn Disk, folders: &[String]) -> Result<Vec<String>> {
    let mut temporaries = Vec::new();
    for folder in folders {
        for entry in disk.list(folder)?.unwrap_or_default() {
            if is_temporary(&entry.name) {
                temporaries.push(join(folder, &entry.name));
            }
        }
    }
    Ok(temporaries)
}

pub(crate) fn temporary_name() -> String {
    format!(".tmp-{}.json", accord_system::random_hex::<6>())
}

/// Creates a folder and its parents, and syncs them.
pub fn make_folders(disk: &dyn Disk, path: &str) -> Result<()> {
    if path.is_empty() || is_folder(disk, path)? {
        return Ok(());
    }
    make_folders(disk, parent(path))?;
    // Another process may have made the folder meanwhile. Anything else there is an error.
    if !disk.make_folder(path)? && !is_folder(disk, path)? {
        let taken = std::io::Error::from(std::io::ErrorKind::NotADirectory);
        return Err(TreeError::system(path, "made a folder", taken));
    }
    disk.sync_folder(parent(path))
}

/// Whether a path leads to a folder. A folder is not listed for that: it may have many entries.
fn is_folder(disk: &dyn Disk, path: &str) -> Result<bool> {
    Ok(match disk.stat(path)?.map(|stat| stat.kind) {
        Some(Kind::Folder) => true,
        Some(Kind::Link) => disk.list(path)?.is_some(),
        _ => false,
    })
}

/// Replaces a file; the caller must sync its folder.
pub(crate) fn replace(disk: &dyn Disk, path: &str, bytes: &[u8]) -> Result<()> {
    // A rename would replace a pipe or a device without an error. A link is replaced itself.
    if disk.stat(path)?.is_some_and(|stat| !matches!(stat.kind, Kind::File | Kind::Link)) {
        return Err(TreeError::NotFile { path: path.to_owned() });
    }
    // Synced before the rename: a power failure could keep the new name without the content.
    let temporary = write_temporary(disk, path, bytes)?;
    disk.rename(&temporary, path).inspect_err(|_| discard(disk, &temporary))
}

/// Replaces a file and syncs it; missing folders are created.
pub fn write(disk: &dyn Disk, path: &str, bytes: &[u8]) -> Result<()> {
    make_folders(disk, parent(path))?;
    replace(disk, path, bytes)?;
    disk.sync_folder(parent(path))
}

/// Creates a file and syncs it; false if the path exists.
pub fn create(disk: &dyn Disk, path: &str, bytes: &[u8]) -> Result<bool> {
    // This only saves the temporary file in the usual case. `publish` decides a race.
    if disk.stat(path)?.is_some() {
        return Ok(false);
    }
    make_folders(disk, parent(path))?;
    let temporary = write_temporary(disk, path, bytes)?;
    let made = disk.publish(&temporary, path).inspect_err(|_| discard(disk, &temporary))?;
    if !made {
        discard(disk, &temporary);
    }
    // Also if another process was first: its file may not be synced yet.
    disk.sync_folder(parent(path))?;
    Ok(made)
}

/// Writes and syncs a temporary file in the folder of a path.
fn write_temporary(disk: &dyn Disk, path: &str, bytes: &[u8]) -> Result<String> {
    loop {
        let temporary = join(parent(path), &temporary_name());
        if disk.create(&temporary, bytes).inspect_err(|_| discard(disk, &temporary))? {
            disk.sync(&temporary).inspect_err(|_| discard(disk, &temporary))?;
            return Ok(temporary);
        }
    }
}

/// Removes a temporary file. If that fails, the next holder of the lock removes it.
fn discard(disk: &dyn Disk, temporary: &str) {
    drop(disk.remove_file(temporary));
}
