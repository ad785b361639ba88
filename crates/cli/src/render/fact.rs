//! Facts.

use accord_memory_core::Fact;

use super::page::{LINE, Page};
use super::table::table;
use super::text::{actor_key, line, one_line};
use super::time::Times;

pub(crate) fn facts(page: &mut Page, facts: &[Fact]) {
    let times = facts.iter().flat_map(|fact| [Some(&fact.valid_from), fact.valid_to.as_ref()]);
    let times = Times::of_times(times);
    let rows: Vec<Vec<String>> = facts.iter().map(|fact| row(fact, times)).collect();
    let headings = ["SUBJECT", "PREDICATE", "VALUE", "SINCE", "UNTIL", "SURE", "BY"];
    table(page, &headings, &rows);
}

pub(crate) fn fact(page: &mut Page, fact: &Fact) {
    let (subject, predicate) = (line(&fact.subject), line(&fact.predicate));
    page.heading(&format!("{subject} {predicate} = {}", one_line(&fact.value, LINE)));
    let times = Times::default();
    let until = times.at(fact.valid_to.as_ref());
    let pieces = [
        line(fact.fact_id.as_str()),
        format!("since {}", times.at(Some(&fact.valid_from))),
        if until.is_empty() { until } else { format!("until {until}") },
        fact.asserted_by.as_ref().map(actor_key).unwrap_or_default(),
    ];
    page.pieces(&pieces);
}

fn row(fact: &Fact, times: Times) -> Vec<String> {
    let confidence = fact.confidence.number().as_f64().filter(|sure| *sure < 1.0);
    vec![
        line(&fact.subject),
        line(&fact.predicate),
        one_line(&fact.value, LINE),
        times.at(Some(&fact.valid_from)),
        times.at(fact.valid_to.as_ref()),
        confidence.map_or(String::new(), |sure| sure.to_string()),
        fact.asserted_by.as_ref().map(actor_key).unwrap_or_default(),
    ]
}
