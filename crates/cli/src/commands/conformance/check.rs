//! `accord conformance check`: runs published fixtures against an implementation.
//!
//! Flags, report and exit codes are those of the protocol's own verifier, so that scripts can call
//! either.

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::time::Duration;

use accord_contract::fixture::TIERS;
use accord_contract::{Failure, Wire as _};
use accord_kit::driver::HttpOptions;
use accord_kit::verifier::{ConformanceReport, Selection, Target, verify, write_text};
use accord_kit::{Corpus, Protocol, Reporters};

use super::super::check::Progress;
use super::token::{sendable, token_or_environment};
use crate::interrupt::stop_adapters_on_signal;
use crate::render::colours;
use crate::{CliError, Exit, Output, Result, print_note};

/// Test an implementation with published fixtures, tier by tier
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct CheckArgs {
    /// The highest tier to test: 1, 2 or 3; it includes the tiers below
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = tier)]
    tier: u64,

    /// Test only this surface
    #[arg(long, value_name = "NAME")]
    surface: Option<String>,

    /// The folder of the implementation, with .agentxchain-conformance/capabilities.json
    #[arg(long, value_name = "DIR", default_value = ".", conflicts_with = "remote")]
    target: PathBuf,

    /// The base URL of an implementation with an HTTP interface
    #[arg(long, value_name = "URL")]
    remote: Option<String>,

    /// With --remote: the bearer token for requests [default: ACCORD_CONFORMANCE_TOKEN]
    #[arg(long, value_parser = sendable)]
    token: Option<String>,

    /// With --remote: the timeout of one request, in milliseconds [default: 30000]
    #[arg(long, value_name = "MS", allow_negative_numbers = true,
          value_parser = clap::value_parser!(u64).range(1..))]
    timeout: Option<u64>,

    /// Read the fixtures from this folder instead of the built-in ones
    #[arg(long, value_name = "DIR")]
    fixtures: Option<PathBuf>,

    /// The format of the report
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, clap::ValueEnum)]
enum Format {
    /// Text for people
    Text,
    /// One JSON document
    Json,
}

impl CheckArgs {
    pub(crate) fn run(self) -> Result<Exit> {
        let (report, fixtures) = self.judge()?;
        let mut output = Output::stdout();
        match self.format {
            Format::Json => output.line(format!("{:#}", report.encode()))?,
            Format::Text => write_text(&report, &fixtures, TITLE, colours(), &mut output)
                .map_err(CliError::from_output)?,
        }
        output.finish()?;
        if report.fixtures_run() == 0 {
            print_note("no fixture ran, so nothing is proven");
        }
        Ok(report.overall.into())
    }

    /// The report, and the fixtures that it is about.
    fn judge(&self) -> Result<(ConformanceReport, Protocol)> {
        self.check_remote_flags()?;
        let (fixtures, fixture_root) = self.fixtures()?;
        let (tier, surface, limit) = (self.tier, self.surface.clone(), self.limit());
        let selection = Selection { tier, surface, limit, fixture_root };
        stop_adapters_on_signal(None)?;
        let target = match &self.remote {
            None => Target::in_folder(&self.target, &fixtures),
            Some(url) => {
                let mut options = HttpOptions::fixtures(url);
                options.token = token_or_environment(self.token.as_ref())?;
                options.request_timeout = limit;
                Target::at_url(&options)
            }
        };
        let target = target.map_err(Failure::from)?;
        let mut reporters = Reporters::default();
        if std::io::stderr().is_terminal() {
            reporters.0.push(Box::new(Progress::new()));
        }
        let report = verify(&fixtures, &target, &selection, &mut reporters);
        Ok((report.map_err(Failure::from)?, fixtures))
    }

    /// Refuses flags that need --remote. The parser cannot: --target has a default and conflicts
    /// with --remote, so that it does not enforce `requires`.
    fn check_remote_flags(&self) -> Result<()> {
        let given = [("--token", self.token.is_some()), ("--timeout", self.timeout.is_some())];
        match given.iter().find(|(_, is_given)| *is_given && self.remote.is_none()) {
            Some((flag, _)) => Err(CliError::usage(format!("{flag} needs --remote")).help(
                "give the server with --remote URL, or leave the flag out: a local adapter has 30 \
                 seconds per fixture and no token",
            )),
            None => Ok(()),
        }
    }

    /// The fixtures, and where they are from.
    fn fixtures(&self) -> Result<(Protocol, String)> {
        let protocol = Corpus::embedded_protocol(PROTOCOL).map_err(Failure::from)?;
        let Some(folder) = &self.fixtures else {
            let root = format!("embedded:{PROTOCOL}@sha256:{}", protocol.digest());
            return Ok((protocol.binding(), root));
        };
        let (fixtures, left_out) = protocol.with_fixtures(folder).map_err(Failure::from)?;
        if !left_out.is_nothing() {
            print_note(left_out.to_string());
        }
        let root = folder.canonicalize().unwrap_or_else(|_| folder.clone());
        Ok((fixtures, root.display().to_string()))
    }

    fn limit(&self) -> Duration {
        self.timeout.map_or(LIMIT, Duration::from_millis)
    }
}

fn tier(text: &str) -> Result<u64, String> {
    let tier = text.parse().ok().filter(|tier| TIERS.contains(tier));
    tier.ok_or_else(|| "expected 1, 2 or 3".to_owned())
}

const PROTOCOL: &str = "agentxchain";
const TITLE: &str = "AgentXchain Protocol Conformance";
/// The default timeout of one fixture.
const LIMIT: Duration = Duration::from_secs(30);

const EXIT_CODES: &str = "\
Exit codes (the highest applies):
  0  every fixture of the claimed tiers passes or is not implemented
  1  a fixture fails
  2  error on a fixture, or no run";
