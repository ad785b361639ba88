//! An implementation in several parts: for example an adapter for calls and a server for channels.

use std::time::Duration;

use accord_process::Cancel;

use super::{Adapter, AdapterInfo, CannotBegin, Closing, Driver, DriverOutcome, NoAnswer};
use crate::case::Case;
use crate::corpus::Protocol;
use crate::report::LeftBehind;

/// Adapters of which each answers the cases that apply to it. The first describes the whole.
pub struct Combined {
    first: Box<dyn Adapter>,
    second: Box<dyn Adapter>,
}

impl Combined {
    /// Two adapters for one implementation.
    pub fn new(first: Box<dyn Adapter>, second: Box<dyn Adapter>) -> Self {
        Self { first, second }
    }
}

impl Adapter for Combined {
    fn begin(&self, protocol: &Protocol) -> Result<(), CannotBegin> {
        self.first.begin(protocol)?;
        self.second.begin(protocol)
    }

    fn applies(&self, case: &Case) -> Result<(), String> {
        // If neither can run it, the reason of the first is reported.
        self.first.applies(case).or_else(|why| self.second.applies(case).map_err(|_| why))
    }

    fn open(&self) -> Box<dyn Driver + '_> {
        let (first, second) = (self.first.open(), self.second.open());
        Box::new(CombinedDriver { combined: self, first, second })
    }

    fn end(&self) -> Vec<LeftBehind> {
        let mut left = self.first.end();
        left.extend(self.second.end());
        left
    }

    fn info(&self) -> AdapterInfo {
        let (mut info, second) = (self.first.info(), self.second.info());
        if info.command.is_empty() {
            info.command = second.command;
        }
        info
    }
}

struct CombinedDriver<'a> {
    combined: &'a Combined,
    first: Box<dyn Driver + 'a>,
    second: Box<dyn Driver + 'a>,
}

impl Driver for CombinedDriver<'_> {
    fn execute(&mut self, case: &Case, limit: Duration) -> DriverOutcome {
        if self.combined.first.applies(case).is_ok() {
            return self.first.execute(case, limit);
        }
        match self.combined.second.applies(case) {
            Ok(()) => self.second.execute(case, limit),
            Err(reason) => DriverOutcome::none(NoAnswer::Harness { reason }),
        }
    }

    fn cancel_with(&mut self, cancel: Cancel) {
        self.first.cancel_with(cancel.clone());
        self.second.cancel_with(cancel);
    }

    fn close(&mut self) -> Closing {
        let mut closing = self.first.close();
        closing.add(self.second.close());
        closing
    }
}
