//! What a package weighs in a briefing, and which packages are shown as one.

use std::collections::{BTreeMap, BTreeSet};

use accord_contract::Time;

use super::gist::cues;
use super::rows::BriefingPackage;
use super::section::Kind;
use crate::PackageId;
use crate::package::{KnownPackageType, PackageFields, Status};

/// How many similar packages of an author become one item.
const RUN: usize = 3;
/// The most notes of different authors that are shown as handoffs.
const HANDOFFS: usize = 4;
/// How long before the latest handoff another author may have handed over, in seconds.
const AT_ONCE: i64 = 3 * 24 * 3_600;
/// A shorter note does not hide the one that its author left before.
const SHORT_NOTE: usize = 80;
/// The most packages that are shown below one that extends or corrects them.
const PARENTS: usize = 3;
/// How much the newest package weighs more than a very old one. After so many days, half is left.
const NEWNESS: usize = 30;
const HALF: usize = 30;
/// Milliseconds.
const DAY: u64 = 24 * 3_600 * 1_000;

/// How much a step of significance or rank weighs.
const RANK: usize = 12;
/// How much a word that obliges, forbids or limits adds to a package, and how many of them count.
const CUE: usize = 5;
const MOST_CUES: usize = 3;
/// How much of a description is looked at for such words, in bytes.
const LOOKED_AT: usize = 1_000;
/// How much the note of a reviewer adds.
const NOTE: usize = 30;

/// The open questions; `None` if there may be more.
pub(super) struct Asks<'a> {
    pub(super) open: Option<BTreeSet<&'a str>>,
}

/// A package that may be shown, with what is shown beside it.
#[derive(Clone)]
pub(super) struct Candidate<'a> {
    pub(super) kind: Kind,
    pub(super) row: &'a BriefingPackage<'a>,
    /// The packages that it extends or corrects, the nearest first.
    pub(super) parents: Vec<&'a BriefingPackage<'a>>,
    /// How many similar packages of its author it stands for.
    pub(super) similar: u64,
}

impl<'a> Candidate<'a> {
    pub(super) fn of(kind: Kind, row: &'a BriefingPackage<'a>) -> Self {
        Self { kind, row, parents: Vec::new(), similar: 0 }
    }

    pub(super) fn fields(&self) -> &'a PackageFields {
        self.row.fields
    }

    /// Whether it is a complete note that decides nothing, asks nothing and hands nothing over.
    fn is_note(&self) -> bool {
        use KnownPackageType::{Decision, Handoff, Milestone, Question};
        let fields = self.fields();
        let kind = fields.package_type.meaning();
        fields.status == Status::Complete
            && !matches!(kind, Decision | Handoff | Milestone | Question)
            && fields.decisions_made().is_empty()
            && fields.open_questions().is_empty()
            && !self.row.outline.hands_over
            && self.row.note.is_none()
            && self.parents.is_empty()
    }
}

/// Sorts packages by what they are and how new they are. Those since a time come before others.
pub(super) fn by_weight(packages: &mut [Candidate<'_>], asks: &Asks<'_>, since: Option<Time>) {
    packages.sort_by_key(|one| std::cmp::Reverse(created(one.row)));
    let newest = packages.first().map(|one| created(one.row));
    packages.sort_by_cached_key(|one| {
        let created = created(one.row);
        // After a pause, all are old: what counts is how much older than the newest one is.
        let older = newest.map_or(0, |newest| newest.millis_since(created) / DAY);
        let newness = NEWNESS * HALF / (HALF + usize::try_from(older).unwrap_or(usize::MAX / 2));
        let is_new = since.is_none_or(|since| created >= since);
        std::cmp::Reverse((is_new, weight(one, asks) + newness))
    });
}

/// What a package weighs, whatever its age. An item weighs as much as the highest in it.
fn weight(one: &Candidate<'_>, asks: &Asks<'_>) -> usize {
    let rows = one.parents.iter().copied().chain([one.row]);
    let highest = rows.map(|row| {
        let significance = usize::from(row.fields.significance().number());
        let kind = match row.fields.package_type.meaning() {
            KnownPackageType::Analysis => 20,
            _ => 0,
        };
        let rank = if asks.is_answered(row.fields) { 0 } else { row.outline.rank };
        RANK * significance.max(rank.into()) + kind
    });
    let fields = one.fields();
    let decisions = fields.decisions_made().iter().map(String::as_str);
    let texts = [fields.title.as_str(), fields.description()].into_iter().chain(decisions);
    let cues: usize = texts.map(|text| cues(beginning(text))).sum();
    let note = if one.row.note.is_some() { NOTE } else { 0 };
    highest.max().unwrap_or_default() + CUE * cues.min(MOST_CUES) + note
}

fn beginning(text: &str) -> &str {
    &text[..text.floor_char_boundary(LOOKED_AT)]
}

impl Asks<'_> {
    /// Whether a package was only a question, and has its answer.
    fn is_answered(&self, fields: &PackageFields) -> bool {
        let Some(open) = &self.open else { return false };
        fields.package_type.meaning() == KnownPackageType::Question
            && fields.decisions_made().is_empty()
            && !fields.open_questions().is_empty()
            && fields.open_questions().iter().all(|text| !open.contains(text.as_str()))
    }
}

/// The handoffs to show, of the latest ones, newest first: the newest one of each author that works
/// at the same time, and the newest of the type handoff.
pub(super) fn handoffs<'a>(rows: &'a [BriefingPackage<'a>]) -> Vec<&'a BriefingPackage<'a>> {
    let mut repeated: BTreeMap<(String, String), usize> = BTreeMap::new();
    for row in rows {
        *repeated.entry(note_key(row)).or_default() += 1;
    }
    let is_handoff =
        |row: &BriefingPackage<'_>| row.fields.package_type.meaning() == KnownPackageType::Handoff;
    // "Still working on part 7" is no handoff.
    let is_run = |row: &BriefingPackage<'_>| repeated[&note_key(row)] >= RUN;
    let latest = rows.iter().find(|row| is_handoff(row));
    let newest = rows.iter().find(|row| !is_run(row)).or(latest);
    let since = newest.map(|row| created(row).add_seconds(-AT_ONCE));
    let mut authors = BTreeMap::new();
    let mut is_shown = |row: &BriefingPackage<'_>| {
        if latest.is_some_and(|latest| std::ptr::eq(latest, row)) {
            return true;
        }
        let is_new = since.is_some_and(|since| created(row) >= since);
        if !is_new || is_run(row) {
            return false;
        }
        let length = row.fields.handoff_note().chars().count();
        let before = authors.insert(row.author(), length);
        before.is_none_or(|before| before < SHORT_NOTE && length >= SHORT_NOTE)
    };
    let mut shown: Vec<_> = rows.iter().filter(|row| is_shown(row)).collect();
    let last = shown.iter().position(|row| is_handoff(row)).unwrap_or(0);
    if last >= HANDOFFS {
        shown.swap(last, HANDOFFS - 1);
    }
    shown.truncate(HANDOFFS);
    shown
}

fn note_key(row: &BriefingPackage<'_>) -> (String, String) {
    (row.author(), shape(row.fields.handoff_note()))
}

/// Lets the newest of similar notes of an author stand for the others.
pub(super) fn fold_runs(packages: &mut Vec<Candidate<'_>>) {
    let key = |one: &Candidate<'_>| (one.row.author(), shape(one.fields().title.as_str()));
    let mut counts: BTreeMap<(String, String), u64> = BTreeMap::new();
    for one in packages.iter().filter(|one| one.is_note()) {
        *counts.entry(key(one)).or_default() += 1;
    }
    packages.sort_by_key(|one| std::cmp::Reverse(created(one.row)));
    let mut seen = BTreeSet::new();
    packages.retain_mut(|one| {
        let key = key(one);
        let count = counts.get(&key).copied().unwrap_or_default();
        if count < RUN as u64 || !one.is_note() {
            return true;
        }
        one.similar = count - 1;
        seen.insert(key)
    });
}

/// Shows a package below the newest complete one that extends or corrects it, and not by itself.
/// `others` are packages that are shown only so. An item is where the first of its packages would
/// be.
pub(super) fn fold_parents<'a>(
    packages: Vec<Candidate<'a>>,
    others: &'a [BriefingPackage<'a>],
) -> Vec<Candidate<'a>> {
    let mut by_id: BTreeMap<&PackageId, (Kind, &BriefingPackage<'_>)> = BTreeMap::new();
    by_id.extend(others.iter().map(|row| (&row.fields.package_id, (Kind::Work, row))));
    by_id.extend(packages.iter().map(|one| (&one.fields().package_id, (one.kind, one.row))));
    let mut newest: BTreeMap<&PackageId, &BriefingPackage<'_>> = BTreeMap::new();
    let complete = packages.iter().filter(|one| one.fields().status == Status::Complete);
    for row in complete.map(|one| one.row).chain(others) {
        if let Some(parent) = &row.outline.parent {
            let child = newest.entry(parent).or_insert(row);
            if created(child) < created(row) {
                *child = row;
            }
        }
    }
    let mut order: Vec<_> = packages.into_iter().collect();
    order.sort_by_key(|one| std::cmp::Reverse(created(one.row)));
    let (mut taken, mut folded) = (BTreeSet::new(), Vec::new());
    for mut one in order {
        if !taken.insert(&one.fields().package_id) {
            continue;
        }
        let mut child = one.row;
        while let Some(parent) = &child.outline.parent
            && one.parents.len() < PARENTS
            && let Some((kind, row)) = by_id.get(parent)
            && newest.get(parent).is_some_and(|newest| std::ptr::eq(*newest, child))
            && is_shown_below(row)
            && taken.insert(parent)
        {
            one.kind = one.kind.min(*kind);
            one.parents.push(row);
            child = row;
        }
        folded.push(one);
    }
    folded
}

/// One that waits for a review is an item of its own.
fn is_shown_below(row: &BriefingPackage<'_>) -> bool {
    matches!(row.fields.status, Status::Complete | Status::RevisionRequested)
}

fn created(row: &BriefingPackage<'_>) -> Time {
    row.fields.created_at.time()
}

/// A text without its numbers and letter case: similar texts have the same shape.
pub(super) fn shape(text: &str) -> String {
    let mut shape = String::new();
    for letter in text.chars() {
        match letter {
            '0'..='9' if shape.ends_with('#') => {}
            '0'..='9' => shape.push('#'),
            letter => shape.extend(letter.to_lowercase()),
        }
    }
    shape
}
