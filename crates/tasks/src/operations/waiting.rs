//! What waits for a person in a tree.

use accord_base::inbox::Waiting;
use accord_tasks_core::TaskId;
use accord_tasks_core::board::Entry;
use accord_tasks_core::inbox::{BoardFacts, may_wait, waiting};

use crate::work::Work;
use crate::{Result, Tree};

/// How many files are read in one group.
const AT_ONCE: usize = 128;

impl Tree {
    /// What waits for a person, in the order of the tasks. A file that cannot be read is left out.
    pub fn waiting(&self) -> Result<Vec<Waiting>> {
        let ids = self.read(|work| {
            let fits =
                |entry: &&Entry| may_wait(entry.status, facts(work, entry), entry.is_unadopted);
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
                    let facts = facts(work, entry);
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
    let dependents = board.dependents(entry.id).iter().filter(is_open).count() as u64;
    BoardFacts { dependents, is_unrouted: entry.is_alerted, overdue_at: entry.overdue_at }
}
