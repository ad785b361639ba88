//! The artifacts of runs, as a group reads and writes them. They are read from both layouts, and
//! written to that of the tree.

use accord_contract::Wire;
use accord_contract::text::pretty;
use accord_tasks_core::TaskId;
use accord_tasks_core::run::{Heartbeat, RunResult};
use accord_trees::wal::{ANYTHING, Op};
use accord_trees::{Kind, parent, read_file};

use crate::Result;
use crate::layout::{OWN, RunLayout};
use crate::scan::{MAX_FILE, readable};
use crate::tree::failure;
use crate::work::{Work, object};

impl Work<'_> {
    /// A run artifact of a task. The run of Accord's lease is the committed one.
    pub(crate) fn artifact<T: Wire>(&self, id: TaskId, name: &str) -> Result<Option<T>> {
        let path = format!("{}/{name}", self.layout.folder(id));
        let parse = |text: &str| T::from_document(serde_json::from_str(text).ok()?).ok();
        if let Some(text) = self.staged.get(&path) {
            return Ok(text.as_deref().and_then(parse));
        }
        if name == "run.json"
            && let Some(run) = self.held(id).and_then(|held| held.run.as_deref())
        {
            return Ok(parse(run));
        }
        for layout in [self.layout, self.layout.other()] {
            if let Some(bytes) = self.run_file(layout, id, name)? {
                // One that is not valid counts as absent.
                let document = accord_canon::read(&bytes).ok();
                return Ok(document.and_then(|document| T::from_document(document).ok()));
            }
        }
        Ok(None)
    }

    fn run_file(&self, layout: RunLayout, id: TaskId, name: &str) -> Result<Option<Vec<u8>>> {
        let folder = layout.folder(id);
        if !self.has_folder(parent(&folder))? || !self.has_folder(&folder)? {
            return Ok(None);
        }
        let bytes = readable(read_file(self.disk, &format!("{folder}/{name}"), MAX_FILE));
        bytes.map_err(|error| failure(&error))
    }

    fn has_folder(&self, path: &str) -> Result<bool> {
        Ok(self.at_run_folder(path)? == Some(Kind::Folder))
    }

    /// What is at the path of a folder of runs. It is looked for once in a group.
    fn at_run_folder(&self, path: &str) -> Result<Option<Kind>> {
        if let Some(known) = self.run_folders.borrow().get(path) {
            return Ok(*known);
        }
        let found = self.disk.stat(path).map_err(|error| failure(&error))?;
        let found = found.map(|found| found.kind);
        self.run_folders.borrow_mut().insert(path.to_owned(), found);
        Ok(found)
    }

    /// The text of a run artifact of a task, from either layout.
    pub(crate) fn artifact_text(&self, id: TaskId, name: &str) -> Result<Option<String>> {
        for layout in [self.layout, self.layout.other()] {
            if let Some(text) = self.run_text(layout, id, name)? {
                return Ok(Some(text));
            }
        }
        Ok(None)
    }

    fn run_text(&self, layout: RunLayout, id: TaskId, name: &str) -> Result<Option<String>> {
        if let Some(staged) = self.staged.get(&format!("{}/{name}", layout.folder(id))) {
            return Ok(staged.clone());
        }
        let bytes = self.run_file(layout, id, name)?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    pub(crate) fn write_artifact(&mut self, id: TaskId, name: &str, it: &impl Wire) -> Result<()> {
        self.put_in_run(id, name, pretty(&object(it.encode())))
    }

    /// Writes a file into the folder of a run. What is no folder moves out of its way.
    pub(crate) fn put_in_run(&mut self, id: TaskId, name: &str, text: String) -> Result<()> {
        let folder = self.layout.folder(id);
        let path = format!("{folder}/{name}");
        let found = self.at_run_folder(&folder)?;
        if self.staged.contains_key(&path) || found == Some(Kind::Folder) {
            return self.put(&path, text);
        }
        let mut was = None;
        if found.is_some() {
            let away = format!("{OWN}/refused/{id}.run.{}", self.index.last_event + 1);
            self.ops.push(Op::Move { from: folder, to: away });
            was = Some(ANYTHING.to_owned());
        }
        self.stage(path, text, was);
        Ok(())
    }

    pub(crate) fn write_heartbeat(&mut self, id: TaskId, beat: &Heartbeat) -> Result<()> {
        self.write_artifact(id, "run_heartbeat.json", beat)?;
        self.beats.insert(id, beat.clone());
        Ok(())
    }

    /// The name under which the recorded result of a run is kept, if there is one, valid or not.
    pub(crate) fn old_result(&self, id: TaskId) -> Result<Option<String>> {
        let text = self.artifact_text(id, "run_result.json")?;
        let read = |text: &String| {
            let document = accord_canon::read(text.as_bytes()).ok()?;
            RunResult::from_document(document).ok()
        };
        Ok(text.map(|text| {
            read(&text).map_or_else(|| "unreadable".to_owned(), |old| old.file_name().to_owned())
        }))
    }

    /// Moves the result of an earlier run out of the way, from both layouts.
    pub(crate) fn archive_result(&mut self, id: TaskId, run: &str) -> Result<()> {
        for layout in [self.layout, self.layout.other()] {
            let from = format!("{}/run_result.json", layout.folder(id));
            let to = format!("{}/results/{run}.json", layout.folder(id));
            let Some(text) = self.run_text(layout, id, "run_result.json")? else { continue };
            self.ops.push(Op::Move { from: from.clone(), to: to.clone() });
            self.staged.insert(from, None);
            self.staged.insert(to, Some(text));
        }
        Ok(())
    }
}
