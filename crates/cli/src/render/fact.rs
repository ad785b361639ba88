//! Facts.

use accord_contract::wire::Value;

use super::page::{LINE, Page, list};
use super::table::table;
use super::text::{actor, member, one_line};
use super::time::{Times, moment};

/// Facts, one per line.
pub(crate) fn facts(page: &mut Page, facts: &Value) {
    let times = Times::of(list(facts), &["valid_from", "valid_to"]);
    let rows: Vec<Vec<String>> = list(facts).iter().map(|fact| row(fact, times)).collect();
    if !rows.is_empty() {
        let headings = ["SUBJECT", "PREDICATE", "VALUE", "SINCE", "UNTIL", "SURE", "BY"];
        table(page, &headings, &rows);
    }
}

/// One fact.
pub(crate) fn fact(page: &mut Page, fact: &Value) {
    let sentence = format!(
        "{} {} = {}",
        member(fact, "subject"),
        member(fact, "predicate"),
        one_line(fact["value"].as_str().unwrap_or_default(), LINE)
    );
    page.heading(&sentence);
    let until = moment(&fact["valid_to"]);
    let pieces = [
        member(fact, "fact_id"),
        format!("since {}", moment(&fact["valid_from"])),
        if until.is_empty() { until } else { format!("until {until}") },
        actor(&fact["asserted_by"]),
    ];
    page.pieces(&pieces);
}

fn row(fact: &Value, times: Times) -> Vec<String> {
    let confidence = fact["confidence"].as_f64().filter(|sure| *sure < 1.0);
    vec![
        member(fact, "subject"),
        member(fact, "predicate"),
        one_line(fact["value"].as_str().unwrap_or_default(), LINE),
        times.show(&fact["valid_from"]),
        times.show(&fact["valid_to"]),
        confidence.map_or(String::new(), |sure| sure.to_string()),
        actor(&fact["asserted_by"]),
    ]
}
