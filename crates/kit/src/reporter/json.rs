//! The report as one JSON document, written when the run is over.

use std::io::{self, Write};

use accord_contract::Wire as _;

use crate::event::{Event, Reporter, What};

/// Writes the report as JSON.
#[derive(Debug)]
pub struct JsonReporter<W>(W);

impl<W: Write> JsonReporter<W> {
    /// Writes to `out`.
    pub fn new(out: W) -> Self {
        Self(out)
    }
}

impl<W: Write> Reporter for JsonReporter<W> {
    fn report(&mut self, event: &Event<'_>) -> io::Result<()> {
        let What::RunFinished { report } = event.what else { return Ok(()) };
        serde_json::to_writer_pretty(&mut self.0, &report.encode())?;
        self.0.write_all(b"\n")?;
        self.0.flush()
    }
}
