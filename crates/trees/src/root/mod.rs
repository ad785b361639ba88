//! The files below one folder of this machine.
//!
//! Invariants:
//! - nothing outside the folder is opened, created, renamed or removed, through any link;
//! - opening a pipe or a device never blocks: anything but a file is refused.

mod kept;
mod remove;
mod resolve;

use std::fs::{File, TryLockError};
use std::io::Write as _;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, linkat, mkdirat, openat, renameat, statat, unlinkat,
};
#[cfg(target_os = "linux")]
use rustix::fs::{RenameFlags, renameat_with};
use rustix::io::Errno;

use crate::disk::{Content, Disk, Entry, Kind, Moved, Stat, name, parent};
use crate::{Result, TreeError};
use kept::{Kept, is_plain};
use resolve::Resolver;

/// A folder that no path can leave.
#[derive(Debug)]
pub struct Root {
    path: PathBuf,
    folder: Arc<OwnedFd>,
    resolver: Resolver,
    kept: Arc<Kept>,
}

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY);

enum Keeping {
    Kept(Arc<OwnedFd>),
    Missing,
    No,
}

impl Root {
    /// Opens an existing folder. Fails if it does not exist, is not a folder, or cannot be entered.
    pub fn open(path: &Path) -> Result<Self> {
        let refused = |source: std::io::Error| {
            TreeError::system(&path.display().to_string(), "opened", source)
        };
        // The path to the root may contain links; only paths below it are restricted.
        let canonical = std::fs::canonicalize(path).map_err(refused)?;
        let folder = rustix::fs::open(&canonical, FOLDER | OFlags::CLOEXEC, Mode::empty());
        let folder = folder.map_err(|errno| refused(errno.into()))?;
        let resolver = Resolver::for_folder(folder.as_fd());
        Ok(Self { path: canonical, folder: Arc::new(folder), resolver, kept: Arc::default() })
    }

    fn resolve(&self, path: &str, flags: OFlags) -> rustix::io::Result<OwnedFd> {
        let mode = Mode::from_raw_mode(0o666);
        match self.keep(path) {
            Keeping::Missing => return Err(Errno::NOENT),
            Keeping::No => {}
            Keeping::Kept(folder) => {
                let how = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NOCTTY;
                match openat(&folder, name(path), how, mode) {
                    // A link is resolved from the root. A removed folder has no new files.
                    Err(Errno::LOOP | Errno::MLINK | Errno::NOTDIR) => {}
                    Err(Errno::NOENT) if flags.contains(OFlags::CREATE) => {
                        self.kept.forget(parent(path));
                    }
                    opened => return opened,
                }
            }
        }
        self.resolver.open(self.folder.as_fd(), path, flags, mode)
    }

    /// The folder of a path, if folders are kept and this one can be.
    fn keep(&self, path: &str) -> Keeping {
        let folder = parent(path);
        if folder.is_empty() {
            // The root is always open.
            let is_plain = is_plain(path);
            return if is_plain { Keeping::Kept(self.folder.clone()) } else { Keeping::No };
        }
        if let Some(kept) = self.kept.get(folder) {
            return if is_plain(name(path)) { Keeping::Kept(kept) } else { Keeping::No };
        }
        if !is_plain(path) || !self.kept.is_on() {
            return Keeping::No;
        }
        match self.resolver.open_without_links(self.folder.as_fd(), folder, FOLDER) {
            Ok(opened) => {
                let opened = Arc::new(opened);
                self.kept.put(folder, &opened);
                Keeping::Kept(opened)
            }
            // No link came before the name that is missing, so it is missing in any case.
            Err(Errno::NOENT) => Keeping::Missing,
            Err(_) => Keeping::No,
        }
    }

    /// The folder of a path, and its name there.
    fn split<'a>(&self, path: &'a str, doing: &'static str) -> Result<(Arc<OwnedFd>, &'a str)> {
        let name = name(path);
        match self.keep(path) {
            Keeping::Kept(kept) => return Ok((kept, name)),
            Keeping::Missing => return Err(refused(path, doing, Errno::NOENT)),
            Keeping::No => {}
        }
        if name == ".." {
            return Err(TreeError::Outside { path: path.to_owned() });
        }
        let folder = self.resolver.open(self.folder.as_fd(), parent(path), FOLDER, Mode::empty());
        let folder = folder.map_err(|errno| refused(path, doing, errno))?;
        Ok((Arc::new(folder), name))
    }

    /// Does something in the folder of a path. One that was kept and is gone is resolved again.
    fn within<T>(
        &self,
        path: &str,
        doing: &'static str,
        act: impl Fn(&OwnedFd, &str) -> rustix::io::Result<T>,
    ) -> Result<rustix::io::Result<T>> {
        let (folder, name) = self.split(path, doing)?;
        match act(&folder, name) {
            Err(Errno::NOENT) if self.kept.get(parent(path)).is_some() => {
                self.kept.forget(parent(path));
                let (folder, name) = self.split(path, doing)?;
                Ok(act(&folder, name))
            }
            done => Ok(done),
        }
    }

    /// Like [`Root::split`]; `None` if the folder does not exist.
    fn split_if_there<'a>(
        &self,
        path: &'a str,
        doing: &'static str,
    ) -> Result<Option<(Arc<OwnedFd>, &'a str)>> {
        match self.split(path, doing) {
            Err(error) if error.is_absent() => Ok(None),
            split => split.map(Some),
        }
    }

    fn file(&self, path: &str, flags: OFlags, doing: &'static str) -> Result<Opened> {
        // Without `NONBLOCK`, opening a pipe that an agent made would wait for its other end.
        let opened = self.resolve(path, flags | OFlags::NONBLOCK);
        let file = File::from(opened.map_err(|errno| refused(path, doing, errno))?);
        let length = length_of(path, &file, doing)?;
        Ok(Opened { path: path.to_owned(), file, length })
    }
}

impl Disk for Root {
    fn root_path(&self) -> &Path {
        &self.path
    }

    fn stat(&self, path: &str) -> Result<Option<Stat>> {
        let Some((folder, name)) = self.split_if_there(path, "looked at")? else { return Ok(None) };
        // The root itself has no name in a folder.
        let name = if name.is_empty() { "." } else { name };
        match statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => {
                let kind = kind(FileType::from_raw_mode(stat.st_mode));
                let length = u64::try_from(stat.st_size).unwrap_or(0);
                let part = i64::try_from(stat.st_mtime_nsec).unwrap_or(0) / 1_000_000;
                let modified_ms = stat.st_mtime.saturating_mul(1000).saturating_add(part);
                Ok(Some(Stat { kind, length, modified_ms }))
            }
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(errno) => Err(refused(path, "looked at", errno)),
        }
    }

    fn list(&self, path: &str) -> Result<Option<Vec<Entry>>> {
        let folder = match self.resolve(path, FOLDER) {
            Ok(folder) => folder,
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
            Err(errno) => return Err(refused(path, "listed", errno)),
        };
        let mut entries = entries(&folder).map_err(|errno| refused(path, "listed", errno))?;
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(Some(entries))
    }

    fn open(&self, path: &str) -> Result<Option<Box<dyn Content>>> {
        match self.file(path, OFlags::RDONLY, "read") {
            Err(error) if error.is_absent() => Ok(None),
            opened => Ok(Some(Box::new(opened?))),
        }
    }

    fn make_folder(&self, path: &str) -> Result<bool> {
        let mode = Mode::from_raw_mode(0o777);
        match self.within(path, "made", |folder, name| mkdirat(folder, name, mode))? {
            Ok(()) => Ok(true),
            Err(Errno::EXIST) => Ok(false),
            Err(errno) => Err(refused(path, "made", errno)),
        }
    }

    fn create(&self, path: &str, bytes: &[u8]) -> Result<bool> {
        // `EXCL` also refuses a dangling link, which would otherwise be followed.
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        let opened = match self.resolve(path, flags) {
            Ok(opened) => opened,
            Err(Errno::EXIST) => return Ok(false),
            Err(errno) => return Err(refused(path, "made", errno)),
        };
        let written = File::from(opened).write_all(bytes).map(|()| true);
        written.map_err(|source| TreeError::system(path, "written", source))
    }

    fn append(&self, path: &str, bytes: &[u8]) -> Result<()> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::APPEND;
        let mut file = self.file(path, flags, "written")?.file;
        file.write_all(bytes).map_err(|source| TreeError::system(path, "written", source))
    }

    fn truncate(&self, path: &str, length: u64) -> Result<()> {
        let file = self.file(path, OFlags::WRONLY, "cut")?.file;
        file.set_len(length).map_err(|source| TreeError::system(path, "cut", source))
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        self.kept.forget(from);
        let new = name(to);
        self.within(from, "renamed", |folder, old| renameat(folder, old, folder, new))?
            .map_err(|errno| refused(to, "replaced", errno))
    }

    fn move_to(&self, from: &str, to: &str) -> Result<()> {
        self.kept.forget(from);
        let (old_folder, old) = self.split(from, "moved")?;
        self.within(to, "moved", |folder, new| renameat(&old_folder, old, folder, new))?
            .map_err(|errno| refused(to, "moved", errno))
    }

    #[cfg(target_os = "linux")]
    fn move_if_free(&self, from: &str, to: &str) -> Result<Moved> {
        self.kept.forget(from);
        let Some((old_folder, old)) = self.split_if_there(from, "moved")? else {
            return Ok(Moved::Missing);
        };
        let flags = RenameFlags::NOREPLACE;
        let moved = self.within(to, "moved", |folder, new| {
            renameat_with(&old_folder, old, folder, new, flags)
        })?;
        match moved {
            Ok(()) => Ok(Moved::Done),
            Err(Errno::EXIST) => Ok(Moved::Taken),
            // The new folder exists: it is open. The old one may have been kept and be gone.
            Err(Errno::NOENT) if self.stat(from)?.is_none() => Ok(Moved::Missing),
            // Some file systems cannot do it in one call.
            Err(Errno::NOENT | Errno::INVAL | Errno::NOSYS) => {
                if self.stat(to)?.is_some() {
                    return Ok(Moved::Taken);
                }
                self.move_to(from, to).map(|()| Moved::Done)
            }
            Err(errno) => Err(refused(to, "moved", errno)),
        }
    }

    fn publish(&self, from: &str, to: &str) -> Result<bool> {
        let (folder, old) = self.split(from, "renamed")?;
        // A hard link fails if the name exists, which a rename does not.
        match linkat(&folder, old, &folder, name(to), AtFlags::empty()) {
            Ok(()) => {}
            Err(Errno::EXIST) => return Ok(false),
            // Some file systems have no hard links. There the file is copied, which is not atomic;
            // readers of a new file must accept one that is cut off.
            Err(Errno::PERM | Errno::OPNOTSUPP | Errno::NOSYS) => {
                let bytes = crate::disk::read_file(self, from, u64::MAX - 1)?.unwrap_or_default();
                if !self.create(to, &bytes)? {
                    return Ok(false);
                }
                self.sync(to)?;
            }
            Err(errno) => return Err(refused(to, "made", errno)),
        }
        let removed = unlinkat(&folder, old, AtFlags::empty()).map(|()| true);
        removed.map_err(|errno| refused(from, "removed", errno))
    }

    fn remove_file(&self, path: &str) -> Result<bool> {
        let Some((folder, name)) = self.split_if_there(path, "removed")? else { return Ok(false) };
        match unlinkat(&folder, name, AtFlags::empty()) {
            Ok(()) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(errno) => Err(refused(path, "removed", errno)),
        }
    }

    fn remove_tree(&self, path: &str) -> Result<()> {
        self.kept.forget(path);
        let Some((folder, name)) = self.split_if_there(path, "removed")? else { return Ok(()) };
        remove::tree(folder.as_fd(), name.as_ref()).map_err(|errno| refused(path, "removed", errno))
    }

    fn sync(&self, path: &str) -> Result<()> {
        // Syncing needs no write access, and the file may be read-only.
        let file = self.file(path, OFlags::RDONLY, "synced")?.file;
        file.sync_all().map_err(|source| TreeError::system(path, "synced", source))
    }

    fn sync_folder(&self, path: &str) -> Result<()> {
        let folder = self.resolve(path, FOLDER);
        let folder = File::from(folder.map_err(|errno| refused(path, "synced", errno))?);
        folder.sync_all().map_err(|source| TreeError::system(path, "synced", source))
    }

    #[cfg(target_os = "linux")]
    fn sync_tree(&self) -> Result<()> {
        rustix::fs::syncfs(&self.folder).map_err(|errno| refused("", "synced", errno))
    }

    #[cfg(not(target_os = "linux"))]
    fn sync_tree(&self) -> Result<()> {
        crate::disk::sync_below(self, "")
    }

    fn guard(&self, path: &str) -> Result<Box<dyn Send>> {
        let file = self.file(path, OFlags::RDWR | OFlags::CREATE, "locked")?.file;
        file.lock().map_err(|source| TreeError::system(path, "locked", source))?;
        Ok(Box::new(file))
    }

    fn try_guard(&self, path: &str) -> Result<Option<Box<dyn Send>>> {
        let file = self.file(path, OFlags::RDWR | OFlags::CREATE, "locked")?.file;
        match file.try_lock() {
            Ok(()) => Ok(Some(Box::new(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(source)) => Err(TreeError::system(path, "locked", source)),
        }
    }

    fn keep_folders(&self) -> Box<dyn Send> {
        self.kept.begin()
    }

    fn lanes(&self) -> usize {
        crate::wal::worker_pool::count()
    }
}

struct Opened {
    path: String,
    file: File,
    length: u64,
}

impl Content for Opened {
    fn length(&self) -> Result<u64> {
        Ok(self.length)
    }

    fn read_at(&self, offset: u64, length: usize) -> Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        let mut filled = 0;
        while filled < length {
            match self.file.read_at(&mut bytes[filled..], offset + filled as u64) {
                Ok(0) => break,
                Ok(more) => {
                    filled += more;
                    // Fewer bytes than asked for, up to where the file ended: it has not grown.
                    if offset + filled as u64 == self.length {
                        break;
                    }
                }
                Err(source) if source.kind() == std::io::ErrorKind::Interrupted => {}
                Err(source) => return Err(TreeError::system(&self.path, "read", source)),
            }
        }
        bytes.truncate(filled);
        Ok(bytes)
    }
}

fn length_of(path: &str, file: &File, doing: &'static str) -> Result<u64> {
    match file.metadata() {
        Ok(metadata) if metadata.is_file() => Ok(metadata.len()),
        Ok(_) => Err(TreeError::NotFile { path: path.to_owned() }),
        Err(source) => Err(TreeError::system(path, doing, source)),
    }
}

fn entries(folder: &OwnedFd) -> rustix::io::Result<Vec<Entry>> {
    let mut found = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        let kind = match entry.file_type() {
            // Some file systems do not tell the type of an entry in the listing.
            FileType::Unknown => match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => kind(FileType::from_raw_mode(stat.st_mode)),
                Err(Errno::NOENT) => continue,
                Err(errno) => return Err(errno),
            },
            known => kind(known),
        };
        found.push(Entry { name: name.to_string_lossy().into_owned(), kind });
    }
    Ok(found)
}

fn kind(kind: FileType) -> Kind {
    match kind {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Folder,
        FileType::Symlink => Kind::Link,
        _ => Kind::Other,
    }
}

fn refused(path: &str, doing: &'static str, errno: Errno) -> TreeError {
    let path = path.to_owned();
    match errno {
        Errno::XDEV | Errno::LOOP => TreeError::Outside { path },
        // A pipe without a reader, a socket, or a folder at the path of a file.
        Errno::NXIO | Errno::ISDIR => TreeError::NotFile { path },
        errno => TreeError::system(&path, doing, errno),
    }
}
