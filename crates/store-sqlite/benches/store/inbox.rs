//! The inbox: a page of it at many open items.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

use accord_base::inbox::{Waiting, kind};
use accord_contract::Time;
use accord_memory_core::package::{ReviewType, Status};
use accord_store::{InboxQuery, InboxRow, ReadUnit, Result, StoreError, StoreExt as _};
use accord_store_sqlite::{Options, SqliteStore};

use crate::packages::{NOW, deposit, project, write};
use crate::{Gates, micros};

/// How many items a page has.
const PAGE: usize = 50;
const TIMES: usize = 100;
/// Up to which number `accord inbox` counts the items of an urgency.
const COUNTED: usize = 1_001;
/// How many items there are of a rare kind, which are also those of one person.
const RARE: usize = 20;
const PERSON: &str = "human:owner";
/// How many packages are written in one unit.
const UNIT: usize = 500;

/// The most milliseconds that a page may take on one processor.
const MOST: f64 = 5.0;

pub(crate) fn run(gates: &mut Gates, items: usize, keep: Option<&str>) {
    println!("\ninbox: a page of {PAGE} of {items} open items, with marks and documents");
    let own = tempfile::tempdir().expect("a folder");
    let folder = match keep {
        Some(keep) => Path::new(keep).join(format!("inbox-{items}")),
        None => own.path().to_owned(),
    };
    std::fs::create_dir_all(&folder).expect("a folder");
    let store = SqliteStore::open(&folder, &Options::default()).expect("a store");
    if store.read(|unit| unit.project(&project().project_id)).expect("a store").is_none() {
        fill(&store, items);
    }
    let own = BTreeSet::from([project().project_id]);
    let all = InboxQuery {
        now: Time::from_unix_millis(NOW + 1),
        projects: None,
        kind: None,
        only_for: None,
        awake_for: Some("human:lead"),
        after: None,
        limit: PAGE,
    };
    let after = store.read(|unit| {
        let middle = unit.inbox(&InboxQuery { limit: items / 2, ..all })?;
        Ok::<_, StoreError>(middle.last().expect("an item").position(all.now))
    });
    let after = after.expect("a position");
    let queries = [
        ("the first page", all, PAGE),
        ("a page in the middle", InboxQuery { after: Some(&after), ..all }, PAGE),
        ("of one project", InboxQuery { projects: Some(&own), ..all }, PAGE),
        ("of one kind", InboxQuery { kind: Some(kind::PACKAGE_REVIEW), ..all }, PAGE),
        ("of a rare kind", InboxQuery { kind: Some(kind::TASK_FAILED), ..all }, RARE),
        ("of one person", InboxQuery { only_for: Some(PERSON), ..all }, RARE),
    ];
    for (name, query, expected) in queries {
        let took = cpu_mean(|| {
            let found = store.read(|unit| page(unit, &query)).expect("a page");
            assert_eq!(found, expected);
        });
        gates.at_most(&format!("{name}, in ms of CPU"), took, MOST);
        let took = cpu_mean(|| {
            let found = store.read(|unit| {
                let counts = unit.inbox_counts(&query, COUNTED)?;
                assert!(counts.iter().sum::<u64>() >= expected as u64);
                page(unit, &query)
            });
            assert_eq!(found.expect("a page"), expected);
        });
        gates.at_most(&format!("{name} with counts, in ms of CPU"), took, MOST);
    }
}

/// The CPU time that this thread, which does all of it, needs on average, in milliseconds. The
/// clock is coarse, so many times are measured together. Without such a clock it is the time that
/// passes.
fn cpu_mean(mut work: impl FnMut()) -> f64 {
    // A first time fills the caches.
    work();
    let (cpu, clock) = (cpu_time(), Instant::now());
    (0..TIMES).for_each(|_| work());
    let passed = match (cpu, cpu_time()) {
        (Some(began), Some(ended)) => (ended - began) / 1e6,
        _ => micros(clock.elapsed()) / 1e3,
    };
    passed / TIMES as f64
}

/// The CPU time of this thread, in nanoseconds, where the system says it.
fn cpu_time() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok().filter(|time| *time > 0.0)
}

fn page(unit: &dyn ReadUnit, query: &InboxQuery<'_>) -> Result<usize> {
    let rows = unit.inbox(query)?;
    let mut bytes = 0;
    for row in &rows {
        let marks = unit.inbox_marks(&row.project_id, &row.id())?;
        let item = InboxRow::item(row, marks, query.awake_for, query.now);
        bytes += accord_contract::Wire::encode(&item).to_string().len();
    }
    assert!(bytes > 0);
    Ok(rows.len())
}

fn fill(store: &SqliteStore, items: usize) {
    for first in (0..items).step_by(UNIT) {
        let last = items.min(first + UNIT);
        let unit: Vec<_> = (first..last)
            .map(|number| {
                let mut deposit = deposit(number, items);
                deposit.row.state.status = Status::AwaitingReview;
                deposit.row.state.review_type = ReviewType::Human;
                deposit
            })
            .collect();
        let written: Result<()> = store
            .write(move |open| unit.iter().try_for_each(|deposit| write(open, deposit).map(drop)));
        written.expect("packages");
    }
    let rare = |number: usize| {
        let title = format!("Task {number} failed too often");
        let since = Time::from_unix_millis(NOW - number as i64);
        let subject = format!("TASK-{number}");
        let task = Waiting::new(kind::TASK_FAILED, &subject, 1, title, since);
        Waiting { to: Some(PERSON.to_owned()), ..task }
    };
    let tasks: Vec<Waiting> = (0..RARE).map(rare).collect();
    let written: Result<bool> =
        store.write(move |open| open.set_task_items(&project().project_id, &tasks));
    written.expect("tasks");
}
