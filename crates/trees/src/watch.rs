//! Noticing changes of folders while they happen. A [`FolderWatch`] learns from the system which
//! names of its folders changed. Where the system has no such service, or refuses it, there is
//! none, and the caller compares files by itself. Contents of folders below are not watched.
//! Folders can be added, up to the limit of the system.

use std::collections::BTreeSet;
use std::os::fd::AsFd;
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct FolderChanges {
    /// Names that changed, each with its folder. The name is empty if an added folder is gone.
    pub names: BTreeSet<(String, String)>,
    /// Whether anything may have changed: too much happened at once, or a folder is new.
    pub is_unknown: bool,
    pub is_over: bool,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Added {
    Watched,
    Missing,
    /// The system watches no more folders.
    Refused,
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

    use rustix::fs::inotify::{
        CreateFlags, ReadFlags, Reader, WatchFlags, add_watch, init, remove_watch,
    };
    use rustix::io::Errno;

    use super::{Added, AsFd, Duration, FolderChanges, Path, PollFd, PollFlags, is_ready};

    /// A change is reported when nothing more happened for this long.
    const QUIET: Duration = Duration::from_millis(25);
    /// A change is reported at the latest after this time.
    const LONGEST: Duration = Duration::from_millis(250);

    #[derive(Debug)]
    pub struct FolderWatch {
        root: PathBuf,
        queue: OwnedFd,
        watched: HashMap<i32, String>,
        missing: Vec<String>,
        /// Folders that were added later, and their numbers.
        added: HashMap<String, i32>,
    }

    const FLAGS: WatchFlags = WatchFlags::CLOSE_WRITE
        .union(WatchFlags::MODIFY)
        .union(WatchFlags::CREATE)
        .union(WatchFlags::DELETE)
        .union(WatchFlags::MOVED_FROM)
        .union(WatchFlags::MOVED_TO)
        .union(WatchFlags::MOVE_SELF)
        .union(WatchFlags::DELETE_SELF)
        .union(WatchFlags::ONLYDIR)
        .union(WatchFlags::DONT_FOLLOW);

    impl FolderWatch {
        /// Watches folders below a root, also once they exist. `None` if the system cannot watch.
        pub fn start(root: &Path, folders: &[String]) -> Option<Self> {
            let queue = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok()?;
            let (root, missing) = (root.to_owned(), folders.to_vec());
            let (watched, added) = (HashMap::new(), HashMap::new());
            let mut watch = Self { root, queue, watched, missing, added };
            watch.add_missing();
            // A root that cannot be watched at all, such as one on a simulated disk.
            (!watch.watched.is_empty()).then_some(watch)
        }

        pub fn add(&mut self, folder: &str) -> Added {
            match add_watch(&self.queue, self.root.join(folder), FLAGS) {
                Ok(number) => {
                    self.watched.insert(number, folder.to_owned());
                    self.added.insert(folder.to_owned(), number);
                    Added::Watched
                }
                Err(Errno::NOENT | Errno::NOTDIR) => Added::Missing,
                Err(_) => Added::Refused,
            }
        }

        pub fn remove(&mut self, folder: &str) {
            if let Some(number) = self.added.remove(folder) {
                self.watched.remove(&number);
                // A folder that is gone has no watch.
                let _ = remove_watch(&self.queue, number);
            }
        }

        /// Waits for changes, at most for this time, or until `stop` is closed.
        pub fn wait(&mut self, time: Duration, stop: impl AsFd) -> FolderChanges {
            let is_unknown = self.add_missing();
            let mut changes = FolderChanges { is_unknown, ..Default::default() };
            let mut left = if changes.is_unknown { Duration::ZERO } else { time };
            let mut until = None;
            loop {
                let stopping = PollFd::new(&stop, PollFlags::IN);
                let mut files = [stopping, PollFd::new(&self.queue, PollFlags::IN)];
                let ready = is_ready(&mut files, left);
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
            let mut gone = Vec::new();
            // It ends with an error once the queue is empty.
            while let Ok(event) = reader.next() {
                if event.events().contains(ReadFlags::QUEUE_OVERFLOW) {
                    changes.is_unknown = true;
                } else if event.events().intersects(ReadFlags::IGNORED | ReadFlags::MOVE_SELF) {
                    // The folder is gone, or another one has its name.
                    gone.push(event.wd());
                } else if let Some(folder) = self.watched.get(&event.wd()) {
                    let name = event.file_name().map(|name| name.to_string_lossy().into_owned());
                    changes.names.extend(name.map(|name| (folder.clone(), name)));
                }
            }
            gone.into_iter().for_each(|number| self.lose(number, changes));
        }

        /// Watches a folder no more that is gone.
        fn lose(&mut self, number: i32, changes: &mut FolderChanges) {
            // One that was removed from the watch is not watched.
            let Some(folder) = self.watched.remove(&number) else { return };
            // One that moved is still watched at its new path.
            let _ = remove_watch(&self.queue, number);
            if self.added.remove(&folder).is_some() {
                changes.names.insert((folder, String::new()));
            } else {
                self.missing.push(folder);
                changes.is_unknown = true;
            }
        }

        /// Watches folders that exist by now. Answers whether there was one.
        fn add_missing(&mut self) -> bool {
            let before = self.watched.len();
            for folder in std::mem::take(&mut self.missing) {
                match add_watch(&self.queue, self.root.join(&folder), FLAGS) {
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
    use super::{Added, AsFd, Duration, FolderChanges, Path};

    /// There is no such service here.
    #[derive(Debug)]
    pub enum FolderWatch {}

    impl FolderWatch {
        pub fn start(_: &Path, _: &[String]) -> Option<Self> {
            None
        }

        pub fn add(&mut self, _: &str) -> Added {
            match *self {}
        }

        pub fn remove(&mut self, _: &str) {
            match *self {}
        }

        pub fn wait(&mut self, _: Duration, _: impl AsFd) -> FolderChanges {
            match *self {}
        }
    }
}
