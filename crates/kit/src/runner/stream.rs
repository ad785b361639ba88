//! Sends the events of a run to its reporter, numbered and timed.

use std::time::{Duration, Instant};

use super::RunError;
use crate::case::Case;
use crate::event::{Event, Reporter, What};
use crate::report::CaseReport;
use crate::verdict::{Judgement, Verdict};

pub(super) struct Stream<'a> {
    reporter: &'a mut dyn Reporter,
    started: Instant,
    seq: u64,
}

impl<'a> Stream<'a> {
    pub(super) fn new(reporter: &'a mut dyn Reporter) -> Self {
        Self { reporter, started: Instant::now(), seq: 0 }
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    pub(super) fn tell(&mut self, what: What<'_>) -> Result<(), RunError> {
        let event = Event { seq: self.seq, elapsed: self.started.elapsed(), what };
        self.seq += 1;
        self.reporter.report(&event).map_err(RunError::Output)
    }

    pub(super) fn skip(&mut self, case: &Case, why: String) -> Result<CaseReport, RunError> {
        let judgement = Judgement::with_message(Verdict::Skip, why);
        let result = CaseReport::new(case, judgement, Duration::ZERO);
        self.tell(What::CaseFinished { case, result: &result })?;
        Ok(result)
    }
}
