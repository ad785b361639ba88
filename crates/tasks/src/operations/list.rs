//! Tasks that fit a request, page by page. The index says which tasks there are; their files say
//! the rest. What the index does not know of finished tasks is read from their files, some at a
//! time, so that changes are not held up.

use std::cmp::Reverse;

use accord_base::By;
use accord_contract::{Code, Failure};
use accord_tasks_core::board::Entry;
use accord_tasks_core::operations::{DEFAULT_LIMIT, ListAnswer, ListQuery, TaskItem};
use accord_tasks_core::task::{Priority, Task, TaskFile};
use accord_tasks_core::{Status, TaskId};

use crate::work::Work;
use crate::{Result, Tree};

/// How many files are read in one group.
const AT_ONCE: usize = 256;

/// The order of a list: open tasks by urgency and age, then finished ones, the newest first.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Position {
    Open(Priority, TaskId),
    Finished(Reverse<TaskId>),
}

impl Tree {
    /// Lists tasks. Fails with `invalid_cursor`, or `task_not_found` for a parent that is missing.
    pub fn list(&self, request: &ListQuery, _: &By) -> Result<ListAnswer> {
        let after = request.cursor.as_deref().map(Position::read).transpose()?;
        let (mut filter, parent) = (Filter::of(request), request.parent.clone());
        let (filter, known, counts, unmerged) = self.read(move |work| {
            filter.parent = parent.map(|parent| work.resolve(&parent)).transpose()?;
            let known = filter.candidates(work);
            Ok((filter, known, work.counts(), work.unmerged()))
        })?;
        let mut positions = Vec::new();
        let (sure, unsure): (Vec<_>, Vec<_>) = known.into_iter().partition(|(_, sure)| *sure);
        positions.extend(sure.into_iter().map(|(position, _)| position));
        for some in unsure.chunks(AT_ONCE) {
            let some: Vec<Position> = some.iter().map(|(position, _)| *position).collect();
            let filter = filter.clone();
            positions.extend(self.read(move |work| Ok(filter.read(work, &some)))?);
        }
        positions.sort_unstable();
        let total = positions.len();
        let start = after.map_or(0, |after| positions.partition_point(|at| *at <= after));
        let limit = usize::try_from(request.limit.unwrap_or(DEFAULT_LIMIT)).unwrap_or(usize::MAX);
        let page: Vec<Position> = positions[start..].iter().take(limit).copied().collect();
        let remaining = (total - start - page.len()) as u64;
        let next = page.last().filter(|_| remaining > 0).map(|last| last.text());
        let (tasks, damaged) = self.items(&page)?;
        Ok(ListAnswer {
            project_id: self.project().to_owned(),
            tasks,
            total: total as u64,
            remaining,
            next_cursor: next,
            counts,
            damaged,
            unmerged,
        })
    }

    /// The tasks of a page, and those whose files cannot be read.
    fn items(&self, page: &[Position]) -> Result<(Vec<TaskItem>, Vec<String>)> {
        let (mut items, mut damaged) = (Vec::new(), Vec::new());
        for some in page.chunks(AT_ONCE) {
            let some = some.to_vec();
            let (more, broken) = self.read(move |work| {
                let (mut items, mut damaged) = (Vec::new(), Vec::new());
                for position in some {
                    let id = position.id();
                    match work.peek(id) {
                        Ok(Some(file)) => items.push(work.item(&file)?),
                        Ok(None) => {}
                        Err(_) => damaged.push(id.to_string()),
                    }
                }
                Ok((items, damaged))
            })?;
            items.extend(more);
            damaged.extend(broken);
        }
        Ok((items, damaged))
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Filter {
    statuses: Vec<Status>,
    agent: Option<String>,
    role: Option<String>,
    team: Option<String>,
    priority: Option<Priority>,
    tag: Option<String>,
    /// Words in small letters.
    words: Vec<String>,
    parent: Option<TaskId>,
}

impl Filter {
    fn of(request: &ListQuery) -> Self {
        let all = request.all;
        let usual = |status: &&Status| all || !status.is_final();
        Self {
            statuses: match &request.status {
                Some(statuses) => statuses.clone(),
                None => Status::ALL.iter().filter(usual).copied().collect(),
            },
            agent: request.agent.clone(),
            role: request.role.clone(),
            team: request.team.clone(),
            priority: request.priority,
            tag: request.tag.clone(),
            words: request.text.iter().flat_map(|text| words(text)).collect(),
            parent: None,
        }
    }

    /// The tasks that fit as far as the index knows, and whether that is sure.
    fn candidates(&self, work: &Work<'_>) -> Vec<(Position, bool)> {
        let board = work.board();
        let mut found = Vec::new();
        for entry in board.open() {
            let is_part = self.parent.is_none() || entry.parent == self.parent;
            if is_part && self.statuses.contains(&entry.status) && self.may_fit(entry) {
                let is_sure = self.words.is_empty() && self.agent.is_none();
                found.push((Position::Open(entry.priority, entry.id), is_sure));
            }
        }
        let is_sure = self.needs_no_file();
        for (id, status) in board.closed() {
            if self.statuses.contains(&status) {
                found.push((Position::Finished(Reverse(id)), is_sure));
            }
        }
        found
    }

    /// Whether the status alone decides.
    fn needs_no_file(&self) -> bool {
        let routed = self.agent.is_none() && self.role.is_none() && self.team.is_none();
        let said = self.priority.is_none() && self.tag.is_none() && self.words.is_empty();
        routed && said && self.parent.is_none()
    }

    fn may_fit(&self, entry: &Entry) -> bool {
        let same = |wanted: &Option<String>, has: &Option<String>| {
            wanted.is_none() || wanted.as_deref() == has.as_deref()
        };
        same(&self.role, &entry.role)
            && same(&self.team, &entry.team)
            && self.priority.is_none_or(|priority| priority == entry.priority)
            && self.tag.as_ref().is_none_or(|tag| entry.tags.contains(tag))
    }

    /// Those of some tasks whose files fit. A task that moved in the meantime is found where it
    /// is now; one whose file cannot be read is kept, so that the page names it.
    fn read(&self, work: &Work<'_>, some: &[Position]) -> Vec<Position> {
        let fits = |position: &Position| match work.peek(position.id()) {
            Ok(Some(file)) => self.fits(file.task()) && self.says(&file),
            Ok(None) => false,
            Err(_) => true,
        };
        some.iter().filter(|position| fits(position)).copied().collect()
    }

    /// Whether title and body together contain every word.
    fn says(&self, file: &TaskFile) -> bool {
        if self.words.is_empty() {
            return true;
        }
        let text = format!("{}\n{}", file.task().title, file.body()).to_lowercase();
        self.words.iter().all(|word| text.contains(word))
    }

    fn fits(&self, task: &Task) -> bool {
        let routing = task.routing.as_ref();
        let same = |wanted: &Option<String>, has: Option<&String>| {
            wanted.is_none() || wanted.as_ref() == has
        };
        let tags = routing.and_then(|routing| routing.tags.as_ref());
        let is_routed = routing.is_some_and(|routing| routing.agent == self.agent);
        (self.agent.is_none() || is_routed || task.agent() == self.agent.as_deref())
            && same(&self.role, routing.and_then(|routing| routing.role.as_ref()))
            && same(&self.team, routing.and_then(|routing| routing.team.as_ref()))
            && (self.parent.is_none() || task.parent_id == self.parent)
            && self.priority.is_none_or(|priority| priority == task.urgency())
            && self.tag.as_ref().is_none_or(|tag| tags.is_some_and(|tags| tags.contains(tag)))
    }
}

fn words(text: &str) -> Vec<String> {
    text.to_lowercase().split_whitespace().map(str::to_owned).collect()
}

impl Position {
    fn id(self) -> TaskId {
        match self {
            Self::Open(_, id) | Self::Finished(Reverse(id)) => id,
        }
    }

    fn text(self) -> String {
        match self {
            Self::Open(priority, id) => format!("{priority}.{id}"),
            Self::Finished(Reverse(id)) => format!("finished.{id}"),
        }
    }

    fn read(text: &str) -> Result<Self> {
        let read = || {
            let (rank, id) = text.split_once('.')?;
            let id = TaskId::parse(id).ok()?;
            match rank {
                "finished" => Some(Self::Finished(Reverse(id))),
                rank => Some(Self::Open(Priority::parse(rank)?, id)),
            }
        };
        read().ok_or_else(|| {
            let message = format!("{text:?} is not a cursor of a list of tasks");
            Failure::new(Code::AgenticInvalidCursor, message).at("/cursor")
        })
    }
}
