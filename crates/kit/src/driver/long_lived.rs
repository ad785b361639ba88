//! `stdio-fixture-lines-v1`: one case per line, one result per line, in order.
//!
//! After any breach the process group is killed and the next case gets a new process, because a
//! later line could answer any case. For the same reason every line names its case.

use std::time::Duration;

use accord_contract::fixture::AdapterResult;
use accord_contract::wire::Wire as _;
use accord_process::{Cancel, Invocation, Session, SessionError, SessionLimits};

use super::{
    ANSWER_LIMIT, Adapter, AdapterInfo, Breach, CannotBegin, Closing, Driver, DriverKind,
    DriverOutcome, NoAnswer, STDERR_LIMIT, reply, workplace,
};
use crate::case::Case;
use crate::corpus::Protocol;

/// An adapter that answers many cases in one process. Each worker has its own.
#[derive(Clone, Debug)]
pub struct LongLived {
    invocation: Invocation,
}

impl LongLived {
    /// An adapter with this command.
    pub fn new(invocation: Invocation) -> Self {
        Self { invocation }
    }
}

impl Adapter for LongLived {
    fn begin(&self, _: &Protocol) -> Result<(), CannotBegin> {
        Ok(self.invocation.locate().map(|_| ())?)
    }

    fn open(&self) -> Box<dyn Driver + '_> {
        Box::new(LongLivedDriver {
            invocation: &self.invocation,
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
    open: Option<Open>,
    cancel: Cancel,
    closing: Closing,
}

struct Open {
    session: Session,
    /// Kept as long as the process.
    folder: workplace::Workplace,
}

impl Driver for LongLivedDriver<'_> {
    fn execute(&mut self, case: &Case, limit: Duration) -> DriverOutcome {
        // Taken out, and put back only after a valid answer. So a process that broke the protocol
        // is never asked again.
        let started = self.open.take().map_or_else(|| start(self.invocation, &self.cancel), Ok);
        let mut open = match started {
            Ok(open) => open,
            Err(why) => return DriverOutcome::new(Err(why), b""),
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

impl Drop for LongLivedDriver<'_> {
    fn drop(&mut self) {
        self.close();
    }
}

fn start(invocation: &Invocation, cancel: &Cancel) -> Result<Open, NoAnswer> {
    let (folder, invocation) = workplace::prepare(invocation)?;
    let limits = SessionLimits::new(ANSWER_LIMIT, STDERR_LIMIT);
    let session = Session::start(&invocation, limits).map_err(NoAnswer::CannotStart)?;
    Ok(Open { session: session.cancel(cancel.clone()), folder })
}

fn ask(session: &mut Session, case: &Case, limit: Duration) -> Result<AdapterResult, NoAnswer> {
    let line = case.encode().to_string();
    let answer = session.request(line.as_bytes(), limit).map_err(|error| breach(&error))?;
    reply::read(case, &answer, reply::Asked::InTurn)
        .map_err(|why| NoAnswer::broken(format!("the adapter answered, but {why}")))
}

fn breach(error: &SessionError) -> NoAnswer {
    match error {
        SessionError::Cancelled => NoAnswer::Cancelled,
        SessionError::TimedOut { limit } => NoAnswer::Broken {
            breach: Breach::TimedOut,
            reason: format!(
                "the adapter gave no answer within {} ms; its process group was killed",
                limit.as_millis()
            ),
        },
        error => NoAnswer::broken(format!("the adapter broke off: {error}")),
    }
}

/// How long an adapter may clean up after its stdin was closed.
const TIME_TO_END: Duration = Duration::from_millis(500);
