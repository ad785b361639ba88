//! The board: tasks by status.

use accord_base::By;
use accord_contract::Timestamp;
use accord_tasks_core::board::Entry;
use accord_tasks_core::operations::{BoardAnswer, BoardColumn, BoardQuery, DEFAULT_COLUMN};
use accord_tasks_core::{Status, TaskId};

use crate::work::Work;
use crate::{Result, Tree};

impl Tree {
    /// The board. Only of open tasks team, agent and priority are known.
    pub fn board(&self, request: &BoardQuery, _: &By) -> Result<BoardAnswer> {
        let (request, project) = (request.clone(), self.project().to_owned());
        self.read(move |work| {
            let limit =
                usize::try_from(request.limit.unwrap_or(DEFAULT_COLUMN)).unwrap_or(usize::MAX);
            let mut columns = Vec::new();
            for &status in Status::ALL {
                if request.status.is_none_or(|wanted| wanted == status) {
                    columns.push(column(work, &request, status, limit)?);
                }
            }
            let manifest = work.settings().manifest.as_ref();
            Ok(BoardAnswer {
                title: manifest.and_then(|manifest| manifest.title.clone()),
                project_id: project,
                as_of: Timestamp::emit(work.now()),
                total: work.board().len() as u64,
                columns,
                damaged: work.damaged() as u64,
                unmerged: work.unmerged(),
                last_event: work.last_event(),
            })
        })
    }
}

fn column(work: &Work<'_>, query: &BoardQuery, status: Status, most: usize) -> Result<BoardColumn> {
    let ids =
        if status.is_final() { finished(work, query, status) } else { open(work, query, status) };
    let mut tasks = Vec::new();
    for id in ids.iter().take(most) {
        // A broken file is counted, and named by lint.
        if let Ok(Some(file)) = work.peek(*id) {
            tasks.push(work.item(&file)?);
        }
    }
    let hidden = (ids.len() - tasks.len()) as u64;
    Ok(BoardColumn { status, count: ids.len() as u64, tasks, hidden })
}

/// The most urgent first, then the oldest.
fn open(work: &Work<'_>, request: &BoardQuery, status: Status) -> Vec<TaskId> {
    let same = |wanted: &Option<String>, has: &Option<String>| {
        wanted.is_none() || wanted.as_deref() == has.as_deref()
    };
    let fits = |entry: &&Entry| {
        entry.status == status
            && same(&request.team, &entry.team)
            && same(&request.agent, &entry.agent)
            && request.priority.is_none_or(|priority| priority == entry.priority)
    };
    let mut found: Vec<_> =
        work.board().open().filter(fits).map(|entry| (entry.priority, entry.id)).collect();
    found.sort_unstable();
    found.into_iter().map(|(_, id)| id).collect()
}

/// The newest first.
fn finished(work: &Work<'_>, request: &BoardQuery, status: Status) -> Vec<TaskId> {
    if request.team.is_some() || request.agent.is_some() || request.priority.is_some() {
        return Vec::new();
    }
    let closed = work.board().closed().filter(|(_, has)| *has == status);
    let mut found: Vec<TaskId> = closed.map(|(id, _)| id).collect();
    found.sort_unstable_by(|one, other| other.cmp(one));
    found
}
