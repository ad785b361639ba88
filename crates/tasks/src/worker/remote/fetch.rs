//! What a run gets from its hub before its agent starts: its inputs, the outputs that the task has,
//! and those of the tasks before it.

use accord_canon::sha256_parts;
use accord_contract::{Code, Failure};
use accord_tasks_core::TaskId;
use accord_tasks_core::operations::{BriefingAnswer, OutputsQuery};
use accord_tasks_core::uploads::{MOST_BYTES, readable_path};
use accord_trees::parent;

use super::{Hub, RemoteFolder, RemoteRun};
use crate::Result;
use crate::tree::failure;

/// A file that the agent reads: its task, the folder of that, its path in there, and its size.
type Wanted = (TaskId, String, String, u64);

/// What is read of a file at once.
const CHUNK: usize = 1024 * 1024;
/// How many files are fetched at most.
const MOST_FETCHED: usize = 10_000;

impl RemoteRun<'_> {
    /// Reads the briefing and fetches what the agent reads; the briefing says where it is on this
    /// machine. What is not there is noted.
    pub fn fetch(&self, ask: impl Fn() -> Result<BriefingAnswer>) -> Result<BriefingAnswer> {
        let mut briefing = self.again(&ask)?;
        let (id, own) = (self.folder.task(), self.folder.companion());
        let (mut wanted, mut hidden) = (Vec::new(), 0);
        for inputs in [true, false] {
            hidden += self.list((id, &own), inputs, &mut wanted)?;
        }
        for dependency in &briefing.dependencies {
            let Some(folder) = &dependency.folder else { continue };
            hidden += self.list((dependency.id, &plain(folder)?), false, &mut wanted)?;
        }
        let mut left = u64::from(MOST_BYTES);
        for (task, folder, path, bytes) in wanted {
            let Some(rest) = left.checked_sub(bytes) else {
                (self.note)(format!("{path} of {task} is not fetched: it is too large"));
                continue;
            };
            left = rest;
            self.again(|| {
                self.beat();
                self.folder.fetch_file(self.hub, task, &folder, &path)
            })?;
        }
        if hidden > 0 {
            let most = "links, or files beyond";
            (self.note)(format!("not fetched: {hidden} entries: {most} {MOST_FETCHED}"));
        }
        let (path, body) = (plain(&briefing.task.path)?, briefing.task.body.clone());
        self.folder.put(&path, body.unwrap_or_default().as_bytes())?;
        briefing.root = self.folder.root().display().to_string();
        briefing.directory = self.folder.root().join(&own).display().to_string();
        Ok(briefing)
    }

    /// Lists the inputs or the outputs of a task, page by page. How many entries are left out.
    fn list(
        &self,
        (task, folder): (TaskId, &str),
        inputs: bool,
        wanted: &mut Vec<Wanted>,
    ) -> Result<u64> {
        let mut after = None;
        loop {
            let query = OutputsQuery { inputs, after, changes: false };
            let page = self.again(|| {
                self.beat();
                self.hub.files(task, query.clone())
            })?;
            let room = MOST_FETCHED.saturating_sub(wanted.len());
            let listed = page.outputs.len();
            let files = page.outputs.into_iter().take(room);
            wanted.extend(files.map(|it| (task, folder.to_owned(), it.path, it.bytes)));
            match page.next.filter(|_| room > listed) {
                Some(next) => after = Some(next),
                None => return Ok(page.hidden + listed.saturating_sub(room) as u64),
            }
        }
    }
}

impl RemoteFolder {
    fn fetch_file(&self, hub: &dyn Hub, task: TaskId, folder: &str, path: &str) -> Result<()> {
        let at = format!("{folder}/{}", readable_path(path)?);
        self.put(&at, b"")?;
        let disk = self.disk();
        let mut take = |piece: &[u8]| disk.append(&at, piece).map_err(|error| failure(&error));
        match hub.read(task, path, 0, &mut take) {
            // It was removed meanwhile.
            Err(failure) if failure.code == Code::AofOutputNotFound => {
                drop(disk.remove_file(&at));
                Ok(())
            }
            read => read,
        }
    }

    /// Writes a file in place of what is there.
    fn put(&self, path: &str, bytes: &[u8]) -> Result<()> {
        self.make_folders(parent(path))?;
        let disk = self.disk();
        let written = disk.remove_tree(path).and_then(|()| disk.append(path, bytes));
        written.map_err(|error| failure(&error))
    }

    /// The size and the digest of a file.
    pub(super) fn digest(&self, path: &str) -> Result<Option<(u64, String)>> {
        let of = |error| failure(&error);
        let Some(content) = self.disk().open(path).map_err(of)? else { return Ok(None) };
        let size = content.length().map_err(of)?;
        let part = |at: u64| match content.read_at(at, CHUNK) {
            Ok(part) if part.is_empty() => None,
            part => Some(part),
        };
        let parts = (0..).map(|number: u64| number * CHUNK as u64).map_while(part);
        let digest = sha256_parts(parts).map_err(of)?;
        Ok(Some((size, digest.hex())))
    }
}

/// A path of the hub's tree that stays inside the folder of a run.
fn plain(path: &str) -> Result<String> {
    let is_plain = !path.split('/').any(|name| matches!(name, "" | "." | ".."));
    if is_plain && path.starts_with("tasks/") && !path.contains('\0') {
        return Ok(path.to_owned());
    }
    let message = format!("the hub names the path {path:?}, which is no path of a task");
    Err(Failure::new(Code::HostProtocol, message))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::time::Duration;

    use accord_process::Cancel;
    use accord_tasks_core::Status;
    use accord_tasks_core::operations::{
        EndRunAnswer, EndRunRequest, HeartbeatRequest, OutputView, OutputsAnswer, RunView,
        StageQuery, StagedAnswer,
    };

    use super::*;
    use crate::worker::RunOperations;

    /// A hub with a number of files, and how many are in an answer.
    struct Pages(usize, usize);

    impl Hub for Pages {
        fn files(&self, task_id: TaskId, query: OutputsQuery) -> Result<OutputsAnswer> {
            let of = if query.inputs { "inputs" } else { "outputs" };
            let all = (0..self.0).map(|number| format!("{of}/{number:05}"));
            let after = query.after.unwrap_or_default();
            let left: Vec<String> = all.filter(|path| *path > after).collect();
            let view = |path: &String| OutputView { path: path.clone(), bytes: 1, sha256: None };
            let outputs: Vec<OutputView> = left.iter().take(self.1).map(view).collect();
            let next = outputs.last().filter(|_| left.len() > self.1).map(|last| last.path.clone());
            let hidden = left.len().saturating_sub(self.1) as u64;
            let (status, changes, changes_said_by) = (Status::InProgress, None, None);
            Ok(OutputsAnswer { task_id, status, outputs, hidden, next, changes, changes_said_by })
        }

        fn read(
            &self,
            _: TaskId,
            _: &str,
            _: u64,
            _: &mut dyn FnMut(&[u8]) -> Result<()>,
        ) -> Result<()> {
            Ok(())
        }

        fn stage(&self, _: TaskId, _: StageQuery, _: Vec<u8>) -> Result<StagedAnswer> {
            Ok(StagedAnswer { received: 0, complete: true })
        }
    }

    impl RunOperations for Pages {
        fn heartbeat(&self, _: TaskId, _: &HeartbeatRequest) -> Result<()> {
            Ok(())
        }

        fn message(&self, _: &str) -> Result<()> {
            Ok(())
        }

        fn last_run(&self, _: TaskId) -> Result<Option<RunView>> {
            Ok(None)
        }

        fn moved_since(&self, _: TaskId, _: Option<u64>) -> Result<(u64, bool)> {
            Ok((0, false))
        }

        fn end_run(&self, _: TaskId, _: &EndRunRequest) -> Result<EndRunAnswer> {
            Err(Failure::new(Code::AofTaskNotFound, "none"))
        }
    }

    #[test]
    fn all_pages_are_listed_up_to_the_most() {
        let id = TaskId::parse("TASK-2026-02-09-001").unwrap();
        let folder = tempfile::tempdir().unwrap();
        let folder = RemoteFolder::make(folder.path(), id, "dev", "run_1").unwrap();
        for (count, page, most) in [(0, 2, 0), (2, 2, 2), (7, 2, 7), (10_003, 2_000, MOST_FETCHED)]
        {
            let hub = Pages(count, page);
            let run = RemoteRun::new(&hub, &folder, Duration::MAX, Cancel::new(), &|_| {});
            let mut wanted = Vec::new();
            let hidden = run.list((id, "tasks/x"), true, &mut wanted).unwrap();
            assert_eq!((wanted.len(), hidden), (most, (count - most) as u64), "{count}");
            let paths: BTreeSet<&String> = wanted.iter().map(|file| &file.2).collect();
            assert_eq!(paths.len(), most, "{count}");
        }
    }
}
