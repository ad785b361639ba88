//! What a run gets from its hub before its agent starts: its inputs, the outputs that the task has,
//! and those of the tasks before it.

use std::collections::BTreeSet;

use accord_canon::sha256_parts;
use accord_contract::{Code, Failure};
use accord_tasks_core::TaskId;
use accord_tasks_core::operations::BriefingAnswer;
use accord_tasks_core::uploads::{MOST_BYTES, readable_path};
use accord_trees::parent;

use super::{Hub, RemoteFolder, RemoteRun};
use crate::Result;
use crate::tree::failure;

/// A file that the agent reads: its task, the folder of that, its path in there, and its size.
type Wanted = (TaskId, String, String, u64);

/// What is read of a file at once.
const CHUNK: usize = 1024 * 1024;

impl RemoteRun<'_> {
    /// Reads the briefing and fetches what the agent reads; the briefing says where it is on this
    /// machine. What is not there is noted.
    pub fn fetch(&self, ask: impl Fn() -> Result<BriefingAnswer>) -> Result<BriefingAnswer> {
        let mut briefing = self.again(&ask)?;
        let (id, own) = (self.folder.task(), self.folder.companion());
        let inputs = briefing.inputs.iter().map(|file| (file.path.clone(), file.bytes));
        let mut wanted: Vec<Wanted> =
            inputs.map(|(path, bytes)| (id, own.clone(), path, bytes)).collect();
        let has = self.again(|| self.hub.outputs(id))?;
        wanted.extend(has.outputs.into_iter().map(|it| (id, own.clone(), it.path, it.bytes)));
        let mut hidden = briefing.inputs_hidden + has.hidden;
        for dependency in &briefing.dependencies {
            let Some(folder) = &dependency.folder else { continue };
            let named: BTreeSet<&String> = dependency.outputs.iter().collect();
            hidden += dependency.outputs_hidden;
            let listed = self.again(|| self.hub.outputs(dependency.id))?.outputs;
            let listed = listed.into_iter().filter(|file| named.contains(&file.path));
            let folder = plain(folder)?;
            wanted.extend(listed.map(|it| (dependency.id, folder.clone(), it.path, it.bytes)));
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
            (self.note)(format!("not fetched: {hidden} entries, which are links or too many"));
        }
        let (path, body) = (plain(&briefing.task.path)?, briefing.task.body.clone());
        self.folder.put(&path, body.unwrap_or_default().as_bytes())?;
        briefing.root = self.folder.root().display().to_string();
        briefing.directory = self.folder.root().join(&own).display().to_string();
        Ok(briefing)
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
