//! What waits for a person in a tree.

use accord_base::inbox::Waiting;
use accord_contract::Wire as _;
use accord_tasks_core::board::Entry;
use accord_tasks_core::inbox::{BoardFacts, is_handed_over, may_wait, waiting};
use accord_tasks_core::message::HandoffRequest;
use accord_tasks_core::{Status, TaskId};

use super::briefing::text;
use crate::layout::companion;
use crate::work::Work;
use crate::{Result, Tree};

/// How many files are read in one group.
const AT_ONCE: usize = 128;

impl Tree {
    /// What waits for a person, in the order of the tasks. A file that cannot be read is left out.
    pub fn waiting(&self) -> Result<Vec<Waiting>> {
        self.waiting_where(|entry, facts| may_wait(entry.status, facts, entry.is_unadopted))
    }

    /// The tasks that are handed to people and were not taken, as [`Self::waiting`] has them.
    pub fn handed_over(&self) -> Result<Vec<Waiting>> {
        self.waiting_where(|_, facts| facts.is_handed_over)
    }

    /// The request by which a task was handed over, if it is for the agent that has it now.
    pub fn handoff(&self, task: &str) -> Result<Option<HandoffRequest>> {
        let task = task.to_owned();
        self.read(move |work| {
            let id = work.resolve(&task)?;
            let status = work.board().status(id);
            let agent = work.board().entry(id).and_then(|entry| entry.agent.clone());
            Ok(status.and_then(|status| handoff(work, id, status, agent.as_deref())))
        })
    }

    fn waiting_where(
        &self,
        fits: impl Fn(&Entry, BoardFacts) -> bool + Send + 'static,
    ) -> Result<Vec<Waiting>> {
        let ids = self.read(move |work| {
            let fits = |entry: &&Entry| fits(entry, facts(work, entry));
            let mut ids: Vec<TaskId> =
                work.board().open().filter(fits).map(|entry| entry.id).collect();
            ids.sort_unstable();
            Ok(ids)
        })?;
        let mut found = Vec::new();
        for some in ids.chunks(AT_ONCE) {
            let some = some.to_vec();
            found.extend(self.read(move |work| {
                let mut found = Vec::new();
                for id in some {
                    let Some(entry) = work.board().entry(id) else { continue };
                    let mut facts = facts(work, entry);
                    if facts.is_handed_over {
                        let asked = handoff(work, id, entry.status, entry.agent.as_deref());
                        facts.due_at = asked.map(|asked| asked.due_by.time());
                    }
                    if let Ok(Some(file)) = work.peek(id) {
                        found.extend(waiting(&work.item(&file)?, facts));
                    }
                }
                Ok(found)
            })?);
        }
        Ok(found)
    }
}

fn facts(work: &Work<'_>, entry: &Entry) -> BoardFacts {
    let board = work.board();
    let is_open = |id: &&TaskId| board.status(**id).is_some_and(|status| !status.is_final());
    BoardFacts {
        dependents: board.dependents(entry.id).iter().filter(is_open).count() as u64,
        is_unrouted: entry.is_alerted,
        overdue_at: entry.overdue_at,
        is_handed_over: is_handed_over(entry.status, entry.agent.as_deref()),
        due_at: None,
    }
}

/// The request in `inputs/handoff.json`. One that cannot be read, or is for somebody else, is none.
fn handoff(
    work: &Work<'_>,
    id: TaskId,
    status: Status,
    agent: Option<&str>,
) -> Option<HandoffRequest> {
    let text = text(work, &companion(status, id), "inputs/handoff.json")?;
    let asked = HandoffRequest::from_document(serde_json::from_str(&text).ok()?).ok()?;
    (Some(asked.to_agent.as_str()) == agent).then_some(asked)
}
