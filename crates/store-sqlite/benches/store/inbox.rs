//! The inbox: a page of it at many open items.

use std::collections::BTreeSet;

use accord_base::inbox::kind;
use accord_contract::Time;
use accord_memory_core::package::{ReviewType, Status};
use accord_store::{InboxQuery, InboxRow, ReadUnit, Result, StoreError, StoreExt as _};
use accord_store_sqlite::{Options, SqliteStore};

use crate::packages::{NOW, deposit, project, write};
use crate::{Gates, micros, p50};

/// How many items a page has.
const PAGE: usize = 50;
const TIMES: usize = 200;
/// How many packages are written in one unit.
const UNIT: usize = 500;

/// The most milliseconds that a page may take on one processor.
const MOST: f64 = 5.0;

pub(crate) fn run(gates: &mut Gates, items: usize) {
    println!("\ninbox: a page of {PAGE} of {items} open items, with marks and documents");
    let folder = tempfile::tempdir().expect("a folder");
    let store = SqliteStore::open(folder.path(), &Options::default()).expect("a store");
    fill(&store, items);
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
        ("the first page", all),
        ("a page in the middle", InboxQuery { after: Some(&after), ..all }),
        ("of one project", InboxQuery { projects: Some(&own), ..all }),
        ("of one kind", InboxQuery { kind: Some(kind::PACKAGE_REVIEW), ..all }),
    ];
    for (name, query) in queries {
        // One thread does all of it, so that the time is that of one processor.
        let took = p50(TIMES, |_| {
            let found = store.read(|unit| page(unit, &query)).expect("a page");
            assert_eq!(found, PAGE);
        });
        gates.at_most(&format!("{name}, in ms"), micros(took) / 1_000.0, MOST);
    }
    let counted = p50(20, |_| {
        let counts = store.read(|unit| unit.inbox_counts(&all)).expect("counts");
        // The questions of the packages wait, too.
        assert!(counts.iter().sum::<u64>() >= items as u64);
    });
    println!("  counting all of them: {:.2} ms", micros(counted) / 1_000.0);
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
}
