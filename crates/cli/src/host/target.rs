//! The host that a command sends its requests to.

use std::path::PathBuf;

use accord_base::worker::SOCKET_VARIABLE;
use accord_contract::Code;
use accord_host::upkeep::must_be_private;

use super::folder::DataFolder;
use super::names::setting;
use super::open::{Connection, IfMissing};
use crate::{CliError, Result, print_note};

/// The host, and the output format.
#[derive(Debug, clap::Args)]
pub(crate) struct HostArgs {
    /// Print the host's JSON document on one line; a refusal is an ErrorEnvelope
    #[arg(long, help_heading = None::<&str>)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) target: TargetArgs,
}

/// The host.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Host")]
pub(crate) struct TargetArgs {
    /// The URL of a server [default: ACCORD_URL, or `url` in accord.toml]
    #[arg(long, conflicts_with = "data")]
    pub(crate) url: Option<String>,

    /// The key for the server; prefer ACCORD_KEY, which the process list does not show
    #[arg(long, conflicts_with = "data")]
    pub(crate) key: Option<String>,

    /// A data folder on this machine [default, without a server: ACCORD_DATA, or the nearest
    /// `.accord` upwards]
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
}

#[derive(Debug)]
pub(crate) enum Target {
    Server {
        url: String,
        key: Option<String>,
    },
    Folder(PathBuf),
    /// The socket of the attempt that this command is part of.
    Attempt(PathBuf),
}

/// The socket of the attempt that this command is part of. A worker reaches nothing else.
pub(crate) fn attempt_socket() -> Option<PathBuf> {
    setting(SOCKET_VARIABLE).map(PathBuf::from)
}

/// The data folder, for commands that no server can run.
#[derive(Debug, clap::Args)]
pub(crate) struct FolderArgs {
    /// Print JSON, also for errors
    #[arg(long)]
    pub(crate) json: bool,

    /// The data folder [default: ACCORD_DATA, or the nearest `.accord` upwards]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
}

impl FolderArgs {
    pub(crate) fn folder(&self) -> Result<PathBuf> {
        if attempt_socket().is_some() {
            let message = "a worker reaches Accord through the socket of its attempt \
                           (ACCORD_SOCKET), and not through a data folder";
            return Err(CliError::new(Code::NotForWorkers, message)
                .help("run this command in a shell that no worker started"));
        }
        DataFolder::of(self.data.as_deref())?.usable()
    }

    /// Connects to the folder, which must exist.
    pub(crate) fn connect(&self) -> Result<Connection> {
        Connection::in_folder(&self.folder()?, IfMissing::Fail)
    }
}

impl TargetArgs {
    /// The target: from flags, then from the environment, then from the data folder that is found.
    pub(crate) fn target(&self) -> Result<Target> {
        if let Some(socket) = attempt_socket() {
            let given = [
                ("--url", self.url.is_some()),
                ("--key", self.key.is_some()),
                ("--data", self.data.is_some()),
            ];
            // The settings of an MCP client may have them, which are the same in every attempt.
            for (option, _) in given.into_iter().filter(|(_, is_given)| *is_given) {
                print_note(format!("{option} is not used: a worker has a socket (ACCORD_SOCKET)"));
            }
            return Ok(Target::Attempt(socket));
        }
        let server = |url| {
            let key = self.key.clone().or_else(|| setting("ACCORD_KEY"));
            Ok(Target::Server { url, key })
        };
        if let Some(url) = self.named_url() {
            return server(url);
        }
        let folder = DataFolder::of(self.data.as_deref())?;
        if !folder.is_named
            && let Some(url) = folder.settings()?.url
        {
            must_be_private(&folder.path)?;
            return server(url);
        }
        // Refused, because the caller believes that a server is asked.
        if self.key.is_some() {
            return Err(CliError::usage("--key needs a server, and none is given")
                .help("use --url or ACCORD_URL; a data folder needs no key"));
        }
        Ok(Target::Folder(folder.usable()?))
    }

    /// The project that the settings of the data folder name.
    pub(super) fn default_project(&self) -> Result<Option<String>> {
        if attempt_socket().is_some() {
            return Ok(None);
        }
        match DataFolder::of(self.data.as_deref()) {
            Ok(folder) => Ok(folder.settings()?.project),
            // The folder does not matter for a server.
            Err(_) if self.named_url().is_some() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The URL that a flag or the environment names.
    fn named_url(&self) -> Option<String> {
        match (&self.url, &self.data) {
            (Some(url), _) => Some(url.clone()),
            // A flag wins over the environment: with --data, ACCORD_URL is ignored.
            (None, Some(_)) => None,
            (None, None) => setting("ACCORD_URL"),
        }
    }

    /// Connects to a host that runs; refused if none serves the data folder.
    pub(crate) fn to_served(&self) -> Result<Connection> {
        match self.target()? {
            Target::Server { url, key } => Connection::to_server(&url, key),
            Target::Folder(folder) => Connection::to_running_host(&folder),
            Target::Attempt(socket) => Connection::to_attempt(&socket),
        }
    }

    pub(crate) fn connect(&self, if_missing: IfMissing) -> Result<Connection> {
        Connection::open(&self.target()?, if_missing)
    }
}

impl HostArgs {
    /// Connects to a host that must exist.
    pub(crate) fn connect(&self) -> Result<Connection> {
        self.target.connect(IfMissing::Fail)
    }

    /// Connects to a host; the first write creates a missing data folder, and names it.
    pub(crate) fn connect_or_create(&self) -> Result<Connection> {
        self.target.connect(IfMissing::CreateByWrite)
    }
}
