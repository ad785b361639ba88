//! The limits of a loop: how many turns it runs, and how often it retries a worker.

use std::time::Duration;

use accord_contract::Code;
use accord_contract::wire::count_of;

use crate::Config;

/// The most turns of a loop if neither the caller nor the configuration says otherwise. A run whose
/// turns are accepted and change nothing would not end by itself.
pub const DEFAULT_MAX_TURNS: usize = 50;

/// The pause before the first retry of a worker; later ones are longer.
const RETRY_PAUSE: Duration = Duration::from_secs(1);

/// The reaction of a loop to a turn whose worker ended without a result.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Retry {
    Cancelled,
    /// The turn was rejected or reissued meanwhile: read the state again.
    Superseded,
    /// Run the worker again after a pause.
    After(Duration),
    /// Block the run, so that a person looks at it.
    Block,
    /// The failure is not the worker's: stop with it.
    Fail,
}

/// The most turns that the configuration allows a loop (`run_loop.max_turns`).
pub fn max_turns(config: &Config) -> usize {
    let most = config.document().get("run_loop").and_then(|it| count_of(it.get("max_turns")?));
    most.and_then(|most| usize::try_from(most).ok()).unwrap_or(DEFAULT_MAX_TURNS)
}

/// The reaction after the worker of a turn failed for the `failures`th time.
pub fn after_worker_failure(code: Code, failures: u64, config: &Config) -> Retry {
    match code {
        Code::XchainWorkerCancelled => return Retry::Cancelled,
        Code::XchainAttemptOver => return Retry::Superseded,
        Code::XchainWorkerNotStarted
        | Code::XchainWorkerStalled
        | Code::XchainWorkerTimedOut
        | Code::XchainWorkerWithoutResult
        | Code::XchainWorkerFailed => {}
        _ => return Retry::Fail,
    }
    if failures >= config.rules.max_turn_retries {
        return Retry::Block;
    }
    Retry::After(RETRY_PAUSE * u32::try_from(failures).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use accord_contract::Object;

    use super::*;

    #[test]
    fn a_worker_is_retried_until_the_limit() {
        let config = Config::lenient(Object::new());
        let most = config.rules.max_turn_retries;
        let stalled = |failures| after_worker_failure(Code::XchainWorkerStalled, failures, &config);
        assert_eq!(stalled(most), Retry::Block);
        if most > 1 {
            assert_eq!(stalled(1), Retry::After(RETRY_PAUSE));
        }
        let other = after_worker_failure(Code::XchainGitFailed, 1, &config);
        assert_eq!(other, Retry::Fail);
        assert_eq!(max_turns(&config), DEFAULT_MAX_TURNS);
    }
}
