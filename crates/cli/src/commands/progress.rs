//! Progress bars.

use std::io::IsTerminal as _;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A progress bar on standard error; hidden if that is no terminal.
pub(crate) struct Progress {
    bar: ProgressBar,
    whole: &'static str,
}

impl Progress {
    /// A bar that counts bytes. `aside`: the bytes themselves do not go to the terminal.
    pub(crate) fn bytes(aside: bool) -> Self {
        Self::new(
            aside || !std::io::stdout().is_terminal(),
            "{spinner} {bytes} {elapsed} {wide_msg}",
            "{spinner} {bar:30} {bytes}/{total_bytes} {eta} {wide_msg}",
        )
    }

    pub(crate) fn items() -> Self {
        Self::new(
            true,
            "{spinner} {elapsed} {wide_msg}",
            "{spinner} {bar:30} {pos}/{len} {eta} {wide_msg}",
        )
    }

    fn new(is_wanted: bool, endless: &'static str, whole: &'static str) -> Self {
        let bar = match is_wanted && std::io::stderr().is_terminal() {
            true => ProgressBar::no_length(),
            false => ProgressBar::hidden(),
        };
        if !bar.is_hidden() {
            bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(10));
            // Shows activity while no progress is reported.
            bar.enable_steady_tick(Duration::from_millis(100));
        }
        bar.set_style(style(endless));
        Self { bar, whole }
    }

    pub(crate) fn about(&self, text: &str) {
        self.bar.set_message(crate::render::clean(text));
    }

    /// Adds to the total, if the amount is known.
    pub(crate) fn expect(&self, more: Option<u64>) {
        if let Some(more) = more {
            let length = self.bar.length().unwrap_or(self.bar.position());
            self.bar.set_length(length + more);
            self.bar.set_style(style(self.whole));
        }
    }

    pub(crate) fn advance(&self, by: u64) {
        self.bar.inc(by);
    }

    /// Sets both what is done and the total.
    pub(crate) fn reach(&self, done: u64, total: u64) {
        if self.bar.length() != Some(total) {
            self.bar.set_length(total);
            self.bar.set_style(style(self.whole));
        }
        self.bar.set_position(done);
    }

    pub(crate) fn above<T>(&self, print: impl FnOnce() -> T) -> T {
        self.bar.suspend(print)
    }

    pub(crate) fn done(&self) -> u64 {
        self.bar.position()
    }

    pub(crate) fn set(&self, done: u64) {
        self.bar.set_position(done);
    }

    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Drop for Progress {
    /// Removes the bar after an error, too.
    fn drop(&mut self) {
        self.finish();
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the templates are fixed")
}
