//! What a benchmark promises, and what became of it.

use std::process::ExitCode;

/// What was promised.
#[derive(Default)]
pub(crate) struct Gates {
    broken: Vec<String>,
}

impl Gates {
    pub(crate) fn at_least(&mut self, what: &str, found: f64, least: f64) {
        self.judge(what, found, found >= least, &format!("at least {least}"));
    }

    pub(crate) fn at_most(&mut self, what: &str, found: f64, most: f64) {
        self.judge(what, found, found <= most, &format!("at most {most}"));
    }

    fn judge(&mut self, what: &str, found: f64, holds: bool, promise: &str) {
        println!("  => {what}: {found:.2} ({promise}){}", if holds { "" } else { "  FAILED" });
        if !holds {
            self.broken.push(what.to_owned());
        }
    }

    pub(crate) fn verdict(self) -> ExitCode {
        if self.broken.is_empty() {
            return ExitCode::SUCCESS;
        }
        println!("\nFAILED: {}", self.broken.join("; "));
        ExitCode::FAILURE
    }
}
