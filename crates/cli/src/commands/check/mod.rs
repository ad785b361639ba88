//! `accord check`: tests an implementation of a protocol.

mod breaking;
mod implementation;
mod inspect;
mod own_host;
mod progress;
mod report;

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use accord_contract::{Code, Failure, Wire as _};
use accord_kit::exit::Overall;
use accord_kit::verdict::StatusRules;
use accord_kit::{Baseline, Corpus, Filter, Protocol, RunOptions, RunReport, run};

use clap::builder::UnknownArgumentValueParser;

use self::implementation::ImplementationArgs;
pub(super) use self::progress::Progress;
use crate::arguments::duration;
use crate::input::read_file;
use crate::interrupt::stop_adapters_on_signal;
use crate::{CliError, Exit, Output, Result};

/// Test an implementation of a protocol: Accord itself, or any other by its adapter
#[derive(Debug, clap::Args)]
#[command(
    after_help = EXIT_CODES,
    group = clap::ArgGroup::new("whose").required(true).args(["protocol", "protocols"])
)]
pub(crate) struct CheckArgs {
    /// The protocol
    protocol: Option<String>,

    #[command(flatten)]
    select: Select,
    #[command(flatten)]
    implementation: ImplementationArgs,

    /// The timeout of one case, for example 500ms, 10s or 2m [default: 10s; 30s with --target and
    /// --remote; 60s for a server]
    #[arg(long, value_name = "TIME", value_parser = duration, conflicts_with = "inspect")]
    case_timeout: Option<Duration>,

    /// The number of cases that run at the same time [default: the number of cores; 1 with
    /// --target and --remote, and for protocols with a channel]
    #[arg(long, value_name = "N", conflicts_with = "inspect")]
    jobs: Option<NonZeroUsize>,

    /// Stop at the first case that fails the run
    #[arg(long, conflicts_with = "inspect")]
    fail_fast: bool,

    /// Count a case as passed if the adapter says so and gives no outcome to compare
    #[arg(long, conflicts_with = "inspect")]
    allow_self_reported: bool,

    /// A file of known failures, each with a reason; a known failure that passes fails the run
    #[arg(long, value_name = "FILE", conflicts_with = "inspect")]
    baseline: Option<PathBuf>,

    /// Write the failures of this run to a baseline file
    #[arg(long, value_name = "FILE", requires = "reason", conflicts_with = "inspect")]
    write_baseline: Option<PathBuf>,

    /// The reason to write for each failure
    #[arg(long, value_name = "TEXT", requires = "write_baseline")]
    reason: Option<String>,

    /// Read the cases from this folder instead of the built-in ones
    #[arg(long, value_name = "DIR")]
    corpus: Option<PathBuf>,

    /// The format of the report
    #[arg(long, value_enum, default_value = "text", conflicts_with = "inspect")]
    format: report::Format,

    /// The file for the report; with a format other than text, standard output still gets text
    #[arg(long, value_name = "FILE", conflicts_with = "inspect")]
    output: Option<PathBuf>,

    /// Print a line for every case, also for those that pass
    #[arg(long, conflicts_with = "inspect")]
    verbose: bool,

    #[command(flatten)]
    inspect: InspectArgs,
}

/// The cases to run.
#[derive(Debug, clap::Args)]
#[group(id = "select", conflicts_with_all = ["protocols", "show", "clauses", "export", "breaking"])]
struct Select {
    /// Run only the cases that this expression selects: id(glob), clause(glob), level(x),
    /// area(x), strength(x), op(glob), joined by &, | and !; a bare word searches the id
    #[arg(long, value_name = "EXPR")]
    filter: Option<String>,

    /// Run only cases of this level and the levels below it; can be repeated
    #[arg(long = "level", value_name = "LEVEL")]
    levels: Vec<String>,

    // The flags of `accord conformance check`, so that the error can name the flags to use here.
    #[arg(long, hide = true, value_parser = UnknownArgumentValueParser::suggest_arg("--level")
        .and_suggest(TIERS_ARE_LEVELS))]
    tier: Option<String>,

    #[arg(long, hide = true, value_parser = UnknownArgumentValueParser::suggest_arg("--filter")
        .and_suggest(SURFACES_ARE_AREAS))]
    surface: Option<String>,

    /// Run the cases of this profile, which has stricter rules, instead of those without a profile
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
}

/// Ways to inspect the cases without running them.
#[derive(Debug, clap::Args)]
#[group(id = "inspect", multiple = false)]
struct InspectArgs {
    /// List the protocols that have cases
    #[arg(long)]
    protocols: bool,

    /// List the cases that --filter, --level and --profile select
    #[arg(long)]
    list: bool,

    /// Show one case and the clauses that it proves
    #[arg(long, value_name = "ID")]
    show: Option<String>,

    /// List the clauses with their number of cases; a clause without a case makes the exit code 1
    #[arg(long)]
    clauses: bool,

    /// Write the cases to a folder
    #[arg(long, value_name = "DIR")]
    export: Option<PathBuf>,

    /// Say from the JSON reports of two runs, one against the old and one against the new version,
    /// whether the change is breaking: a required case passed, and now fails. Then the exit code is
    /// 1
    #[arg(long, num_args = 2, value_names = ["OLD", "NEW"])]
    breaking: Option<Vec<PathBuf>>,
}

impl CheckArgs {
    pub(crate) fn run(self) -> Result<Exit> {
        let folder = self.corpus.as_deref();
        let Some(name) = &self.protocol else {
            let corpus = folder.map_or_else(Corpus::embedded, Corpus::from_dir);
            return inspect::protocols(&corpus.map_err(Failure::from)?);
        };
        let protocol = match folder {
            Some(folder) => Corpus::from_dir(folder).and_then(|corpus| corpus.into_protocol(name)),
            None => Corpus::embedded_protocol(name),
        };
        let protocol = &protocol.map_err(Failure::from)?;
        let filter = self.select.filter.as_deref().map(str::parse::<Filter>);
        let filter = filter.transpose().map_err(Failure::from)?;
        if let Some(filter) = &filter {
            filter.check(protocol).map_err(Failure::from)?;
        }
        if self.inspect.list {
            let (levels, profile) = (&self.select.levels, self.select.profile.as_deref());
            return inspect::list(protocol, filter.as_ref(), levels, profile);
        }
        if let Some(id) = &self.inspect.show {
            return inspect::show(protocol, id);
        }
        if self.inspect.clauses {
            return inspect::clauses(protocol);
        }
        if let Some(folder) = &self.inspect.export {
            return inspect::export(protocol, folder);
        }
        if let Some(reports) = &self.inspect.breaking {
            return breaking::breaking(protocol, reports);
        }
        self.judge(protocol, filter)
    }

    fn judge(&self, protocol: &Protocol, filter: Option<Filter>) -> Result<Exit> {
        self.implementation.refuse_program_for_server(protocol)?;
        self.implementation.refuse_unused_browser(protocol)?;
        let own_host = self.implementation.own_host(protocol)?;
        let adapter = self.implementation.adapter(protocol, own_host.as_ref())?;
        stop_adapters_on_signal(own_host.as_ref().map(|host| host.folder().to_owned()))?;
        let baseline = self.baseline()?;
        let mut options = RunOptions::default();
        options.case_timeout = self.case_timeout(protocol);
        if self.implementation.has_claims() || protocol.channel().is_some() {
            // It may have one workspace for all cases, and a control step may be about the session
            // that was set up last.
            options.workers = NonZeroUsize::MIN;
        }
        options.workers = self.jobs.unwrap_or(options.workers);
        options.fail_fast = self.fail_fast;
        if self.allow_self_reported {
            options.status_rules = StatusRules::SelfReportsAllowed;
        }
        options.filter = filter;
        options.profile = self.select.profile.clone();
        options.baseline = baseline.clone();
        options.levels = self.levels(protocol);
        let mut reports = report::reports(self, protocol)?;
        let report = run(protocol, adapter.as_ref(), &options, &mut reports.reporters)
            .map_err(Failure::from)?;
        // Closes the report file before it is moved to its path.
        drop(reports.reporters);
        if let Some(file) = reports.file {
            file.keep()?;
        }
        if let Some(path) = &self.write_baseline {
            self.write_baseline(path, &report, &baseline)?;
        }
        Ok(report.summary.overall.into())
    }

    /// The levels to run; one that builds on others stands for those too.
    fn levels(&self, protocol: &Protocol) -> Option<BTreeSet<String>> {
        let levels = self.select.levels.iter().flat_map(|level| protocol.levels_up_to(level));
        let levels: BTreeSet<String> = levels.collect();
        (!levels.is_empty()).then_some(levels)
    }

    /// The timeout of a case. Over a network it is longer: every request opens a connection.
    fn case_timeout(&self, protocol: &Protocol) -> Duration {
        let usual = match protocol.routes() {
            _ if self.implementation.has_claims() => 30,
            Some(_) => 60,
            None if protocol.channel().is_some() => 60,
            None => 10,
        };
        self.case_timeout.unwrap_or(Duration::from_secs(usual))
    }

    fn baseline(&self) -> Result<Baseline> {
        let Some(path) = &self.baseline else { return Ok(Baseline::empty()) };
        Baseline::parse(&read_file(path)?).map_err(Failure::from).map_err(|failure| {
            CliError::from(failure).about(&format!("{} cannot be used", path.display()))
        })
    }

    fn write_baseline(
        &self,
        path: &std::path::Path,
        report: &RunReport,
        before: &Baseline,
    ) -> Result<()> {
        if report.summary.overall == Overall::Error {
            let message = "no baseline was written: cases with errors may be failures, too";
            return Err(CliError::new(Code::KitBaselineInvalid, message)
                .help("fix the errors, or leave those cases out with --filter"));
        }
        let reason = self.reason.as_deref().unwrap_or_default();
        let baseline = Baseline::from_report(report, before, reason);
        let (mut output, file) = Output::pending(path)?;
        output.line(format!("{:#}", baseline.encode()))?;
        output.finish()?;
        file.keep()
    }
}

const TIERS_ARE_LEVELS: &str =
    "tiers are levels here: --level 3 runs all three, --filter 'level(3)' only the third";
const SURFACES_ARE_AREAS: &str =
    "surfaces are areas here: --filter 'area(NAME)'; --list shows the area of every case";

const EXIT_CODES: &str = "\
Exit codes: 0 every required case passes or is a known failure (not implemented cases are counted
and shown); 1 a required case fails, a known failure passes, or a server reaches no level; 2 an
error of the adapter or the kit on a case, no required case was judged, or the run failed. Only
cases of strength `must` are required.";
