//! What the worker of a turn printed, in the log beside its bundle.

use accord_contract::Time;
use accord_runs_core::{TurnId, dispatch};
use accord_trees::{Content, Kind};

use crate::Runs;

/// The log that the output of a worker is kept in.
pub(super) const LOG_FILE: &str = "stdout.log";

/// The output of a worker as it is now.
pub struct WorkerOutput {
    content: Box<dyn Content>,
    /// Its length in bytes.
    pub length: u64,
    /// When it last grew.
    pub modified: Time,
}

impl Runs {
    /// The output of the last worker of an active turn; `None` if there is none. Only a file
    /// counts: a link could be one to any file of the repository.
    pub fn worker_output(&self, turn: &TurnId) -> Option<WorkerOutput> {
        let (disk, path) =
            (self.repository().disk(), format!("{}/{LOG_FILE}", dispatch::bundle_folder(turn)));
        let stat = disk.stat(&path).ok()?.filter(|stat| stat.kind == Kind::File)?;
        let content = disk.open(&path).ok()??;
        let length = content.length().ok()?;
        let modified = Time::from_unix_millis(stat.modified_ms);
        Some(WorkerOutput { content, length, modified })
    }
}

impl WorkerOutput {
    /// Its bytes from a place on; `None` if there are fewer by now.
    pub fn read(&self, from: u64) -> Option<Vec<u8>> {
        let length = usize::try_from(self.length.checked_sub(from)?).ok()?;
        self.content.read_at(from, length).ok().filter(|bytes| bytes.len() == length)
    }
}
