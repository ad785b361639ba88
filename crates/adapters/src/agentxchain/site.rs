//! One case: what it asks for, and the workspace that it is carried out in.

use std::time::Duration;

use accord_contract::codes::{Code, Failure};
use accord_process::Cancel;
use accord_runs::repository::{LockedRepository, RecordFile, Repository};
use accord_runs::{Reading, Runs, World};
use accord_runs_core::TurnId;
use accord_runs_core::config::Config;
use accord_runs_core::result::Leniency;
use accord_runs_core::state::State;
use serde_json::{Map, Value};

use super::workspace::{Workspace, trouble};
use crate::{BadCall, Call};

/// How long the lock is waited for, which nobody else can hold.
const PATIENCE: Duration = Duration::from_secs(5);

/// One case.
pub(super) struct Site<'a> {
    pub(super) call: &'a Call,
    pub(super) workspace: Workspace,
    pub(super) leniency: Leniency,
    cancel: Option<Cancel>,
}

impl<'a> Site<'a> {
    pub(super) fn set_up(
        call: &'a Call,
        strict: bool,
        cancel: Option<Cancel>,
    ) -> Result<Self, BadCall> {
        Ok(Self {
            call,
            workspace: Workspace::set_up(call)?,
            leniency: Leniency {
                strict,
                ..Leniency::default()
            },
            cancel,
        })
    }

    /// The surroundings of an operation: the machine's clock and randomness.
    pub(super) fn world(&self) -> World {
        let world = World::system().patience(PATIENCE);
        match &self.cancel {
            Some(cancel) => world.cancel(cancel.clone()),
            None => world,
        }
    }

    pub(super) fn repository(&self) -> Repository {
        self.workspace.repository()
    }

    /// The services on the repository, which hold its configuration to these rules.
    pub(super) fn runs(&self, reading: Reading) -> Runs {
        Runs::on(self.repository(), self.world(), reading)
    }

    /// The repository with its lock.
    pub(super) fn hold(&self) -> Result<LockedRepository, BadCall> {
        self.repository().lock(PATIENCE).map_err(trouble)
    }

    /// What of the configuration is sound.
    pub(super) fn config(&self) -> Result<Config, BadCall> {
        match self.repository().config().map_err(trouble)? {
            Value::Object(document) => Ok(Config::lenient(document)),
            _ => Err(BadCall::kind("the configuration", "an object")),
        }
    }

    pub(super) fn state(&self) -> Result<State, BadCall> {
        let state = self.repository().state().map_err(trouble)?;
        state.ok_or_else(|| BadCall::new("there is no state"))
    }

    /// How many lines a record has, and the last of them.
    pub(super) fn record(
        &self,
        record: RecordFile,
    ) -> Result<(usize, Option<Map<String, Value>>), BadCall> {
        let mut count = 0;
        let mut last = None;
        for line in self.repository().lines(record).map_err(trouble)? {
            last = Some(line.map_err(trouble)?.object);
            count += 1;
        }
        Ok((count, last))
    }

    /// The turn that an operation names.
    pub(super) fn turn(&self) -> Result<TurnId, BadCall> {
        let text = self.call.text("turn_id")?;
        TurnId::parse(text).ok_or_else(|| BadCall::kind("turn_id", "the id of a turn"))
    }

    /// An object that the operation is given; empty where it is absent.
    pub(super) fn object(&self, name: &str) -> Result<Map<String, Value>, BadCall> {
        match self.call.args.get(name) {
            None | Some(Value::Null) => Ok(Map::new()),
            Some(value) => super::workspace::object(value, name).cloned(),
        }
    }
}

/// A refusal of the runner; trouble of the machine is none.
///
/// # Errors
/// When it is trouble of the machine.
pub(super) fn refusal(failure: Failure) -> Result<Failure, BadCall> {
    match failure.code {
        Code::XchainFileSystemFailed
        | Code::XchainGivenUp
        | Code::XchainLockTimeout
        | Code::XchainLockLost => Err(trouble(failure.message)),
        _ => Ok(failure),
    }
}
