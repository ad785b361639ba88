//! Files that are there whole or not at all.
//!
//! New content goes into a temporary file beside the old one, is made to last, and takes its
//! name. Other runners write that way as well, with the same temporary names.

use crate::disk::{Disk, parent};
use crate::{Kind, Result, TreeError};

/// Whether the name of a file is that of a temporary one.
pub(crate) fn is_temporary(name: &str) -> bool {
    let digits = name
        .strip_prefix(".tmp-")
        .and_then(|rest| rest.strip_suffix(".json"));
    digits.is_some_and(|digits| {
        digits.len() == 12 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

/// Makes a folder and those that it lies in, and makes them last.
pub(crate) fn make_folders(disk: &dyn Disk, path: &str) -> Result<()> {
    if path.is_empty() || disk.list(path)?.is_some() {
        return Ok(());
    }
    make_folders(disk, parent(path))?;
    if !disk.make_folder(path)? && disk.list(path)?.is_none() {
        let taken = std::io::Error::from(std::io::ErrorKind::NotADirectory);
        return Err(TreeError::system(path, "made a folder", taken));
    }
    disk.sync_folder(parent(path))
}

/// Replaces a file; its folder must be synced before the new content lasts.
pub(crate) fn replace(disk: &dyn Disk, path: &str, bytes: &[u8]) -> Result<()> {
    if disk
        .stat(path)?
        .is_some_and(|stat| !matches!(stat.kind, Kind::File | Kind::Link))
    {
        return Err(TreeError::NotFile {
            path: path.to_owned(),
        });
    }
    let temporary = write_temporary(disk, path, bytes)?;
    disk.rename(&temporary, path)
        .inspect_err(|_| discard(disk, &temporary))
}

/// Replaces a file, for good.
pub(crate) fn write(disk: &dyn Disk, path: &str, bytes: &[u8]) -> Result<()> {
    make_folders(disk, parent(path))?;
    replace(disk, path, bytes)?;
    disk.sync_folder(parent(path))
}

/// Makes a file for good; false where something is there.
pub(crate) fn create(disk: &dyn Disk, path: &str, bytes: &[u8]) -> Result<bool> {
    if disk.stat(path)?.is_some() {
        return Ok(false);
    }
    make_folders(disk, parent(path))?;
    let temporary = write_temporary(disk, path, bytes)?;
    let made = disk
        .publish(&temporary, path)
        .inspect_err(|_| discard(disk, &temporary))?;
    if !made {
        discard(disk, &temporary);
    }
    disk.sync_folder(parent(path))?;
    Ok(made)
}

/// Writes the bytes beside a path, and makes them last.
fn write_temporary(disk: &dyn Disk, path: &str, bytes: &[u8]) -> Result<String> {
    loop {
        let name = format!(".tmp-{}.json", accord_system::random_hex::<6>());
        let temporary = match parent(path) {
            "" => name,
            folder => format!("{folder}/{name}"),
        };
        let made = disk
            .create(&temporary, bytes)
            .inspect_err(|_| discard(disk, &temporary))?;
        if !made {
            continue;
        }
        disk.sync(&temporary)
            .inspect_err(|_| discard(disk, &temporary))?;
        return Ok(temporary);
    }
}

/// Removes a temporary file as far as that goes; what is left is removed with other leftovers.
fn discard(disk: &dyn Disk, temporary: &str) {
    drop(disk.remove_file(temporary));
}
