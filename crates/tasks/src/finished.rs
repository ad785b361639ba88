//! What a task leaves that becomes done, for the event that says so.

use accord_contract::Object;
use accord_tasks_core::TaskId;
use accord_tasks_core::finished::{FinishedTask, MOST_FILES};
use accord_tasks_core::operations::PersonDecision;
use accord_tasks_core::task::TaskFile;
use accord_tasks_core::verbs::REWORKS;

use crate::Result;
use crate::decisions::read_after;
use crate::layout::companion;
use crate::operations::{files, text};
use crate::outputs::Most;
use crate::tree::failure;
use crate::work::Work;

const FILES: Most = Most { files: MOST_FILES, depth: 8 };
/// The outcomes of decisions that ask for more work.
const WANTS_MORE: [&str; 2] = ["sent_back", "reopened"];

impl Work<'_> {
    /// The result of a task. `file` says where the task lies, `after` is the task as it becomes.
    pub(crate) fn finished(&self, file: &TaskFile, after: &TaskFile) -> Result<FinishedTask> {
        let id = file.task().id;
        let folder = self.taken.get(&id).cloned();
        let folder = folder.unwrap_or_else(|| companion(file.task().status, id));
        let result = self.run_facts(id)?.result;
        let (outputs, outputs_hidden) = files(self, (&folder, "outputs"), FILES)?;
        let summary = result.as_ref().map(|result| result.summary_ref.as_str());
        let summary = summary.filter(|path| !path.is_empty()).unwrap_or("outputs/summary.md");
        let summary = text(self, &folder, summary);
        let declared = result.as_ref().and_then(|result| result.deliverables.clone());
        let is_listed = |path: &String| outputs.iter().any(|output| output.path == *path);
        let declared: Vec<_> =
            declared.into_iter().flatten().filter(|path| !is_listed(path)).collect();
        Ok(FinishedTask {
            title: after.task().title.clone(),
            done_at: after.task().last_transition_at.clone(),
            agent: result.as_ref().map(|result| result.agent_id.clone()),
            run_id: result.as_ref().and_then(|result| result.run_id.clone()),
            summary,
            notes: result.map(|result| result.notes),
            outputs,
            outputs_hidden,
            deliverables: Some(declared),
            sent_back: self.wanted_more(file, id)?,
            extra: Object::new(),
        }
        .shortened())
    }

    /// The decisions of people who wanted more work on a task.
    fn wanted_more(&self, file: &TaskFile, id: TaskId) -> Result<Option<Vec<PersonDecision>>> {
        if file.task().metadata(REWORKS).is_none() {
            return Ok(None);
        }
        let list = read_after(self.disk(), self.state, None).map_err(|error| failure(&error))?;
        let id = id.to_string();
        let found = list
            .records
            .into_iter()
            .filter(|record| record.subject == id && WANTS_MORE.contains(&record.outcome.as_str()));
        Ok(Some(found.map(PersonDecision::from).collect()))
    }
}
