//! A function in the kit's own process, for libraries that run the kit in their tests. A panic is
//! caught. One that never returns cannot be stopped. A kill only drops what
//! [`InProcess::in_folders`] made.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use accord_contract::Value;
use accord_contract::fixture::AdapterResult;

use super::folders::Folders;
use super::{Adapter, AdapterInfo, CannotBegin, Driver, DriverKind, DriverOutcome, NoAnswer};
use crate::case::{Case, Task};
use crate::corpus::Protocol;
use crate::folder::Target;

/// An implementation that is called directly.
pub struct InProcess<F> {
    answer: F,
    /// Makes an implementation that works in folders.
    make: Option<Box<Make>>,
    folders: Folders,
}

/// Makes an implementation that answers requests, as it is after its start.
type Make = dyn Fn(&Case) -> Box<Answer> + Sync;

/// Answers the requests of a case that is judged by a folder.
pub type Answer = dyn FnMut(&Value) -> Value;

impl<F: Fn(&Case) -> AdapterResult + Sync> InProcess<F> {
    /// Answers cases with a function.
    pub fn new(answer: F) -> Self {
        Self { answer, make: None, folders: Folders::default() }
    }

    /// Also runs cases that are judged by a folder, on what `make` makes.
    #[must_use]
    pub fn in_folders(mut self, make: impl Fn(&Case) -> Box<Answer> + Sync + 'static) -> Self {
        self.make = Some(Box::new(make));
        self
    }
}

/// An implementation in this process that works in folders.
struct Direct<'a> {
    case: &'a Case,
    make: &'a Make,
    running: Option<Box<Answer>>,
}

impl Target for Direct<'_> {
    fn ask(&mut self, request: &Value, _: Duration) -> Result<Value, NoAnswer> {
        let running = self.running.get_or_insert_with(|| (self.make)(self.case));
        catch_unwind(AssertUnwindSafe(|| running(request))).map_err(|panic| {
            NoAnswer::broken(format!("the implementation panicked: {}", words(&*panic)))
        })
    }

    fn ask_and_kill(&mut self, request: &Value, after: Duration) -> Result<(), NoAnswer> {
        self.ask(request, after)?;
        self.kill();
        Ok(())
    }

    fn kill(&mut self) {
        self.running = None;
    }
}

impl<F: Fn(&Case) -> AdapterResult + Sync> Adapter for InProcess<F> {
    fn begin(&self, protocol: &Protocol) -> Result<(), CannotBegin> {
        self.folders.begin(protocol);
        Ok(())
    }

    fn applies(&self, case: &Case) -> Result<(), String> {
        match (&case.task, &self.make) {
            (Task::Folder(_), None) => Err(super::NO_FOLDER.to_owned()),
            _ => super::applies_to_process(case),
        }
    }

    fn open(&self) -> Box<dyn Driver + '_> {
        Box::new(InProcessDriver(self))
    }

    fn info(&self) -> AdapterInfo {
        AdapterInfo::new(DriverKind::InProcess, Vec::new())
    }
}

struct InProcessDriver<'a, F>(&'a InProcess<F>);

impl<F: Fn(&Case) -> AdapterResult> Driver for InProcessDriver<'_, F> {
    fn execute(&mut self, case: &Case, limit: Duration) -> DriverOutcome {
        if let (Task::Folder(folder), Some(make)) = (&case.task, &self.0.make) {
            let mut target = Direct { case, make: make.as_ref(), running: None };
            let mut notes = Vec::new();
            let answer = self.0.folders.execute(case, folder, &mut target, limit, &mut notes);
            return DriverOutcome { answer, stderr: notes.join("\n") };
        }
        let started = Instant::now();
        // A panic ends the call, and the kit uses nothing that the call left behind.
        let answer = match catch_unwind(AssertUnwindSafe(|| (self.0.answer)(case))) {
            Ok(_) if started.elapsed() > limit => {
                let why = format!("the implementation took longer than {} ms", limit.as_millis());
                Err(NoAnswer::timed_out(why))
            }
            Ok(result) => Ok(result),
            Err(panic) => {
                Err(NoAnswer::broken(format!("the implementation panicked: {}", words(&*panic))))
            }
        };
        DriverOutcome::new(answer, b"")
    }
}

fn words(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}
