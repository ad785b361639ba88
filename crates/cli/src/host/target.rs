//! The host that a command sends its requests to.

use std::path::PathBuf;

use accord_contract::codes::Code;

use super::names::setting;
use super::open::{Connection, IfMissing};
use crate::error::CliError;

/// The default data folder.
pub(crate) const DEFAULT_FOLDER: &str = ".accord";

/// The host, and the output format.
#[derive(Debug, clap::Args)]
pub(crate) struct HostArgs {
    /// Print the host's JSON document on one line
    #[arg(long, help_heading = None::<&str>)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) target: TargetArgs,
}

/// The host.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Host")]
pub(crate) struct TargetArgs {
    /// The URL of a server [default: ACCORD_URL]
    #[arg(long, conflicts_with = "data")]
    pub(crate) url: Option<String>,

    /// The key for the server; prefer ACCORD_KEY, which the process list does not show
    #[arg(long, conflicts_with = "data")]
    pub(crate) key: Option<String>,

    /// A data folder on this machine [default, without a server: ACCORD_DATA, or `.accord`]
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
}

/// The host to ask.
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

/// The data folder, for commands that no server can run.
#[derive(Debug, clap::Args)]
pub(crate) struct FolderArgs {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,

    /// The data folder [default: ACCORD_DATA, or `.accord`]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
}

impl FolderArgs {
    /// The folder.
    pub(crate) fn folder(&self) -> PathBuf {
        folder(self.data.as_ref())
    }

    /// Connects to the folder, which must exist.
    pub(crate) fn connect(&self) -> Result<Connection, CliError> {
        Connection::in_folder(&self.folder(), IfMissing::Fail)
    }
}

impl TargetArgs {
    /// The target: from flags, then from the environment.
    pub(crate) fn target(&self) -> Result<Target, CliError> {
        let url = match (&self.url, &self.data) {
            (Some(url), _) => Some(url.clone()),
            // A flag wins over the environment: with --data, ACCORD_URL is ignored.
            (None, Some(_)) => None,
            (None, None) => setting("ACCORD_URL"),
        };
        if let Some(url) = url {
            let key = self.key.clone().or_else(|| setting("ACCORD_KEY"));
            return Ok(Target::Server { url, key });
        }
        // Refused, because the caller believes that a server is asked.
        if self.key.is_some() {
            return Err(CliError::new(Code::Usage, "--key needs a server, and none is given")
                .help("use --url or ACCORD_URL; a data folder needs no key"));
        }
        Ok(Target::Folder(folder(self.data.as_ref())))
    }

    /// Connects to the target.
    pub(crate) fn connect(&self, if_missing: IfMissing) -> Result<Connection, CliError> {
        Connection::open(&self.target()?, if_missing)
    }
}

impl HostArgs {
    /// Connects to a host that must exist.
    pub(crate) fn connect(&self) -> Result<Connection, CliError> {
        self.target.connect(IfMissing::Fail)
    }

    /// Connects to a host; a missing data folder is created.
    pub(crate) fn connect_or_create(&self) -> Result<Connection, CliError> {
        self.target.connect(IfMissing::Create)
    }
}

fn folder(named: Option<&PathBuf>) -> PathBuf {
    let named = named.cloned();
    let named = named.or_else(|| setting("ACCORD_DATA").map(PathBuf::from));
    named.unwrap_or_else(|| DEFAULT_FOLDER.into())
}
