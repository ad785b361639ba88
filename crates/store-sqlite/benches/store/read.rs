//! Reading: does a page cost the same, however much there is?

use std::time::Duration;

use accord_store::{
    Drafts, HighlightQuery, PackageQuery, QuestionQuery, ReadUnit, Result, StoreError,
    StoreExt as _,
};
use accord_store_sqlite::SqliteStore;

use crate::packages::{deposit, project, since};
use crate::stores::{FACTS, Stores};
use crate::{Gates, micros, p50, ratio};

const TIMES: usize = 400;

/// How many packages an orientation shows.
const SHOWN: usize = 20;

struct Times {
    specific: Duration,
    latest: Duration,
    orient: Duration,
}

/// A piece of what an orientation or a digest is made of.
type Part = fn(&dyn ReadUnit) -> Result<usize>;

const ORIENT: [(&str, Part); 3] =
    [("packages", packages), ("facts", facts), ("questions", questions)];
const DIGEST: [(&str, Part); 3] =
    [("tallies", tallies), ("highlights", highlights), ("count of questions", question_count)];

pub(crate) fn run(gates: &mut Gates, stores: &Stores, packages: usize) {
    println!("\nread: every package lies in the window of 14 days");
    let measured = |packages| measure(&stores.open(packages), packages);
    let (small, middle) = (measured(1_000), measured(10_000));
    let large = measured(packages);
    println!("  at {packages} packages");
    // Two or three pages more come from the system's cache instead of the connection's own.
    gates.at_most("specific against 1,000", ratio(large.specific, small.specific), 3.0);
    gates.at_most("latest against 1,000", ratio(large.latest, small.latest), 2.0);
    gates.at_most("orient against 10,000", ratio(large.orient, middle.orient), 2.0);
    gates.at_most("orient against one specific", ratio(large.orient, large.specific), 50.0);
}

fn measure(store: &SqliteStore, packages: usize) -> Times {
    let project = project().project_id;
    let ids: Vec<_> =
        (0..TIMES).map(|time| deposit(time * 7919 % packages, packages).row.package_id).collect();
    let specific = p50(TIMES * 4, |time| {
        let id = &ids[time % TIMES];
        let found = store.read(|unit| unit.package(&project, id));
        assert!(found.expect("a package").is_some());
    });
    let latest = p50(TIMES, |_| {
        let query = PackageQuery { limit: 5, ..PackageQuery::default() };
        let found = store.read(|unit| unit.packages(&project, &query));
        assert_eq!(found.expect("packages").len(), 5);
    });
    let orient = p50(TIMES, |_| {
        let found = store.read(|unit| {
            unit.project(&project)?;
            ORIENT.iter().map(|(_, part)| part(unit)).sum()
        });
        let found: Result<usize> = found;
        assert_eq!(found.expect("an orientation"), SHOWN + 1 + FACTS + 101);
    });
    println!("  {packages:>9} packages");
    println!("    specific {:>26.0} us", micros(specific));
    println!("    latest 5 {:>26.0} us", micros(latest));
    println!("    orient {:>28.0} us, of which", micros(orient));
    for (name, part) in ORIENT {
        let took = p50(TIMES, |_| assert!(store.read(part).expect("a part") > 0));
        println!("      {name:<20} {:>12.0} us", micros(took));
    }
    println!("    digest");
    for (name, part) in DIGEST {
        let took = p50(TIMES / 10, |_| {
            assert!(store.read(part).expect("a part") > 0);
        });
        println!("      {name:<20} {:>12.0} us", micros(took));
    }
    let counted = store.read(tallies).expect("tallies");
    assert_eq!(counted, packages, "every package lies in the window");
    Times { specific, latest, orient }
}

fn packages(unit: &dyn ReadUnit) -> Result<usize> {
    let query = PackageQuery { since: Some(since()), limit: SHOWN + 1, ..PackageQuery::default() };
    Ok(unit.packages(&project().project_id, &query)?.len())
}

fn facts(unit: &dyn ReadUnit) -> Result<usize> {
    Ok(unit.newest_facts(&project().project_id, 1_000)?.len())
}

fn questions(unit: &dyn ReadUnit) -> Result<usize> {
    let query = QuestionQuery {
        since: Some(since()),
        drafts: Drafts::All,
        limit: 101,
        sources: 10,
        ..QuestionQuery::default()
    };
    Ok(unit.questions(&project().project_id, &query)?.len())
}

fn tallies(unit: &dyn ReadUnit) -> Result<usize> {
    let tallies = unit.tallies(&project().project_id, Some(since()))?;
    let packages: u64 = tallies.iter().map(|tally| tally.packages).sum();
    Ok(packages as usize)
}

fn highlights(unit: &dyn ReadUnit) -> Result<usize> {
    let query = HighlightQuery { since: Some(since()), limit: 10, ..HighlightQuery::default() };
    Ok(unit.highlights(&project().project_id, &query)?.len())
}

fn question_count(unit: &dyn ReadUnit) -> Result<usize> {
    let count: Result<u64, StoreError> =
        unit.open_question_count(&project().project_id, Some(since()));
    Ok(count? as usize)
}
