//! Following what happens in a project.
//!
//! Invariants:
//! - a follower gets every event behind its cursor once, in order, without a gap: each page is read
//!   from the store by number;
//! - an event that the caller may not see, or that is damaged, keeps its number and says nothing else;
//! - a key that is revoked or expires ends its followers: no page is read for it any more.

use accord_base::{Access, Caller, Event, ProjectId, StoredKey};
use accord_contract::codes::{Code, Failure};
use accord_contract::time::Time;
use accord_store::{Kept, ReadUnit};

use super::live::Wake;
use super::record::recorded;
use super::{Memory, UnitResult, load};

/// How many events are read at once.
const PAGE: usize = 64;

/// From where on events are wanted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Since {
    /// From now on.
    Now,
    /// Behind the event of this number; behind 0 is from the first.
    After(u64),
}

/// Somebody who follows a project.
///
/// Clauses: AGENTIC-A-32.
#[derive(Debug)]
pub struct Follower {
    memory: Memory,
    caller: Caller,
    project: ProjectId,
    seen: u64,
    wake: Wake,
}

/// Why a follower gets no more events.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum FollowEnd {
    /// The key that it follows with was revoked or has expired, or one is needed by now.
    ShutOut,
    /// Something failed, such as the store; or it fell so far behind that events are gone.
    Failed(Failure),
}

impl Memory {
    /// Follows a project.
    ///
    /// # Errors
    /// With `unauthorized` or `project_not_found`; with `event_cursor_too_old` when events behind the
    /// cursor are gone, with `invalid_cursor` when there was no such event yet.
    pub async fn follow(
        &self,
        caller: &Caller,
        project: &ProjectId,
        since: Since,
    ) -> Result<Follower, Failure> {
        // Waiting begins before the look at what is there, so that nothing falls between.
        let wake = self.live().wait_for(project);
        let (access, named) = (caller.access().clone(), project.clone());
        let job = move |unit: &dyn ReadUnit| begin(unit, &access, &named, since);
        Ok(Follower {
            seen: self.read(job).await?,
            memory: self.clone(),
            caller: caller.clone(),
            project: project.clone(),
            wake,
        })
    }
}

impl Follower {
    /// The number of the last event that it has got, or that it began behind.
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// What the caller may see.
    pub fn access(&self) -> &Access {
        self.caller.access()
    }

    /// The next events, as soon as there are any. What was not taken is there again the next time: the
    /// future may be dropped.
    ///
    /// # Errors
    /// When there will be no more.
    pub async fn next(&mut self) -> Result<Vec<Event>, FollowEnd> {
        loop {
            let page = self.page().await?;
            if let Some(last) = page.last() {
                self.seen = last.seq;
                return Ok(page);
            }
            self.wake.behind(self.seen).await;
        }
    }

    /// Whether the caller may still follow.
    ///
    /// # Errors
    /// When it may not.
    pub async fn check(&self) -> Result<(), FollowEnd> {
        let (caller, memory) = (self.caller.clone(), self.memory.clone());
        let revoked = (self.memory).read(move |unit| is_shut_out(unit, &caller, memory.now()));
        match revoked.await.map_err(FollowEnd::Failed)? {
            true => Err(FollowEnd::ShutOut),
            false => Ok(()),
        }
    }

    async fn page(&self) -> Result<Vec<Event>, FollowEnd> {
        let (caller, project, seen) = (self.caller.clone(), self.project.clone(), self.seen);
        let memory = self.memory.clone();
        let page = self.memory.read(move |unit| {
            if is_shut_out(unit, &caller, memory.now())? {
                return Ok(None);
            }
            let kept = unit.events_kept(&project)?;
            if !kept.reaches(seen) {
                return Err(too_old(seen, kept).into());
            }
            Ok(Some(events_behind(unit, &project, seen, kept)?))
        });
        let page = page.await.map_err(FollowEnd::Failed)?;
        page.ok_or(FollowEnd::ShutOut)
    }
}

/// The next events behind a number, without a gap: for each that cannot be read, one that says so.
fn events_behind(
    unit: &dyn ReadUnit,
    project: &ProjectId,
    seen: u64,
    kept: Kept,
) -> UnitResult<Vec<Event>> {
    let rows = unit.events(project, seen, PAGE)?;
    let last = match rows.last() {
        Some(last) if rows.len() == PAGE => last.seq.min(kept.newest),
        _ => kept.newest,
    };
    let mut rows = rows.into_iter().peekable();
    let numbers = (seen + 1..=last).take(PAGE);
    let events = numbers.map(|seq| {
        let row = rows.next_if(|row| row.seq == seq);
        let event = row.and_then(|row| recorded(project, row).ok());
        Event { seq, event }
    });
    Ok(events.collect())
}

fn begin(
    unit: &dyn ReadUnit,
    access: &Access,
    project: &ProjectId,
    since: Since,
) -> UnitResult<u64> {
    load::readable(unit, access, project)?;
    let kept = unit.events_kept(project)?;
    let Since::After(seen) = since else {
        return Ok(kept.newest);
    };
    if !kept.reaches(seen) {
        return Err(too_old(seen, kept).into());
    }
    if seen > kept.newest {
        let message = format!(
            "there is no event {seen} yet; the newest is {}",
            kept.newest
        );
        let failure = Failure::new(Code::AgenticInvalidCursor, message);
        return Err(failure.with("newest", kept.newest).into());
    }
    Ok(seen)
}

/// Whether the caller would no longer be let in.
fn is_shut_out(unit: &dyn ReadUnit, caller: &Caller, now: Time) -> UnitResult<bool> {
    if caller.is_local() {
        // Whoever came in without a key stays until the first is made.
        return Ok(!unit.keys(None, 1)?.is_empty());
    }
    let Some(id) = caller.key_id() else {
        return Ok(false);
    };
    let Some(key) = unit.key(id)? else {
        return Ok(true);
    };
    // A key that can no longer be read gives no access.
    let expired = StoredKey::read(&key.text).map_or(true, |stored| stored.is_expired(now));
    Ok(key.revoked_at.is_some() || expired)
}

fn too_old(seen: u64, kept: Kept) -> Failure {
    let message = format!(
        "events behind {seen} are gone; the oldest that is kept is {}",
        kept.oldest
    );
    Failure::new(Code::AgenticEventCursorTooOld, message)
        .with("oldest", kept.oldest)
        .with("newest", kept.newest)
}
