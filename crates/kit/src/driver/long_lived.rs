//! `stdio-fixture-lines-v1`: one case per line, one result per line, in order. After any breach the
//! process group is killed, because a later line could answer any case. So every line names its
//! case.

use std::path::PathBuf;
use std::time::Duration;

use accord_contract::Wire as _;
use accord_contract::fixture::CaseAnswer;
use accord_process::{Cancel, Invocation, Session, SessionError};

use super::folders::{Folders, Open, Process};
use super::{
    Adapter, AdapterInfo, CannotBegin, Closing, Driver, DriverKind, DriverOutcome, NoAnswer, Reply,
    reply,
};
use crate::case::{Case, Folder, Task};
use crate::corpus::Protocol;
use crate::exchange::{End, Exchanged};

/// An adapter that answers many cases in one process. Each worker has its own.
#[derive(Clone, Debug)]
pub struct LongLived {
    invocation: Invocation,
    folders: Folders,
}

impl LongLived {
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

impl Adapter for LongLived {
    fn begin(&self, protocol: &Protocol) -> Result<(), CannotBegin> {
        self.folders.begin(protocol);
        Ok(self.invocation.locate().map(|_| ())?)
    }

    fn applies(&self, case: &Case) -> Result<(), String> {
        super::applies_to_process(case)
    }

    fn open(&self) -> Box<dyn Driver + '_> {
        Box::new(LongLivedDriver {
            invocation: &self.invocation,
            folders: &self.folders,
            open: None,
            cancel: Cancel::new(),
            closing: Closing::default(),
        })
    }

    fn info(&self) -> AdapterInfo {
        AdapterInfo::of(DriverKind::LongLived, &self.invocation)
    }
}

struct LongLivedDriver<'a> {
    invocation: &'a Invocation,
    folders: &'a Folders,
    open: Option<Open>,
    cancel: Cancel,
    closing: Closing,
}

impl Driver for LongLivedDriver<'_> {
    fn execute(&mut self, case: &Case, limit: Duration) -> DriverOutcome {
        if let Task::Folder(folder) = &case.task {
            return self.work_in(case, folder, limit);
        }
        // Put back only after a valid answer: one that broke the protocol is never asked again.
        let started = match self.open.take() {
            Some(open) => Ok(open),
            None => Open::start(self.invocation, &self.cancel),
        };
        let mut open = match started {
            Ok(open) => open,
            Err(why) => return DriverOutcome::none(why),
        };
        let answer = ask(&mut open.session, case, limit);
        let keeps_the_protocol = answer.is_ok();
        let outcome = DriverOutcome::new(answer, open.session.stderr());
        if keeps_the_protocol {
            self.open = Some(open);
        } else {
            self.closing.notes.extend(open.folder.remove().err());
        }
        outcome
    }

    fn cancel_with(&mut self, cancel: Cancel) {
        self.cancel = cancel;
    }

    fn close(&mut self) -> Closing {
        if let Some(Open { session, folder }) = self.open.take() {
            // The process ends before its folder is removed, because it may still write there.
            let closed = session.close(TIME_TO_END);
            self.closing.breaches.extend(closed.err().map(|error| {
                format!("the adapter broke the protocol after its last case: {error}")
            }));
            self.closing.notes.extend(folder.remove().err());
        }
        std::mem::take(&mut self.closing)
    }
}

impl LongLivedDriver<'_> {
    /// Runs a case in a folder. The process stays if it did everything that it was asked for.
    fn work_in(&mut self, case: &Case, folder: &Folder, limit: Duration) -> DriverOutcome {
        let mut process = Process::new(self.invocation, &self.cancel, self.open.take());
        let notes = &mut self.closing.notes;
        let answer = self.folders.execute(case, folder, &mut process, limit, notes);
        let is_met = matches!(&answer, Ok(Reply::Exchanged(Exchanged { end: End::Met, .. })));
        let outcome = process.outcome(answer);
        if is_met {
            self.open = process.open;
        }
        outcome
    }
}

impl Drop for LongLivedDriver<'_> {
    fn drop(&mut self) {
        self.close();
    }
}

fn ask(session: &mut Session, case: &Case, limit: Duration) -> Result<CaseAnswer, NoAnswer> {
    let line = case.encode().to_string();
    let answer = session.request(line.as_bytes(), limit).map_err(|error| breach(&error))?;
    reply::read(case, &answer, reply::Asked::InTurn)
        .map_err(|why| NoAnswer::broken(format!("the adapter answered, but {why}")))
}

pub(super) fn breach(error: &SessionError) -> NoAnswer {
    match error {
        SessionError::Cancelled => NoAnswer::Cancelled,
        SessionError::TimedOut { limit } => {
            let within = limit.as_millis();
            let what = format!("the adapter gave no answer within {within} ms");
            NoAnswer::timed_out(format!("{what}; its process group was killed"))
        }
        error => NoAnswer::broken(format!("the adapter broke off: {error}")),
    }
}

/// How long an adapter may clean up after its stdin was closed.
const TIME_TO_END: Duration = Duration::from_millis(500);
