//! The processes of a worker, by number and start, in a file that outlives its launcher.
//!
//! A launcher ends what its worker started. Where it cannot, or where it and its supervisor were
//! killed, the file still names the processes. It is in the state folder of the user, which a
//! worker in a sandbox does not see.
//!
//! Invariants:
//! - while the launcher runs, the processes are those of a running worker. Once it has ended, those
//!   that still run were left behind;
//! - a process counts only with its number and its start, on the same boot and in the same PID
//!   namespace;
//! - the file is removed when none of them runs;
//! - a launcher that stays with programs that are kept runs, and none of these is in the file.

use std::fmt::Write as _;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::process::Signal;

use crate::descendants::signal_all;
use crate::group::Ending;
use crate::limits::raise_open_file_limit;
use crate::namespace::{open, own_namespace};
use crate::sandbox::user_state_folder;
use crate::table::Process;

const FOLDER: &str = "accord/processes";
/// Before the name of a file that is being written.
const UNFINISHED: &str = ".";
/// The largest file that is read.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

static COUNT: AtomicU64 = AtomicU64::new(0);

/// What a worker works on.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Work {
    /// The folder of the governed repository, or of the tree of tasks.
    pub root: PathBuf,
    /// A turn or a task, for example.
    pub name: String,
}

/// A process of a worker that still runs.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct WorkerProcess {
    /// What its worker works on.
    pub name: String,
    pub pid: u64,
    /// When it started, in ticks since the boot.
    pub start: u64,
    /// Whether its launcher has ended, so that nothing ends it any more.
    pub is_left: bool,
}

/// The processes of workers of a repository or a tree of tasks that still run.
pub fn worker_processes(root: &Path) -> Vec<WorkerProcess> {
    let root = shown(root);
    let of_root = |record: &Record| record.root == root;
    records().filter(of_root).flat_map(|record| record.running()).collect()
}

/// The processes of all workers whose launchers have ended.
pub(crate) fn left_processes() -> Vec<WorkerProcess> {
    let running = records().flat_map(|record| record.running());
    running.filter(|process| process.is_left).collect()
}

impl WorkerProcess {
    /// Whether it is a process of the table.
    pub(crate) fn is(&self, process: &Process) -> bool {
        self.pid == process.pid && Some(self.start) == process.start
    }
}

/// The file about one worker.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Record {
    path: PathBuf,
    /// The boot and the PID namespace in which its numbers are valid.
    place: String,
    root: String,
    name: String,
    /// The process that waits for the launcher, then the launcher.
    keepers: Vec<(u64, u64)>,
    processes: Vec<(u64, u64)>,
    /// How the worker ended, once its launcher stays only with what is kept.
    ending: Option<Ending>,
}

impl Record {
    /// Makes the file of a worker that is about to start. `None` if the system does not show
    /// processes, or the user has no state folder.
    pub(crate) fn make(work: &Work) -> Option<Self> {
        let own = Process::find(std::process::id().into())?;
        let folder = user_state_folder()?.join(FOLDER);
        DirBuilder::new().recursive(true).mode(0o700).create(&folder).ok()?;
        records().for_each(|record| record.end_left());
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let record = Self {
            path: folder.join(format!("{}-{}-{count}", own.pid, own.start?)),
            place: place()?,
            root: shown(&work.root),
            name: work.name.replace('\n', " "),
            keepers: vec![(own.pid, own.start?)],
            processes: Vec::new(),
            ending: None,
        };
        record.write().ok().map(|()| record)
    }

    /// The file that a supervisor made for this launcher.
    pub(crate) fn join(path: &Path) -> Option<Self> {
        let mut record = Self::read(path)?;
        let own = Process::find(std::process::id().into())?;
        record.keepers.push((own.pid, own.start?));
        record.write().ok().map(|()| record)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Sets the processes of the worker that run now.
    pub(crate) fn update(&mut self, found: &[Process]) {
        let mut found: Vec<_> = found.iter().filter_map(|it| Some((it.pid, it.start?))).collect();
        found.sort_unstable();
        if found != self.processes {
            self.processes = found;
            // The next one that is written has all of them.
            let _ = self.write();
        }
    }

    /// Says how the worker ended, and that its launcher stays with what is kept.
    pub(crate) fn keep(&mut self, ending: Ending) {
        self.ending = Some(ending);
        let _ = self.write();
    }

    /// How the worker ended whose launcher stays with what is kept.
    pub(crate) fn ending(path: &Path) -> Option<Ending> {
        Self::read(path)?.ending
    }

    /// Ends the file: it stays for the processes that could not be ended.
    pub(crate) fn close(mut self, left: &[Process]) {
        // A worker of the same user can lower the limit of open files. What cannot be read stays.
        raise_open_file_limit();
        if Process::find(std::process::id().into()).is_none() {
            return;
        }
        // The launcher has written since.
        let written = Self::read(&self.path);
        if written.is_none() && self.path.exists() {
            return;
        }
        if written.as_ref().is_some_and(|record| record.ending.is_some() && record.has_launcher()) {
            // The launcher stays, and closes it.
            return;
        }
        let written = written.map(|record| record.processes);
        let left = left.iter().filter_map(|process| Some((process.pid, process.start?)));
        self.processes = written.unwrap_or_default().into_iter().chain(left).collect();
        self.processes.retain(|process| runs(*process));
        self.processes.sort_unstable();
        self.processes.dedup();
        let _ = match self.processes.is_empty() {
            true => fs::remove_file(&self.path),
            false => self.write(),
        };
    }

    /// Kills what a worker left whose supervisor and launcher have ended, and removes the file if
    /// nothing is left.
    fn end_left(self) {
        if self.keepers.iter().any(|keeper| runs(*keeper)) {
            return;
        }
        let left = self.running();
        let found: Vec<Process> = left.iter().filter_map(|left| Process::find(left.pid)).collect();
        signal_all(&found, Signal::KILL);
        if left.is_empty() {
            let _ = fs::remove_file(&self.path);
        }
    }

    /// Whether the launcher runs, and is not this process.
    fn has_launcher(&self) -> bool {
        let own = u64::from(std::process::id());
        self.keepers.get(1).is_some_and(|launcher| launcher.0 != own && runs(*launcher))
    }

    fn running(&self) -> Vec<WorkerProcess> {
        let is_left = self.ending.is_some() || !self.has_launcher();
        let running = self.processes.iter().filter(|process| runs(**process));
        let process = |(pid, start): &(u64, u64)| WorkerProcess {
            name: self.name.clone(),
            pid: *pid,
            start: *start,
            is_left,
        };
        running.map(process).collect()
    }

    fn write(&self) -> io::Result<()> {
        let mut text = format!("{}\n{}\n{}\n", self.place, self.root, self.name);
        for (kind, found) in [("keeper", &self.keepers), ("process", &self.processes)] {
            for (pid, start) in found {
                let _ = writeln!(text, "{kind} {pid} {start}");
            }
        }
        match self.ending {
            Some(Ending::Exited(code)) => text.push_str(&format!("exited {code} 0\n")),
            Some(Ending::Signalled(signal)) => text.push_str(&format!("signalled {signal} 0\n")),
            Some(Ending::Unreaped) | None => {}
        }
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let unfinished = self.path.with_file_name(format!("{UNFINISHED}{name}"));
        let _ = fs::remove_file(&unfinished);
        let mut file =
            OpenOptions::new().write(true).create_new(true).mode(0o600).open(&unfinished)?;
        file.write_all(text.as_bytes())?;
        fs::rename(unfinished, &self.path)
    }

    fn read(path: &Path) -> Option<Self> {
        // A worker without a sandbox can put anything there.
        let file = open(path).ok().filter(|file| file.metadata().is_ok_and(|it| it.is_file()))?;
        let mut text = String::new();
        file.take(MAX_BYTES).read_to_string(&mut text).ok()?;
        let mut lines = text.lines().map(str::to_owned);
        let (place, root, name) = (lines.next()?, lines.next()?, lines.next()?);
        let (mut keepers, mut processes, mut ending) = (Vec::new(), Vec::new(), None);
        for line in lines {
            let words: Vec<&str> = line.split(' ').collect();
            let [kind, first, second] = words[..] else { return None };
            let numbers = || Some((first.parse().ok()?, second.parse().ok()?));
            match kind {
                "keeper" => keepers.push(numbers()?),
                "process" => processes.push(numbers()?),
                "exited" => ending = first.parse().ok().map(Ending::Exited),
                "signalled" => ending = first.parse().ok().map(Ending::Signalled),
                _ => return None,
            }
        }
        Some(Self { path: path.to_owned(), place, root, name, keepers, processes, ending })
    }
}

/// The records whose numbers are valid here.
fn records() -> impl Iterator<Item = Record> {
    let folder = user_state_folder().map(|folder| folder.join(FOLDER));
    let entries = folder.and_then(|folder| fs::read_dir(folder).ok()).into_iter().flatten();
    let entries = entries
        .flatten()
        .filter(|entry| !entry.file_name().as_encoded_bytes().starts_with(UNFINISHED.as_bytes()));
    let place = place();
    let found = entries.filter_map(|entry| Record::read(&entry.path()));
    found.filter(move |record| Some(&record.place) == place.as_ref())
}

fn runs((pid, start): (u64, u64)) -> bool {
    Process::find(pid).is_some_and(|found| !found.is_zombie && found.start == Some(start))
}

/// This boot and this PID namespace.
fn place() -> Option<String> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(format!("{} {}", boot.trim(), own_namespace()?))
}

/// A folder in one line.
fn shown(root: &Path) -> String {
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    format!("{:?}", root.as_os_str())
}
