//! Several repositories, one initiative: the services behind `agentxchain-multi.json`.
//!
//! A [`Coordinator`] is one workspace in one [`Environment`]. What it knows lies below
//! `.agentxchain/multirepo` of the workspace; its repositories stay their own masters, and are
//! worked on through [`Runs`](crate::Runs) alone.
//!
//! Invariants:
//! - each operation writes what it decided as one commit of the workspace, under its lock;
//! - the workspace's lock is not held while a repository is worked on, so that a workspace may be
//!   one of its own repositories;
//! - a turn is announced before it is assigned and named after, so that a process that is killed
//!   in between leaves a turn that the next step finds again;
//! - an acceptance is taken over once, whoever offers it;
//! - a hook of the coordinator leaves the records of the workspace and of every repository as they
//!   were.

mod gate;
mod init;
mod repos;
mod resync;
mod session;
mod status;
mod step;

use std::fmt;
use std::path::Path;

use accord_contract::codes::{Code, Failure};
use accord_runs_core::RepoPath;
use accord_runs_core::coordinator::CoordinatorConfig;

use crate::Environment;
use crate::operation::own_path;
use crate::repository::Repository;

pub use gate::GateApproval;
pub use init::InitiativeStarted;
pub use resync::ResyncResult;
pub use status::{CoordinatorOverview, NextAction, RepoOverview};
pub use step::{StepOutcome, StepResult};

/// The configuration of a coordinator, in its workspace.
pub const COORDINATOR_CONFIG: &str = "agentxchain-multi.json";

/// The most bytes of a document that a person wrote.
const MAX_DOCUMENT: u64 = 4 * 1024 * 1024;

/// The services for one workspace.
pub struct Coordinator {
    workspace: Repository,
    environment: Environment,
}

impl fmt::Debug for Coordinator {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = formatter.debug_struct("Coordinator");
        debug.field("root", &self.root()).finish_non_exhaustive()
    }
}

impl Coordinator {
    /// Opens the workspace of a folder: the folder itself, or the nearest above it that has a
    /// coordinator's configuration.
    ///
    /// # Errors
    /// `invalid_coordinator_config` if there is none.
    pub fn open(folder: &Path, environment: Environment) -> Result<Self, Failure> {
        let start = Repository::open(folder)?;
        let config = config_path()?;
        for place in start.root().to_path_buf().ancestors() {
            let workspace = Repository::open(place)?;
            if workspace.stat(&config)?.is_some() {
                return Ok(Self::on(workspace, environment));
            }
        }
        Err(missing(start.root()))
    }

    /// The services over a workspace that somebody opened.
    pub fn on(workspace: Repository, environment: Environment) -> Self {
        Self {
            workspace,
            environment,
        }
    }

    /// Where the workspace is.
    pub fn root(&self) -> &Path {
        self.workspace.root()
    }

    /// The configuration.
    ///
    /// # Errors
    /// `invalid_coordinator_config` or `workstream_cycle`.
    pub fn config(&self) -> Result<CoordinatorConfig, Failure> {
        let bytes = self.workspace.read(&config_path()?, MAX_DOCUMENT)?;
        let bytes = bytes.ok_or_else(|| missing(self.root()))?;
        let document = accord_canon::read(&bytes).map_err(|error| {
            let message = format!("config_invalid: {COORDINATOR_CONFIG} is no JSON: {error}");
            Failure::new(Code::XchainInvalidCoordinatorConfig, message).at(error.pointer())
        })?;
        CoordinatorConfig::read(document)
    }
}

fn config_path() -> Result<RepoPath, Failure> {
    own_path(COORDINATOR_CONFIG)
}

fn missing(place: &Path) -> Failure {
    let message = format!(
        "config_missing: there is no {COORDINATOR_CONFIG} in {} or above it",
        place.display()
    );
    Failure::new(Code::XchainInvalidCoordinatorConfig, message)
}
