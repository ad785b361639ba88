//! One initiative over several repositories: the services behind `agentxchain-multi.json`.
//!
//! A [`Coordinator`] is one workspace in one [`Environment`]. Its documents are below
//! `.agentxchain/multirepo` of the workspace. Repositories are changed only through
//! [`Runs`](crate::Runs).
//!
//! Invariants:
//! - each operation writes its decisions as one commit of the workspace, under its lock;
//! - the lock of the workspace is released while a repository is changed, so that a workspace may
//!   be one of its own repositories;
//! - a turn is announced before it is assigned and recorded after it, so that the next step finds
//!   the turn again if the process is killed in between;
//! - an acceptance is projected once;
//! - a hook of the coordinator cannot change the records of the workspace or of a repository.

mod gate;
mod init;
mod repos;
mod resync;
mod send_back;
mod session;
mod status;
mod step;

use std::fmt;
use std::path::Path;

use accord_contract::{Code, Failure};
use accord_runs_core::coordinator::CoordinatorConfig;
use accord_runs_core::{RepoPath, Result};

use crate::{Environment, Repository, own_path};

pub use accord_runs_core::coordinator::{NextAction, SendBackGate};
pub use gate::{GateApproval, GatePlan};
pub use init::InitiativeStarted;
pub use resync::ResyncResult;
pub use send_back::GateSentBack;
pub use status::{CoordinatorOverview, RepoOverview};
pub use step::{StepOutcome, StepResult};

pub const COORDINATOR_CONFIG: &str = "agentxchain-multi.json";

const MAX_DOCUMENT: u64 = 4 * 1024 * 1024;

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
    /// Opens the workspace of a folder: the folder itself, or the nearest parent with the
    /// configuration of a coordinator. Fails with `invalid_coordinator_config` if there is none.
    pub fn open(folder: &Path, environment: Environment) -> Result<Self> {
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

    pub fn on(workspace: Repository, environment: Environment) -> Self {
        // The workspace may be one of its own repositories, with a worker in it.
        let workspace = workspace.guarded(&environment);
        Self { workspace, environment }
    }

    pub fn root(&self) -> &Path {
        self.workspace.root()
    }

    /// The configuration. Fails with `invalid_coordinator_config` or `workstream_cycle`.
    pub fn config(&self) -> Result<CoordinatorConfig> {
        let bytes = self.workspace.read(&config_path()?, MAX_DOCUMENT)?;
        let bytes = bytes.ok_or_else(|| missing(self.root()))?;
        let document = accord_canon::read(&bytes).map_err(|error| {
            let message = format!("config_invalid: {COORDINATOR_CONFIG} is not JSON: {error}");
            Failure::new(Code::XchainInvalidCoordinatorConfig, message).at(error.pointer())
        })?;
        CoordinatorConfig::read(document)
    }
}

fn config_path() -> Result<RepoPath> {
    own_path(COORDINATOR_CONFIG)
}

fn missing(place: &Path) -> Failure {
    let place = place.display();
    let message = format!("config_missing: no {COORDINATOR_CONFIG} in {place} or a parent folder");
    Failure::new(Code::XchainInvalidCoordinatorConfig, message).suggesting(format!(
        "go to the folder that has it, or name that with --workspace; a new initiative needs \
         its own {COORDINATOR_CONFIG} (docs/coordinator.md)"
    ))
}
