//! Taking a fact over from another store, as it stands.

use accord_contract::codes::{Code, Failure};

use super::chain::overlap;
use super::{Fact, Span};
use crate::{FactId, Timestamp};

/// What is stored where an imported fact is to go.
#[derive(Clone, Copy, Debug, Default)]
pub struct ImportState<'a> {
    /// The fact of the same id, where there is one.
    pub same_id: Option<&'a Fact>,
    /// The last fact of the chain that is not empty, begins at the imported one's start
    /// or earlier, and is another one.
    pub before: Option<&'a Fact>,
    /// The first fact of the chain that is not empty, begins later, and is another one.
    pub after: Option<&'a Fact>,
}

/// What an import of a fact leads to.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Imported {
    /// It is there already.
    Unchanged,
    /// It is to be added as it is.
    Added,
    /// It is there without an end, and has one since.
    Ended {
        /// The fact.
        fact_id: FactId,
        /// Its end.
        valid_to: Timestamp,
    },
}

/// Decides the import of a fact.
///
/// # Errors
/// With `duplicate_fact_id` when another fact has its id, with `fact_overlap` when
/// another one holds when it does.
pub fn import(fact: &Fact, state: &ImportState<'_>) -> Result<Imported, Failure> {
    if let Some(known) = state.same_id {
        return again(fact, known);
    }
    let span = fact.span();
    let starts = span.from.instant();
    let before = state.before.map(Fact::span);
    let into_before = before.is_some_and(|before| before.holds_at(starts));
    let ends_past = |after: &Span| {
        let next = after.from.instant();
        span.to.as_ref().is_none_or(|to| to.instant() > next)
    };
    let into_after = state
        .after
        .map(Fact::span)
        .is_some_and(|after| ends_past(&after));
    if !span.is_empty() && (into_before || into_after) {
        return Err(overlap(&span));
    }
    Ok(Imported::Added)
}

fn again(fact: &Fact, known: &Fact) -> Result<Imported, Failure> {
    if fact == known {
        return Ok(Imported::Unchanged);
    }
    let mut open = fact.clone();
    open.valid_to = None;
    let mut known_open = known.clone();
    known_open.valid_to = None;
    match (&known.valid_to, &fact.valid_to) {
        // Ending earlier than something else begins cannot overlap it.
        (None, Some(end)) if open == known_open => Ok(Imported::Ended {
            fact_id: fact.fact_id.clone(),
            valid_to: end.clone(),
        }),
        // An older copy of a fact that has ended since says nothing new.
        (Some(_), None) if open == known_open => Ok(Imported::Unchanged),
        _ => {
            let message = format!("another fact has the id {:?}", fact.fact_id.as_str());
            Err(Failure::new(Code::AgenticDuplicateFactId, message).at("/fact_id"))
        }
    }
}
