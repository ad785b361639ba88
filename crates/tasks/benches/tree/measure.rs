//! Times and limits.

use std::time::{Duration, Instant};

/// The median time of a call.
pub(crate) fn p50(rounds: usize, mut call: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..rounds)
        .map(|_| {
            let began = Instant::now();
            call();
            began.elapsed()
        })
        .collect();
    times.sort();
    times[rounds / 2]
}

/// The CPU time of this thread so far.
pub(crate) fn cpu() -> Duration {
    let text =
        std::fs::read_to_string("/proc/thread-self/schedstat").expect("the time of a thread");
    let nanoseconds = text.split(' ').next().and_then(|number| number.parse().ok());
    Duration::from_nanos(nanoseconds.expect("a number"))
}

/// The CPU time of this process so far, in steps of 10 ms.
pub(crate) fn process_cpu() -> Duration {
    let text = std::fs::read_to_string("/proc/self/stat").expect("the times of a process");
    // The name of the program, which may have spaces, is between parentheses.
    let (_, numbers) = text.rsplit_once(')').expect("a name");
    let ticks = numbers.split_whitespace().skip(11).take(2).map(|ticks| ticks.parse::<u64>());
    Duration::from_millis(10 * ticks.sum::<Result<u64, _>>().expect("numbers"))
}

/// A limit, and what was measured.
pub(crate) struct Limit {
    what: &'static str,
    measured: f64,
    limit: f64,
    is_most: bool,
}

impl Limit {
    pub(crate) fn at_most(what: &'static str, measured: f64, limit: f64) -> Self {
        Self { what, measured, limit, is_most: true }
    }

    pub(crate) fn at_least(what: &'static str, measured: f64, limit: f64) -> Self {
        Self { what, measured, limit, is_most: false }
    }

    /// Prints the limit, and answers whether it is kept.
    pub(crate) fn print(&self) -> bool {
        let Self { what, measured, limit, is_most } = self;
        let is_kept = if *is_most { measured <= limit } else { measured >= limit };
        let (word, how) =
            (if is_kept { "PASS" } else { "MISS" }, if *is_most { "most" } else { "least" });
        println!("{word} {what}: {measured:.2}, at {how} {limit:.2}");
        is_kept
    }
}
