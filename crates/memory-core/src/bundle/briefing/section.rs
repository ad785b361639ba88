//! The sections of a briefing.

use std::collections::BTreeSet;

use super::focus::rank;
use super::item::Item;
use super::rows::{BriefingPackage, BriefingRows};
use crate::query::BriefingQuery;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    Standing,
    Handoff,
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
    /// How many there are, including those that were not loaded.
    pub(super) total: u64,
}

impl Kind {
    pub(super) fn heading(self) -> &'static str {
        match self {
            Self::Standing => "Rules and decisions",
            Self::Handoff => "Latest handoff",
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
            Self::Standing => 50,
            Self::Handoff => 16,
            Self::Reviews => 8,
            Self::Questions => 8,
            Self::Facts => 8,
            Self::Sessions => 2,
            Self::Work => 8,
        }
    }

    /// The order in which sections get their first item, if there is little room.
    pub(super) fn first(self) -> usize {
        match self {
            Self::Handoff => 0,
            Self::Standing => 1,
            Self::Reviews => 2,
            Self::Questions => 3,
            Self::Sessions => 4,
            Self::Facts => 5,
            Self::Work => 6,
        }
    }

    /// The longest texts, in characters, before other sections get what is left.
    pub(super) fn first_length(self) -> usize {
        match self {
            Self::Handoff => 540,
            _ => 240,
        }
    }

    pub(super) fn is_one_line(self) -> bool {
        !matches!(self, Self::Standing | Self::Handoff | Self::Reviews)
    }
}

/// The sections that have items, in their order.
pub(super) fn sections<'a>(rows: &'a BriefingRows<'a>, query: &BriefingQuery) -> Vec<Section<'a>> {
    let mut given = BTreeSet::new();
    let mut packages = |kind, rows: &'a [BriefingPackage<'a>], total: u64| {
        let loaded = rows.len() as u64;
        let fresh = |row: &&BriefingPackage<'a>| given.insert(&row.fields.package_id);
        let items: Vec<_> = rows.iter().filter(fresh).map(Item::Package).collect();
        // What another section shows is not missing here.
        let total = total - (loaded - items.len() as u64);
        Section { kind, items, total }
    };
    // The handoffs first: one that is also a rule is shown as a handoff.
    let handoffs = packages(Kind::Handoff, &rows.handoffs, rows.handoffs.len() as u64);
    let standing = packages(Kind::Standing, &rows.standing.rows, rows.standing.total);
    let reviews = packages(Kind::Reviews, &rows.reviews.rows, rows.reviews.total);
    let mut work = packages(Kind::Work, &rows.work.rows, rows.work.total);
    // Many small notes must not hide a decision that is a little older.
    work.items.sort_by_key(Item::is_minor);
    let section = |kind, items, total| Section { kind, items, total };
    let questions = rows.questions.rows.iter().map(Item::Question).collect();
    let questions = section(Kind::Questions, questions, rows.questions.total);
    let facts = rows.facts.rows.iter().map(|fact| Item::Fact(fact)).collect();
    let facts = section(Kind::Facts, facts, rows.facts.total);
    let sessions = rows.sessions.rows.iter().map(|session| Item::Session(session)).collect();
    let sessions = section(Kind::Sessions, sessions, rows.sessions.total);
    let mut sections = vec![standing, handoffs, reviews, questions, facts, sessions, work];
    sections.retain(|section| section.total > 0);
    if let Some(focus) = &query.focus {
        for section in &mut sections {
            rank(&mut section.items, &focus.terms);
        }
    }
    sections
}
