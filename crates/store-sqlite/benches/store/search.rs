//! Searching: two words that each stand in one package of twenty.

use accord_store::{SearchQuery, StoreExt as _};

use crate::packages::project;
use crate::stores::Stores;
use crate::{Gates, micros, p50};

/// More make no difference to what is promised.
const MOST: usize = 100_000;

pub(crate) fn run(gates: &mut Gates, stores: &Stores, packages: usize) {
    let packages = packages.min(MOST);
    println!("\nsearch: {packages} packages");
    let store = stores.open(packages);
    let project = project().project_id;
    for (what, text) in [
        ("two words, each in 5 % of the packages", "zebra walrus"),
        ("one word that stands in most", "wa"),
        (
            "both, and ten that are common",
            "zebra walrus wa wb wc wd we wf wg wh wi wj",
        ),
    ] {
        let mut found = None;
        let took = p50(60, |_| {
            let query = SearchQuery {
                text,
                limit: 5,
                ..SearchQuery::default()
            };
            found = Some(
                store
                    .read(|unit| unit.search(&project, &query))
                    .expect("a search"),
            );
        });
        let found = found.expect("it ran");
        assert_eq!(found.hits.len(), 5);
        println!(
            "  {what}: p50 {:.1} ms, left out {:?}",
            micros(took) / 1000.0,
            found.left_out
        );
        gates.at_most(&format!("{text:?} in ms"), micros(took) / 1000.0, 25.0);
    }
}
