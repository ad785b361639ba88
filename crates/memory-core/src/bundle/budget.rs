//! Selects the parts of an orientation that fit into a token budget.
//!
//! A budget is filled in this order: the project; the names of damaged packages, up to a
//! sixteenth of the budget; open questions, up to a quarter of it; facts, up to another
//! quarter; packages of high significance, then the others, both newest first; then the facts and
//! the questions left over; last, which packages the questions are from. A package is included
//! whole or left out; when one does not fit, others are still tried. Up to a sixteenth of the
//! budget names the packages that were left out.

use std::borrow::Cow;

use accord_base::tokens;
use accord_contract::Wire as _;
use serde::Deserialize;

use super::STANDING_SIGNIFICANCE;
use super::left_out::{LeftOut, Reason};
use super::orient::{Mark, OrientRows};
use crate::PackageId;
use crate::package::Significance;
use crate::text::{ObjectText, list, quoted};

/// The member that says which packages the questions are from.
pub(super) const SOURCES: &str = "x-open_question_sources";
/// Tokens for the members' names, the two small members, and `x-left_out`.
const FRAME: usize = 400;
/// The most packages that were left out and are named.
const NAMED: usize = 20;

/// The texts of all candidates for the bundle.
pub(super) struct Pieces<'a> {
    pub(super) project: String,
    /// The project without its description.
    pub(super) bare_project: String,
    pub(super) packages: &'a [&'a str],
    /// The members of `x-superseded`, one for each package; empty if it is not superseded.
    pub(super) marks: Vec<String>,
    pub(super) facts: &'a [&'a str],
    pub(super) questions: Vec<String>,
    /// The sources of each question.
    pub(super) sources: Vec<String>,
    pub(super) damaged: Vec<String>,
}

impl<'a> Pieces<'a> {
    pub(super) fn of(rows: &OrientRows<'a>) -> Self {
        let mut bare = rows.project.clone();
        bare.description.clear();
        bare.extra.clear();
        let sources = rows.questions.sources().map(id_list);
        let damaged = rows.damaged.iter().map(|id| quoted(id));
        Self {
            project: rows.project.encode().to_string(),
            bare_project: bare.encode().to_string(),
            packages: rows.packages,
            marks: (0..rows.packages.len()).map(|place| mark(rows.marks.get(place))).collect(),
            facts: rows.facts,
            questions: rows.questions.texts().map(quoted).collect(),
            sources: sources.collect(),
            damaged: damaged.collect(),
        }
    }

    /// About the size of a bundle with all candidates, in bytes.
    pub(super) fn bytes(&self) -> usize {
        let texts = [&self.questions, &self.sources, &self.damaged, &self.marks];
        let texts = texts.into_iter().flatten().map(|text| text.len() + 1);
        let given = [self.packages, self.facts].into_iter().flatten();
        let given = given.map(|text| text.len() + 1);
        4 * FRAME + self.project.len() + texts.sum::<usize>() + given.sum::<usize>()
    }
}

/// A member of `x-superseded`.
fn mark(mark: Option<&Option<Mark<'_>>>) -> String {
    let Some(Mark { package_id, by }) = mark.copied().flatten() else { return String::new() };
    format!("{}:{}", quoted(package_id.as_str()), id_list(by))
}

fn id_list(ids: &[PackageId]) -> String {
    list(ids.iter().map(|id| quoted(id.as_str())))
}

pub(super) struct Plan {
    /// The project's description.
    pub(super) words: bool,
    pub(super) packages: Vec<bool>,
    pub(super) facts: Vec<bool>,
    pub(super) questions: Vec<bool>,
    pub(super) sources: bool,
    pub(super) damaged: Vec<bool>,
    /// The heads of packages that were left out, as JSON.
    named: Vec<String>,
}

/// The members of a package that name it.
#[derive(Deserialize)]
struct Head<'t> {
    #[serde(borrow)]
    package_id: Cow<'t, str>,
    #[serde(borrow)]
    title: Cow<'t, str>,
    significance: Option<u8>,
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
            named: Vec::new(),
        }
    }

    pub(super) fn within(pieces: &Pieces<'_>, budget: usize) -> Self {
        let (project, bare) = (tokens(&pieces.project), tokens(&pieces.bare_project));
        let mut room = Room(budget.saturating_sub(FRAME + bare));
        let words = room.take(project.saturating_sub(bare));
        let mut questions = vec![false; pieces.questions.len()];
        let mut facts = vec![false; pieces.facts.len()];
        let mut packages = vec![false; pieces.packages.len()];
        let mut damaged = vec![false; pieces.damaged.len()];
        room.fill(&pieces.damaged, &mut damaged, budget / 16);
        room.fill(&pieces.questions, &mut questions, budget / 4);
        room.fill(pieces.facts, &mut facts, budget / 4);
        let heads = pieces.packages.iter().map(|text| serde_json::from_str::<Head<'_>>(text).ok());
        let heads: Vec<_> = heads.collect();
        let mut order: Vec<usize> = (0..heads.len()).collect();
        // Stable, so that equal ones stay newest first.
        order.sort_by_key(|place| !heads[*place].as_ref().is_some_and(Head::matters));
        let names = room.0.min(budget / 16);
        room.0 -= names;
        for place in &order {
            let (package, mark) = (pieces.packages[*place], &pieces.marks[*place]);
            packages[*place] = room.take(tokens(package) + 1 + tokens(mark) + 1);
        }
        let mut names = Room(names);
        let missing = order.iter().filter(|place| !packages[**place]);
        let missing = missing.filter_map(|place| Some((heads[*place].as_ref()?, *place)));
        let missing = missing.map(|(head, place)| head.written(pieces.packages[place]));
        let named = missing.take(NAMED).take_while(|name| names.take(tokens(name) + 1)).collect();
        room.0 += names.0;
        room.fill(pieces.facts, &mut facts, budget);
        room.fill(&pieces.questions, &mut questions, budget);
        let sources = pieces.sources.iter().zip(&questions);
        let sources = sources.filter(|(_, taken)| **taken).map(|(ids, _)| tokens(ids) + 1);
        Self {
            sources: room.take(sources.sum::<usize>() + tokens(SOURCES) + 4),
            words,
            packages,
            facts,
            questions,
            damaged,
            named,
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
                let named = if member == "recent_packages" { self.named.as_slice() } else { &[] };
                said.say_named(member, Reason::Budget, Some(missing), named);
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

impl Head<'_> {
    fn matters(&self) -> bool {
        let significance = self.significance.unwrap_or(Significance::DEFAULT.number());
        significance >= STANDING_SIGNIFICANCE
    }

    /// The head as JSON, with the tokens of the package.
    fn written(&self, text: &str) -> String {
        ObjectText::new()
            .value("package_id", &*self.package_id)
            .value("title", &*self.title)
            .optional("significance", self.significance)
            .value("tokens", tokens(text))
            .finish()
    }
}

struct Room(usize);

impl Room {
    fn take(&mut self, tokens: usize) -> bool {
        let fits = tokens <= self.0;
        if fits {
            self.0 -= tokens;
        }
        fits
    }

    /// Selects remaining pieces in order, up to the first that does not fit, and at
    /// most `most` tokens of them.
    fn fill(&mut self, pieces: &[impl AsRef<str>], taken: &mut [bool], most: usize) {
        let mut share = Self(most.min(self.0));
        for (piece, taken) in pieces.iter().zip(taken).filter(|(_, taken)| !**taken) {
            let cost = tokens(piece.as_ref()) + 1;
            if !share.take(cost) {
                break;
            }
            *taken = self.take(cost);
        }
    }
}
