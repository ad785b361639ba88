//! Opens a path below a folder and resolves links inside it.
//!
//! On Linux the kernel does it (`openat2` with `RESOLVE_BENEATH`), so no other process can replace
//! a folder by a link in between. Without it (older kernels, other systems, sandboxes), the path is
//! walked name by name without following links, and links are resolved here. Both refuse a link
//! that is absolute or leads above the root, anywhere in the path.

use std::ffi::OsString;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;

#[cfg(target_os = "linux")]
use rustix::fs::ResolveFlags;
use rustix::fs::{Mode, OFlags, openat, readlinkat};
use rustix::io::{Errno, Result};

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Resolver {
    #[cfg(target_os = "linux")]
    Kernel,
    /// Here, name by name.
    Walk,
}

/// The number of links that Linux follows for one path.
const MAX_LINKS: usize = 40;

/// How often a call that the kernel wants repeated is repeated.
#[cfg(target_os = "linux")]
const MAX_TRIES: usize = 64;

impl Resolver {
    /// The best method that works for this folder.
    #[cfg(target_os = "linux")]
    pub(super) fn for_folder(root: BorrowedFd<'_>) -> Self {
        match Self::Kernel.open(root, "", OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()) {
            Ok(_) => Self::Kernel,
            Err(_) => Self::Walk,
        }
    }

    /// The best method that works for this folder.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn for_folder(_: BorrowedFd<'_>) -> Self {
        Self::Walk
    }

    /// Opens a path; `XDEV` if it leads out of the root.
    pub(super) fn open(
        self,
        root: BorrowedFd<'_>,
        path: &str,
        flags: OFlags,
        mode: Mode,
    ) -> Result<OwnedFd> {
        let flags = flags | OFlags::CLOEXEC | OFlags::NOCTTY;
        let path = if path.is_empty() { "." } else { path };
        // The kernel refuses a mode unless a file is created.
        let mode = if flags.contains(OFlags::CREATE) { mode } else { Mode::empty() };
        match self {
            #[cfg(target_os = "linux")]
            Self::Kernel => beneath(root, path, flags, mode, ResolveFlags::empty()),
            Self::Walk => walk(root, path, flags, mode),
        }
    }

    /// Opens a path that has no link in it; `LOOP` if it has one, or if that cannot be known.
    pub(super) fn open_without_links(
        self,
        root: BorrowedFd<'_>,
        path: &str,
        flags: OFlags,
    ) -> Result<OwnedFd> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Kernel => {
                let flags = flags | OFlags::CLOEXEC | OFlags::NOCTTY;
                beneath(root, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)
            }
            Self::Walk => Err(Errno::LOOP),
        }
    }
}

#[cfg(target_os = "linux")]
fn beneath(
    root: BorrowedFd<'_>,
    path: &str,
    flags: OFlags,
    mode: Mode,
    more: ResolveFlags,
) -> Result<OwnedFd> {
    // Magic links, as in `/proc/self/fd`, lead anywhere without a visible target.
    let how = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | more;
    let mut tries = 0;
    loop {
        match rustix::fs::openat2(root, path, flags, mode, how) {
            // A rename happened meanwhile: the kernel could not decide.
            Err(Errno::AGAIN) if tries < MAX_TRIES => tries += 1,
            opened => return opened,
        }
    }
}

fn walk(root: BorrowedFd<'_>, path: &str, flags: OFlags, mode: Mode) -> Result<OwnedFd> {
    let mut entered: Vec<OwnedFd> = Vec::new();
    let mut rest = names(path.as_ref());
    let mut links = 0;
    while let Some(name) = rest.pop() {
        let here = entered.last().map_or(root, OwnedFd::as_fd);
        if name == ".." {
            // Not the parent that the file system names now: that may be outside the root.
            entered.pop().ok_or(Errno::XDEV)?;
            continue;
        }
        let last = rest.is_empty();
        let folder = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let how = if last { flags } else { folder };
        // Read as a link only if it cannot be opened, so that no check comes before its use.
        match openat(here, &name, how | OFlags::NOFOLLOW, mode) {
            Ok(opened) if last => return Ok(opened),
            Ok(folder) => entered.push(folder),
            Err(refused @ (Errno::LOOP | Errno::MLINK | Errno::NOTDIR)) => {
                let target = readlinkat(here, &name, Vec::new()).map_err(|_| refused)?;
                let target = OsString::from_vec(target.into_bytes());
                links += 1;
                if links > MAX_LINKS || flags.contains(OFlags::NOFOLLOW) && last {
                    return Err(Errno::LOOP);
                }
                if Path::new(&target).is_absolute() {
                    return Err(Errno::XDEV);
                }
                // The target is relative to the folder of the link, which is `here`.
                rest.extend(names(Path::new(&target)));
            }
            Err(refused) => return Err(refused),
        }
    }
    // The path ended in a folder that is open already.
    let here = entered.last().map_or(root, OwnedFd::as_fd);
    openat(here, ".", flags, mode)
}

/// The names of a path, in reverse order.
fn names(path: &Path) -> Vec<OsString> {
    let names = path.as_os_str().as_bytes().split(|byte| *byte == b'/');
    let names = names.filter(|name| !matches!(*name, b"" | b"."));
    let mut names: Vec<OsString> = names.map(|name| OsString::from_vec(name.to_vec())).collect();
    names.reverse();
    names
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::os::unix::fs::symlink;

    use rustix::io::Errno;

    use super::*;

    /// A tree with all kinds of links, beside a secret.
    fn tree() -> tempfile::TempDir {
        let outer = tempfile::tempdir().unwrap();
        let secret = outer.path().join("secret");
        fs::write(&secret, "s").unwrap();
        let root = outer.path().join("root");
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::write(root.join("a/b/file"), "f").unwrap();
        let link = |target: &str, name: &str| symlink(target, root.join(name)).unwrap();
        link("b/file", "a/inside");
        link("../../a/b", "a/b/again");
        link("../secret", "out");
        link("a/../../secret", "out-later");
        link("..", "above");
        link("/etc", "absolute");
        link("a/nothing", "dangling");
        link("circle", "circle");
        outer
    }

    fn resolvers() -> Vec<Resolver> {
        vec![
            Resolver::Walk,
            #[cfg(target_os = "linux")]
            Resolver::Kernel,
        ]
    }

    #[test]
    fn links_that_stay_inside_are_followed_and_others_refused() {
        let outer = tree();
        let root = File::open(outer.path().join("root")).unwrap();
        for how in resolvers() {
            let open = |path: &str, flags| {
                let mode = Mode::from_raw_mode(0o600);
                how.open(root.as_fd(), path, flags, mode).map(drop)
            };
            for path in ["", "a", "a/b/file", "a/inside", "a/b/again/file", "a/b/.."] {
                assert_eq!(open(path, OFlags::RDONLY), Ok(()), "{how:?} {path}");
            }
            for path in
                ["out", "out-later", "above", "above/secret", "absolute", "absolute/passwd", ".."]
            {
                assert_eq!(open(path, OFlags::RDONLY), Err(Errno::XDEV), "{how:?} {path}");
                let write = OFlags::WRONLY | OFlags::CREATE;
                assert!(open(path, write).is_err(), "{how:?} {path}");
            }
            assert_eq!(open("circle", OFlags::RDONLY), Err(Errno::LOOP), "{how:?}");
            assert_eq!(open("dangling", OFlags::RDONLY), Err(Errno::NOENT), "{how:?}");
            assert_eq!(open("a/b/file/x", OFlags::RDONLY), Err(Errno::NOTDIR), "{how:?}");
            let new = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
            assert_eq!(open("a/inside", new), Err(Errno::EXIST), "{how:?}");
        }
        assert_eq!(fs::read_to_string(outer.path().join("secret")).unwrap(), "s");
    }
}
