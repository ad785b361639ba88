//! What an agent needs to know before it works on a task.

use accord_base::By;
use accord_tasks_core::TaskId;
use accord_tasks_core::operations::{BriefingAnswer, BriefingDependency, OutputView};
use accord_tasks_core::run::RunResult;
use accord_tasks_core::task::{TaskComment, TaskFile, split_comments, split_work_log};
use accord_trees::Kind;

use crate::layout::companion;
use crate::outputs::{Most, files_below, length};
use crate::tree::failure;
use crate::view::decision;
use crate::work::Work;
use crate::{Result, Tree};

/// The most dependencies whose outputs are read.
const DEPENDENCIES: usize = 50;
const FILES: Most = Most { files: 100, depth: 8 };
/// The longest text of a file that is read, in bytes.
const TEXT: usize = 64 * 1024;

impl Tree {
    /// What an agent needs to know before it works on a task.
    pub fn briefing(&self, task: &str, _: &By) -> Result<BriefingAnswer> {
        let (task, project) = (task.to_owned(), self.project().to_owned());
        let root = self.disk().root_path().display().to_string();
        self.read(move |work| {
            let id = work.resolve(&task)?;
            let file = work.read(id)?;
            let details = work.details(&project, &file, work.run_facts(id)?);
            let (instructions, work_log) = split_work_log(file.body());
            // They are in the details, and come first in the text.
            let (instructions, _) = split_comments(&instructions);
            let folder = companion(file.task().status, id);
            let (inputs, inputs_hidden) = files(work, (&folder, "inputs"), FILES)?;
            let needed = file.task().dependencies().iter().take(DEPENDENCIES);
            let dependencies = needed.map(|id| dependency(work, *id)).collect::<Result<_, _>>()?;
            Ok(BriefingAnswer {
                task: details,
                instructions,
                work_log,
                handoff: text(work, &folder, "inputs/handoff.md"),
                inputs,
                inputs_hidden,
                dependencies,
                directory: format!("{root}/{folder}"),
                root,
            })
        })
    }
}

/// What a task that was needed left. A file that cannot be read leaves nothing.
fn dependency(work: &Work<'_>, id: TaskId) -> Result<BriefingDependency> {
    let mut view = BriefingDependency {
        id,
        title: None,
        status: work.board().status(id).map(|status| status.as_str().to_owned()),
        folder: None,
        summary: None,
        notes: None,
        outputs: Vec::new(),
        outputs_hidden: 0,
        approval: None,
        comments: None,
    };
    let Ok(Some(file)) = work.find(id) else { return Ok(view) };
    let folder = companion(file.task().status, id);
    view.title = Some(file.task().title.clone());
    let (outputs, hidden) = files(work, (&folder, "outputs"), FILES)?;
    view.outputs = outputs.into_iter().map(|file| file.path).collect();
    view.outputs_hidden = hidden;
    let (summary, notes) = said(work, &file, &folder);
    (view.summary, view.notes) = (summary, notes);
    view.folder = Some(folder);
    if work.is_approval_recorded(file.task())? {
        view.approval = decision(file.task(), "approval");
    }
    let said = split_comments(file.body()).1;
    let of_people: Vec<TaskComment> = said.into_iter().filter(TaskComment::is_of_person).collect();
    view.comments = (!of_people.is_empty()).then_some(of_people);
    Ok(view)
}

/// The summary and the notes of a task's last report.
fn said(work: &Work<'_>, file: &TaskFile, folder: &str) -> (Option<String>, Option<String>) {
    let result = work.artifact::<RunResult>(file.task().id, "run_result.json").ok().flatten();
    let Some(result) = result else { return (text(work, folder, "outputs/summary.md"), None) };
    let summary = match result.summary_ref.is_empty() {
        true => text(work, folder, "outputs/summary.md"),
        false => text(work, folder, &result.summary_ref),
    };
    (summary, Some(result.notes).filter(|notes| !notes.is_empty()))
}

/// The beginning of a text file in a task's folder. A path or link that leaves it names no file.
pub(crate) fn text(work: &Work<'_>, folder: &str, path: &str) -> Option<String> {
    let mut at = folder.to_owned();
    for name in path.split('/') {
        if matches!(name, "" | "." | "..") {
            return None;
        }
        at = format!("{at}/{name}");
        let stat = work.disk().stat(&at).ok()??;
        if !matches!(stat.kind, Kind::File | Kind::Folder) {
            return None;
        }
    }
    let content = work.disk().open(&at).ok()??;
    let bytes = content.read_at(0, TEXT).ok()?;
    let hidden = content.length().ok()?.saturating_sub(bytes.len() as u64);
    let text = String::from_utf8_lossy(&bytes).trim().to_owned();
    match hidden {
        _ if text.is_empty() => None,
        0 => Some(text),
        hidden => Some(format!("{text}\n… {hidden} more bytes in {path}")),
    }
}

/// The files in a folder of a task, and how many are left out.
pub(crate) fn files(
    work: &Work<'_>,
    (root, folder): (&str, &str),
    most: Most,
) -> Result<(Vec<OutputView>, u64)> {
    let disk = work.disk();
    let found = || {
        let (paths, others) = files_below(disk, root, folder, most)?;
        let view =
            |path: String| Ok(OutputView { bytes: length(disk, root, &path)?, path, sha256: None });
        Ok((paths.into_iter().map(view).collect::<accord_trees::Result<_>>()?, others.count))
    };
    found().map_err(|error| failure(&error))
}
