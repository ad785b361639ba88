//! Checks that a filter names things that the protocol has. A misspelt name would select nothing.

use std::collections::BTreeSet;

use super::{Expr, FilterError, Predicate};
use crate::case::Strength;
use crate::corpus::Protocol;

/// Checks every predicate whose values are a closed list. Patterns for ids may match nothing.
pub(super) fn check(expr: &Expr, protocol: &Protocol) -> Result<(), FilterError> {
    match expr {
        Expr::And(parts) | Expr::Or(parts) => {
            parts.iter().try_for_each(|part| check(part, protocol))
        }
        Expr::Not(inner) => check(inner, protocol),
        Expr::Is(predicate, column) => check_predicate(predicate, protocol)
            .map_err(|message| FilterError { column: *column, message }),
    }
}

fn check_predicate(predicate: &Predicate, protocol: &Protocol) -> Result<(), String> {
    let (what, asked, values) = match predicate {
        Predicate::Id(_) | Predicate::IdPart(_) => return Ok(()),
        Predicate::Clause(glob) => {
            let ids = protocol.clauses().iter().map(|clause| clause.id.clone());
            let ids: BTreeSet<String> = ids.collect();
            if ids.iter().any(|id| glob.matches(id)) {
                return Ok(());
            }
            ("clause", glob.text(), ids)
        }
        Predicate::Operation(glob) => {
            let names = operations(protocol);
            if names.iter().any(|name| glob.matches(name)) {
                return Ok(());
            }
            ("operation", glob.text(), names)
        }
        Predicate::Level(level) => ("level", level.clone(), protocol.levels()),
        Predicate::Area(area) => {
            let areas = protocol.cases().iter().map(|case| case.area().to_owned());
            ("area", area.clone(), areas.collect())
        }
        Predicate::Strength(strength) => {
            let names = Strength::ALL.iter().map(ToString::to_string);
            ("strength", strength.clone(), names.collect())
        }
    };
    if values.contains(&asked) {
        return Ok(());
    }
    Err(format!(
        "the protocol {} has no {what} {asked:?}{}",
        protocol.name(),
        advice(&asked, &values)
    ))
}

fn operations(protocol: &Protocol) -> BTreeSet<String> {
    let declared = protocol.operations().keys().cloned();
    let used = protocol.cases().iter().flat_map(|case| case.operations());
    declared.chain(used.map(str::to_owned)).collect()
}

/// A similar value, or all values if they are few.
fn advice(asked: &str, values: &BTreeSet<String>) -> String {
    let nearest = values.iter().map(|value| (distance(asked, value), value)).min();
    match nearest {
        Some((far, value)) if far <= FAR.min(asked.chars().count() / 3) => {
            format!("; did you mean {value:?}?")
        }
        _ if values.len() <= LISTED => {
            let names: Vec<&str> = values.iter().map(String::as_str).collect();
            format!("; choose one of {}", names.join(", "))
        }
        _ => {
            let some: Vec<&str> = values.iter().take(SOME).map(String::as_str).collect();
            format!("; it has {}, such as {}", values.len(), some.join(", "))
        }
    }
}

/// The edit distance, ignoring case; 0 for a prefix of a name.
fn distance(one: &str, other: &str) -> usize {
    let (one, other) = (one.to_lowercase(), other.to_lowercase());
    if one.len() >= SHORTEST_BEGINNING && other.starts_with(&one) {
        return 0;
    }
    strsim::levenshtein(&one, &other)
}

const FAR: usize = 2;
const LISTED: usize = 20;
const SOME: usize = 3;
const SHORTEST_BEGINNING: usize = 3;
