//! Runs cases in parallel and tells what happens in one ordered stream.
//!
//! Invariants:
//! - Workers share nothing but the list of cases: each has its own line to the adapter.
//! - Every event passes through the thread that called [`run`], so a reporter needs no lock.
//! - The report is in the order of the ids, however the cases ran.

mod stream;
mod workers;

use std::collections::BTreeSet;
use std::io;
use std::num::NonZeroUsize;
use std::thread;
use std::time::{Duration, SystemTime};

use accord_contract::wire::Object;
use accord_process::StartError;
use thiserror::Error;

use crate::baseline::{Baseline, BaselineError};
use crate::case::Case;
use crate::corpus::Protocol;
use crate::date::{self, Date};
use crate::driver::Adapter;
use crate::event::{Reporter, What};
use crate::filter::Filter;
use crate::report::{CaseReport, ReportFormat, RunInfo, RunReport, RunSummary, millis};
use stream::Stream;

/// How to run, and what.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RunOptions {
    /// How many cases may run at the same time.
    pub workers: NonZeroUsize,
    /// The time limit of one case.
    pub case_timeout: Duration,
    /// Whether the first case that spoils the run ends it.
    pub fail_fast: bool,
    /// Whether cases are told in the order of their ids, each when its turn comes, rather than as
    /// they happen.
    pub in_order: bool,
    /// Which cases to run; all when absent.
    pub filter: Option<Filter>,
    /// The levels or tiers that apply; all when absent. Cases of others are skipped.
    pub levels: Option<BTreeSet<String>>,
    /// The failures that are known.
    pub baseline: Baseline,
    /// The day on which entries of the baseline may have expired.
    pub today: Date,
}

/// A run that did not come about. No report exists; the exit code is 2.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RunError {
    /// The adapter cannot be started.
    #[error("the adapter cannot be started: {0}")]
    Adapter(#[from] StartError),
    /// The baseline does not fit the corpus.
    #[error("the baseline does not fit the corpus: {0}")]
    Baseline(#[from] BaselineError),
    /// A level was asked for that the protocol does not have.
    #[error("no case has the level {asked:?}; there is {}", known.iter().cloned().collect::<Vec<_>>().join(", "))]
    UnknownLevel {
        /// The level that was asked for.
        asked: String,
        /// The levels that are there.
        known: BTreeSet<String>,
    },
    /// A reporter could not write.
    #[error("the run could not be reported: {0}")]
    Output(io::Error),
}

impl Default for RunOptions {
    /// All cases, one worker a core, ten seconds a case, no baseline.
    fn default() -> Self {
        Self {
            workers: thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
            case_timeout: Duration::from_secs(10),
            fail_fast: false,
            in_order: false,
            filter: None,
            levels: None,
            baseline: Baseline::empty(),
            today: Date::today(),
        }
    }
}

/// Runs the cases of a protocol against an adapter.
pub fn run(
    protocol: &Protocol,
    adapter: &dyn Adapter,
    options: &RunOptions,
    reporter: &mut dyn Reporter,
) -> Result<RunReport, RunError> {
    options.baseline.check_against(protocol)?;
    if let Some(asked) = options
        .levels
        .iter()
        .flatten()
        .find(|level| !protocol.levels().contains(*level))
    {
        return Err(RunError::UnknownLevel {
            asked: asked.clone(),
            known: protocol.levels(),
        });
    }
    adapter.preflight()?;

    let chosen = |case: &&Case| {
        options
            .filter
            .as_ref()
            .is_none_or(|filter| filter.matches(case))
    };
    let selected: Vec<&Case> = protocol.cases().iter().filter(chosen).collect();
    let info = describe(protocol, adapter, options, selected.len());
    let mut stream = Stream::new(reporter);
    stream.tell(What::RunStarted {
        run: &info,
        protocol,
    })?;

    let (mut cases, apply) = skip_other_levels(selected, options, &mut stream)?;
    cases.extend(workers::execute(&apply, adapter, options, &mut stream)?);
    cases.sort_by(|one, other| one.id.cmp(&other.id));

    let stale = options.baseline.stale(&cases);
    let report = RunReport {
        format: ReportFormat::V1,
        run: info,
        summary: RunSummary::new(&cases, stale, stream.elapsed()),
        cases,
        extra: Object::new(),
    };
    stream.tell(What::RunFinished { report: &report })?;
    Ok(report)
}

fn describe(
    protocol: &Protocol,
    adapter: &dyn Adapter,
    options: &RunOptions,
    selected: usize,
) -> RunInfo {
    RunInfo {
        protocol: protocol.name().to_owned(),
        protocol_version: protocol.version().to_owned(),
        corpus_digest: protocol.digest(),
        kit_version: env!("CARGO_PKG_VERSION").to_owned(),
        adapter: adapter.info(),
        filter: options.filter.as_ref().map(ToString::to_string),
        selected: selected as u64,
        filtered: (protocol.cases().len() - selected) as u64,
        workers: options.workers.get() as u64,
        case_timeout_ms: millis(options.case_timeout),
        started_at: date::timestamp(SystemTime::now()),
        extra: Object::new(),
    }
}

/// Parts the cases that do not apply, with their reports, from those that do.
fn skip_other_levels<'a>(
    selected: Vec<&'a Case>,
    options: &RunOptions,
    stream: &mut Stream<'_>,
) -> Result<(Vec<CaseReport>, Vec<&'a Case>), RunError> {
    let applies = |case: &&Case| {
        let level = case.level();
        options
            .levels
            .as_ref()
            .is_none_or(|levels| levels.contains(&level))
    };
    let (apply, others): (Vec<&Case>, Vec<&Case>) = selected.into_iter().partition(applies);
    let mut skipped = Vec::with_capacity(others.len());
    for case in others {
        let why = format!("the level {:?} was not selected", case.level());
        skipped.push(stream.skip(case, why)?);
    }
    Ok((skipped, apply))
}
