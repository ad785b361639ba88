//! Noticing changes of folders while they happen.
//!
//! A [`FolderWatch`] learns from the system which names of its folders changed. Where the system
//! has no such service, or refuses it, there is none, and the caller compares files by itself.
//! Contents of folders below are not watched.

use std::collections::BTreeSet;
use std::os::fd::AsFd;
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// What was noticed.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct FolderChanges {
    /// Names that changed, each with its folder.
    pub names: BTreeSet<(String, String)>,
    /// Whether anything may have changed: too much happened at once, or a folder is new.
    pub is_unknown: bool,
    /// Whether the watch was asked to stop.
    pub is_over: bool,
}

/// Waits until `stop` can be read or is closed. Answers whether that happened within the time.
pub fn wait_for(stop: impl AsFd, time: Duration) -> bool {
    is_ready(&mut [PollFd::new(&stop, PollFlags::IN)], time)[0]
}

/// Which of these can be read, at the latest after the time.
fn is_ready(files: &mut [PollFd<'_>], time: Duration) -> Vec<bool> {
    let time = Timespec {
        tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(time.subsec_nanos()),
    };
    // An interrupted wait is a short one.
    let waited = poll(files, Some(&time)).is_ok();
    files.iter().map(|file| waited && !file.revents().is_empty()).collect()
}

#[cfg(target_os = "linux")]
pub use linux::FolderWatch;

#[cfg(not(target_os = "linux"))]
pub use other::FolderWatch;

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::HashMap;
    use std::mem::MaybeUninit;
    use std::os::fd::OwnedFd;
    use std::path::PathBuf;
    use std::time::Instant;

    use rustix::fs::inotify::{CreateFlags, ReadFlags, Reader, WatchFlags, add_watch, init};

    use super::{AsFd, Duration, FolderChanges, Path, PollFd, PollFlags, is_ready};

    /// A change is reported when nothing more happened for this long.
    const QUIET: Duration = Duration::from_millis(25);
    /// A change is reported at the latest after this time.
    const LONGEST: Duration = Duration::from_millis(250);

    /// Folders that the system watches.
    #[derive(Debug)]
    pub struct FolderWatch {
        root: PathBuf,
        queue: OwnedFd,
        watched: HashMap<i32, String>,
        missing: Vec<String>,
    }

    impl FolderWatch {
        /// Watches folders below a root. Those that do not exist are watched once they do. `None`
        /// if the system cannot watch.
        pub fn start(root: &Path, folders: &[String]) -> Option<Self> {
            let queue = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok()?;
            let (root, missing) = (root.to_owned(), folders.to_vec());
            let mut watch = Self { root, queue, watched: HashMap::new(), missing };
            watch.add_missing();
            // A root that cannot be watched at all, such as one on a simulated disk.
            (!watch.watched.is_empty()).then_some(watch)
        }

        /// Waits for changes, at most for this time, or until `stop` is closed.
        pub fn wait(&mut self, time: Duration, stop: impl AsFd) -> FolderChanges {
            let mut changes =
                FolderChanges { is_unknown: self.add_missing(), ..Default::default() };
            let mut left = if changes.is_unknown { Duration::ZERO } else { time };
            let mut until = None;
            loop {
                let files = &mut [
                    PollFd::new(&stop, PollFlags::IN),
                    PollFd::new(&self.queue, PollFlags::IN),
                ];
                let ready = is_ready(files, left);
                changes.is_over = ready[0];
                if changes.is_over || !ready[1] {
                    return changes;
                }
                self.read(&mut changes);
                let end = *until.get_or_insert_with(|| Instant::now() + LONGEST);
                left = QUIET.min(end.saturating_duration_since(Instant::now()));
                if left.is_zero() {
                    return changes;
                }
            }
        }

        fn read(&mut self, changes: &mut FolderChanges) {
            let mut buffer = [const { MaybeUninit::uninit() }; 16 * 1024];
            let mut reader = Reader::new(&self.queue, &mut buffer);
            // It ends with an error once the queue is empty.
            while let Ok(event) = reader.next() {
                if event.events().contains(ReadFlags::QUEUE_OVERFLOW) {
                    changes.is_unknown = true;
                } else if event.events().contains(ReadFlags::IGNORED) {
                    // The folder is gone, or another one has its name.
                    self.missing.extend(self.watched.remove(&event.wd()));
                    changes.is_unknown = true;
                } else if event.events().contains(ReadFlags::MOVE_SELF) {
                    self.missing.extend(self.watched.remove(&event.wd()));
                    changes.is_unknown = true;
                } else if let Some(folder) = self.watched.get(&event.wd()) {
                    let name = event.file_name().map(|name| name.to_string_lossy().into_owned());
                    changes.names.extend(name.map(|name| (folder.clone(), name)));
                }
            }
        }

        /// Watches folders that exist by now. Answers whether there was one.
        fn add_missing(&mut self) -> bool {
            let flags = WatchFlags::CLOSE_WRITE
                | WatchFlags::MODIFY
                | WatchFlags::CREATE
                | WatchFlags::DELETE
                | WatchFlags::MOVED_FROM
                | WatchFlags::MOVED_TO
                | WatchFlags::MOVE_SELF
                | WatchFlags::DELETE_SELF
                | WatchFlags::ONLYDIR
                | WatchFlags::DONT_FOLLOW;
            let before = self.watched.len();
            for folder in std::mem::take(&mut self.missing) {
                match add_watch(&self.queue, self.root.join(&folder), flags) {
                    Ok(number) => {
                        self.watched.insert(number, folder);
                    }
                    Err(_) => self.missing.push(folder),
                }
            }
            self.watched.len() > before
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod other {
    use super::{AsFd, Duration, FolderChanges, Path};

    /// There is no such service here.
    #[derive(Debug)]
    pub enum FolderWatch {}

    impl FolderWatch {
        /// Watches nothing.
        pub fn start(_: &Path, _: &[String]) -> Option<Self> {
            None
        }

        /// Waits for changes.
        pub fn wait(&mut self, _: Duration, _: impl AsFd) -> FolderChanges {
            match *self {}
        }
    }
}
