//! The sections of a briefing.

use std::collections::BTreeSet;

use accord_contract::Time;

use super::facts::{self, Spoken};
use super::focus::rank;
use super::item::{Item, texts};
use super::rank::{Asks, Candidate, by_weight, fold_parents, fold_runs, handoffs};
use super::rows::{BriefingPackage, BriefingRows};
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

/// A section and its candidates, in their order.
pub(super) struct Section<'a> {
    pub(super) kind: Kind,
    pub(super) items: Vec<Item<'a>>,
    /// How many rows there are, including those that were not loaded.
    pub(super) total: u64,
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

    /// Its share of the budget, in hundredths.
    pub(super) fn share(self) -> usize {
        match self {
            Self::Asked => 25,
            Self::Handoff => 25,
            Self::Standing => 40,
            Self::Reviews => 6,
            Self::Questions => 8,
            Self::Facts => 8,
            Self::Sessions => 2,
            Self::Work => 25,
        }
    }

    /// How many more of its items are shown before it is the turn of the next section.
    pub(super) fn in_turn(self) -> usize {
        if self == Self::Standing { 2 } else { 1 }
    }

    /// The order in which sections get their first item, if there is little room.
    pub(super) fn first(self) -> usize {
        match self {
            Self::Asked => 0,
            Self::Handoff => 1,
            Self::Standing => 2,
            Self::Reviews => 3,
            Self::Questions => 4,
            Self::Sessions => 5,
            Self::Facts => 6,
            Self::Work => 7,
        }
    }

    /// The length of its texts, in characters, with which items are chosen.
    pub(super) fn first_length(self) -> usize {
        match self {
            Self::Handoff => 540,
            Self::Asked => 360,
            _ => 160,
        }
    }

    /// The length up to which texts are lengthened before there are more items.
    pub(super) fn second_length(self) -> usize {
        match self {
            Self::Handoff | Self::Asked => 800,
            Self::Standing => 240,
            _ => 160,
        }
    }

    /// From this length on, the body of a package is shown besides its decisions and its note.
    pub(super) fn with_body(self) -> usize {
        if self == Self::Handoff { 800 } else { 360 }
    }

    /// Whether all its items matter more than long texts of others.
    pub(super) fn is_first(self) -> bool {
        matches!(self, Self::Asked | Self::Handoff)
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
    let mut add = |kind, row: &'a BriefingPackage<'a>| {
        if given.insert(&row.fields.package_id) {
            packages.push(Candidate::of(kind, row));
        }
    };
    rows.asked.rows.iter().for_each(|row| add(Kind::Asked, row));
    handed_over.iter().for_each(|row| add(Kind::Handoff, row));
    rows.standing.rows.iter().for_each(|row| add(Kind::Standing, row));
    rows.reviews.rows.iter().for_each(|row| add(Kind::Reviews, row));
    rows.work.rows.iter().for_each(|row| add(Kind::Work, row));
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
    let asks = Asks { open };
    by_weight(&mut standing, &asks, None);
    by_weight(&mut work, &asks, Some(now.days_before(query.window_days)));
    let spoken = spoken(rows);
    // With a focus, one of many similar facts may be the one that is wanted.
    let facts = facts::lines(&rows.facts.rows, &spoken, query.focus.is_some());
    let section = |kind, items: Vec<Item<'a>>, unloaded: u64| {
        let total = items.iter().map(Item::rows).sum::<u64>() + unloaded;
        Section { kind, items, total }
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

/// How much of each text of a package is looked at for facts, in bytes.
const SPOKEN: usize = 4 * 1024;
