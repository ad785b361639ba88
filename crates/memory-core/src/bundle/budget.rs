//! Selects the parts of an orientation that fit into a token budget.
//!
//! A budget is filled in this order: the project; the names of damaged packages, up to a
//! sixteenth of the budget; open questions, up to a quarter of it; facts, up to another
//! quarter; packages, newest first; then the facts and the questions left over;
//! last, which packages the questions are from. A package is included whole or left out;
//! when one does not fit, older packages are still tried.

use accord_contract::wire::Wire as _;

use super::left_out::{LeftOut, Reason};
use super::orient::OrientRows;
use crate::text::{ListText, quoted};

/// The member that says which packages the questions are from.
pub(super) const SOURCES: &str = "x-open_question_sources";

/// Room for the members' names, the two small members, and `x-left_out`.
const FRAME: usize = 1_200;

/// The texts of all candidates for the bundle.
pub(super) struct Pieces<'a> {
    pub(super) project: String,
    /// The project without its description.
    pub(super) bare_project: String,
    pub(super) packages: &'a [&'a str],
    pub(super) facts: &'a [&'a str],
    pub(super) questions: Vec<String>,
    /// The sources of each question.
    pub(super) sources: Vec<String>,
    /// The names of damaged packages.
    pub(super) damaged: Vec<String>,
}

impl<'a> Pieces<'a> {
    pub(super) fn of(rows: &OrientRows<'a>) -> Self {
        let mut bare = rows.project.clone();
        bare.description.clear();
        bare.extra.clear();
        let sources = rows.questions.sources().map(|ids| {
            let mut list = ListText::new();
            for id in ids {
                list.raw(&quoted(id.as_str()));
            }
            list.finish()
        });
        let damaged = rows.damaged.iter().map(|id| quoted(id));
        Self {
            project: rows.project.encode().to_string(),
            bare_project: bare.encode().to_string(),
            packages: rows.packages,
            facts: rows.facts,
            questions: rows.questions.texts().map(quoted).collect(),
            sources: sources.collect(),
            damaged: damaged.collect(),
        }
    }

    /// The largest size of a bundle with all candidates, in bytes.
    pub(super) fn bytes(&self) -> usize {
        let texts = [&self.questions, &self.sources, &self.damaged];
        let texts = texts.into_iter().flatten().map(|text| text.len() + 1);
        let given = [self.packages, self.facts].into_iter().flatten();
        let given = given.map(|text| text.len() + 1);
        FRAME + self.project.len() + texts.sum::<usize>() + given.sum::<usize>()
    }
}

/// The selected pieces.
pub(super) struct Plan {
    /// The project's description.
    pub(super) words: bool,
    pub(super) packages: Vec<bool>,
    pub(super) facts: Vec<bool>,
    pub(super) questions: Vec<bool>,
    pub(super) sources: bool,
    pub(super) damaged: Vec<bool>,
}

impl Plan {
    pub(super) fn everything(pieces: &Pieces<'_>) -> Self {
        Self {
            words: true,
            packages: vec![true; pieces.packages.len()],
            facts: vec![true; pieces.facts.len()],
            questions: vec![true; pieces.questions.len()],
            sources: true,
            damaged: vec![true; pieces.damaged.len()],
        }
    }

    pub(super) fn within(pieces: &Pieces<'_>, bytes: usize) -> Self {
        let fixed = FRAME + pieces.bare_project.len();
        let mut room = Room(bytes.saturating_sub(fixed));
        let words = room.take(pieces.project.len() - pieces.bare_project.len());
        let mut questions = vec![false; pieces.questions.len()];
        let mut facts = vec![false; pieces.facts.len()];
        let mut packages = vec![false; pieces.packages.len()];
        let mut damaged = vec![false; pieces.damaged.len()];
        room.fill(&pieces.damaged, &mut damaged, bytes / 16);
        room.fill(&pieces.questions, &mut questions, bytes / 4);
        room.fill(pieces.facts, &mut facts, bytes / 4);
        for (package, taken) in pieces.packages.iter().zip(&mut packages) {
            *taken = room.take(package.len() + 1);
        }
        room.fill(pieces.facts, &mut facts, bytes);
        room.fill(&pieces.questions, &mut questions, bytes);
        let sources = pieces.sources.iter().zip(&questions);
        let sources = sources.filter(|(_, taken)| **taken).map(|(ids, _)| ids.len() + 1);
        Self {
            // The 6 bytes are the comma, quotes, colon and brackets around the name and the items.
            sources: room.take(sources.sum::<usize>() + SOURCES.len() + 6),
            words,
            packages,
            facts,
            questions,
            damaged,
        }
    }

    pub(super) fn left_out(&self, rows: &OrientRows<'_>, pieces: &Pieces<'_>) -> LeftOut {
        let mut said = LeftOut::default();
        for (member, taken) in [
            ("recent_packages", &self.packages),
            ("active_facts", &self.facts),
            ("open_questions", &self.questions),
        ] {
            let missing = taken.iter().filter(|taken| !**taken).count();
            if missing > 0 {
                said.say(member, Reason::Budget, Some(missing));
            }
        }
        if !self.words {
            said.say("project", Reason::Budget, None);
        }
        if !self.sources && !pieces.sources.is_empty() {
            said.say(SOURCES, Reason::Budget, None);
        }
        if rows.more_packages {
            said.say("recent_packages", Reason::Limit, None);
        }
        if rows.questions.is_cut() {
            said.say("open_questions", Reason::Limit, None);
        }
        if !rows.damaged.is_empty() {
            said.say("recent_packages", Reason::Integrity, Some(rows.damaged.len()));
        }
        said
    }
}

/// The bytes that are left.
struct Room(usize);

impl Room {
    fn take(&mut self, bytes: usize) -> bool {
        let fits = bytes <= self.0;
        if fits {
            self.0 -= bytes;
        }
        fits
    }

    /// Selects remaining pieces in order, up to the first that does not fit, and at
    /// most `most` bytes of them.
    fn fill(&mut self, pieces: &[impl AsRef<str>], taken: &mut [bool], most: usize) {
        let mut share = Self(most.min(self.0));
        for (piece, taken) in pieces.iter().zip(taken).filter(|(_, taken)| !**taken) {
            let bytes = piece.as_ref().len() + 1;
            if !share.take(bytes) {
                break;
            }
            *taken = self.take(bytes);
        }
    }
}
