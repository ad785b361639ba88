//! What follows a run that failed.

use accord_base::{By, Door};
use accord_contract::Time;
use accord_tasks_core::Status;
use accord_tasks_core::board::{
    Entry, ErrorClass, RetryBudget, RunFailure, Silence, overdue, pause_ms, reclaimed, requeued,
    run_failed,
};
use accord_tasks_core::route::{Artifact, Routed, Rules};
use accord_tasks_core::run::RunStatus;
use accord_tasks_core::task::TaskFile;
use accord_tasks_core::verbs::{self, Subject};
use serde_json::{Value, json};

use crate::support::{AGENT, after, at, events, leased, run};

const BUDGET: RetryBudget = RetryBudget { runs: 3 };

fn failed(file: &TaskFile, error: &str) -> Routed {
    let failure = RunFailure { agent: AGENT, error, class: ErrorClass::of(error) };
    run_failed(file.task(), Some(&run()), &failure, BUDGET, u32::MAX / 2, at(1))
}

fn metadata(file: &TaskFile, name: &str) -> Value {
    file.task().metadata(name).cloned().unwrap_or(Value::Null)
}

#[test]
fn errors_have_classes() {
    for (error, class) in [
        ("exit code 1", ErrorClass::Transient),
        ("Agent not found: swe", ErrorClass::Permanent),
        ("401 Unauthorized", ErrorClass::Permanent),
        ("Permission denied (os error 13)", ErrorClass::Permanent),
        ("HTTP 429", ErrorClass::RateLimited),
        ("Too Many Requests, forbidden for now", ErrorClass::RateLimited),
        ("Quota exceeded", ErrorClass::RateLimited),
    ] {
        assert_eq!(ErrorClass::of(error), class, "{error}");
    }
}

#[test]
fn pauses_grow_to_a_quarter_of_an_hour_and_are_spread() {
    let middle: Vec<u64> = (1..=5).map(|n| pause_ms(n, u32::MAX / 2) / 1_000).collect();
    assert_eq!(middle, [59, 179, 539, 899, 899]);
    assert_eq!((pause_ms(1, 0), pause_ms(1, u32::MAX)), (45_000, 75_000));
    assert_eq!((pause_ms(99, 0), pause_ms(u64::MAX, u32::MAX)), (675_000, 1_125_000));
}

#[test]
fn a_failed_run_is_tried_again_after_a_pause() {
    let file = leased(json!({}));
    let routed = failed(&file, "the agent ended with exit code 1:\n boom");
    let after = after(&file, &routed);
    assert_eq!(after.task().status, Status::Blocked);
    assert!(after.task().lease.value().is_none());
    let reason = "run_failed: the agent ended with exit code 1: boom";
    assert_eq!(metadata(&after, "blockReason"), reason);
    assert_eq!(metadata(&after, "retryCount"), 1);
    assert_eq!(metadata(&after, "errorClass"), "transient");
    let entry = Entry::of(after.task(), None);
    assert_eq!(entry.retry_at, Some(at(1 + 60)));
    let [Artifact::Run(run)] = &routed.artifacts[..] else { panic!("{:?}", routed.artifacts) };
    assert_eq!(run.status, RunStatus::Failed);
    // After the pause it is ready, and keeps the count of its runs.
    let ready = crate::support::after(&after, &requeued(after.task(), at(61)));
    assert_eq!(ready.task().status, Status::Ready);
    assert_eq!(metadata(&ready, "retryCount"), 1);
    assert_eq!(metadata(&ready, "requeueReason"), "retry");
    assert_eq!((metadata(&ready, "retryAt"), metadata(&ready, "blockReason")), Default::default());
}

#[test]
fn the_retry_of_an_earlier_failure_does_not_end_a_later_block() {
    let failed = leased(json!({}));
    let failed = after(&failed, &self::failed(&failed, "exit code 1"));
    assert!(Entry::of(failed.task(), None).retry_at.is_some());
    let by = By::parse("human:reviewer", Door::Cli).unwrap();
    let subject = |file: &TaskFile, verb: &dyn Fn(&Subject<'_>) -> Routed| {
        let subject = Subject { task: file.task(), run: None, by: &by, now: at(2) };
        after(file, &verb(&subject))
    };
    let ready = subject(&failed, &|subject| verbs::unblock(subject, None).unwrap());
    let blocked = subject(&ready, &|subject| verbs::block(subject, "not yet").unwrap());
    assert_eq!(Entry::of(blocked.task(), None).retry_at, None);
}

#[test]
fn the_budget_counts_runs() {
    let file = leased(json!({"metadata": {"retryCount": 2}}));
    let routed = failed(&file, "exit code 1");
    assert_eq!(after(&file, &routed).task().status, Status::Deadletter);
    let events = events(&routed);
    assert!(events[1].starts_with("task.deadlettered system"), "{events:?}");
    assert!(events[1].contains("max_dispatch_failures") && events[1].contains(AGENT));
    // A run that fell silent is a run, too.
    let routed = reclaimed(file.task(), Some(&run()), Silence::StaleHeartbeat, BUDGET, at(1));
    assert_eq!(after(&file, &routed).task().status, Status::Deadletter);
    let file = leased(json!({"metadata": {"retryCount": 1}}));
    let routed = reclaimed(file.task(), Some(&run()), Silence::StaleHeartbeat, BUDGET, at(1));
    let again = after(&file, &routed);
    assert_eq!(again.task().status, Status::Ready);
    assert_eq!(metadata(&again, "retryCount"), 2);
}

#[test]
fn a_permanent_error_is_not_tried_again() {
    let file = leased(json!({}));
    let routed = failed(&file, "agent_not_found");
    assert_eq!(after(&file, &routed).task().status, Status::Deadletter);
    assert!(events(&routed)[1].contains("permanent_error"));
}

#[test]
fn a_rate_limit_waits_long_and_uses_no_budget() {
    let file = leased(json!({"metadata": {"retryCount": 2}}));
    let routed = failed(&file, "429 Too Many Requests");
    let after = after(&file, &routed);
    assert_eq!((after.task().status, metadata(&after, "retryCount")), (Status::Blocked, 2.into()));
    assert_eq!(Entry::of(after.task(), None).retry_at, Some(at(1 + 900)));
}

#[test]
fn rate_limits_without_an_end_make_a_dead_letter() {
    // Eight times as many runs as may fail.
    let mut file = leased(json!({"metadata": {"retryCount": 2}}));
    for run in 1..=24 {
        let again = after(&file, &failed(&file, "429 Too Many Requests"));
        let expected = if run == 24 { Status::Deadletter } else { Status::Blocked };
        assert_eq!(
            (again.task().status, metadata(&again, "rateLimitCount")),
            (expected, run.into())
        );
        let count = json!({"retryCount": 2, "rateLimitCount": run, "lastError": "429"});
        file = leased(json!({"metadata": count}));
    }
    let file = leased(json!({"metadata": {"rateLimitCount": 23, "lastError": "429"}}));
    let said = events(&failed(&file, "quota exceeded")).remove(1);
    assert!(said.contains("max_dispatch_failures") && said.contains("rate_limited"), "{said}");
    let history = r#""failureHistory":{"rateLimitCount":23,"lastError":"429"}"#;
    assert!(said.contains(history), "{said}");
    // A run that began to work ends the row.
    assert_eq!(metadata(&after(&file, &failed(&file, "exit 1")), "rateLimitCount"), Value::Null);
    let silent = reclaimed(file.task(), Some(&run()), Silence::StaleHeartbeat, BUDGET, at(1));
    assert_eq!(metadata(&after(&file, &silent), "rateLimitCount"), Value::Null);
}

#[test]
fn what_takes_too_long_is_alerted_blocked_or_given_up() {
    for (action, status) in [
        ("alert", Status::InProgress),
        ("block", Status::Blocked),
        ("deadletter", Status::Deadletter),
    ] {
        let file = leased(json!({"sla": {"maxInProgressMs": 60_000, "onViolation": action}}));
        let now: Time = at(3);
        let routed = overdue(file.task(), Some(&run()), now);
        let after = after(&file, &routed);
        assert_eq!(after.task().status, status);
        let event = &events(&routed)[0];
        assert!(event.starts_with("sla.violation system"), "{event}");
        assert!(event.contains(r#""duration":63000,"limit":60000"#), "{event}");
        if action == "alert" {
            assert_eq!(Entry::of(after.task(), None).overdue_at, Some(at(903)));
            assert!(routed.artifacts.is_empty());
        } else {
            assert_eq!(routed.artifacts.len(), 1);
        }
    }
}

#[test]
fn a_report_gives_the_budget_back() {
    let file = leased(json!({"metadata": {"retryCount": 2}}));
    let routed = crate::support::routed(&file, &crate::support::report("done"), Rules::default());
    let after = after(&file, &routed.unwrap());
    assert_eq!(
        (after.task().status, metadata(&after, "retryCount")),
        (Status::Review, Value::Null)
    );
}
