//! The files of `/proc` about processes, as the kernel shows them.
//!
//! A program can mount other files over them, in a mount namespace that needs no rights. So no
//! mount is crossed below `/proc`, and `/proc` must be what it seems to be.

use std::fs::File;
use std::io::{self, Read as _};

#[cfg(target_os = "linux")]
mod linux {
    use std::os::fd::OwnedFd;
    use std::sync::OnceLock;

    use rustix::fs::{CWD, Mode, OFlags, PROC_SUPER_MAGIC, ResolveFlags, fstatfs, openat, openat2};
    use rustix::io::Errno;

    pub(super) const READ: OFlags = OFlags::RDONLY;
    /// Whatever is there, without opening it.
    pub(super) const PLACE: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW);

    struct Root {
        folder: OwnedFd,
        /// Linux before 5.6, and old sandboxes, do not know the call.
        has_openat2: bool,
    }

    fn find() -> Result<Root, Errno> {
        let flags = READ | OFlags::CLOEXEC | OFlags::DIRECTORY;
        let folder = openat(CWD, "/proc", flags, Mode::empty())?;
        if fstatfs(&folder)?.f_type != PROC_SUPER_MAGIC {
            return Err(Errno::XDEV);
        }
        let tried = openat2(&folder, "self", PLACE, Mode::empty(), ResolveFlags::NO_XDEV);
        let has_openat2 = !matches!(tried, Err(Errno::NOSYS | Errno::PERM));
        Ok(Root { folder, has_openat2 })
    }

    pub(super) fn open(path: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
        static ROOT: OnceLock<Result<Root, Errno>> = OnceLock::new();
        let root = ROOT.get_or_init(find).as_ref().map_err(|error| *error)?;
        let flags = flags | OFlags::CLOEXEC;
        match root.has_openat2 {
            true => openat2(&root.folder, path, flags, Mode::empty(), ResolveFlags::NO_XDEV),
            false => openat(&root.folder, path, flags, Mode::empty()),
        }
    }

    /// Whether something else is mounted over what `/proc` says about a process.
    pub(crate) fn is_covered(pid: u64) -> bool {
        let is_covered = |name| open(&format!("{pid}/{name}"), PLACE).err() == Some(Errno::XDEV);
        ["stat", "comm", "environ", "ns/pid"].into_iter().any(is_covered)
    }
}

#[cfg(target_os = "linux")]
pub(crate) use linux::is_covered;

/// Opens a file of a process, such as `7/stat`. Fails if another one is mounted there.
#[cfg(target_os = "linux")]
pub(crate) fn open(path: &str) -> io::Result<File> {
    Ok(linux::open(path, linux::READ)?.into())
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn open(path: &str) -> io::Result<File> {
    File::open(format!("/proc/{path}"))
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn is_covered(_: u64) -> bool {
    false
}

/// The bytes of a file of a process.
pub(crate) fn read(path: &str) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes).map(|_| bytes)
}
