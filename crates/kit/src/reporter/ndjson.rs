//! The events as lines of JSON, each written when it happens.

use std::io::{self, Write};

use accord_contract::Wire as _;

use crate::event::{Event, EventLine, Reporter};

/// Writes one line of JSON per event.
#[derive(Debug)]
pub struct NdjsonReporter<W>(W);

impl<W: Write> NdjsonReporter<W> {
    /// Writes to `out`.
    pub fn new(out: W) -> Self {
        Self(out)
    }
}

impl<W: Write> Reporter for NdjsonReporter<W> {
    fn report(&mut self, event: &Event<'_>) -> io::Result<()> {
        writeln!(self.0, "{}", EventLine::from(event).encode())?;
        self.0.flush()
    }
}
