//! Whether a failed request is sent again.

use accord_contract::alx::{Action, Decision, decide};
use accord_contract::codes::{Category, Code, RetryClass};
use accord_contract::wire::Extensible;

fn after(kind: &str, code: &str, idempotent: bool, attempt: u64) -> Decision {
    let (kind, code) = (Extensible::from_text(kind), Extensible::from_text(code));
    decide(&kind, &code, idempotent, attempt)
}

#[test]
fn a_known_code_has_the_class_of_the_registry() {
    for code in Code::ALL {
        let decision = after(code.category().as_str(), code.as_str(), true, 1);
        assert_eq!(decision.class, code.retry(), "{code}");
        let waits = code.retry() == RetryClass::Backoff;
        assert_eq!(decision.action == Action::Retry, waits, "{code}");
    }
}

#[test]
fn an_unknown_code_is_sent_again_only_where_that_is_harmless() {
    let kinds = Category::ALL
        .iter()
        .map(|kind| kind.as_str())
        .chain(["later", ""]);
    for kind in kinds {
        for idempotent in [true, false] {
            for attempt in 0..10 {
                let decision = after(kind, "NEW", idempotent, attempt);
                let harmless = ["execution", "later", ""].contains(&kind);
                let again = idempotent && harmless && attempt < 3;
                assert_eq!(decision.class, RetryClass::Conservative);
                assert_eq!(
                    decision.action == Action::Retry,
                    again,
                    "{kind} {idempotent} {attempt}"
                );
                assert_eq!(decision.wait.is_some(), again);
            }
        }
    }
}

#[test]
fn a_known_code_under_another_type_is_not_known() {
    let decision = after("approval", "RATE_LIMITED", true, 1);
    assert_eq!(
        (decision.class, decision.action),
        (RetryClass::Conservative, Action::Stop)
    );
    let decision = after("execution", "AUTH_REQUIRED", false, 1);
    assert_eq!(
        (decision.class, decision.action),
        (RetryClass::Conservative, Action::Stop)
    );
}

#[test]
fn waits_grow_have_room_for_chance_and_end() {
    let mut longest = 0;
    let mut attempts = 0;
    while let Some(wait) = after("execution", "RATE_LIMITED", false, attempts + 1).wait {
        attempts += 1;
        assert!(wait.least_ms > 0 && wait.least_ms * 2 <= wait.most_ms);
        assert!(wait.most_ms > longest, "attempt {attempts}");
        longest = wait.most_ms;
    }
    assert!((2..10).contains(&attempts) && longest <= 30_000);
    assert_eq!(
        after("execution", "RATE_LIMITED", true, u64::MAX).action,
        Action::Stop
    );
}
