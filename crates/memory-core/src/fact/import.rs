//! Importing a fact from another store unchanged.

use accord_contract::{Code, Failure, Time, Timestamp};

use super::Fact;
use super::chain::overlap;
use crate::FactId;

#[derive(Clone, Copy, Debug, Default)]
pub struct ImportState<'a> {
    pub same_id: Option<&'a Fact>,
    /// The last fact of the chain that is not empty, begins at the imported one's start
    /// or earlier, and is another one.
    pub before: Option<&'a Fact>,
    /// The first fact of the chain that is not empty, begins later, and is another one.
    pub after: Option<&'a Fact>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Imported {
    Unchanged,
    /// Add it unchanged.
    Added,
    /// It exists without an end or with a later one, and gets this end.
    Ended {
        fact_id: FactId,
        valid_to: Timestamp,
    },
}

/// Decides the import of a fact. Fails with `duplicate_fact_id` when another fact has its id, with
/// `fact_overlap` when another one holds at the same time.
pub fn import(fact: &Fact, state: &ImportState<'_>) -> Result<Imported, Failure> {
    if let Some(known) = state.same_id {
        return again(fact, known);
    }
    let span = fact.span();
    let into_before = state.before.is_some_and(|before| before.holds_at(span.from.time()));
    let ends_past = |next: Time| span.to.as_ref().is_none_or(|to| to.time() > next);
    let into_after = state.after.is_some_and(|after| ends_past(after.valid_from.time()));
    if !span.is_empty() && (into_before || into_after) {
        return Err(overlap(&span));
    }
    Ok(Imported::Added)
}

fn again(fact: &Fact, known: &Fact) -> Result<Imported, Failure> {
    if fact == known {
        return Ok(Imported::Unchanged);
    }
    let open = |fact: &Fact| Fact { valid_to: None, ..fact.clone() };
    if open(fact) != open(known) {
        let message = format!("another fact has the id {:?}", fact.fact_id.as_str());
        return Err(Failure::new(Code::AgenticDuplicateFactId, message).at("/fact_id"));
    }
    // An end is set once, and moves only when a fact is filled in before it, which makes it
    // earlier. So of two copies the one with the earlier end is the newer one, and an earlier end
    // cannot cause an overlap.
    let ends = |fact: &Fact| fact.valid_to.as_ref().map_or(Time::MAX, Timestamp::time);
    match &fact.valid_to {
        Some(end) if ends(fact) < ends(known) || known.valid_to.is_none() => {
            Ok(Imported::Ended { fact_id: fact.fact_id.clone(), valid_to: end.clone() })
        }
        _ => Ok(Imported::Unchanged),
    }
}
