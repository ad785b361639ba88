//! A progress bar while cases run.

use std::io::{self, Write};

use accord_kit::{Event, Reporter, What};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

pub(in crate::commands) struct Progress {
    bar: ProgressBar,
}

/// Writes lines above a bar that is on the same terminal.
pub(super) struct AboveBar<W> {
    bar: ProgressBar,
    output: W,
}

impl Progress {
    pub(in crate::commands) fn new() -> Self {
        let bar = ProgressBar::no_length();
        bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(20));
        let style = ProgressStyle::with_template("{bar:40} {pos}/{len} {wide_msg}");
        bar.set_style(style.expect("the template is fixed"));
        Self { bar }
    }

    pub(super) fn above<W: Write>(&self, output: W) -> AboveBar<W> {
        AboveBar { bar: self.bar.clone(), output }
    }
}

impl Reporter for Progress {
    fn report(&mut self, event: &Event<'_>) -> io::Result<()> {
        match event.what {
            What::RunStarted { run, .. } => self.bar.set_length(run.selected),
            What::CaseStarted { case } => self.bar.set_message(case.id.clone()),
            What::CaseFinished { .. } => self.bar.inc(1),
            What::RunFinished { .. } => self.bar.finish_and_clear(),
            _ => {}
        }
        Ok(())
    }
}

impl<W: Write> Write for AboveBar<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bar.suspend(|| {
            // Flushed while the bar is hidden, or the text would appear in the middle of it.
            let written = self.output.write(bytes)?;
            self.output.flush()?;
            Ok(written)
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

impl Drop for Progress {
    /// Removes the bar after an error, too.
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
