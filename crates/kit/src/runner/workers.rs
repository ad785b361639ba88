//! The workers of a run, and the thread that hears them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Instant;

use accord_process::StartError;

use super::stream::Stream;
use super::{RunError, RunOptions};
use crate::case::Case;
use crate::driver::{Adapter, NoAnswer};
use crate::event::What;
use crate::report::CaseReport;
use crate::verdict::{Verdict, judge};

/// Runs cases on several threads, and gives their reports in the order of the cases.
pub(super) fn execute(
    cases: &[&Case],
    adapter: &dyn Adapter,
    options: &RunOptions,
    stream: &mut Stream<'_>,
) -> Result<Vec<CaseReport>, RunError> {
    let queue = Queue {
        next: AtomicUsize::new(0),
        stop: AtomicBool::new(false),
    };
    let workers = options.workers.get().min(cases.len());
    thread::scope(|scope| {
        let (notes, heard) = mpsc::channel();
        for _ in 0..workers {
            let (notes, queue) = (notes.clone(), &queue);
            scope.spawn(move || work(cases, adapter, options, queue, &notes));
        }
        drop(notes);
        let results = collect(cases, options.in_order, &heard, stream);
        // Whatever happened, no worker takes another case.
        queue.stop.store(true, Ordering::Relaxed);
        results
    })
}

/// What a worker tells the thread that called [`super::run`]; the number is the case's place in the list.
enum Note {
    Started(usize),
    Finished(usize, Box<CaseReport>),
    CannotStart(StartError),
}

struct Queue {
    next: AtomicUsize,
    stop: AtomicBool,
}

fn work(
    cases: &[&Case],
    adapter: &dyn Adapter,
    options: &RunOptions,
    queue: &Queue,
    notes: &Sender<Note>,
) {
    let mut driver = adapter.open();
    while !queue.stop.load(Ordering::Relaxed) {
        let at = queue.next.fetch_add(1, Ordering::Relaxed);
        let Some(case) = cases.get(at) else { return };
        // Nobody listens any more when the run was given up.
        if notes.send(Note::Started(at)).is_err() {
            return;
        }
        let started = Instant::now();
        let outcome = driver.execute(case, options.case_timeout);
        let note = match outcome.answer {
            // Will not get better with the next case, other than a system that is out of something.
            Err(NoAnswer::CannotStart(error)) if !matches!(error, StartError::System { .. }) => {
                Note::CannotStart(error)
            }
            _ => {
                let judgement = judge(case, outcome);
                let mut result = CaseReport::new(case, judgement, started.elapsed());
                apply_baseline(&mut result, options);
                // Set before this worker takes another case, so that one worker stops at once.
                if options.fail_fast && result.spoils_the_run() {
                    queue.stop.store(true, Ordering::Relaxed);
                }
                Note::Finished(at, Box::new(result))
            }
        };
        if notes.send(note).is_err() {
            return;
        }
    }
}

fn collect(
    cases: &[&Case],
    in_order: bool,
    heard: &Receiver<Note>,
    stream: &mut Stream<'_>,
) -> Result<Vec<CaseReport>, RunError> {
    let mut results: Vec<Option<CaseReport>> = vec![None; cases.len()];
    let mut turn = Turn::new(in_order);
    for note in heard {
        match note {
            Note::CannotStart(error) => return Err(RunError::Adapter(error)),
            Note::Started(at) if !in_order => {
                stream.tell(What::CaseStarted { case: cases[at] })?;
            }
            Note::Started(_) => {}
            Note::Finished(at, result) => {
                turn.finished(at, *result, |at, result| {
                    if in_order {
                        stream.tell(What::CaseStarted { case: cases[at] })?;
                    }
                    stream.tell(What::CaseFinished {
                        case: cases[at],
                        result: &result,
                    })?;
                    results[at] = Some(result);
                    Ok(())
                })?;
            }
        }
    }
    let mut reports = Vec::with_capacity(cases.len());
    for (case, result) in cases.iter().zip(results) {
        reports.push(match result {
            Some(result) => result,
            None => stream.skip(
                case,
                "not run, because an earlier case ended the run".to_owned(),
            )?,
        });
    }
    Ok(reports)
}

fn apply_baseline(result: &mut CaseReport, options: &RunOptions) {
    let Some(entry) = options.baseline.entry(&result.id) else {
        return;
    };
    if result.verdict != Verdict::Fail {
        return;
    }
    if entry.expired(options.today) {
        result.excused_until = entry.expires;
    } else {
        result.known_failure = Some(entry.reason.clone());
    }
}

/// Holds results back until their turn, where the order of the ids was asked for.
struct Turn {
    in_order: bool,
    next: usize,
    waiting: BTreeMap<usize, CaseReport>,
}

impl Turn {
    fn new(in_order: bool) -> Self {
        Self {
            in_order,
            next: 0,
            waiting: BTreeMap::new(),
        }
    }

    fn finished(
        &mut self,
        at: usize,
        result: CaseReport,
        mut tell: impl FnMut(usize, CaseReport) -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        if !self.in_order {
            return tell(at, result);
        }
        self.waiting.insert(at, result);
        while let Some(result) = self.waiting.remove(&self.next) {
            tell(self.next, result)?;
            self.next += 1;
        }
        Ok(())
    }
}
