//! Removing a folder with all its content, at any depth. The folder may be nested deeper than a
//! path, the stack or the open files allow. So removal does not recurse: deeper folders are moved
//! up into the folder that is removed, until it is flat.

use std::ffi::{CStr, CString, OsStr};
use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, openat, renameat, statat, unlinkat};
use rustix::io::{Errno, Result};

/// Removes a name in a folder; it may be gone already.
pub(super) fn tree(folder: BorrowedFd<'_>, name: &OsStr) -> Result<()> {
    let Some(top) = enter(folder, name)? else { return Ok(()) };
    let mut moved = 0_u64;
    loop {
        // Files and empty folders first. What is left is flattened by one level per round.
        let mut below = Vec::new();
        for name in names(&top)? {
            if !unlink(&top, &name)? {
                below.push(name);
            }
        }
        if below.is_empty() {
            break;
        }
        for name in below {
            flatten(&top, &name, &mut moved)?;
        }
    }
    absent_is_fine(unlinkat(folder, name, AtFlags::REMOVEDIR))
}

/// Removes a folder below the top, and moves the folders in it up to the top.
fn flatten(top: &OwnedFd, name: &CStr, moved: &mut u64) -> Result<()> {
    let folder = match openat(top, name, folder_flags(), Mode::empty()) {
        Ok(folder) => folder,
        Err(Errno::NOENT) => return Ok(()),
        Err(errno) => return Err(errno),
    };
    for inner in names(&folder)? {
        if unlink(&folder, &inner)? {
            continue;
        }
        loop {
            *moved += 1;
            // The name may be taken, for example by an earlier attempt that was interrupted.
            match renameat(&folder, &inner, top, format!(".removed-{moved}")) {
                Ok(()) | Err(Errno::NOENT) => break,
                Err(Errno::NOTEMPTY | Errno::EXIST | Errno::NOTDIR) => {}
                Err(errno) => return Err(errno),
            }
        }
    }
    absent_is_fine(unlinkat(top, name, AtFlags::REMOVEDIR))
}

/// Opens a folder. Anything else with that name is removed, and there is nothing to enter.
fn enter(folder: BorrowedFd<'_>, name: &OsStr) -> Result<Option<OwnedFd>> {
    match openat(folder, name, folder_flags(), Mode::empty()) {
        Ok(opened) => Ok(Some(opened)),
        Err(Errno::NOENT) => Ok(None),
        // The errors of `NOFOLLOW` for a link differ between systems; `MLINK` is that of FreeBSD.
        Err(Errno::LOOP | Errno::NOTDIR | Errno::MLINK) => {
            absent_is_fine(unlinkat(folder, name, AtFlags::empty()))?;
            Ok(None)
        }
        Err(errno) => Err(errno),
    }
}

/// Removes a name, unless it is a folder that is not empty.
fn unlink(folder: &OwnedFd, name: &CStr) -> Result<bool> {
    let stat = match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => stat,
        Err(Errno::NOENT) => return Ok(true),
        Err(errno) => return Err(errno),
    };
    let is_folder = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
    let how = if is_folder { AtFlags::REMOVEDIR } else { AtFlags::empty() };
    match unlinkat(folder, name, how) {
        Ok(()) | Err(Errno::NOENT) => Ok(true),
        Err(Errno::NOTEMPTY | Errno::EXIST) if is_folder => Ok(false),
        Err(errno) => Err(errno),
    }
}

fn names(folder: &OwnedFd) -> Result<Vec<CString>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
            names.push(entry.file_name().to_owned());
        }
    }
    Ok(names)
}

fn folder_flags() -> OFlags {
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC
}

fn absent_is_fine(done: Result<()>) -> Result<()> {
    match done {
        Err(Errno::NOENT) => Ok(()),
        done => done,
    }
}
