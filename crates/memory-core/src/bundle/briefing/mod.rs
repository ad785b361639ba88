//! The briefing: what an actor reads when it begins to work, within a budget of tokens.
//!
//! Every item has a weight, whatever its section: what a package is (what a reviewer said, a
//! handoff, a decision, the word of a person), what its sentences say, then how new it is. The
//! items that weigh most come first, each with the one sentence that decides. What is left of the
//! budget makes their texts longer, shows items that weigh less, then makes all texts longer.
//!
//! Invariants:
//! - a briefing has no more tokens than its budget;
//! - every item has its id, a package also its title. Decisions and the words of a reviewer are
//!   shown with it;
//! - a text that was shortened ends with `…`, and says by how much if much is missing;
//! - what was left out is counted, including what was not loaded;
//! - no item is in two sections;
//! - the age of a package never hides it: what still holds has no window.

mod cues;
mod facts;
mod focus;
mod gist;
mod item;
mod json;
mod markdown;
mod part;
mod plan;
mod rank;
mod results;
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
