//! A bar on the terminal while something takes long.

use std::io::IsTerminal as _;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar on standard error; nothing where there is no terminal.
pub(crate) struct Progress {
    bar: ProgressBar,
    whole: &'static str,
}

impl Progress {
    /// A bar that counts bytes. `aside` says that the bytes do not go to the terminal too.
    pub(crate) fn bytes(aside: bool) -> Self {
        Self::new(
            aside || !std::io::stdout().is_terminal(),
            "{spinner} {bytes} {elapsed} {wide_msg}",
            "{spinner} {bar:30} {bytes}/{total_bytes} {eta} {wide_msg}",
        )
    }

    /// A bar that counts things.
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
            // While nothing comes, one sees that something is still at work.
            bar.enable_steady_tick(Duration::from_millis(100));
        }
        bar.set_style(style(endless));
        Self { bar, whole }
    }

    /// Says what is at work.
    pub(crate) fn about(&self, text: &str) {
        self.bar.set_message(crate::show::clean(text));
    }

    /// There is more to do, where that is known.
    pub(crate) fn expect(&self, more: Option<u64>) {
        if let Some(more) = more {
            let length = self.bar.length().unwrap_or(self.bar.position());
            self.bar.set_length(length + more);
            self.bar.set_style(style(self.whole));
        }
    }

    /// So much more is done.
    pub(crate) fn advance(&self, by: u64) {
        self.bar.inc(by);
    }

    /// So much of so much is done.
    pub(crate) fn reach(&self, done: u64, total: u64) {
        if self.bar.length() != Some(total) {
            self.bar.set_length(total);
            self.bar.set_style(style(self.whole));
        }
        self.bar.set_position(done);
    }

    /// A line above the bar.
    pub(crate) fn above(&self, print: impl FnOnce()) {
        self.bar.suspend(print);
    }

    /// How much is done.
    pub(crate) fn done(&self) -> u64 {
        self.bar.position()
    }

    /// So much is done.
    pub(crate) fn set(&self, done: u64) {
        self.bar.set_position(done);
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Drop for Progress {
    /// What breaks off leaves no half bar behind.
    fn drop(&mut self) {
        self.finish();
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the templates are fixed")
}
