//! Whether a failed request is sent again.

use accord_contract::alx::{Action, Decision, decide};
use accord_contract::codes::{Category, RetryClass};
use accord_contract::{Code, Extensible};

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
    let kinds = Category::ALL.iter().map(|kind| kind.as_str()).chain(["later", ""]);
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
    assert_eq!((decision.class, decision.action), (RetryClass::Conservative, Action::Stop));
    let decision = after("execution", "AUTH_REQUIRED", false, 1);
    assert_eq!((decision.class, decision.action), (RetryClass::Conservative, Action::Stop));
}

#[test]
fn waits_double_leave_half_to_chance_and_end() {
    let waits = |kind: &str, code: &str| {
        let wait = |attempt| after(kind, code, true, attempt).wait;
        let waits = (1..).map_while(wait);
        waits.map(|wait| (wait.least_ms, wait.most_ms)).collect::<Vec<_>>()
    };
    let doubling = [(250, 500), (500, 1000), (1000, 2000), (2000, 4000)];
    assert_eq!(waits("execution", "RATE_LIMITED"), doubling);
    assert_eq!(waits("execution", "NEW"), doubling[..2]);
    // An attempt that is not counted yet waits like the first.
    let uncounted = after("execution", "RATE_LIMITED", true, 0).wait.unwrap();
    assert_eq!((uncounted.least_ms, uncounted.most_ms), doubling[0]);
    assert_eq!(after("execution", "RATE_LIMITED", true, u64::MAX).action, Action::Stop);
}
