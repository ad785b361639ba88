//! The events of a run. Reporters read only this stream.

use std::io;
use std::time::Duration;

use accord_contract::{Extensible, Object, message, wire_enum};

use crate::case::Case;
use crate::corpus::Protocol;
use crate::report::{CaseReport, RunInfo, RunReport, RunSummary, millis};

/// Something that happened in a run.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Event<'a> {
    /// Its place in the run, from 0, without gaps.
    pub seq: u64,
    /// When, counted from the start of the run.
    pub elapsed: Duration,
    /// What happened.
    pub what: What<'a>,
}

/// What happened in a run.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum What<'a> {
    /// The run begins. Always the first event.
    RunStarted {
        /// What it is about.
        run: &'a RunInfo,
        /// The protocol, for the texts of its clauses.
        protocol: &'a Protocol,
    },
    /// A case begins. Cases that are skipped from the start do not begin.
    CaseStarted {
        /// The case.
        case: &'a Case,
    },
    /// A case has its verdict.
    CaseFinished {
        /// The case.
        case: &'a Case,
        /// The result.
        result: &'a CaseReport,
    },
    /// The run is over. Always the last event.
    RunFinished {
        /// The whole report.
        report: &'a RunReport,
    },
}

/// Receives the events of a run: a printer, a progress bar, a file.
pub trait Reporter {
    /// Handles an event. An error ends the run.
    fn report(&mut self, event: &Event<'_>) -> io::Result<()>;
}

/// Several reporters that get the same events.
#[derive(Default)]
pub struct Reporters<'a>(pub Vec<Box<dyn Reporter + 'a>>);

impl Reporter for Reporters<'_> {
    fn report(&mut self, event: &Event<'_>) -> io::Result<()> {
        self.0.iter_mut().try_for_each(|reporter| reporter.report(event))
    }
}

wire_enum! {
    /// The name of an event.
    pub enum EventName("EventName", closed) {
        /// The run begins.
        RunStarted = "run.started",
        /// A case begins.
        CaseStarted = "case.started",
        /// A case has its verdict.
        CaseFinished = "case.finished",
        /// The run is over.
        RunFinished = "run.finished",
    }
}

message! {
    /// An event of a run, as one line.
    pub struct EventLine("EventLine", open) {
        /// What happened.
        required event: Extensible<EventName> = "event", "event-name";
        /// Its place in the run, from 0, without gaps.
        required seq: u64 = "seq", "sequence";
        /// When, counted from the start of the run.
        required elapsed_ms: u64 = "elapsed_ms", "unit:millisecond";
        /// With `run.started`: what the run is about.
        optional run: RunInfo = "run", "run-info";
        /// With `case.started`: the id of the case.
        optional case: String = "case", "case-id";
        /// With `case.finished`: what came of the case.
        optional result: CaseReport = "result", "case-report";
        /// With `run.finished`: what came of the run.
        optional summary: RunSummary = "summary", "run-summary";
    }
}

impl From<&Event<'_>> for EventLine {
    fn from(event: &Event<'_>) -> Self {
        let mut line = Self {
            event: EventName::RunStarted.into(),
            seq: event.seq,
            elapsed_ms: millis(event.elapsed),
            run: None,
            case: None,
            result: None,
            summary: None,
            extra: Object::new(),
        };
        match event.what {
            What::RunStarted { run, .. } => line.run = Some(run.clone()),
            What::CaseStarted { case } => {
                line.event = EventName::CaseStarted.into();
                line.case = Some(case.id.clone());
            }
            What::CaseFinished { result, .. } => {
                line.event = EventName::CaseFinished.into();
                line.result = Some(result.clone());
            }
            What::RunFinished { report } => {
                line.event = EventName::RunFinished.into();
                line.summary = Some(report.summary.clone());
            }
        }
        line
    }
}
