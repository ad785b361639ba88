//! When a silent worker counts as dead.
//!
//! Three things are signs of life: output, CPU time of the worker's processes, and files of the
//! repository that change. The host measures them; this module decides. Time is counted from the
//! start of the worker.
//!
//! A client of a language model waits for its answer without output, CPU time or files. Clients
//! that are known to print nothing until they are done get a long limit (see [`WorkerLimits`]).

mod limits;

use std::time::Duration;

pub use limits::{
    LAST_FAILURE, LIMIT_DETAIL, Limit, LimitOrigin, SETTING_DETAIL, Stalled, WorkerLimits, span,
};

/// The longest pause between two measurements.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// How many measurements are made within a limit, at least.
const SAMPLES: u32 = 8;
/// A process that uses less than this part of a CPU is idle: timers and animations cost a little,
/// also in a program that hangs.
const IDLE_PART: u32 = 50;

/// The signs of life of a worker, and its limits.
#[derive(Clone, Debug)]
pub struct Liveness {
    startup: Duration,
    silence: Duration,
    last_sign: Duration,
    has_output: bool,
    /// The last measurement: when, and the CPU time until then.
    sampled: Duration,
    cpu: Option<Duration>,
}

/// The limit that a worker passed without a sign of life.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Stall {
    /// Before its first output.
    Startup,
    /// After it.
    Silence,
}

impl Liveness {
    pub fn new(limits: &WorkerLimits) -> Self {
        Self {
            startup: limits.startup.after,
            silence: limits.silence.after,
            last_sign: Duration::ZERO,
            has_output: false,
            sampled: Duration::ZERO,
            cpu: None,
        }
    }

    /// It wrote to standard output, or staged its result. Returns whether it was the first time.
    pub fn output(&mut self, at: Duration) -> bool {
        self.last_sign = self.last_sign.max(at);
        !std::mem::replace(&mut self.has_output, true)
    }

    /// It wrote to standard error. Before its first output that is no sign of life, because
    /// programs often print only a complaint there.
    pub fn complaint(&mut self, at: Duration) {
        if self.has_output {
            self.last_sign = self.last_sign.max(at);
        }
    }

    /// A measurement: the CPU time of the worker until now, and when a file changed last. Returns
    /// whether one of them is a sign of life.
    pub fn sample(
        &mut self,
        at: Duration,
        cpu: Option<Duration>,
        file_changed: Option<Duration>,
    ) -> bool {
        let before = self.last_sign;
        // The first measurement has nothing to compare with: starting costs CPU time too.
        let used = cpu.zip(self.cpu).map(|(now, before)| now.saturating_sub(before));
        let used = used.unwrap_or_default();
        let elapsed = at.saturating_sub(self.sampled);
        if !used.is_zero() && used * IDLE_PART >= elapsed {
            self.last_sign = self.last_sign.max(at);
        }
        if let Some(changed) = file_changed {
            self.last_sign = self.last_sign.max(changed.min(at));
        }
        self.sampled = at;
        self.cpu = cpu;
        self.last_sign > before
    }

    /// When the worker showed the last sign of life.
    pub fn last_sign(&self) -> Duration {
        self.last_sign
    }

    /// When the next measurement is due. A worker whose output is a sign of life is measured too,
    /// so that CPU time is compared with that of a moment ago.
    pub fn next_sample(&self) -> Duration {
        self.sampled + (self.limit() / SAMPLES).min(LONGEST_PAUSE)
    }

    /// When the worker counts as dead if there is no further sign.
    pub fn due(&self) -> Duration {
        self.last_sign + self.limit()
    }

    /// The limit that has passed without a sign of life.
    pub fn stalled(&self, at: Duration) -> Option<Stall> {
        (at >= self.due()).then_some(if self.has_output { Stall::Silence } else { Stall::Startup })
    }

    fn limit(&self) -> Duration {
        if self.has_output { self.silence } else { self.startup }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::limits::tests::of_command;
    use super::*;

    const fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn cpu_time_and_changed_files_are_signs_of_life() {
        let limits = of_command(json!(["./agent.sh"]));
        let mut life = Liveness::new(&limits);
        assert_eq!(life.next_sample(), seconds(5));
        assert!(!life.sample(seconds(5), Some(seconds(1)), None), "nothing to compare with");
        assert!(!life.sample(seconds(10), Some(seconds(1)), None));
        // One percent of a CPU: a timer, not work.
        assert!(!life.sample(seconds(15), Some(Duration::from_millis(1050)), None));
        assert!(life.sample(seconds(20), Some(Duration::from_millis(1150)), None));
        assert_eq!(life.due(), seconds(200));
        // A process that ended takes its time away; the rest is compared from then on.
        assert!(!life.sample(seconds(25), Some(Duration::ZERO), None));
        assert!(life.sample(seconds(30), Some(seconds(5)), None));
        // A change counts from when it happened, and a clock that is wrong adds nothing.
        assert!(life.sample(seconds(50), None, Some(seconds(45))));
        assert_eq!(life.last_sign(), seconds(45));
        assert!(life.sample(seconds(55), None, Some(seconds(900))));
        assert_eq!(life.last_sign(), seconds(55));
        assert_eq!(life.stalled(seconds(234)), None);
        assert_eq!(life.stalled(seconds(235)), Some(Stall::Startup));
    }

    #[test]
    fn the_first_output_changes_the_limit() {
        let mut life = Liveness::new(&of_command(json!(["./agent.sh"])));
        life.complaint(seconds(10));
        assert_eq!(life.due(), seconds(180));
        assert!(life.output(seconds(20)));
        assert!(!life.output(seconds(30)));
        life.complaint(seconds(40));
        assert_eq!(life.due(), seconds(40) + seconds(600));
        assert_eq!(life.stalled(seconds(640)), Some(Stall::Silence));
    }
}
