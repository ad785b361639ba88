//! Watching the events of all projects that a caller covers.
//!
//! Invariants:
//! - the events of a project come in its order, each once, without a gap; between projects the
//!   order is that of their times, as far as they are read together;
//! - a position has the number of each project, so that a watcher resumes without a gap, also in
//!   projects that were created meanwhile;
//! - events that the caller may not see are left out;
//! - no project waits for ever behind one that changes all the time.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Bound;

use accord_base::cursor::StreamPosition;
use accord_base::{Access, Caller, Event, ProjectId, Verb};
use accord_contract::{Code, Failure};
use accord_memory_core::event;
use accord_store::{ProjectQuery, ReadUnit};
use tokio::sync::broadcast::{self, error::RecvError, error::TryRecvError};

use super::{FollowEnd, PAGE, events_behind, is_shut_out, too_old};
use crate::{Memory, UnitResult, load};

/// How many projects are read together.
const TOGETHER: usize = 4;
/// The most projects of a watcher, whose position names each.
const MOST: usize = 500;

/// An event, and whose it is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct WatchedEvent {
    pub project: ProjectId,
    pub event: Event,
}

/// A reader that waits for the events of several projects.
#[derive(Debug)]
pub struct Watcher {
    memory: Memory,
    caller: Caller,
    /// The only project, if one was named.
    only: Option<ProjectId>,
    position: StreamPosition,
    /// The projects that may have events behind their position.
    waiting: BTreeSet<ProjectId>,
    /// The project that was read last.
    last: Option<ProjectId>,
    changes: broadcast::Receiver<ProjectId>,
}

/// What was read of some projects.
struct Batch {
    events: Vec<WatchedEvent>,
    /// The projects that were read, with their new numbers; `None` for one that is gone.
    read: Vec<(ProjectId, Option<u64>)>,
    /// Those of them that may have more.
    more: Vec<ProjectId>,
}

impl Memory {
    /// Watches the projects that the caller covers, or one of them, after a position or from now
    /// on. Fails with `unauthorized` or `project_not_found`; with `event_cursor_too_old` when
    /// events after the position were deleted, with `invalid_cursor` when it is not of this store,
    /// with `WIRE_FIELD_VALUE` when there are too many projects.
    pub async fn watch(
        &self,
        caller: &Caller,
        only: Option<ProjectId>,
        after: Option<StreamPosition>,
    ) -> Result<Watcher, Failure> {
        // Subscribes before it reads, so that no commit between the two is missed.
        let changes = self.inner.notifier.changes();
        caller.access().may_anywhere(Verb::Read)?;
        let (access, named) = (caller.access().clone(), only.clone());
        let begin =
            self.read(move |unit| begin(unit, &access, named.as_ref(), after.as_ref())).await?;
        let (position, waiting) = begin;
        let (memory, caller) = (self.clone(), caller.clone());
        Ok(Watcher { memory, caller, only, position, waiting, last: None, changes })
    }
}

impl Watcher {
    pub fn position(&self) -> &StreamPosition {
        &self.position
    }

    pub fn access(&self) -> &Access {
        self.caller.access()
    }

    /// Waits for the next events. The future may be dropped: it returns the same events the next
    /// time.
    pub async fn next(&mut self) -> Result<Vec<WatchedEvent>, FollowEnd> {
        loop {
            self.note_changes().await?;
            let Batch { events, read, more } = self.batch().await?;
            for (project, seen) in read {
                self.waiting.remove(&project);
                self.last = Some(project.clone());
                match seen {
                    Some(seen) => self.position.set(project, seen),
                    None => self.position.remove(&project),
                }
            }
            self.waiting.extend(more);
            if !events.is_empty() {
                return Ok(events);
            }
        }
    }

    /// Notes which projects changed. Waits for a change if none may have events.
    async fn note_changes(&mut self) -> Result<(), FollowEnd> {
        loop {
            let changed = match self.waiting.is_empty() {
                true => self.changes.recv().await.map_err(|error| match error {
                    RecvError::Lagged(missed) => TryRecvError::Lagged(missed),
                    RecvError::Closed => TryRecvError::Closed,
                }),
                false => self.changes.try_recv(),
            };
            match changed {
                Ok(project) => {
                    let is_wanted = self.only.as_ref().is_none_or(|only| *only == project);
                    if is_wanted && self.access().covers(&project) {
                        self.waiting.insert(project);
                    }
                }
                Err(TryRecvError::Lagged(_)) => {
                    let (access, only) = (self.access().clone(), self.only.clone());
                    let all = self.memory.read(move |unit| covered(unit, &access, only.as_ref()));
                    self.waiting.extend(all.await.map_err(FollowEnd::Failed)?);
                }
                Err(TryRecvError::Empty | TryRecvError::Closed) => return Ok(()),
            }
        }
    }

    /// Reads a page of some projects, beginning after the one that was read last.
    async fn batch(&self) -> Result<Batch, FollowEnd> {
        let after = self.last.as_ref().map_or(Bound::Unbounded, Bound::Excluded);
        let rest = self.waiting.range::<ProjectId, _>((after, Bound::Unbounded));
        let turn = rest.chain(&self.waiting).take(TOGETHER.min(self.waiting.len()));
        let turn = turn.map(|project| (project.clone(), self.position.of(project)));
        let turn: BTreeMap<ProjectId, Option<u64>> = turn.collect();
        let (caller, memory) = (self.caller.clone(), self.memory.clone());
        let read = self.memory.read(move |unit| {
            // Checked with every page: a stream lives longer than its request's authentication.
            if is_shut_out(unit, &caller, memory.now())? {
                return Ok(None);
            }
            let mut batch = Batch { events: Vec::new(), read: Vec::new(), more: Vec::new() };
            let mut pages = Vec::new();
            for (project, seen) in &turn {
                let page = page(unit, project, *seen)?;
                if page.is_full {
                    batch.more.push(project.clone());
                }
                batch.read.push((project.clone(), page.seen));
                let visible = |event: &Event| !event.is_hidden_from(caller.access());
                let events = page.events.into_iter().filter(visible);
                let whose = |event| WatchedEvent { project: project.clone(), event };
                pages.push(events.map(whose).collect::<VecDeque<_>>());
            }
            batch.events = merged(pages);
            Ok(Some(batch))
        });
        read.await.map_err(FollowEnd::Failed)?.ok_or(FollowEnd::ShutOut)
    }
}

/// What was read of one project.
struct Page {
    events: Vec<Event>,
    /// The number of the last event; `None` if the project is gone.
    seen: Option<u64>,
    is_full: bool,
}

fn page(unit: &dyn ReadUnit, project: &ProjectId, seen: Option<u64>) -> UnitResult<Page> {
    let kept = unit.event_range(project)?;
    let removal = unit.removal(project)?;
    if let (Some(seen), Some(removal)) = (seen, &removal)
        && removal.event > seen
    {
        // What was not read before it is deleted with the project.
        let event = event::project_removed(project, removal.at.time());
        let events = vec![Event { seq: removal.event, event: Some(event) }];
        return Ok(Page { events, seen: Some(removal.event), is_full: true });
    }
    if load::if_sound(unit.project(project))?.is_none() && kept.newest < kept.oldest {
        let is_gone = removal.is_some() || seen.is_none();
        return Ok(Page { events: Vec::new(), seen: seen.filter(|_| !is_gone), is_full: false });
    }
    // A project that is new to the watcher begins with its first event.
    let seen = seen.unwrap_or(kept.oldest.saturating_sub(1));
    if !kept.reaches(seen) {
        return Err(too_old(seen, kept).with("project_id", project.as_str()).into());
    }
    let events = events_behind(unit, project, seen, kept)?;
    let is_full = events.len() == PAGE;
    Ok(Page { seen: Some(events.last().map_or(seen, |last| last.seq)), events, is_full })
}

/// One list of several, each in its order, and between them by time.
fn merged(mut pages: Vec<VecDeque<WatchedEvent>>) -> Vec<WatchedEvent> {
    let mut all = Vec::new();
    let at = |page: &VecDeque<WatchedEvent>| {
        let event = page.front()?.event.event.as_ref();
        event.map(|event| event.at.time())
    };
    loop {
        pages.retain(|page| !page.is_empty());
        // A damaged event has no time, and does not let the others wait.
        let Some(next) = pages.iter_mut().min_by_key(|page| at(page)) else { return all };
        all.extend(next.pop_front());
    }
}

/// The position at the beginning, and the projects that may have events behind it.
fn begin(
    unit: &dyn ReadUnit,
    access: &Access,
    only: Option<&ProjectId>,
    after: Option<&StreamPosition>,
) -> UnitResult<(StreamPosition, BTreeSet<ProjectId>)> {
    let projects = covered(unit, access, only)?;
    let Some(after) = after else {
        let mut position = StreamPosition::default();
        for project in projects {
            position.set(project.clone(), unit.event_range(&project)?.newest);
        }
        return Ok((position, BTreeSet::new()));
    };
    let mut position = StreamPosition::default();
    let mut waiting = projects;
    for (project, seen) in after.each() {
        let is_wanted = only.is_none_or(|only| only == project) && access.covers(project);
        let removal = unit.removal(project)?;
        let is_removed_since = removal.is_some_and(|removal| removal.event > seen);
        if !is_wanted || !waiting.contains(project) && !is_removed_since {
            continue;
        }
        let kept = unit.event_range(project)?;
        if !is_removed_since && !kept.reaches(seen) {
            return Err(too_old(seen, kept).with("project_id", project.as_str()).into());
        }
        if seen > kept.newest {
            let id = project.as_str();
            let message = format!("{id:?} has no event {seen} yet; the newest is {}", kept.newest);
            let failure = Failure::new(Code::AgenticInvalidCursor, message);
            return Err(failure.with("newest", kept.newest).into());
        }
        position.set(project.clone(), seen);
        waiting.insert(project.clone());
    }
    Ok((position, waiting))
}

/// The projects that the access covers, also archived ones.
fn covered(
    unit: &dyn ReadUnit,
    access: &Access,
    only: Option<&ProjectId>,
) -> UnitResult<BTreeSet<ProjectId>> {
    if let Some(only) = only {
        load::readable(unit, access, only)?;
        return Ok(BTreeSet::from([only.clone()]));
    }
    let is_there = |id: &&ProjectId| load::if_sound(unit.project(id)).is_ok_and(|it| it.is_some());
    let found: BTreeSet<ProjectId> = match access.projects() {
        Some(named) => named.iter().filter(is_there).cloned().collect(),
        None => {
            let query = ProjectQuery { archived: true, after: None, limit: MOST + 1 };
            unit.projects(&query)?.into_iter().map(|row| row.project_id).collect()
        }
    };
    if found.len() > MOST {
        let message = format!("there are more than {MOST} projects, too many for one stream");
        let failure = Failure::new(Code::WireFieldValue, message).at("project");
        return Err(failure.suggesting("name a project").into());
    }
    Ok(found)
}
