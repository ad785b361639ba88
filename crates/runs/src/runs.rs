//! One repository, in one environment.

use std::fmt;
use std::path::Path;

use accord_contract::{Code, Failure, Value};
use accord_runs_core::config::{Config, narrow_problems, refusal};
use accord_runs_core::{Result, State};

use crate::guard::Guard;
use crate::run_marker::RunMarker;
use crate::{Environment, Operation, Repository};

/// How strictly a configuration is checked.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Reading {
    /// Every rule, for people.
    #[default]
    Full,
    /// The rules that the fixtures of the protocol require.
    Narrow,
    /// Valid parts are used, the rest is ignored.
    Lenient,
}

pub struct Runs {
    repository: Repository,
    pub(crate) environment: Environment,
    reading: Reading,
}

impl fmt::Debug for Runs {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = formatter.debug_struct("Runs");
        debug.field("root", &self.repository.root()).finish_non_exhaustive()
    }
}

impl Runs {
    /// Opens the governed repository of a folder: the folder itself, or the nearest parent with a
    /// configuration. Fails with `not_governed` if there is none.
    pub fn open(folder: &Path, environment: Environment) -> Result<Self> {
        if !folder.is_dir() {
            let message = format!("there is no folder {}", folder.display());
            let failure = Failure::new(Code::InputUnreadable, message);
            return Err(failure.suggesting("name a folder that exists"));
        }
        let start = Repository::open(folder)?;
        // As git does, so that commands work in every folder below the repository.
        for place in start.root().to_path_buf().ancestors() {
            let repository = Repository::open(place)?;
            if repository.is_governed()? {
                return Ok(Self::on(repository, environment, Reading::Full));
            }
        }
        // A worker may have removed the configuration, and the process that waited for it may have
        // been killed.
        for place in start.root().to_path_buf().ancestors() {
            let repository = Repository::open(place)?.guarded(&environment);
            if repository.guard().is_some_and(Guard::knows_run) {
                return Ok(Self::on(repository, environment, Reading::Full));
            }
        }
        let lost = |place| RunMarker::of(place)?.lost_with_config(place);
        start.root().ancestors().find_map(lost).map_or(Ok(()), Err)?;
        // The error of the tree has a better message.
        start.config()?;
        Ok(Self::on(start, environment, Reading::Full))
    }

    pub fn on(repository: Repository, environment: Environment, reading: Reading) -> Self {
        let repository = repository.guarded(&environment);
        Self { repository, environment, reading }
    }

    pub fn repository(&self) -> &Repository {
        &self.repository
    }

    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// Whether the programs of runtimes must exist on this machine.
    pub(crate) fn is_for_people(&self) -> bool {
        self.reading == Reading::Full
    }

    /// The configuration; while a worker runs, the one from before its start. Fails with
    /// `invalid_config`, or a failure of the file system.
    pub fn config(&self) -> Result<Config> {
        let guard = self.repository.guard();
        match guard.map_or(Ok(None), Guard::config_in_force)? {
            Some(bytes) => self.read_config(&bytes),
            None => self.read_document(self.repository.config()?),
        }
    }

    pub(crate) fn read_config(&self, bytes: &[u8]) -> Result<Config> {
        self.read_document(Repository::read_config(bytes)?)
    }

    fn read_document(&self, document: Value) -> Result<Config> {
        match (self.reading, document) {
            (Reading::Full, document) => Config::read(document),
            (Reading::Narrow, document) => Config::read_narrow(document),
            (Reading::Lenient, Value::Object(members)) => Ok(Config::lenient(members)),
            (Reading::Lenient, other) => Err(refusal(&narrow_problems(&other))),
        }
    }

    /// The state of the run; an idle state before the first run. Fails with `state_invalid`, or a
    /// failure of the file system.
    pub fn state(&self) -> Result<State> {
        let idle = || Ok(State::idle(&self.config()?));
        self.repository.state()?.map_or_else(idle, Ok)
    }

    /// Begins an operation: takes the lock, finishes pending journals, loads configuration and
    /// state.
    pub(crate) fn begin(&self) -> Result<Operation<'_>> {
        Operation::begin(self)
    }
}
