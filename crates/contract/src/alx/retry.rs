//! Whether a failed request is sent again.
//!
//! A known code says it itself. For an unknown one the worst is assumed: the
//! request may have been carried out, so it is sent again only where that does no
//! harm, seldom, and never where a person has to act first.

use super::envelope::known_code;
use crate::codes::{Category, RetryClass, WireCode};
use crate::wire::Extensible;
use crate::wire_enum;

/// How often a request with an unknown code is sent at most.
///
/// Clauses: ALX-RETRY-UNKNOWN-BOUND.
const CONSERVATIVE_ATTEMPTS: u64 = 3;
/// How often a request is sent at most when the server only asks for patience.
const BACKOFF_ATTEMPTS: u64 = 5;
const FIRST_WAIT_MS: u64 = 500;

/// What to do after a failure.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Decision {
    /// When the request may be sent again.
    pub class: RetryClass,
    /// Whether a program sends it again by itself.
    pub action: Action,
    /// How long it waits first, where it does.
    pub wait: Option<Wait>,
}

/// The bounds of a wait; the caller draws a time between them, so that many
/// clients that failed together do not come back together.
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

/// Decides after a failure. `attempt` counts the attempts so far, the failed one
/// included.
///
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
    /// The wait doubles with every attempt; half of it is left to chance. That there
    /// are few attempts keeps it short.
    fn after(attempt: u64) -> Self {
        let most_ms = FIRST_WAIT_MS << attempt.saturating_sub(1);
        Self {
            least_ms: most_ms / 2,
            most_ms,
        }
    }
}
