//! A copy of the data folder, made while the host runs.
//!
//! The copy is a data folder itself. The store is copied first, as one snapshot. Blobs that its
//! rows refer to existed before it and are not swept meanwhile, so they are in the copy, too. Task
//! trees follow: events that the snapshot lacks are taken over when the copy is opened.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

use accord_contract::{Code, Failure};

use crate::engine::DATABASE;
use crate::http::{BLOBS, Host};
use crate::settings::CONFIG_FILE;

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Copied {
    pub(crate) blobs: u64,
    pub(crate) bytes: u64,
}

/// Copies the data folder of a host into another folder, which must be empty or not exist. Blocks
/// until it is done. A failed copy is left there without the database, so that it cannot be
/// mistaken for a backup.
pub(crate) fn backup(host: &Host, to: &Path) -> Result<Copied, Failure> {
    if !to.is_absolute() {
        let message = "the folder of a backup must be an absolute path";
        return Err(Failure::new(Code::WireFieldValue, message).at("/to"));
    }
    prepare(to)?;
    // Before the snapshot: a blob that one of its rows names must still be there when blobs are
    // copied.
    let _kept = host.memory().keep_blobs();
    // The database gets its name last, when the backup is complete.
    let partial = to.join(format!("{DATABASE}.copy"));
    host.engine().backup(&partial, &mut |_| {}).map_err(|error| {
        tracing::error!(code = %error.code(), detail = error.detail(), "the backup failed");
        Failure::from(error)
    })?;
    let copied = super::trees::back_up(host, to).and_then(|bytes| {
        let copied = finish(host, to, &partial).map_err(|error| failed(&error))?;
        Ok(Copied { bytes: copied.bytes + bytes, ..copied })
    });
    if copied.is_err() {
        drop(fs::remove_file(&partial));
    }
    copied
}

fn finish(host: &Host, to: &Path, partial: &Path) -> io::Result<Copied> {
    let mut copied = Copied { blobs: 0, bytes: fs::metadata(partial)?.len() };
    let blobs = host.folder().join(BLOBS);
    if blobs.is_dir() {
        copy_folder(&blobs, &to.join(BLOBS), &mut copied)?;
    }
    let settings = host.folder().join(CONFIG_FILE);
    if settings.is_file() {
        copied.bytes += copy_file(&settings, &to.join(CONFIG_FILE))?;
    }
    fs::rename(partial, to.join(DATABASE))?;
    File::open(to)?.sync_all()?;
    Ok(copied)
}

fn prepare(to: &Path) -> Result<(), Failure> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(to);
    let empty = made.and_then(|()| Ok(fs::read_dir(to)?.next().is_none()));
    match empty {
        Ok(true) => Ok(()),
        Ok(false) => {
            let message = format!("{} is not empty", to.display());
            let advice = "name a new folder, or an empty one: a backup replaces nothing";
            Err(Failure::new(Code::StoreOccupied, message).at("/to").suggesting(advice))
        }
        Err(error) => Err(failed(&error)),
    }
}

fn copy_folder(from: &Path, to: &Path, copied: &mut Copied) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (kind, target) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            copy_folder(&entry.path(), &target, copied)?;
        } else if kind.is_file() {
            match copy_file(&entry.path(), &target) {
                Ok(bytes) => {
                    copied.blobs += 1;
                    copied.bytes += bytes;
                }
                // A temporary file of a blob that was renamed since the folder was listed.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
    }
    File::open(to)?.sync_all()
}

fn copy_file(from: &Path, to: &Path) -> io::Result<u64> {
    let bytes = fs::copy(from, to)?;
    File::open(to)?.sync_all()?;
    Ok(bytes)
}

pub(super) fn failed(error: &io::Error) -> Failure {
    tracing::error!(%error, "the backup failed");
    Failure::new(code_of(error), "cannot write to the folder of the backup")
}

/// The code of a file that cannot be written.
pub(super) fn code_of(error: &io::Error) -> Code {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            Code::StoreFull
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Code::StoreReadOnly,
        _ => Code::OutputFailed,
    }
}
