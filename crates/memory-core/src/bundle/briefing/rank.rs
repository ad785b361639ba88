//! What a package weighs in a briefing, and which packages are shown as one.

use std::collections::{BTreeMap, BTreeSet};

use accord_contract::Time;

use super::gist::weight as says;
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
const NEWNESS: usize = 24;
const HALF: usize = 30;
/// Milliseconds.
const DAY: u64 = 24 * 3_600 * 1_000;

/// How much a step of significance or rank weighs.
const RANK: usize = 12;
/// How much the sentence of a package that decides most adds, for each of its points, and how many
/// points count.
const SAID: usize = 3;
const MOST_SAID: usize = 20;
/// How much a package of the time that is new adds.
const NEW: usize = 10;
/// The significance that is usual, unless most packages of a project have a higher one.
const USUAL: u8 = 5;
/// How much of a description is looked at for such words, in bytes.
const LOOKED_AT: usize = 1_000;
/// How much a package that extends or corrects another one weighs more.
const CORRECTS: usize = 16;
/// How much the note of a reviewer adds.
const NOTE: usize = 30;

/// What the weight of a package depends on.
pub(super) struct Scale<'a> {
    /// The open questions; `None` if there may be more.
    pub(super) open: Option<BTreeSet<&'a str>>,
    /// When the newest package was created.
    pub(super) newest: Option<Time>,
    /// Since when packages are new.
    pub(super) since: Time,
    /// By how much the significance that is usual in the project is above [`USUAL`].
    pub(super) inflation: u8,
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
    /// How much it matters.
    pub(super) weight: usize,
    /// Whether a search for the focus did not find it.
    pub(super) is_aside: bool,
    /// The result of the attempt that left it, if Accord kept that.
    pub(super) result: Option<&'a BriefingPackage<'a>>,
}

impl<'a> Candidate<'a> {
    pub(super) fn of(kind: Kind, row: &'a BriefingPackage<'a>) -> Self {
        Self {
            kind,
            row,
            parents: Vec::new(),
            similar: 0,
            weight: 0,
            is_aside: false,
            result: None,
        }
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

impl Scale<'_> {
    /// By how much most of these packages are more significant than packages are by default.
    pub(super) fn inflation_of(packages: &[Candidate<'_>]) -> u8 {
        let mut all: Vec<u8> =
            packages.iter().map(|one| one.fields().significance().number()).collect();
        all.sort_unstable();
        all.get(all.len() / 2).map_or(0, |usual| usual.saturating_sub(USUAL))
    }

    /// Weighs packages by what they are, what they say and how new they are, and sorts them.
    pub(super) fn sort(&self, packages: &mut [Candidate<'_>]) {
        packages.iter_mut().for_each(|one| one.weight = self.weight(one) + self.newness(one));
        packages.sort_by_key(|one| std::cmp::Reverse((one.weight, created(one.row))));
    }

    /// After a pause, all are old: what counts is how much older than the newest one is.
    fn newness(&self, one: &Candidate<'_>) -> usize {
        let created = created(one.row);
        let older = self.newest.map_or(0, |newest| newest.millis_since(created) / DAY);
        let new = if created >= self.since { NEW } else { 0 };
        new + NEWNESS * HALF / (HALF + usize::try_from(older).unwrap_or(usize::MAX / 2))
    }

    /// What a package weighs, whatever its age. An item weighs as much as the highest in it.
    fn weight(&self, one: &Candidate<'_>) -> usize {
        let rows = one.parents.iter().copied().chain([one.row]);
        let highest = rows.map(|row| {
            let significance = row.fields.significance().number();
            let kind = match row.fields.package_type.meaning() {
                KnownPackageType::Analysis => 20,
                _ => 0,
            };
            let rank = if self.is_answered(row.fields) { 0 } else { row.outline.rank };
            RANK * usize::from(significance.max(rank).saturating_sub(self.inflation)) + kind
        });
        let fields = one.fields();
        let decisions = fields.decisions_made().iter().map(String::as_str);
        let texts = [fields.title.as_str(), fields.description(), fields.handoff_note()];
        let texts = texts.into_iter().chain([fields.content_md()]).chain(decisions);
        let said = texts.map(|text| says(beginning(text))).max().unwrap_or_default();
        let note = if one.row.note.is_some() { NOTE } else { 0 };
        let corrects = if one.parents.is_empty() { 0 } else { CORRECTS };
        highest.max().unwrap_or_default() + SAID * said.min(MOST_SAID) + note + corrects
    }

    /// Whether a package was only a question, and has its answer.
    fn is_answered(&self, fields: &PackageFields) -> bool {
        let Some(open) = &self.open else { return false };
        fields.package_type.meaning() == KnownPackageType::Question
            && fields.decisions_made().is_empty()
            && !fields.open_questions().is_empty()
            && fields.open_questions().iter().all(|text| !open.contains(text.as_str()))
    }
}

fn beginning(text: &str) -> &str {
    &text[..text.floor_char_boundary(LOOKED_AT)]
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

pub(super) fn created(row: &BriefingPackage<'_>) -> Time {
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
