//! Everything about one task.

use accord_base::By;
use accord_contract::Value;
use accord_tasks_core::TaskId;
use accord_tasks_core::evidence::approved_outputs;
use accord_tasks_core::observed::{findings, sandbox_line};
use accord_tasks_core::operations::{ShowAnswer, ShowQuery};
use accord_tasks_core::referee::{Difference, differences};
use accord_tasks_core::task::TaskFile;
use accord_tasks_core::verbs::REWORKS;

use crate::referee::refused_file;
use crate::referee::verdict::UNMERGED;
use crate::work::Work;
use crate::{Result, Tree};

/// The most outputs of an answer.
const SHOWN: usize = 200;

/// What to say about an edit that was put back.
fn refused_edit(work: &Work<'_>, file: &TaskFile) -> Result<Option<String>> {
    let id = file.task().id;
    let text = work.text(&refused_file(id))?.filter(|text| !text.is_empty());
    let Some(refused) = text.and_then(|text| TaskFile::read(&text).ok()) else { return Ok(None) };
    let found = differences(file.members(), refused.members(), refused.task().status);
    let names: Vec<String> = found.iter().map(Difference::member).collect();
    let is_open = !file.task().status.is_final() && !names.is_empty();
    Ok(is_open.then(|| {
        let names = names.join(", ");
        format!("an edit of its file was put back ({names}): accord task adopt {id} takes it over")
    }))
}

/// What to say about open tasks that had the id of a task before a merge of git.
fn same_id(work: &Work<'_>, id: TaskId) -> Option<String> {
    let others = work.board().open().filter(|entry| entry.former.contains(&id));
    let mut others: Vec<String> = others.map(|entry| entry.id.to_string()).collect();
    others.sort();
    let others = Some(others).filter(|others| !others.is_empty())?.join(", ");
    Some(format!(
        "another task had this id before a merge of git, and has another one now: {others}"
    ))
}

impl Tree {
    /// Shows a task, with the digest of what a person decides about.
    pub fn show(&self, task: &str, request: &ShowQuery, _: &By) -> Result<ShowAnswer> {
        let (task, project) = (task.to_owned(), self.project().to_owned());
        let without_body = request.without_body;
        let root = self.disk().root_path().display().to_string();
        self.read(move |work| {
            let id = work.resolve(&task)?;
            let file = work.read(id)?;
            let facts = work.run_facts(id)?;
            let mut details = work.details(&project, &file, facts);
            if without_body {
                details.body = None;
            }
            let evidence = work.evidence(&file)?;
            let observed = evidence.observed.as_ref();
            let mut findings = match details.run {
                Some(_) => findings(file.task(), observed, &evidence.missing),
                None => Vec::new(),
            };
            if approved_outputs(file.task()).is_some_and(|it| it != evidence.outputs_digest) {
                findings.push("outputs/ changed after the approval".to_owned());
            }
            findings.extend(work.report_of_others(id)?);
            findings.extend(same_id(work, id));
            if work.damage(id) == Some(UNMERGED) {
                findings.push(UNMERGED.to_owned());
            }
            findings.extend(refused_edit(work, &file)?);
            if let Some(of_others) = work.decision_of_others(&file)? {
                findings.push(of_others);
            } else if !work.is_approval_recorded(file.task())? {
                details.approval = None;
                findings.push("the approval in its file is not in the record".to_owned());
            }
            let sandbox = details.run.as_ref().map(|_| sandbox_line(observed));
            let reworks = file.task().metadata(REWORKS).and_then(Value::as_u64).unwrap_or(0);
            let left_out = evidence.outputs.len().saturating_sub(SHOWN) as u64;
            Ok(ShowAnswer {
                task: details,
                outputs: evidence.outputs.into_iter().take(SHOWN).map(Into::into).collect(),
                outputs_hidden: evidence.hidden + left_out,
                observed: evidence.observed,
                sandbox,
                missing: evidence.missing,
                findings,
                reworks,
                evidence: evidence.digest.to_string(),
                root: Some(root),
            })
        })
    }
}
