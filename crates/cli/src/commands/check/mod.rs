//! `accord check`: judges an implementation of a protocol.

mod arguments;
mod look;
mod ourselves;
mod progress;
mod report;
mod whom;

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use accord_contract::codes::{Code, Failure};
use accord_contract::wire::Wire as _;
use accord_kit::exit::Overall;
use accord_kit::{Baseline, Corpus, Filter, Protocol, RunOptions, RunReport, run};

use clap::builder::UnknownArgumentValueParser;

use self::arguments::duration;
pub(super) use self::progress::Progress;
use self::whom::Whom;
use crate::error::CliError;
use crate::exit::Exit;
use crate::input::read_file;
use crate::interrupt::end_with_adapters;
use crate::output::Output;

/// Judge an implementation of a protocol: Accord itself, or any other by its adapter
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
    whom: Whom,

    /// How long one case may take, as in 500ms, 10s or 2m; 10s when absent, 30s for
    /// --target and --remote, 60s for a server
    #[arg(long, value_name = "TIME", value_parser = duration, conflicts_with = "look")]
    case_timeout: Option<Duration>,

    /// How many cases run at the same time; as many as there are cores when absent, one with
    /// --target and --remote
    #[arg(long, value_name = "N", conflicts_with = "look")]
    jobs: Option<NonZeroUsize>,

    /// Stop at the first case that spoils the run
    #[arg(long, conflicts_with = "look")]
    fail_fast: bool,

    /// A file of known failures, each with its reason; one that passes fails the run
    #[arg(long, value_name = "FILE", conflicts_with = "look")]
    baseline: Option<PathBuf>,

    /// Write the failures of this run to a baseline file
    #[arg(
        long,
        value_name = "FILE",
        requires = "reason",
        conflicts_with = "look"
    )]
    write_baseline: Option<PathBuf>,

    /// Why the failures in the written baseline are known
    #[arg(long, value_name = "TEXT", requires = "write_baseline")]
    reason: Option<String>,

    /// Read the cases from this folder instead of those that came with accord
    #[arg(long, value_name = "DIR")]
    corpus: Option<PathBuf>,

    /// How to report
    #[arg(long, value_enum, default_value = "text", conflicts_with = "look")]
    format: report::Format,

    /// Where to report to; with a format other than text, lines for people still go to standard output
    #[arg(long, value_name = "FILE", conflicts_with = "look")]
    output: Option<PathBuf>,

    /// Write a line for every case, also for those that pass
    #[arg(long, conflicts_with = "look")]
    verbose: bool,

    #[command(flatten)]
    look: Look,
}

/// Which cases.
#[derive(Debug, clap::Args)]
#[group(id = "select", conflicts_with_all = ["protocols", "show", "clauses", "export"])]
struct Select {
    /// Run only the cases that this expression selects: id(glob), clause(glob), level(x),
    /// area(x), strength(x), op(glob), joined by &, | and !; a bare word looks in the id
    #[arg(long, value_name = "EXPR")]
    filter: Option<String>,

    /// Run only cases of this level, and of those that it builds on; may be repeated
    #[arg(long = "level", value_name = "LEVEL")]
    levels: Vec<String>,

    // What the verifier of published fixtures calls these things; who is used to it is told the names here.
    #[arg(long, hide = true, value_parser = UnknownArgumentValueParser::suggest_arg("--level").and_suggest(TIERS_ARE_LEVELS))]
    tier: Option<String>,

    #[arg(long, hide = true, value_parser = UnknownArgumentValueParser::suggest_arg("--filter").and_suggest(SURFACES_ARE_AREAS))]
    surface: Option<String>,

    /// Run the cases of this profile, which has stricter rules, instead of those that need none
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
}

/// Ways to look at the cases without running them.
#[derive(Debug, clap::Args)]
#[group(id = "look", multiple = false)]
struct Look {
    /// List the protocols that have cases
    #[arg(long)]
    protocols: bool,

    /// List the cases that --filter, --level and --profile select
    #[arg(long)]
    list: bool,

    /// Show one case and the clauses that it proves
    #[arg(long, value_name = "ID")]
    show: Option<String>,

    /// List the clauses with their number of cases; one without a case is a no
    #[arg(long)]
    clauses: bool,

    /// Write the cases to a folder
    #[arg(long, value_name = "DIR")]
    export: Option<PathBuf>,
}

impl CheckArgs {
    pub(crate) fn run(self) -> Result<Exit, CliError> {
        let corpus = match &self.corpus {
            Some(folder) => Corpus::from_dir(folder),
            None => Corpus::embedded(),
        };
        let corpus = corpus.map_err(Failure::from)?;
        let Some(name) = &self.protocol else {
            return look::protocols(&corpus);
        };
        let protocol = corpus.protocol(name).map_err(Failure::from)?;
        let filter = self.select.filter.as_deref().map(str::parse::<Filter>);
        let filter = filter.transpose().map_err(Failure::from)?;
        if let Some(filter) = &filter {
            filter.check(protocol).map_err(Failure::from)?;
        }
        if self.look.list {
            let (levels, profile) = (&self.select.levels, self.select.profile.as_deref());
            return look::list(protocol, filter.as_ref(), levels, profile);
        }
        if let Some(id) = &self.look.show {
            return look::show(protocol, id);
        }
        if self.look.clauses {
            return look::clauses(protocol);
        }
        if let Some(folder) = &self.look.export {
            return look::export(protocol, folder);
        }
        self.judge(protocol, filter)
    }

    fn judge(&self, protocol: &Protocol, filter: Option<Filter>) -> Result<Exit, CliError> {
        self.whom.refuse_program_for_server(protocol)?;
        let ourselves = self.whom.ourselves(protocol)?;
        let adapter = self.whom.adapter(protocol, ourselves.as_ref())?;
        end_with_adapters(ourselves.as_ref().map(|host| host.folder().to_owned()))?;
        let baseline = self.baseline()?;
        let mut options = RunOptions::default();
        options.case_timeout = self.case_timeout(protocol);
        if self.whom.claims() {
            // It may have one workspace for all cases.
            options.workers = NonZeroUsize::MIN;
        }
        options.fail_fast = self.fail_fast;
        options.filter = filter;
        options.profile = self.select.profile.clone();
        options.baseline = baseline.clone();
        if let Some(jobs) = self.jobs {
            options.workers = jobs;
        }
        options.levels = self.levels(protocol);
        let mut audience = report::audience(self, protocol)?;
        let report = run(
            protocol,
            adapter.as_ref(),
            &options,
            &mut audience.reporters,
        )
        .map_err(Failure::from)?;
        drop(audience.reporters);
        if let Some(file) = audience.file {
            file.keep()?;
        }
        if let Some(path) = &self.write_baseline {
            self.write_baseline(path, &report, &baseline)?;
        }
        Ok(match report.summary.overall {
            Overall::Pass => Exit::Yes,
            Overall::Fail => Exit::No,
            Overall::Error => Exit::Trouble,
        })
    }

    /// The levels to run; one that builds on others stands for those too.
    fn levels(&self, protocol: &Protocol) -> Option<BTreeSet<String>> {
        let levels = self.select.levels.iter();
        let levels: BTreeSet<String> = levels
            .flat_map(|level| protocol.levels_up_to(level))
            .collect();
        (!levels.is_empty()).then_some(levels)
    }

    /// How long a case may take. Over a network, every request of a case pays
    /// for its connection.
    fn case_timeout(&self, protocol: &Protocol) -> Duration {
        let usual = match protocol.routes() {
            _ if self.whom.claims() => 30,
            Some(_) => 60,
            None => 10,
        };
        self.case_timeout.unwrap_or(Duration::from_secs(usual))
    }

    fn baseline(&self) -> Result<Baseline, CliError> {
        let Some(path) = &self.baseline else {
            return Ok(Baseline::empty());
        };
        let baseline = Baseline::parse(&read_file(path)?).map_err(Failure::from);
        baseline.map_err(|failure| {
            CliError::from(failure).about(&format!("{} cannot be used", path.display()))
        })
    }

    fn write_baseline(
        &self,
        path: &std::path::Path,
        report: &RunReport,
        before: &Baseline,
    ) -> Result<(), CliError> {
        if report.summary.overall == Overall::Error {
            return Err(CliError::new(
                Code::KitBaselineInvalid,
                "no baseline was written: some cases could not be judged, so what fails is not known",
            )
            .help("mend what went wrong, or leave those cases out with --filter"));
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
    "tiers are levels here: --level 3 judges all three, and --filter 'level(3)' the third alone";
const SURFACES_ARE_AREAS: &str =
    "surfaces are areas here: --filter 'area(NAME)', and --list names the area of every case";

const EXIT_CODES: &str = "\
Exit codes: 0 every required case passes or is a known failure (what is not implemented is counted
and shown); 1 a required case fails, a known failure passes, or a server reaches no level; 2 the
adapter or the kit broke down on a case, no case ran, or the run itself went wrong. Only cases of
strength `must` are required.";
