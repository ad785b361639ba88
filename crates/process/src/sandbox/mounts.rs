//! The arguments of bubblewrap, from a plain description of what a worker sees. Pure.
//!
//! Invariants:
//! - the mount of a folder comes before the mounts below it, because a later mount covers an
//!   earlier one;
//! - a path has one mount: the last one that was added.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What is at a path inside.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Mount {
    /// A file or folder of the system, which cannot be changed.
    ReadOnly(PathBuf),
    /// A file or folder of the system.
    Writable(PathBuf),
    /// An empty folder in memory, which is gone afterwards.
    Empty,
    /// The same, which cannot be changed. Others can be mounted in it.
    Hidden,
}

/// The mounts of a worker, above a root that cannot be changed.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Mounts(Vec<(PathBuf, Mount)>);

impl Mounts {
    pub(crate) fn add(&mut self, at: impl Into<PathBuf>, mount: Mount) {
        let at = at.into();
        self.0.retain(|(other, _)| *other != at);
        self.0.push((at, mount));
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &(PathBuf, Mount)> {
        self.0.iter()
    }

    /// A path of the system at the same place, which cannot be changed.
    pub(crate) fn read_only(&mut self, path: &Path) {
        self.add(path, Mount::ReadOnly(path.to_owned()));
    }

    pub(crate) fn writable(&mut self, path: &Path) {
        self.add(path, Mount::Writable(path.to_owned()));
    }

    /// Makes the folders between the tree and what is mounted in it mounts of their own, which
    /// cannot be renamed. Otherwise a worker could put others in their place.
    pub(crate) fn hold_folders(&mut self, tree: &Path) {
        let below = self.0.iter().filter(|(at, _)| at.starts_with(tree));
        let between = |at: &Path| {
            let above = at.ancestors().skip(1).take_while(|above| *above != tree);
            above.map(Path::to_owned).collect::<Vec<PathBuf>>()
        };
        let folders: Vec<PathBuf> =
            below.filter(|(at, _)| at != tree).flat_map(|(at, _)| between(at)).collect();
        for folder in folders {
            // Below a mount that cannot be changed, nothing can be renamed.
            let is_mount = self.0.iter().any(|(at, _)| *at == folder);
            if !is_mount && matches!(self.above(&folder), Some((_, Mount::Writable(_)))) {
                self.writable(&folder);
            }
        }
    }

    /// The mounts that must stay while the worker runs: what they cover could be changed. Accord
    /// itself moves the folder of a task, whose mounts are in one that cannot be changed.
    pub(crate) fn held(&self) -> Vec<PathBuf> {
        let is_open = |at: &PathBuf| {
            let above = self.above(at);
            matches!(above, Some((place, Mount::Writable(from))) if place == from)
        };
        self.0.iter().map(|(at, _)| at).filter(|at| is_open(at)).cloned().collect()
    }

    /// The nearest mount above a path.
    fn above(&self, path: &Path) -> Option<&(PathBuf, Mount)> {
        let above = self.0.iter().filter(|(at, _)| path.starts_with(at) && path != at);
        above.max_by_key(|(at, _)| at.components().count())
    }

    /// The arguments of bubblewrap before the program. With `other_user`, the worker has another
    /// number than its user, so that root inside is not root.
    pub(crate) fn arguments(mut self, folder: &Path, other_user: bool) -> Vec<OsString> {
        self.0.sort_by_key(|(at, _)| at.components().count());
        let mut words: Vec<OsString> = Vec::new();
        if other_user {
            words.extend(["--unshare-user", "--uid", "1000", "--gid", "1000"].map(Into::into));
        }
        words.extend(COMMON.map(Into::into));
        if other_user {
            // These files belong to root, and are written by its number alone, without a right.
            for path in OF_THE_KERNEL.into_iter().filter(|path| Path::new(path).exists()) {
                words.extend(["--ro-bind", path, path].map(Into::into));
            }
        }
        let mut closed: Vec<OsString> = Vec::new();
        for (at, mount) in self.0 {
            match mount {
                Mount::ReadOnly(from) => words.extend(["--ro-bind".into(), from.into()]),
                Mount::Writable(from) => words.extend(["--bind".into(), from.into()]),
                Mount::Empty => words.push("--tmpfs".into()),
                Mount::Hidden => {
                    words.push("--tmpfs".into());
                    closed.extend(["--remount-ro".into(), at.clone().into()]);
                }
            }
            words.push(at.into());
        }
        // After the mounts in them, which need their places.
        words.extend(closed);
        words.extend(["--chdir".into(), folder.into(), "--".into()]);
        words
    }
}

/// Namespaces, no terminal, no capabilities, and the root of the system, which cannot be changed.
const COMMON: [&str; 15] = [
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-cgroup-try",
    "--die-with-parent",
    "--new-session",
    "--cap-drop",
    "ALL",
    "--ro-bind",
    "/",
    "/",
    "--dev",
    "/dev",
    "--proc",
    "/proc",
];

/// Files of the kernel that have an effect outside of every namespace.
const OF_THE_KERNEL: [&str; 4] = ["/proc/sys", "/proc/sysrq-trigger", "/proc/mtrr", "/proc/scsi"];

#[cfg(test)]
mod tests {
    use super::*;

    fn below_root(mounts: Mounts, other_user: bool) -> String {
        let words = mounts.arguments(Path::new("/r"), other_user);
        let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
        words.join(" ")
    }

    #[test]
    fn a_folder_is_mounted_before_what_is_below_it() {
        let mut mounts = Mounts::default();
        mounts.read_only(Path::new("/home/ann/shop/.git"));
        mounts.writable(Path::new("/home/ann/shop"));
        mounts.add("/home", Mount::Hidden);
        mounts.add("/home/ann", Mount::Writable("/state/home".into()));
        let said = below_root(mounts, false);
        assert!(said.starts_with("--unshare-pid "), "{said}");
        let (_, said) = said.split_once("--proc /proc ").unwrap();
        assert_eq!(
            said,
            "--tmpfs /home --bind /state/home /home/ann --bind /home/ann/shop /home/ann/shop \
             --ro-bind /home/ann/shop/.git /home/ann/shop/.git --remount-ro /home --chdir /r --"
        );
    }

    #[test]
    fn the_last_mount_of_a_path_holds() {
        let mut mounts = Mounts::default();
        mounts.add("/a", Mount::Empty);
        mounts.read_only(Path::new("/a"));
        let said = below_root(mounts, false);
        assert!(said.ends_with("--proc /proc --ro-bind /a /a --chdir /r --"), "{said}");
    }

    #[test]
    fn a_folder_above_a_protected_path_cannot_be_renamed() {
        let mut mounts = Mounts::default();
        mounts.writable(Path::new("/r"));
        mounts.read_only(Path::new("/r/a/b/c"));
        mounts.read_only(Path::new("/r/p"));
        mounts.writable(Path::new("/r/p/q/hole"));
        mounts.hold_folders(Path::new("/r"));
        let said = below_root(mounts, false);
        let (_, said) = said.split_once("--proc /proc ").unwrap();
        assert_eq!(
            said,
            "--bind /r /r --ro-bind /r/p /r/p --bind /r/a /r/a --bind /r/a/b /r/a/b \
             --ro-bind /r/a/b/c /r/a/b/c --bind /r/p/q/hole /r/p/q/hole --chdir /r --"
        );
    }

    #[test]
    fn a_mount_must_stay_if_what_it_covers_could_be_changed() {
        let mut mounts = Mounts::default();
        mounts.add("/home", Mount::Hidden);
        mounts.add("/home/ann", Mount::Writable("/state/home".into()));
        mounts.read_only(Path::new("/home/ann/.cargo"));
        mounts.writable(Path::new("/r"));
        mounts.writable(Path::new("/r/.git"));
        mounts.read_only(Path::new("/r/.git/config"));
        mounts.read_only(Path::new("/r/tasks"));
        mounts.writable(Path::new("/r/tasks/one/outputs"));
        let held = ["/r/.git", "/r/.git/config", "/r/tasks"].map(PathBuf::from);
        assert_eq!(mounts.held(), held);
    }

    #[test]
    fn root_gets_another_number() {
        let said = below_root(Mounts::default(), true);
        assert!(said.starts_with("--unshare-user --uid 1000 --gid 1000 --unshare-pid "), "{said}");
        let words = ["--new-session", "--die-with-parent", "--cap-drop ALL", "--ro-bind / /"];
        for word in words.into_iter().chain(["--ro-bind /proc/sys /proc/sys"]) {
            assert!(said.contains(word), "{said}");
        }
    }
}
