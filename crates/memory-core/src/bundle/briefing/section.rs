//! The sections of a briefing.

use std::collections::BTreeSet;

use accord_contract::Time;

use super::facts::{self, Spoken};
use super::focus::rank;
use super::item::{Item, texts};
use super::rank::{Candidate, Scale, created, fold_parents, fold_runs, handoffs};
use super::results::Results;
use super::rows::{BriefingPackage, BriefingRows};
use crate::PackageId;
use crate::package::Status;
use crate::query::BriefingQuery;

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Kind {
    Asked,
    Handoff,
    Standing,
    Reviews,
    Questions,
    Facts,
    Sessions,
    Work,
}

impl Section<'_> {
    /// Puts the packages that a search for the focus found before the others.
    fn focus(&mut self, about: &[PackageId]) {
        // They come in the order of their words of the focus.
        self.more = FOUND / 2;
        for item in &mut self.items {
            let place = about.iter().position(|id| item.has(id));
            let Item::Package(one) = item else { continue };
            match place {
                Some(place) => one.weight += FOUND.saturating_sub(STEP * place),
                None => one.is_aside = true,
            }
        }
    }

    /// The size of the texts of an item with which it is chosen, for a budget in tokens.
    pub(super) fn first_length(&self, place: usize, budget: u32) -> usize {
        match (&self.items[place], self.kind) {
            (Item::Package(one), _) if one.is_aside => SENTENCE / 2,
            (_, Kind::Handoff | Kind::Asked) => (budget as usize * 3 / 10).clamp(100, 540),
            // A note that says little is shown by its title.
            (Item::Package(one), Kind::Work) if one.weight < BY_TITLE => 0,
            // The word of a person counts more.
            (Item::Package(one), _) if one.row.is_of_person() => WORDS_OF_PERSON,
            _ => SENTENCE,
        }
    }

    /// How much its item at a place matters.
    pub(super) fn weight(&self, place: usize) -> usize {
        match &self.items[place] {
            Item::Package(one) if one.is_aside => one.weight / 2,
            Item::Package(one) => one.weight.max(self.kind.weight(place)),
            _ => self.kind.weight(place) + self.more,
        }
    }
}

/// A section and its candidates, in their order.
pub(super) struct Section<'a> {
    pub(super) kind: Kind,
    pub(super) items: Vec<Item<'a>>,
    /// How many rows there are, including those that were not loaded.
    pub(super) total: u64,
    /// How much its items that are no packages weigh more than usual.
    more: usize,
}

impl Kind {
    pub(super) fn heading(self) -> &'static str {
        match self {
            Self::Asked => "Asked by reviewers",
            Self::Handoff => "Latest handoff",
            Self::Standing => "Rules and decisions",
            Self::Reviews => "Waiting for review",
            Self::Questions => "Open questions",
            Self::Facts => "Facts",
            Self::Sessions => "Active now",
            Self::Work => "Recent work",
        }
    }

    /// Its member in JSON.
    pub(super) fn member(self) -> &'static str {
        match self {
            Self::Asked => "asked",
            Self::Standing => "standing",
            Self::Handoff => "handoffs",
            Self::Reviews => "reviews",
            Self::Questions => "open_questions",
            Self::Facts => "facts",
            Self::Sessions => "active_sessions",
            Self::Work => "recent_work",
        }
    }

    /// A number of its items, in words.
    pub(super) fn counted(self, count: u64) -> String {
        let (one, many) = match self {
            Self::Asked => ("review with a note", "reviews with notes"),
            Self::Standing => ("rule or decision", "rules and decisions"),
            Self::Handoff => ("handoff", "handoffs"),
            Self::Reviews => ("waiting review", "waiting reviews"),
            Self::Questions => ("open question", "open questions"),
            Self::Facts => ("fact", "facts"),
            Self::Sessions => ("active session", "active sessions"),
            Self::Work => ("recent package", "recent packages"),
        };
        format!("{count} {}", if count == 1 { one } else { many })
    }

    /// How much its item at a place matters, on the scale of the weights of packages.
    pub(super) fn weight(self, place: usize) -> usize {
        let (first, step): (usize, usize) = match self {
            Self::Asked => (400, 10),
            Self::Handoff => (390, 60),
            Self::Reviews => (190, 20),
            Self::Questions => (170, 12),
            Self::Facts => (190, 12),
            Self::Sessions => (180, 30),
            Self::Standing | Self::Work => (0, 0),
        };
        first.saturating_sub(step * place)
    }

    /// The size of texts before items that weigh little are shown.
    pub(super) fn second_length(self, budget: u32) -> usize {
        match self {
            Self::Handoff | Self::Asked => (budget as usize * 9 / 20).clamp(SENTENCES, 1_200),
            _ => SENTENCES,
        }
    }

    /// From this length on, the body of a package is shown besides its decisions and its note.
    pub(super) fn with_body(self) -> usize {
        match self {
            Self::Handoff | Self::Asked => 800,
            _ => 360,
        }
    }

    pub(super) fn is_one_line(self) -> bool {
        !matches!(self, Self::Asked | Self::Standing | Self::Handoff | Self::Reviews)
    }
}

/// The sections that have items, in their order.
pub(super) fn sections<'a>(
    rows: &'a BriefingRows<'a>,
    query: &BriefingQuery,
    now: Time,
) -> Vec<Section<'a>> {
    let mut given = BTreeSet::new();
    let mut packages = Vec::new();
    let handed_over = handoffs(&rows.handoffs);
    let results = Results::of(rows);
    let mut add = |kind, row: &'a BriefingPackage<'a>| {
        let row = results.shown(row);
        if given.insert(&row.fields.package_id) {
            packages.push(Candidate { result: results.of_left(row), ..Candidate::of(kind, row) });
        }
    };
    rows.asked.rows.iter().for_each(|row| add(Kind::Asked, row));
    handed_over.iter().for_each(|row| add(Kind::Handoff, row));
    rows.standing.rows.iter().for_each(|row| add(Kind::Standing, row));
    rows.reviews.rows.iter().for_each(|row| add(Kind::Reviews, row));
    rows.work.rows.iter().for_each(|row| add(Kind::Work, row));
    let newest = packages.iter().map(|one| created(one.row)).max();
    let inflation = Scale::inflation_of(&packages);
    let packages = fold_parents(packages, &rows.parents);
    let (mut asked, mut handoffs) = (Vec::new(), Vec::new());
    let (mut standing, mut reviews, mut work) = (Vec::new(), Vec::new(), Vec::new());
    for one in packages {
        match one.kind {
            Kind::Asked => asked.push(one),
            Kind::Handoff => handoffs.push(one),
            Kind::Standing => standing.push(one),
            Kind::Reviews => reviews.push(one),
            _ => work.push(one),
        }
    }
    // What waits for an answer comes before the conditions of what was approved.
    asked.sort_by_key(|one| (one.row.superseded_by.is_some(), is_complete(one)));
    fold_runs(&mut standing);
    fold_runs(&mut work);
    // If all open questions are known, the others are answered.
    let open = (rows.questions.unloaded() == 0)
        .then(|| rows.questions.rows.iter().map(|question| question.text).collect());
    let since = now.days_before(query.window_days);
    let scale = Scale { open, newest, since, inflation };
    scale.sort(&mut standing);
    scale.sort(&mut work);
    let spoken = spoken(rows);
    // With a focus, one of many similar facts may be the one that is wanted.
    let facts = facts::lines(&rows.facts.rows, &spoken, query.focus.is_some());
    let section = |kind, items: Vec<Item<'a>>, unloaded: u64| {
        let total = items.iter().map(Item::rows).sum::<u64>() + unloaded;
        Section { kind, items, total, more: 0 }
    };
    let packages = |kind, list: Vec<Candidate<'a>>, unloaded| {
        section(kind, list.into_iter().map(Item::Package).collect(), unloaded)
    };
    let questions = rows.questions.rows.iter().map(Item::Question).collect();
    let facts = facts.into_iter().map(Item::Fact).collect();
    let sessions = rows.sessions.rows.iter().map(|session| Item::Session(session)).collect();
    let mut sections = vec![
        packages(Kind::Asked, asked, rows.asked.unloaded()),
        packages(Kind::Handoff, handoffs, 0),
        packages(Kind::Standing, standing, rows.standing.unloaded()),
        packages(Kind::Reviews, reviews, rows.reviews.unloaded()),
        section(Kind::Questions, questions, rows.questions.unloaded()),
        section(Kind::Facts, facts, rows.facts.unloaded()),
        section(Kind::Sessions, sessions, rows.sessions.unloaded()),
        packages(Kind::Work, work, rows.work.unloaded()),
    ];
    sections.retain(|section| section.total > 0);
    if let Some(focus) = &query.focus {
        for section in &mut sections {
            section.focus(rows.about);
            rank(&mut section.items, &focus.terms, rows.about);
        }
    }
    sections
}

fn is_complete(one: &Candidate<'_>) -> bool {
    one.fields().status == Status::Complete && one.parents.is_empty()
}

/// What the packages say.
fn spoken<'a>(rows: &'a BriefingRows<'a>) -> Spoken<'a> {
    let mut spoken = Spoken { text: String::new(), packages: BTreeSet::new() };
    let asked = rows.asked.rows.iter().chain(&rows.reviews.rows);
    for row in rows.handoffs.iter().chain(&rows.standing.rows).chain(asked) {
        if !spoken.packages.insert(&row.fields.package_id) {
            continue;
        }
        texts(row, &mut |part| {
            let part = &part[..part.floor_char_boundary(SPOKEN)];
            spoken.text.push_str(&part.to_lowercase());
            spoken.text.push(' ');
        });
    }
    spoken
}

/// The size of a text of one sentence that decides, and of one with a second.
const SENTENCE: usize = 100;
pub(super) const SENTENCES: usize = 160;
/// The size of the words of a person.
const WORDS_OF_PERSON: usize = 240;
/// A note that weighs less is shown by its title, until there is room for more.
const BY_TITLE: usize = 110;
/// How much the first package that a search for the focus found weighs more, and how much less each
/// further one.
const FOUND: usize = 200;
const STEP: usize = 16;
/// How much of each text of a package is looked at for facts, in bytes.
const SPOKEN: usize = 4 * 1024;
