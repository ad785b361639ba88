//! One case: its call, and the workspace in which it is performed.

use std::time::Duration;

use accord_base::Caller;
use accord_contract::{Code, Failure, Object};
use accord_process::Cancel;
use accord_runs::repository::{LockedRepository, RecordFile, Repository};
use accord_runs::{Environment, Reading, Runs};
use accord_runs_core::TurnId;
use accord_runs_core::config::Config;
use accord_runs_core::result::Leniency;
use accord_runs_core::state::State;
use serde_json::Value;

use super::workspace::{Workspace, part};
use crate::{BadCall, Call};

/// How long to wait for the lock. No other process knows the workspace, so it is always free.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);

pub(super) struct CaseContext<'a> {
    pub(super) call: &'a Call,
    pub(super) workspace: Workspace,
    pub(super) leniency: Leniency,
    cancel: Option<Cancel>,
}

impl<'a> CaseContext<'a> {
    pub(super) fn set_up(
        call: &'a Call,
        strict: bool,
        cancel: Option<Cancel>,
    ) -> Result<Self, BadCall> {
        let leniency = Leniency { strict, ..Leniency::default() };
        Ok(Self { call, workspace: Workspace::set_up(call)?, leniency, cancel })
    }

    /// The environment of an operation: the machine's clock and randomness. The caller is unknown:
    /// a case decides by its own data, also when a worker runs the kit.
    pub(super) fn environment(&self) -> Environment {
        let environment = Environment::system()
            .with_caller(Caller::owner().saying_terminal(true))
            .with_lock_timeout(LOCK_TIMEOUT);
        match &self.cancel {
            Some(cancel) => environment.with_cancel(cancel.clone()),
            None => environment,
        }
    }

    pub(super) fn repository(&self) -> Repository {
        self.workspace.repository()
    }

    /// The services on the repository, which read its configuration by these rules.
    pub(super) fn runs(&self, reading: Reading) -> Runs {
        Runs::on(self.repository(), self.environment(), reading)
    }

    pub(super) fn lock(&self) -> Result<LockedRepository, BadCall> {
        Ok(self.repository().lock(LOCK_TIMEOUT)?)
    }

    /// The valid parts of the configuration.
    pub(super) fn config(&self) -> Result<Config, BadCall> {
        match self.repository().config()? {
            Value::Object(document) => Ok(Config::lenient(document)),
            _ => Err(BadCall::kind("the configuration", "an object")),
        }
    }

    pub(super) fn state(&self) -> Result<State, BadCall> {
        self.repository().state()?.ok_or_else(|| BadCall::new("there is no state"))
    }

    /// The number of lines of a record, and the last one.
    pub(super) fn record(&self, record: RecordFile) -> Result<(usize, Option<Object>), BadCall> {
        let mut count = 0;
        let mut last = None;
        for line in self.repository().lines(record)? {
            last = Some(line?.object);
            count += 1;
        }
        Ok((count, last))
    }

    pub(super) fn turn(&self) -> Result<TurnId, BadCall> {
        let text = self.call.text("turn_id")?;
        TurnId::parse(text).ok_or_else(|| BadCall::kind("turn_id", "the id of a turn"))
    }

    /// An object argument; empty when it is absent.
    pub(super) fn object(&self, name: &str) -> Result<Object, BadCall> {
        part(&self.call.args, name)
    }
}

/// A refusal of the runner. Fails when the failure is an error of the machine.
pub(super) fn refusal(failure: Failure) -> Result<Failure, BadCall> {
    match failure.code {
        Code::XchainFileSystemFailed
        | Code::XchainGivenUp
        | Code::XchainLockTimeout
        | Code::XchainLockLost => Err(of_machine(failure)),
        _ => Ok(failure),
    }
}

/// An error of the machine, which is no answer of the runner.
pub(super) fn of_machine(failure: Failure) -> BadCall {
    BadCall::new(failure.message)
}
