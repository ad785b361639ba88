//! `accord context deposit`.

use std::path::PathBuf;

use accord_api::{Call, Verbatim};
use accord_memory_core::operations::{Deposit, DepositParams};
use accord_memory_core::package::PackageFields;

use super::compose::{ComposeArgs, Composed, Draft};
use crate::host::{Connection, CredentialArgs, WriteArgs, in_project, print_noted};
use crate::input::read_file;
use crate::render::{Page, Style, clean};
use crate::{Exit, Result};

/// Deposit a package, from a JSON document or from flags
#[derive(Debug, clap::Args)]
#[command(
    after_help = EXAMPLES,
    group = clap::ArgGroup::new("source").required(true).args(["file", "title"])
)]
pub(crate) struct DepositArgs {
    /// The package as JSON; `-` is standard input. Missing members (id, project, version, time,
    /// author, type, status, review) are filled in
    #[arg(value_name = "FILE", conflicts_with = "compose")]
    file: Option<PathBuf>,

    #[command(flatten)]
    compose: ComposeArgs,
    #[command(flatten)]
    credentials: CredentialArgs,
    #[command(flatten)]
    to: WriteArgs,
}

impl DepositArgs {
    pub(crate) fn run(mut self) -> Result<Exit> {
        // Read first: connecting may lock the folder, and standard input may take long.
        let draft = self.draft()?;
        let host = self.to.host.connect_or_create()?;
        let mut package = draft.complete(&self.to, &host)?;
        if self.compose.complete_ids(&host, &package.project)? {
            package = self.draft()?.complete(&self.to, &host)?;
        }
        send(&host, package, &self.credentials, self.to.host.json)
    }

    fn draft(&self) -> Result<Draft> {
        match &self.file {
            Some(path) => Draft::document(&read_file(path)?),
            None => self.compose.draft(),
        }
    }
}

pub(super) fn send(
    host: &Connection,
    package: Composed,
    credentials: &CredentialArgs,
    json: bool,
) -> Result<Exit> {
    let (path, body) = (in_project(&package.project)?, Verbatim::json(package.text));
    let call = Call::<Deposit>::new(path, DepositParams::default(), body);
    let (answered, is_new) = host.write_to(&call, &credentials.headers())?;
    print_noted(json, &answered, |page, package| deposited(page, package, is_new))
}

fn deposited(page: &mut Page, package: &PackageFields, is_new: bool) {
    let what = if is_new { "deposited" } else { "unchanged" };
    let id = page.styled(Style::Title, &clean(package.package_id.as_str()));
    page.line(format!("{what} {id} in {}", clean(package.project_id.as_str())));
    page.line(package.stated_hash().map(|hash| hash.to_string()).unwrap_or_default());
}

const EXAMPLES: &str = "\
Examples:
  accord context deposit --project shop --actor agent:planner --title \"Chose SQLite\" \\
      --decision \"one file per project\" --question \"who makes backups?\"
  accord context deposit package.json
  my-tool --report | accord context deposit - --project shop --actor script:nightly

Depositing the same package again changes nothing. Other content under an existing id is refused.";
