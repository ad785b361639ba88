//! Runs cases in parallel and reports them as one ordered stream of events.
//!
//! Invariants:
//! - Workers share only the list of cases: each has its own driver.
//! - Every event passes through the thread that called [`run`], so reporters need no lock.
//! - The report is in the order of the ids. A case about what a server claims runs last.
//! - The adapter cleans up after every run, also after an error.

mod stream;
mod workers;

use std::collections::BTreeSet;
use std::io;
use std::num::NonZeroUsize;
use std::thread;
use std::time::Duration;

use accord_contract::{Date, Object};
use thiserror::Error;

use crate::baseline::{Baseline, BaselineError};
use crate::case::Case;
use crate::corpus::Protocol;
use crate::driver::{Adapter, CannotBegin, Closing};
use crate::event::{Reporter, What};
use crate::filter::{Filter, FilterError};
use crate::levels;
use crate::report::{CaseReport, LeftBehind, ReportFormat, RunInfo, RunReport, RunSummary, millis};
use crate::verdict::StatusRules;
use stream::Stream;

/// Options of a run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RunOptions {
    /// How many cases may run at the same time; fewer if the limit of open files requires it.
    pub workers: NonZeroUsize,
    /// The time limit of one case.
    pub case_timeout: Duration,
    /// Whether the first case that makes the run fail ends it.
    pub fail_fast: bool,
    /// Whether results are in the order of the ids; those about claims are last in any case.
    pub in_order: bool,
    /// Which cases to run; all if absent.
    pub filter: Option<Filter>,
    /// The profile whose cases to run; those without a profile if absent.
    pub profile: Option<String>,
    /// The levels or tiers to run; all if absent. Cases of others are skipped.
    pub levels: Option<BTreeSet<String>>,
    /// What an adapter's own status is worth.
    pub status_rules: StatusRules,
    /// The failures that are known.
    pub baseline: Baseline,
    /// The date for the expiry of baseline entries.
    pub today: Date,
}

/// Why a run could not start. There is no report; the exit code is 2.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RunError {
    /// The adapter cannot be used.
    #[error("{0}")]
    CannotBegin(#[from] CannotBegin),
    /// The filter names something that the protocol does not have.
    #[error("the filter does not fit the corpus: {0}")]
    Filter(#[from] FilterError),
    /// The baseline does not fit the corpus.
    #[error("the baseline does not fit the corpus: {0}")]
    Baseline(#[from] BaselineError),
    /// The protocol does not have a requested level.
    #[error("no case has the level {asked:?}; choose one of {}", join(known))]
    UnknownLevel {
        /// The level that was asked for.
        asked: String,
        /// The levels that exist.
        known: BTreeSet<String>,
    },
    /// The protocol does not have a requested profile.
    #[error("no case belongs to the profile {asked:?}; choose one of {}", or_none(known))]
    UnknownProfile {
        /// The profile that was asked for.
        asked: String,
        /// The profiles that exist.
        known: BTreeSet<String>,
    },
    /// A reporter could not write.
    #[error("the run could not be reported: {0}")]
    Output(io::Error),
}

impl Default for RunOptions {
    /// All cases, one worker per core, ten seconds per case, no baseline.
    fn default() -> Self {
        Self {
            workers: thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
            case_timeout: Duration::from_secs(10),
            fail_fast: false,
            in_order: false,
            filter: None,
            profile: None,
            levels: None,
            status_rules: StatusRules::default(),
            baseline: Baseline::empty(),
            today: accord_system::now().date(),
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
    if let Some(filter) = &options.filter {
        filter.check(protocol)?;
    }
    options.baseline.check_against(protocol)?;
    let known = protocol.levels();
    if let Some(asked) = options.levels.iter().flatten().find(|level| !known.contains(*level)) {
        return Err(RunError::UnknownLevel { asked: asked.clone(), known });
    }
    if let Some(asked) = &options.profile
        && !protocol.profiles().contains(asked)
    {
        return Err(RunError::UnknownProfile { asked: asked.clone(), known: protocol.profiles() });
    }
    // After all checks of the options: the adapter may create something on a server.
    adapter.begin(protocol)?;
    let put_away = PutAway(Some(adapter));
    let chosen = |case: &&Case| {
        let filter = options.filter.as_ref();
        case.profile == options.profile && filter.is_none_or(|filter| filter.matches(case))
    };
    let selected: Vec<&Case> = protocol.cases().iter().filter(chosen).collect();
    let info = describe(protocol, adapter, options, selected.len());
    let mut stream = Stream::new(reporter);
    stream.tell(What::RunStarted { run: &info, protocol })?;
    let (mut cases, apply) = skip_others(selected, adapter, options, &mut stream)?;
    let (claims, others): (Vec<&Case>, Vec<&Case>) =
        apply.into_iter().partition(|case| levels::is_claim(case));
    let mut closing = Closing::default();
    // Claims run last: `disproof` reads the verdicts of all other cases.
    for together in [others, claims] {
        let spoilt = options.fail_fast && cases.iter().any(CaseReport::spoils_the_run);
        let disproof =
            |claim: &str| levels::conformance(protocol, &cases, Some(claim.to_owned()))?.disproof();
        let (ran, closed) = if spoilt {
            (workers::skip(&together, &mut stream)?, Closing::default())
        } else {
            workers::execute(&together, adapter, options, &disproof, &mut stream)?
        };
        cases.extend(ran);
        closing.add(closed);
    }
    cases.sort_by(|one, other| one.id.cmp(&other.id));
    let stale = options.baseline.stale(&cases);
    let claimed = cases.iter().find_map(|case| case.claim.clone());
    let conformance = levels::conformance(protocol, &cases, claimed);
    // Before the report is made, because the report lists what could not be cleaned up.
    let left_behind = put_away.now();
    let report = RunReport {
        format: ReportFormat::V1,
        run: info,
        summary: RunSummary::new(&cases, options, stale, conformance, closing, stream.elapsed()),
        cases,
        left_behind: Some(left_behind).filter(|left| !left.is_empty()),
        extra: Object::new(),
    };
    stream.tell(What::RunFinished { report: &report })?;
    Ok(report)
}

fn or_none(names: &BTreeSet<String>) -> String {
    if names.is_empty() { "none".to_owned() } else { join(names) }
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
        workers: workers::most(options) as u64,
        case_timeout_ms: millis(options.case_timeout),
        started_at: accord_system::now().to_seconds_text(),
        extra: Object::new(),
    }
}

/// Separates the cases that do not apply, with their reports, from those that do.
fn skip_others<'a>(
    selected: Vec<&'a Case>,
    adapter: &dyn Adapter,
    options: &RunOptions,
    stream: &mut Stream<'_>,
) -> Result<(Vec<CaseReport>, Vec<&'a Case>), RunError> {
    let applies = |case: &Case| {
        let level = case.level();
        match &options.levels {
            Some(levels) if !levels.contains(&level) => {
                Err(format!("the level {level:?} was not selected"))
            }
            _ => adapter.applies(case),
        }
    };
    let (mut skipped, mut apply) = (Vec::new(), Vec::new());
    for case in selected {
        match applies(case) {
            Ok(()) => apply.push(case),
            Err(why) => skipped.push(stream.skip(case, why)?),
        }
    }
    Ok((skipped, apply))
}

/// Makes an adapter clean up when dropped, so also after an error.
struct PutAway<'a>(Option<&'a dyn Adapter>);

impl PutAway<'_> {
    fn now(mut self) -> Vec<LeftBehind> {
        self.0.take().map(|adapter| adapter.end()).unwrap_or_default()
    }
}

impl Drop for PutAway<'_> {
    fn drop(&mut self) {
        if let Some(adapter) = self.0.take() {
            adapter.end();
        }
    }
}

fn join(names: &BTreeSet<String>) -> String {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    names.join(", ")
}
