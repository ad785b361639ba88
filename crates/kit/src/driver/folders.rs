//! Cases that are judged by a folder, for processes: the folder, the process in it, and its kills.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use accord_contract::Value;
use accord_process::{Cancel, Invocation, Session, SessionLimits};

use super::{
    ANSWER_LIMIT, DriverOutcome, NoAnswer, Reply, STDERR_LIMIT, long_lived, reply, workplace,
};
use crate::case::{Case, Folder};
use crate::corpus::Protocol;
use crate::folder::{Places, Target, run};

/// What an adapter needs for cases that are judged by a folder.
#[derive(Clone, Debug, Default)]
pub(super) struct Folders {
    places: OnceLock<Places>,
    /// Where the folders are copied to when their cases have ended.
    keep: Option<PathBuf>,
}

impl Folders {
    pub(super) fn begin(&self, protocol: &Protocol) {
        self.places.get_or_init(|| Places::of(protocol));
    }

    pub(super) fn keep(&mut self, folder: PathBuf) {
        self.keep = Some(folder);
    }

    pub(super) fn execute(
        &self,
        case: &Case,
        folder: &Folder,
        target: &mut dyn Target,
        limit: Duration,
        notes: &mut Vec<String>,
    ) -> Result<Reply, NoAnswer> {
        let workplace = workplace::folder()?;
        let places = self.places.get().cloned().unwrap_or_default();
        let root = workplace.path().join("tree");
        fs::create_dir(&root).map_err(|error| NoAnswer::Harness {
            reason: format!("no folder could be created: {error}"),
        })?;
        let answer = run(folder, &places, &root, target, limit);
        if let Some(keep) = &self.keep
            && let Err(error) = copy(&root, &keep.join(&case.id))
        {
            notes.push(format!("the folder of {} could not be kept: {error}", case.id));
        }
        notes.extend(workplace.remove().err());
        answer
    }
}

pub(super) struct Process<'a> {
    pub(super) invocation: &'a Invocation,
    pub(super) cancel: &'a Cancel,
    pub(super) open: Option<Open>,
    /// The end of what killed processes wrote to stderr.
    stderr: Vec<u8>,
}

pub(super) struct Open {
    pub(super) session: Session,
    /// Kept as long as the process.
    pub(super) folder: workplace::Workplace,
}

impl Open {
    pub(super) fn start(invocation: &Invocation, cancel: &Cancel) -> Result<Self, NoAnswer> {
        let (folder, invocation) = workplace::prepare(invocation)?;
        let limits = SessionLimits::new(ANSWER_LIMIT, STDERR_LIMIT);
        let session = Session::start(&invocation, limits).map_err(NoAnswer::CannotStart)?;
        Ok(Self { session: session.cancel(cancel.clone()), folder })
    }
}

impl<'a> Process<'a> {
    pub(super) fn new(invocation: &'a Invocation, cancel: &'a Cancel, open: Option<Open>) -> Self {
        Self { invocation, cancel, open, stderr: Vec::new() }
    }

    pub(super) fn outcome(&self, answer: Result<Reply, NoAnswer>) -> DriverOutcome {
        let mut stderr = self.stderr.clone();
        stderr.extend(self.open.iter().flat_map(|open| open.session.stderr()));
        DriverOutcome { answer, stderr: reply::last_lines(&stderr) }
    }

    fn running(&mut self) -> Result<&mut Open, NoAnswer> {
        let open = match self.open.take() {
            Some(open) => open,
            None => Open::start(self.invocation, self.cancel)?,
        };
        Ok(self.open.insert(open))
    }
}

impl Target for Process<'_> {
    fn ask(&mut self, request: &Value, limit: Duration) -> Result<Value, NoAnswer> {
        let open = self.running()?;
        let answer = open.session.request(request.to_string().as_bytes(), limit);
        let answer = answer.map_err(|error| long_lived::breach(&error))?;
        accord_canon::read(&answer).map_err(|error| {
            NoAnswer::broken(format!("the adapter answered, but not with JSON: {error}"))
        })
    }

    fn ask_and_kill(&mut self, request: &Value, after: Duration) -> Result<(), NoAnswer> {
        let open = self.running()?;
        // An answer within the time is as good as none: the process is killed in any case.
        let _ = open.session.request(request.to_string().as_bytes(), after);
        self.kill();
        Ok(())
    }

    fn kill(&mut self) {
        if let Some(open) = self.open.take() {
            self.stderr.extend_from_slice(open.session.stderr());
            // The owner of the process group kills it when it is dropped, and waits for its end.
            drop(open);
        }
    }
}

/// Copies the files below a folder. Links are left out.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (kind, to) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            copy(&entry.path(), &to)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), to)?;
        }
    }
    Ok(())
}
