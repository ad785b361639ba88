//! Which host.

use std::path::PathBuf;

use accord_contract::codes::Code;

use super::names::setting;
use super::open::{Connection, Creating};
use crate::error::CliError;

/// Where a data folder is unless somebody says otherwise.
pub(crate) const DEFAULT_FOLDER: &str = ".accord";

/// Whom to ask, and how to answer.
#[derive(Debug, clap::Args)]
pub(crate) struct HostArgs {
    /// Print the host's own JSON document, on one line
    #[arg(long, help_heading = None::<&str>)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) target: TargetArgs,
}

/// Whom to ask.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Whom to ask")]
pub(crate) struct TargetArgs {
    /// A server, by its URL; ACCORD_URL when absent
    #[arg(long, conflicts_with = "data")]
    pub(crate) url: Option<String>,

    /// The key for that server; better in ACCORD_KEY, where no list of processes shows it
    #[arg(long, conflicts_with = "data")]
    pub(crate) key: Option<String>,

    /// A data folder on this machine; without a server, ACCORD_DATA or `.accord` when absent
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
}

/// Who is asked.
#[derive(Debug)]
pub(crate) enum Target {
    /// A server.
    Server {
        /// Its URL.
        url: String,
        /// The key for it.
        key: Option<String>,
    },
    /// A data folder.
    Folder(PathBuf),
}

/// Which data folder, for what only a data folder can do.
#[derive(Debug, clap::Args)]
pub(crate) struct FolderArgs {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,

    /// The data folder; ACCORD_DATA or `.accord` when absent
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
}

impl FolderArgs {
    /// The folder.
    pub(crate) fn folder(&self) -> PathBuf {
        folder(self.data.as_ref())
    }

    /// Whoever has the folder, which must be there.
    pub(crate) fn connect(&self) -> Result<Connection, CliError> {
        Connection::in_folder(&self.folder(), Creating::No)
    }
}

impl TargetArgs {
    /// Who is asked: what a flag names, then what the environment names.
    pub(crate) fn target(&self) -> Result<Target, CliError> {
        let url = match (&self.url, &self.data) {
            (Some(url), _) => Some(url.clone()),
            (None, Some(_)) => None,
            (None, None) => setting("ACCORD_URL"),
        };
        if let Some(url) = url {
            let key = self.key.clone().or_else(|| setting("ACCORD_KEY"));
            return Ok(Target::Server { url, key });
        }
        if self.key.is_some() {
            return Err(
                CliError::new(Code::Usage, "a key is for a server, and none is named")
                    .help("name it with --url or ACCORD_URL; a data folder needs no key"),
            );
        }
        Ok(Target::Folder(folder(self.data.as_ref())))
    }

    /// Whoever is asked, ready to be asked.
    pub(crate) fn connect(&self, creating: Creating) -> Result<Connection, CliError> {
        Connection::open(&self.target()?, creating)
    }
}

impl HostArgs {
    /// Whoever is asked, for a command that needs something to be there.
    pub(crate) fn connect(&self) -> Result<Connection, CliError> {
        self.target.connect(Creating::No)
    }

    /// Whoever is asked, for a command that may begin a data folder.
    pub(crate) fn connect_or_create(&self) -> Result<Connection, CliError> {
        self.target.connect(Creating::Yes)
    }
}

fn folder(named: Option<&PathBuf>) -> PathBuf {
    let named = named.cloned();
    let named = named.or_else(|| setting("ACCORD_DATA").map(PathBuf::from));
    named.unwrap_or_else(|| DEFAULT_FOLDER.into())
}
