//! Whether to retry a failed request. A known code decides by its retry class. After an unknown
//! one, the request may have been carried out, so it is retried only if it is idempotent, a few
//! times.

use super::envelope::known_code;
use crate::codes::{Category, RetryClass, WireCode};
use crate::wire::Extensible;
use crate::wire_enum;

/// The most attempts after an unknown code. Clauses: ALX-RETRY-UNKNOWN-BOUND.
const CONSERVATIVE_ATTEMPTS: u64 = 3;
/// The most attempts after a code that asks for a retry.
const BACKOFF_ATTEMPTS: u64 = 5;
const FIRST_WAIT_MS: u64 = 500;

/// What to do after a failure.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Decision {
    /// When the request may be sent again.
    pub class: RetryClass,
    /// Whether a program retries by itself.
    pub action: Action,
    /// The wait before a retry.
    pub wait: Option<Wait>,
}

/// The bounds of a wait. Drawn at random, so that clients that failed together retry apart.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Wait {
    /// The shortest wait, in milliseconds.
    pub least_ms: u64,
    /// The longest wait, in milliseconds.
    pub most_ms: u64,
}

wire_enum! {
    /// Whether a program sends a failed request again by itself.
    pub enum Action("RetryAction", closed) {
        /// Wait, then send the same request.
        Retry = "retry",
        /// Return the failure to the caller.
        Stop = "stop",
    }
}

/// Decides after a failure. `attempt` counts the attempts so far, including the failed one.
/// Clauses: ALX-CLIENT-3, ALX-UNKNOWN-CODE, ALX-C3, ALX-RETRY-AUTH, ALX-RETRY-APPROVAL,
/// ALX-RETRY-RATE, ALX-RETRY-UNKNOWN-UNSAFE, ALX-RETRY-UNKNOWN-SAFE, ALX-RETRY-UNKNOWN-TYPE.
pub fn decide(
    kind: &Extensible<Category>,
    code: &WireCode,
    idempotent: bool,
    attempt: u64,
) -> Decision {
    let class = known_code(kind, code).map_or(RetryClass::Conservative, |code| code.retry());
    let again = match class {
        RetryClass::AfterCredentials | RetryClass::AfterChange | RetryClass::Never => false,
        RetryClass::Backoff => attempt < BACKOFF_ATTEMPTS,
        RetryClass::Conservative => {
            // The other categories need a person or another request, whatever the code is.
            let harmless = matches!(kind.known(), None | Some(Category::Execution));
            idempotent && harmless && attempt < CONSERVATIVE_ATTEMPTS
        }
    };
    Decision {
        class,
        action: if again { Action::Retry } else { Action::Stop },
        wait: again.then(|| Wait::after(attempt)),
    }
}

impl Wait {
    /// Doubles with every attempt; half of it is random.
    fn after(attempt: u64) -> Self {
        // A retry is below the limit of its class, so the shift cannot overflow.
        let most_ms = FIRST_WAIT_MS << attempt.saturating_sub(1);
        Self { least_ms: most_ms / 2, most_ms }
    }
}
