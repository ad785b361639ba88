//! An answer with events that were taken out of a session.
//!
//! Dropped before [`Taken::take`], it gives its events back to the session, durably, and the next
//! call gets them.

use std::fmt;

use accord_base::ProjectId;
use accord_live_core::{SessionId, session::give_back};

use super::{Live, rows};

pub struct Taken<A> {
    answer: Option<A>,
    numbers: Vec<u64>,
    /// The version of the session after the commit.
    version: u64,
    live: Live,
    project: ProjectId,
    session: SessionId,
}

impl<A> Taken<A> {
    pub(crate) fn new(
        live: &Live,
        answer: A,
        numbers: Vec<u64>,
        version: u64,
        (project, session): (ProjectId, SessionId),
    ) -> Self {
        Self { answer: Some(answer), numbers, version, live: live.clone(), project, session }
    }

    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    pub fn answer(&self) -> &A {
        self.answer.as_ref().expect("an answer is taken once, because that consumes it")
    }

    /// The answer. From now on its events belong to the caller.
    pub fn take(mut self) -> A {
        self.numbers.clear();
        self.answer.take().expect("an answer is taken once, because that consumes it")
    }
}

impl<A> Drop for Taken<A> {
    fn drop(&mut self) {
        if self.numbers.is_empty() {
            return;
        }
        let numbers = std::mem::take(&mut self.numbers);
        let (project, session) = (self.project.clone(), self.session.clone());
        self.live.begin_write(move |job| {
            let Some(row) = job.unit.live_session(&session)? else { return Ok(()) };
            let returned = rows::returned(job.unit, &session)?;
            let returned: Vec<u64> = returned.iter().map(|row| row.seq).collect();
            let now = job.at(&project)?.now;
            if let Some(delta) = give_back(&row.session, &returned, &numbers, now) {
                job.record(&project, Some(&row), &delta, Vec::new())?;
            }
            Ok(())
        });
    }
}

impl<A: fmt::Debug> fmt::Debug for Taken<A> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Taken");
        shown.field("answer", &self.answer).finish_non_exhaustive()
    }
}
