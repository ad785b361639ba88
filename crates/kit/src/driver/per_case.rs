//! `stdio-fixture-v1`: one process per case. It reads the case and a newline from stdin, writes one
//! result to stdout, and exits with the code of its status. A case that is judged by a folder is a
//! conversation of lines.

use std::path::PathBuf;
use std::time::Duration;

use accord_contract::Wire as _;
use accord_contract::fixture::CaseAnswer;
use accord_process::{Cancel, Ending, Invocation, Overflow, RunOutput, Spec, run};

use super::folders::{Folders, Process};
use super::{
    ANSWER_LIMIT, Adapter, AdapterInfo, CannotBegin, Closing, Driver, DriverKind, DriverOutcome,
    NoAnswer, STDERR_LIMIT, reply, workplace,
};
use crate::case::{Case, Task};
use crate::corpus::Protocol;

/// An adapter that is started for every case.
#[derive(Clone, Debug)]
pub struct PerCase {
    invocation: Invocation,
    folders: Folders,
}

impl PerCase {
    /// An adapter with this command.
    pub fn new(invocation: Invocation) -> Self {
        Self { invocation, folders: Folders::default() }
    }

    /// Copies the folder of each case that is judged by one to this folder.
    #[must_use]
    pub fn keep_folders(mut self, folder: PathBuf) -> Self {
        self.folders.keep(folder);
        self
    }
}

impl Adapter for PerCase {
    fn begin(&self, protocol: &Protocol) -> Result<(), CannotBegin> {
        self.folders.begin(protocol);
        Ok(self.invocation.locate().map(|_| ())?)
    }

    fn applies(&self, case: &Case) -> Result<(), String> {
        super::applies_to_process(case)
    }

    fn open(&self) -> Box<dyn Driver + '_> {
        Box::new(PerCaseDriver {
            invocation: &self.invocation,
            folders: &self.folders,
            cancel: Cancel::new(),
            closing: Closing::default(),
        })
    }

    fn info(&self) -> AdapterInfo {
        AdapterInfo::of(DriverKind::PerCase, &self.invocation)
    }
}

struct PerCaseDriver<'a> {
    invocation: &'a Invocation,
    folders: &'a Folders,
    cancel: Cancel,
    closing: Closing,
}

impl Driver for PerCaseDriver<'_> {
    fn execute(&mut self, case: &Case, limit: Duration) -> DriverOutcome {
        if let Task::Folder(folder) = &case.task {
            let mut process = Process::new(self.invocation, &self.cancel, None);
            let notes = &mut self.closing.notes;
            let answer = self.folders.execute(case, folder, &mut process, limit, notes);
            return process.outcome(answer);
        }
        // The folder is kept until the process group is gone.
        let (folder, invocation) = match workplace::prepare(self.invocation) {
            Ok(prepared) => prepared,
            Err(why) => return DriverOutcome::none(why),
        };
        let spec = Spec::new(invocation)
            .stdin(format!("{}\n", case.encode()))
            .time_limit(limit)
            .cancel(self.cancel.clone())
            .stdout_limit(ANSWER_LIMIT, Overflow::Kill)
            .stderr_limit(STDERR_LIMIT);
        let ran = run(&spec);
        self.closing.notes.extend(folder.remove().err());
        match ran {
            Ok(outcome) => DriverOutcome::new(read(case, &outcome, limit), &outcome.stderr),
            Err(error) => DriverOutcome::none(NoAnswer::CannotStart(error)),
        }
    }

    fn cancel_with(&mut self, cancel: Cancel) {
        self.cancel = cancel;
    }

    fn close(&mut self) -> Closing {
        std::mem::take(&mut self.closing)
    }
}

fn read(case: &Case, outcome: &RunOutput, limit: Duration) -> Result<CaseAnswer, NoAnswer> {
    if outcome.cancelled {
        return Err(NoAnswer::Cancelled);
    }
    // Before `timed_out` and the exit, which are consequences of a kill because of the output.
    if outcome.stdout_truncated {
        let what = format!("the adapter wrote more than {ANSWER_LIMIT} bytes to stdout");
        return Err(NoAnswer::broken(format!("{what} and was killed")));
    }
    if outcome.timed_out {
        let what = format!("the adapter did not end within {} ms", limit.as_millis());
        return Err(NoAnswer::timed_out(format!("{what}; its process group was killed")));
    }
    let Ending::Exited(code) = outcome.ending else {
        return Err(NoAnswer::broken(format!("the adapter was {}", outcome.ending)));
    };
    let result = reply::read(case, &outcome.stdout, reply::Asked::Alone).map_err(|why| {
        NoAnswer::broken(format!("the adapter ended with exit code {code}, but {why}"))
    })?;
    let needed = result.status.map_or(0, |status| i32::from(status.exit_code()));
    if code == needed {
        return Ok(result);
    }
    let needs = match result.status {
        Some(status) => format!("the status `{status}` needs exit code {needed}"),
        None => "a result without `status` needs exit code 0".to_owned(),
    };
    Err(NoAnswer::broken(format!("{needs}, but the adapter ended with exit code {code}")))
}
