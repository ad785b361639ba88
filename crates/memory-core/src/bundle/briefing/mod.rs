//! The briefing: what an actor reads when it begins to work, within a budget of tokens.
//!
//! Each section has a share of the budget. What a section does not need goes to the next, and what
//! is left in the end is spent on more items, then on longer texts.
//!
//! What a package is ranks before how new it is: what a reviewer said, handoffs, decisions,
//! questions and the words of people come before notes.
//!
//! Invariants:
//! - a briefing has no more tokens than its budget;
//! - every item has its id. A package also has its title, its decisions and its handoff note;
//! - a text that was shortened says by how much;
//! - what was left out is counted, including what was not loaded;
//! - no item is in two sections;
//! - the age of a package never hides it: what still holds has no window.

mod facts;
mod focus;
mod gist;
mod item;
mod json;
mod markdown;
mod part;
mod plan;
mod rank;
mod rows;
mod section;
mod shorten;

use accord_contract::Time;

use crate::query::BriefingQuery;

pub use part::{BriefingPart, LOW_SIGNIFICANCE, Outline, STANDING_SIGNIFICANCE};
pub use rows::{
    ACTIVE_HOURS, Automatic, BriefingFact, BriefingPackage, BriefingQuestion, BriefingRows,
    Counted, ReviewNote,
};

pub(crate) fn tune(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

use plan::Plan;
use section::sections;

/// Builds the briefing, as Markdown or as a JSON document.
pub fn briefing(rows: &BriefingRows<'_>, query: &BriefingQuery, now: Time) -> String {
    let sections = sections(rows, query, now);
    let frame = rows.frame(query, now);
    let most = query.max_tokens as usize;
    let mut room = most;
    loop {
        let plan = Plan::new(&sections, &frame, room);
        let text = plan.written();
        let over = accord_base::tokens(&text).saturating_sub(most);
        // The parts were counted one by one, which is never less than the whole. The frame alone
        // may exceed a small budget.
        if over == 0 || room == 0 {
            return text;
        }
        room = room.saturating_sub(over);
    }
}
