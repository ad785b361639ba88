//! A copy of the data folder, made while the host works.
//!
//! The copy is a data folder itself. The store comes first and is one instant of it; a blob that its
//! rows name was there before, nobody sweeps one away meanwhile, and so it is in the copy too.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

use accord_contract::codes::{Code, Failure};

use crate::engine::DATABASE;
use crate::http::{BLOBS, Host};
use crate::settings::CONFIG_FILE;

/// What a backup has.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Copied {
    /// How many blobs it has.
    pub(crate) blobs: u64,
    /// How large everything is, in bytes.
    pub(crate) bytes: u64,
}

/// Copies the data folder of a host into another folder, which must be empty or not there. Waits
/// until it is done, on this thread.
///
/// # Errors
/// When the folder has something, or cannot be written. What was begun is left there, without the
/// database, so that nobody takes it for a backup.
pub(crate) fn backup(host: &Host, to: &Path) -> Result<Copied, Failure> {
    if !to.is_absolute() {
        let message = "the folder of a backup must be named from the root on";
        return Err(Failure::new(Code::WireFieldValue, message).at("/to"));
    }
    prepare(to)?;
    let _kept = host.memory().keep_blobs();
    // Under another name, until everything else is there.
    let partial = to.join(format!("{DATABASE}.copy"));
    host.engine()
        .backup(&partial, &mut |_| {})
        .map_err(|error| {
            tracing::error!(code = %error.code(), detail = error.detail(), "the backup failed");
            Failure::from(error)
        })?;
    let copied = finish(host, to, &partial).map_err(|error| failed(&error));
    if copied.is_err() {
        // Half a backup is none.
        drop(fs::remove_file(&partial));
    }
    copied
}

fn finish(host: &Host, to: &Path, partial: &Path) -> io::Result<Copied> {
    let mut copied = Copied {
        blobs: 0,
        bytes: fs::metadata(partial)?.len(),
    };
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
            let message = "there is something in that folder already";
            Err(Failure::new(Code::StoreOccupied, message).at("/to"))
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
                // A blob that is just being written was given its name meanwhile.
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

fn failed(error: &io::Error) -> Failure {
    tracing::error!(%error, "the backup failed");
    let code = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            Code::StoreFull
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Code::StoreReadOnly,
        _ => Code::OutputFailed,
    };
    Failure::new(code, "the folder of the backup cannot be written")
}
