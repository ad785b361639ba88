//! The workers of a run, and the thread that receives their messages.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Instant;

use accord_process::{Cancel, StartError, open_file_limit};

use super::stream::Stream;
use super::{RunError, RunOptions};
use crate::case::Case;
use crate::driver::{Adapter, CannotBegin, Closing, Driver, NoAnswer};
use crate::event::What;
use crate::report::CaseReport;
use crate::verdict::{Judgement, STOPPED, Verdict, judge};

/// Why a claimed level is not true, if the run has shown that.
pub(super) type Disproof<'a> = dyn Fn(&str) -> Option<String> + Sync + 'a;

/// Runs cases on several threads: their reports in order, and the errors that belong to no case.
pub(super) fn execute(
    cases: &[&Case],
    adapter: &dyn Adapter,
    options: &RunOptions,
    disproof: &Disproof<'_>,
    stream: &mut Stream<'_>,
) -> Result<(Vec<CaseReport>, Closing), RunError> {
    let queue = Queue { next: AtomicUsize::new(0), stop: Cancel::new() };
    let workers = most(options).min(cases.len());
    thread::scope(|scope| {
        let (notes, heard) = mpsc::channel();
        for _ in 0..workers {
            let (notes, queue) = (notes.clone(), &queue);
            scope.spawn(move || work(cases, adapter, options, disproof, queue, &notes));
        }
        // `collect` ends when the last sender is gone. This one would keep it waiting for ever.
        drop(notes);
        let results = collect(cases, options.in_order, &heard, stream);
        // Also after an error: no worker starts another case or continues with its current one.
        queue.stop.cancel();
        results
    })
}

/// The reports of cases that were not run because the run ended.
pub(super) fn skip(cases: &[&Case], stream: &mut Stream<'_>) -> Result<Vec<CaseReport>, RunError> {
    cases.iter().map(|case| stream.skip(case, ENDED.to_owned())).collect()
}

/// A message of a worker to the thread that called [`super::run`], with the index of the case.
enum WorkerMessage {
    Started(usize),
    Finished(usize, Box<CaseReport>),
    CannotStart(StartError),
    Closed(Closing),
}

struct Queue {
    next: AtomicUsize,
    /// Set when a case ended the run; reaches the running cases.
    stop: Cancel,
}

fn work(
    cases: &[&Case],
    adapter: &dyn Adapter,
    options: &RunOptions,
    disproof: &Disproof<'_>,
    queue: &Queue,
    notes: &Sender<WorkerMessage>,
) {
    let mut driver = adapter.open();
    driver.cancel_with(queue.stop.clone());
    take_cases(cases, &mut *driver, options, disproof, queue, notes);
    let mut closing = driver.close();
    // A cancelled adapter is not responsible for how it ends.
    if queue.stop.is_cancelled() {
        closing.breaches.clear();
    }
    // The receiver is gone when the run was cancelled.
    let _ = notes.send(WorkerMessage::Closed(closing));
}

fn take_cases(
    cases: &[&Case],
    driver: &mut dyn Driver,
    options: &RunOptions,
    disproof: &Disproof<'_>,
    queue: &Queue,
    notes: &Sender<WorkerMessage>,
) {
    while !queue.stop.is_cancelled() {
        // Relaxed is enough: each worker only needs a different number.
        let at = queue.next.fetch_add(1, Ordering::Relaxed);
        let Some(case) = cases.get(at) else { return };
        // The receiver is gone when the run was cancelled.
        if notes.send(WorkerMessage::Started(at)).is_err() {
            return;
        }
        let started = Instant::now();
        let outcome = driver.execute(case, options.case_timeout);
        let note = match outcome.answer {
            // Starting fails for the other cases too, unless the system lacked a resource.
            Err(NoAnswer::CannotStart(error))
                if !matches!(error, StartError::System { .. }) && !queue.stop.is_cancelled() =>
            {
                WorkerMessage::CannotStart(error)
            }
            _ => {
                let mut judgement = judge(case, outcome, options.status_rules);
                if let Some(claim) = &judgement.claim
                    && let Some(why) = disproof(claim)
                {
                    judgement.disprove(why);
                }
                let mut result = CaseReport::new(case, judgement, started.elapsed());
                apply_baseline(&mut result, options);
                // Before this worker takes another case; later errors may be consequences.
                if options.fail_fast
                    && result.spoils_the_run()
                    && !queue.stop.cancel()
                    && !result.fails_the_run()
                {
                    let stopped = Judgement::with_message(Verdict::Skip, STOPPED);
                    result = CaseReport::new(case, stopped, started.elapsed());
                }
                WorkerMessage::Finished(at, Box::new(result))
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
    heard: &Receiver<WorkerMessage>,
    stream: &mut Stream<'_>,
) -> Result<(Vec<CaseReport>, Closing), RunError> {
    let mut all = Closing::default();
    let mut results: Vec<Option<CaseReport>> = vec![None; cases.len()];
    // With `in_order`, a start is reported together with its result: starts come in any order.
    let mut turn = Turn::new(in_order);
    for note in heard {
        match note {
            WorkerMessage::CannotStart(error) => return Err(CannotBegin::from(error).into()),
            WorkerMessage::Closed(closing) => all.add(closing),
            WorkerMessage::Started(at) if !in_order => {
                stream.tell(What::CaseStarted { case: cases[at] })?;
            }
            WorkerMessage::Started(_) => {}
            WorkerMessage::Finished(at, result) => {
                turn.finished(at, *result, |at, result| {
                    if in_order {
                        stream.tell(What::CaseStarted { case: cases[at] })?;
                    }
                    stream.tell(What::CaseFinished { case: cases[at], result: &result })?;
                    results[at] = Some(result);
                    Ok(())
                })?;
            }
        }
    }
    // With fail-fast, cases that no worker took have no result. They are still in the report.
    let mut reports = Vec::with_capacity(cases.len());
    for (case, result) in cases.iter().zip(results) {
        reports.push(match result {
            Some(result) => result,
            None => stream.skip(case, ENDED.to_owned())?,
        });
    }
    Ok((reports, all))
}

/// The number of workers, within the limit of open files: each has pipes.
pub(super) fn most(options: &RunOptions) -> usize {
    let workers = options.workers.get();
    let Some(limit) = open_file_limit() else { return workers };
    let room = limit.saturating_sub(FILES_OF_THE_KIT) / FILES_OF_A_WORKER;
    workers.min(usize::try_from(room).unwrap_or(usize::MAX).max(1))
}

fn apply_baseline(result: &mut CaseReport, options: &RunOptions) {
    let Some(entry) = options.baseline.entry(&result.id) else { return };
    // A case that could not be judged may hide a new failure, so the baseline does not excuse it.
    if result.verdict != Verdict::Fail {
        return;
    }
    if entry.expired(options.today) {
        result.excused_until = entry.expires;
    } else {
        result.known_failure = Some(entry.reason.clone());
    }
}

/// Keeps results back until their turn, if the order of the ids was requested.
struct Turn {
    in_order: bool,
    next: usize,
    waiting: BTreeMap<usize, CaseReport>,
}

impl Turn {
    fn new(in_order: bool) -> Self {
        Self { in_order, next: 0, waiting: BTreeMap::new() }
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

const ENDED: &str = "not run, because an earlier case ended the run";
/// Both ends of three pipes and one more, its watch, its folder, and a margin.
const FILES_OF_A_WORKER: u64 = 12;
/// Files that a process has open before any worker: stdin, stdout, stderr, reports, the corpus.
const FILES_OF_THE_KIT: u64 = 16;
