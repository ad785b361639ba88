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
    let measured = |what: &str, text: &str| {
        let query = SearchQuery { text, limit: 5, ..SearchQuery::default() };
        let mut left_out = Vec::new();
        let took = p50(60, |_| {
            let found = store.read(|unit| unit.search(&project, &query));
            let found = found.expect("a search");
            assert_eq!(found.hits.len(), 5);
            left_out = found.left_out;
        });
        let millis = micros(took) / 1000.0;
        println!("  {what}: p50 {millis:.1} ms, left out {left_out:?}");
        millis
    };
    let two = measured("two words, each in 5 % of the packages", "zebra walrus");
    measured("one word that stands in most", "wa");
    let many =
        measured("both, and ten that are common", "zebra walrus wa wb wc wd we wf wg wh wi wj");
    gates.at_most("milliseconds for two words", two, 25.0);
    gates.at_most("with ten common words more", many / two, 3.0);
}
