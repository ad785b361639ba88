//! Ids of tasks.

use accord_contract::{Code, Time};
use accord_tasks_core::{DayNumbers, TaskDay, TaskId};

#[test]
fn every_spelling_is_read_and_written_back() {
    for text in [
        "TASK-2026-02-09-057",
        "TASK-2026-02-09-000",
        "TASK-2026-99-99-001",
        "TASK-2026-02-09-057-02",
        "TASK-2026-05-11-2aZmNpQ9",
    ] {
        assert_eq!(TaskId::parse(text).unwrap().to_string(), text);
    }
}

#[test]
fn anything_else_is_not_an_id() {
    for text in [
        "",
        "TASK-2026-02-09",
        "TASK-2026-02-09-",
        "TASK-2026-02-09-57",
        "TASK-2026-02-09-0570",
        "TASK-2026-02-09-057-2",
        "TASK-2026-02-09-057-002",
        "TASK-2026-2-9-057",
        "task-2026-02-09-057",
        "TASK-2026-02-09-057 ",
        "TASK-2026-02-09-0O1Il234",
        "TASK-2026-02-09-٠٥٧",
        "TASK-2026-02-0é-057",
    ] {
        assert!(TaskId::parse(text).is_err(), "{text}");
    }
}

/// Failure 6 in docs/conformance.md: the reference fails at the thousandth task of a day.
#[test]
fn numbers_of_a_day_are_given_out_once_and_in_order() {
    let day = TaskDay::of(Time::from_unix_millis(1_770_660_000_000));
    assert_eq!(day.to_string(), "2026-02-09");
    let mut numbers = DayNumbers::default();
    let mut last = None;
    let total = 999 + 999 * 99;
    for count in 0..total {
        let id = numbers.next(day).unwrap();
        assert!(last < Some(id), "{id} after {count}");
        assert_eq!(TaskId::parse(&id.to_string()).unwrap(), id);
        last = Some(id);
    }
    assert_eq!(last.unwrap().to_string(), "TASK-2026-02-09-999-99");
    let failure = numbers.next(day).unwrap_err();
    assert_eq!(failure.code, Code::AofTaskIdsExhausted);
    // Nothing wrong is given out afterwards either.
    assert!(numbers.next(day).is_err());
}

#[test]
fn numbers_follow_those_in_use() {
    let day = TaskDay::of(Time::from_unix_millis(0));
    let mut numbers = DayNumbers::default();
    for used in ["TASK-1970-01-01-041", "TASK-1970-01-01-007-03", "TASK-1970-01-01-2aZmNpQ9"] {
        numbers.note(TaskId::parse(used).unwrap());
    }
    assert_eq!(numbers.next(day).unwrap().to_string(), "TASK-1970-01-01-042");
    numbers.note(TaskId::parse("TASK-1970-01-01-999").unwrap());
    assert_eq!(numbers.next(day).unwrap().to_string(), "TASK-1970-01-01-007-04");
}
