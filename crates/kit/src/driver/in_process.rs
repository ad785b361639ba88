//! A function in the kit's own process, for libraries that run the kit in their tests.
//!
//! A panic is caught, but a function that never returns cannot be stopped. One that returns too
//! late fails the case.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use accord_contract::fixture::AdapterResult;

use super::{
    Adapter, AdapterInfo, Breach, CannotBegin, Driver, DriverKind, DriverOutcome, NoAnswer,
};
use crate::case::Case;
use crate::corpus::Protocol;

/// An implementation that is called directly.
pub struct InProcess<F>(F);

impl<F: Fn(&Case) -> AdapterResult + Sync> InProcess<F> {
    /// Answers cases with a function.
    pub fn new(answer: F) -> Self {
        Self(answer)
    }
}

impl<F: Fn(&Case) -> AdapterResult + Sync> Adapter for InProcess<F> {
    fn begin(&self, _: &Protocol) -> Result<(), CannotBegin> {
        Ok(())
    }

    fn open(&self) -> Box<dyn Driver + '_> {
        Box::new(InProcessDriver(&self.0))
    }

    fn info(&self) -> AdapterInfo {
        AdapterInfo::new(DriverKind::InProcess, Vec::new())
    }
}

struct InProcessDriver<'a, F>(&'a F);

impl<F: Fn(&Case) -> AdapterResult> Driver for InProcessDriver<'_, F> {
    fn execute(&mut self, case: &Case, limit: Duration) -> DriverOutcome {
        let started = Instant::now();
        // A panic ends the call, and the kit uses nothing that the call left behind.
        let answer = match catch_unwind(AssertUnwindSafe(|| (self.0)(case))) {
            Ok(_) if started.elapsed() > limit => Err(NoAnswer::Broken {
                breach: Breach::TimedOut,
                reason: format!("the implementation took longer than {} ms", limit.as_millis()),
            }),
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
