//! Following the events of a project.
//!
//! Invariants:
//! - a follower gets every event after its cursor once, in order, without a gap, because each page
//!   is read from the store by number;
//! - an event that the caller may not see, or that is damaged, keeps its number and shows nothing
//!   else;
//! - when a key is revoked or expires, its followers end before the next page;
//! - when a project is removed, its followers get the event of the removal, and end. Events before
//!   it that they have not read are deleted with the project.

mod all;

use accord_base::{Access, Caller, Event, ProjectId, StoredKey};
use accord_contract::{Code, Failure, Time};
use accord_memory_core::event;
use accord_store::{EventRange, ReadUnit};

pub use self::all::{WatchedEvent, Watcher};
use super::notify::Subscription;
use super::record::recorded;
use super::{Memory, UnitResult, load};

/// How many events are read at once.
const PAGE: usize = 64;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Since {
    /// After the newest event.
    Now,
    /// After the event of this number; 0 for all events.
    After(u64),
}

/// A reader that waits for the events of a project.
/// Clauses: AGENTIC-A-32.
#[derive(Debug)]
pub struct Follower {
    memory: Memory,
    caller: Caller,
    project: ProjectId,
    seen: u64,
    /// Whether it got the event of the removal.
    is_over: bool,
    subscription: Subscription,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub enum FollowEnd {
    /// Its key was revoked or has expired, or the host needs a key now.
    ShutOut,
    Removed,
    /// The store failed, or the next events were deleted.
    Failed(Failure),
}

enum NextEvents {
    /// These; empty if there are none yet.
    Some(Vec<Event>),
    /// The project was removed with this event.
    Last(Event),
}

impl Memory {
    /// Follows a project. Fails with `unauthorized` or `project_not_found`; with
    /// `event_cursor_too_old` when events after the cursor were deleted, with `invalid_cursor` when
    /// there is no such event yet.
    pub async fn follow(
        &self,
        caller: &Caller,
        project: &ProjectId,
        since: Since,
    ) -> Result<Follower, Failure> {
        // Subscribes before it reads, so that no commit between the two is missed.
        let subscription = self.inner.notifier.subscribe(project);
        let (access, named) = (caller.access().clone(), project.clone());
        let job = move |unit: &dyn ReadUnit| begin(unit, &access, &named, since);
        Ok(Follower {
            seen: self.read(job).await?,
            memory: self.clone(),
            caller: caller.clone(),
            project: project.clone(),
            is_over: false,
            subscription,
        })
    }
}

impl Follower {
    /// The number of the last event that it got, or of its start.
    pub fn seen(&self) -> u64 {
        self.seen
    }

    pub fn access(&self) -> &Access {
        self.caller.access()
    }

    /// Waits for the next events. The future may be dropped: it returns the same events the next
    /// time.
    pub async fn next(&mut self) -> Result<Vec<Event>, FollowEnd> {
        loop {
            if self.is_over {
                return Err(FollowEnd::Removed);
            }
            let page = match self.page().await? {
                NextEvents::Some(page) => page,
                NextEvents::Last(event) => {
                    self.is_over = true;
                    vec![event]
                }
            };
            if let Some(last) = page.last() {
                self.seen = last.seq;
                return Ok(page);
            }
            self.subscription.changed_after(self.seen).await;
        }
    }

    async fn page(&self) -> Result<NextEvents, FollowEnd> {
        let (caller, project, seen) = (self.caller.clone(), self.project.clone(), self.seen);
        let memory = self.memory.clone();
        let page = self.memory.read(move |unit| {
            // Checked with every page: a stream lives longer than its request's authentication.
            if is_shut_out(unit, &caller, memory.now())? {
                return Ok(None);
            }
            // Before the range: the project may have been created again.
            if let Some(removal) = unit.removal(&project)?
                && removal.event > seen
            {
                let event = event::project_removed(&project, removal.at.time());
                let event = Event { seq: removal.event, event: Some(event) };
                return Ok(Some(NextEvents::Last(event)));
            }
            let kept = unit.event_range(&project)?;
            if !kept.reaches(seen) {
                return Err(too_old(seen, kept).into());
            }
            Ok(Some(NextEvents::Some(events_behind(unit, &project, seen, kept)?)))
        });
        page.await.map_err(FollowEnd::Failed)?.ok_or(FollowEnd::ShutOut)
    }
}

/// The next events after a number, without a gap. An unreadable event is marked as damaged.
fn events_behind(
    unit: &dyn ReadUnit,
    project: &ProjectId,
    seen: u64,
    kept: EventRange,
) -> UnitResult<Vec<Event>> {
    let rows = unit.events(project, seen, PAGE)?;
    // A page that is not full ends at the newest event, so that damaged events at the end are
    // numbered, too.
    let last = match rows.last() {
        Some(last) if rows.len() == PAGE => last.seq.min(kept.newest),
        _ => kept.newest,
    };
    let mut rows = rows.into_iter().peekable();
    // The store leaves out damaged rows. Counting by number fills their places.
    let numbers = (seen + 1..=last).take(PAGE);
    let events = numbers.map(|seq| {
        let row = rows.next_if(|row| row.seq == seq);
        Event { seq, event: row.and_then(|row| recorded(project, row).ok()) }
    });
    Ok(events.collect())
}

fn begin(unit: &dyn ReadUnit, access: &Access, id: &ProjectId, since: Since) -> UnitResult<u64> {
    load::readable(unit, access, id)?;
    let kept = unit.event_range(id)?;
    let Since::After(seen) = since else { return Ok(kept.newest) };
    if !kept.reaches(seen) {
        return Err(too_old(seen, kept).into());
    }
    if seen > kept.newest {
        let message = format!("there is no event {seen} yet; the newest is {}", kept.newest);
        let failure = Failure::new(Code::AgenticInvalidCursor, message);
        return Err(failure.with("newest", kept.newest).into());
    }
    Ok(seen)
}

/// Whether the caller is no longer accepted.
fn is_shut_out(unit: &dyn ReadUnit, caller: &Caller, now: Time) -> UnitResult<bool> {
    if caller.is_local() {
        // A caller without a key is accepted until the first key is created.
        return Ok(!unit.keys(None, 1)?.is_empty());
    }
    let Some(id) = caller.key_id() else { return Ok(false) };
    let Some(key) = unit.key(id)? else { return Ok(true) };
    // A key that can no longer be read gives no access.
    let expired = StoredKey::read(&key.text).map_or(true, |stored| stored.is_expired(now));
    Ok(key.revoked_at.is_some() || expired)
}

fn too_old(seen: u64, kept: EventRange) -> Failure {
    let message =
        format!("the events after {seen} were deleted; the oldest event is {}", kept.oldest);
    Failure::new(Code::AgenticEventCursorTooOld, message)
        .with("oldest", kept.oldest)
        .with("newest", kept.newest)
}
