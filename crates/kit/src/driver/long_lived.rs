//! `stdio-fixture-lines-v1`: one case a line, one result a line, in order.
//!
//! After any breach the process group is killed and the next case gets a new process, since nobody
//! can tell which case a later line would answer.

use std::time::Duration;

use accord_contract::fixture::AdapterResult;
use accord_contract::wire::Wire as _;
use accord_process::{Invocation, Session, SessionError, SessionLimits, StartError};
use tempfile::TempDir;

use super::{
    ANSWER_LIMIT, Adapter, AdapterInfo, Breach, Driver, DriverKind, DriverOutcome, NoAnswer,
    STDERR_LIMIT, reply, workplace,
};
use crate::case::Case;

/// An adapter that answers many cases in one process. Each worker has its own.
#[derive(Clone, Debug)]
pub struct LongLived {
    invocation: Invocation,
}

impl LongLived {
    /// An adapter that is started like this.
    pub fn new(invocation: Invocation) -> Self {
        Self { invocation }
    }
}

impl Adapter for LongLived {
    fn preflight(&self) -> Result<(), StartError> {
        self.invocation.locate().map(|_| ())
    }

    fn open(&self) -> Box<dyn Driver + '_> {
        Box::new(Line {
            invocation: &self.invocation,
            open: None,
        })
    }

    fn info(&self) -> AdapterInfo {
        AdapterInfo::of(DriverKind::LongLived, &self.invocation)
    }
}

struct Line<'a> {
    invocation: &'a Invocation,
    open: Option<Open>,
}

struct Open {
    session: Session,
    /// Lives as long as the process.
    _folder: TempDir,
}

impl Driver for Line<'_> {
    fn execute(&mut self, case: &Case, limit: Duration) -> DriverOutcome {
        let started = self.open.take().map_or_else(|| start(self.invocation), Ok);
        let mut open = match started {
            Ok(open) => open,
            Err(why) => return DriverOutcome::new(Err(why), b""),
        };
        let answer = ask(&mut open.session, case, limit);
        let keeps_the_protocol = answer.is_ok();
        let outcome = DriverOutcome::new(answer, open.session.stderr());
        if keeps_the_protocol {
            self.open = Some(open);
        }
        outcome
    }
}

impl Drop for Line<'_> {
    fn drop(&mut self) {
        if let Some(open) = self.open.take() {
            open.session.close(TIME_TO_END);
        }
    }
}

fn start(invocation: &Invocation) -> Result<Open, NoAnswer> {
    let (folder, invocation) = workplace::prepare(invocation)?;
    let limits = SessionLimits::new(ANSWER_LIMIT, STDERR_LIMIT);
    let session = Session::start(&invocation, limits).map_err(NoAnswer::CannotStart)?;
    Ok(Open {
        session,
        _folder: folder,
    })
}

fn ask(session: &mut Session, case: &Case, limit: Duration) -> Result<AdapterResult, NoAnswer> {
    let line = case.encode().to_string();
    let answer = session
        .request(line.as_bytes(), limit)
        .map_err(|error| breach(&error))?;
    reply::read(case, &answer)
        .map_err(|why| NoAnswer::broken(format!("the adapter answered, but {why}")))
}

fn breach(error: &SessionError) -> NoAnswer {
    match error {
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

/// Once its stdin has ended, an adapter gets this long to put its things away.
const TIME_TO_END: Duration = Duration::from_millis(500);
