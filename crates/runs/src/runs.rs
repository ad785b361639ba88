//! One repository, in one world.

use std::fmt;
use std::path::Path;

use accord_contract::codes::Failure;
use accord_contract::wire::Value;
use accord_runs_core::config::{Config, narrow_problems, refusal};
use accord_runs_core::state::State;

use crate::environment::Environment;
use crate::operation::Operation;
use crate::repository::Repository;

/// Which rules a configuration is held to.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Reading {
    /// Every rule: what people work with.
    #[default]
    Full,
    /// The rules that the protocol's fixtures ask for.
    Narrow,
    /// What is sound is taken, the rest passed over.
    Lenient,
}

/// The services for one governed repository.
pub struct Runs {
    repository: Repository,
    pub(crate) environment: Environment,
    reading: Reading,
}

impl fmt::Debug for Runs {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = formatter.debug_struct("Runs");
        debug
            .field("root", &self.repository.root())
            .finish_non_exhaustive()
    }
}

impl Runs {
    /// Opens the governed repository of a folder: the folder itself, or the nearest above it
    /// that has a configuration.
    ///
    /// # Errors
    /// `not_governed` if there is none.
    pub fn open(folder: &Path, environment: Environment) -> Result<Self, Failure> {
        let start = Repository::open(folder)?;
        for place in start.root().to_path_buf().ancestors() {
            let repository = Repository::open(place)?;
            if repository.is_governed()? {
                return Ok(Self::on(repository, environment, Reading::Full));
            }
        }
        // The words for it are the tree's own.
        start.config()?;
        Ok(Self::on(start, environment, Reading::Full))
    }

    /// The services over a repository that somebody opened.
    pub fn on(repository: Repository, environment: Environment, reading: Reading) -> Self {
        Self {
            repository,
            environment,
            reading,
        }
    }

    /// The repository.
    pub fn repository(&self) -> &Repository {
        &self.repository
    }

    /// The world.
    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// Whether people work here, with programs that are to be on this machine.
    pub(crate) fn is_for_people(&self) -> bool {
        self.reading == Reading::Full
    }

    /// The configuration.
    ///
    /// # Errors
    /// `invalid_config`, or what the file system says.
    pub fn config(&self) -> Result<Config, Failure> {
        let document = self.repository.config()?;
        match (self.reading, document) {
            (Reading::Full, document) => Config::read(document),
            (Reading::Narrow, document) => Config::read_narrow(document),
            (Reading::Lenient, Value::Object(members)) => Ok(Config::lenient(members)),
            (Reading::Lenient, other) => Err(refusal(&narrow_problems(&other))),
        }
    }

    /// Where the run stands; an idle state where none was ever written.
    ///
    /// # Errors
    /// `state_invalid`, or what the file system says.
    pub fn state(&self) -> Result<State, Failure> {
        match self.repository.state()? {
            Some(state) => Ok(state),
            None => Ok(State::idle(&self.config()?)),
        }
    }

    /// Begins to work: takes the lock, brings left journals to their end, reads.
    pub(crate) fn begin(&self) -> Result<Operation<'_>, Failure> {
        Operation::begin(self)
    }
}
