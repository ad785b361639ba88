//! `accord compat`: whether the version of a new contract matches what it changes.

use std::path::{Path, PathBuf};

use accord_canon::read;
use accord_contract::compat::{Report, Rule, Rules, Snapshot, check};
use accord_contract::{Failure, Object, Wire as _};

use crate::input::read_file;
use crate::render::Page;
use crate::{CliError, Exit, Result, print_line, print_page};

/// Compare two contract snapshots, and check that the new version number matches the changes
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes: 0 the version matches the changes; 1 it does not; \
2 it cannot be decided, or a snapshot cannot be read.")]
pub(crate) struct CompatArgs {
    /// The snapshot of the old contract
    #[arg(required_unless_present = "rules")]
    old: Option<PathBuf>,

    /// The snapshot of the new contract
    #[arg(required_unless_present = "rules")]
    new: Option<PathBuf>,

    /// Set the class of a rule that the policy leaves open, for example
    /// capability-removed=major; can be repeated
    #[arg(long = "rule", value_name = "RULE=CLASS")]
    set: Vec<String>,

    /// List the rules
    #[arg(long, conflicts_with_all = ["old", "new", "set", "format"])]
    rules: bool,

    /// The format of the report
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Format {
    /// Text for people
    Text,
    /// One JSON document
    Json,
}

impl CompatArgs {
    pub(crate) fn run(self) -> Result<Exit> {
        let (Some(old), Some(new), false) = (&self.old, &self.new, self.rules) else {
            return print_page(list_rules);
        };
        let rules = Rules::parse(&self.settings()?)?;
        let report = check(&snapshot(old)?, &snapshot(new)?, &rules);
        match self.format {
            Format::Json => print_line(format!("{:#}", report.encode()))?,
            Format::Text => print_page(|page| write_text(&report, page))?,
        };
        Ok(report.honest.map_or(Exit::Error, Exit::from_answer))
    }

    fn settings(&self) -> Result<Object> {
        let split = |setting: &String| match setting.split_once('=') {
            Some((rule, class)) => Ok((rule.to_owned(), class.into())),
            None => Err(CliError::usage(format!("{setting:?} is not of the form RULE=CLASS"))),
        };
        self.set.iter().map(split).collect()
    }
}

fn snapshot(path: &Path) -> Result<Snapshot> {
    let text = read_file(path)?;
    let document = read(&text).map_err(|error| {
        CliError::from_canon(&error, &text).about(&format!("{} cannot be read", path.display()))
    })?;
    Snapshot::parse(document).map_err(|failure: Failure| {
        CliError::from(failure).about(&format!("{} is not a contract snapshot", path.display()))
    })
}

fn write_text(report: &Report, page: &mut Page) {
    for change in &report.changes {
        page.line(format!("{:<12}  {:<8}  {}", change.class, change.change_type, change.path));
        page.line(format!("{:24}{} [{}]", "", change.note, change.rule));
    }
    if report.changes.is_empty() {
        page.line("no change");
    }
    let verdict = match report.honest {
        Some(true) => "honest",
        Some(false) => "not honest",
        None => "cannot tell",
    };
    let Report { old_version, new_version, overall, reason, .. } = report;
    page.line(format!("\n{old_version} to {new_version}: {verdict}. Overall {overall}: {reason}"));
}

fn list_rules(page: &mut Page) {
    let term = |rule: &Rule| {
        let fixed = if rule.is_settable() { "" } else { " (fixed)" };
        (rule.as_str(), format!("{}{fixed}: {}", rule.class(), rule.about()))
    };
    page.terms(&Rule::ALL.iter().map(term).collect::<Vec<_>>());
}
