//! Lists of packages, merged from ranges of indexes. A range is read from the start of the page,
//! for the length of the page. So the cost of a page depends on its length and on the number of
//! ranges, which is at most five.

use accord_memory_core::package::{Significance, Status};
use accord_store::{Drafts, HighlightQuery, Order, PackageQuery, Quarantined, Result, time_key};
use rusqlite::params;
use rusqlite::types::Value;

use super::links::superseding;
use super::select::{Select, text};
use super::{Unit, limit, number};

/// The position of a package: the key of its `created_at`, and its number.
pub(super) type PackagePlace = (String, i64);

/// A range of an index: the condition that names it.
type Range = Select;

impl Unit<'_> {
    /// The positions of a page, in its order.
    pub(super) fn page(&self, project: i64, query: &PackageQuery<'_>) -> Result<Vec<PackagePlace>> {
        let mut places = Vec::new();
        for range in ranges(project, query) {
            places.extend(self.read(&range, query)?);
        }
        places.sort();
        if query.order == Order::NewestFirst {
            places.reverse();
        }
        places.truncate(query.limit);
        Ok(places)
    }

    /// The numbers of the most significant packages.
    pub(super) fn weightiest(&self, project: i64, query: &HighlightQuery) -> Result<Vec<i64>> {
        let sql = "SELECT t.pk FROM package t
            WHERE t.project = ?1 AND t.significance = ?2 AND t.created_key >= ?3
            AND t.quarantined_at IS NULL AND t.status <> 'draft'";
        let standing = concat!("AND NOT EXISTS (SELECT 1 FROM ", superseding!(), ")");
        let standing = if query.standing { standing } else { "" };
        let sql = format!("{sql} {standing} ORDER BY t.created_key DESC, t.pk DESC LIMIT ?4");
        let since = query.since.map(time_key::of).unwrap_or_default();
        let least = query.least.map_or(1, Significance::number);
        let mut found = Vec::new();
        // One query per value, because the index starts with the significance.
        for significance in (least..=10).rev() {
            let left = limit(query.limit - found.len());
            let values = params![project, significance, since, left];
            found.extend(self.many(&sql, values, |row| row.integer(0))?);
        }
        Ok(found)
    }

    /// The part of a range that can be in the page.
    fn read(&self, range: &Range, query: &PackageQuery<'_>) -> Result<Vec<PackagePlace>> {
        let since = text(&query.since.map(time_key::of).unwrap_or_default());
        let part = |bounds: &str, values: Vec<Value>, wanted: usize| {
            let mut select = range.clone();
            select.add(bounds, values);
            let order = match query.order {
                Order::NewestFirst => "ORDER BY created_key DESC, pk DESC LIMIT ?",
                Order::OldestFirst => "ORDER BY created_key, pk LIMIT ?",
            };
            select.add(order, [Value::Integer(limit(wanted))]);
            // An invalid key is reported when its row is read.
            select.run(self, |row| Ok((row.label(0), row.integer(1)?)))
        };
        let Some(after) = query.after else {
            return part("AND created_key >= ?", vec![since], query.limit);
        };
        let key = text(&time_key::of(after.created_at));
        let (same, behind) = match query.order {
            Order::NewestFirst => ("AND pk < ?", "AND created_key < ?"),
            Order::OldestFirst => ("AND pk > ?", "AND created_key > ?"),
        };
        // Packages of the same instant are read separately, so that no part reads unneeded rows.
        let same = format!("AND created_key >= ? AND created_key = ? {same}");
        let bounds = vec![since.clone(), key.clone(), Value::Integer(number(after.seq))];
        let mut places = part(&same, bounds, query.limit)?;
        let behind = format!("AND created_key >= ? {behind}");
        let left = query.limit - places.len();
        places.extend(part(&behind, vec![since, key], left)?);
        Ok(places)
    }
}

/// The queries for all packages of a list after its position.
pub(super) fn counted(project: i64, query: &PackageQuery<'_>) -> Vec<Select> {
    let mut ranges = ranges(project, query);
    for range in &mut ranges {
        if let Some(since) = query.since {
            range.add("AND created_key >= ?", [text(&time_key::of(since))]);
        }
        if let Some(after) = query.after {
            let behind = match query.order {
                Order::NewestFirst => "AND (created_key, pk) < (?, ?)",
                Order::OldestFirst => "AND (created_key, pk) > (?, ?)",
            };
            let key = text(&time_key::of(after.created_at));
            range.add(behind, [key, Value::Integer(number(after.seq))]);
        }
    }
    ranges
}

/// The ranges that a list is merged from; no package is in two of them.
fn ranges(project: i64, query: &PackageQuery<'_>) -> Vec<Range> {
    if query.session.is_some() {
        return vec![of_session(project, query)];
    }
    let mut ranges = Vec::new();
    if query.quarantined != Quarantined::Only {
        let statuses = Status::ALL.iter().copied();
        for status in statuses.filter(|status| query.status.is_none_or(|asked| asked == *status)) {
            ranges.extend(of_status(project, status, query.drafts));
        }
    }
    if query.quarantined != Quarantined::No {
        ranges.push(of_quarantine(project, query));
    }
    ranges
}

fn range(condition: &str, values: impl IntoIterator<Item = Value>) -> Range {
    let mut range = Select::new("SELECT created_key, pk FROM package WHERE", []);
    range.add(condition, values);
    range
}

fn of_status(project: i64, status: Status, drafts: Drafts<'_>) -> Option<Range> {
    match (status, drafts) {
        (Status::Draft, Drafts::None) => None,
        (Status::Draft, Drafts::Of(actor)) => Some(range(
            "project = ? AND actor_type = ? AND actor_id = ?
             AND status = 'draft' AND quarantined_at IS NULL",
            [project.into(), text(actor.kind.as_str()), text(actor.id.as_str())],
        )),
        _ => Some(range(
            "project = ? AND status = ? AND quarantined_at IS NULL",
            [project.into(), text(status.as_str())],
        )),
    }
}

/// There are few of these, so other conditions may be checked row by row.
fn of_quarantine(project: i64, query: &PackageQuery<'_>) -> Range {
    let mut range = range("project = ? AND quarantined_at IS NOT NULL", [project.into()]);
    narrow(&mut range, query);
    range
}

fn of_session(project: i64, query: &PackageQuery<'_>) -> Range {
    let session = query.session.map(|session| session.as_str().to_owned());
    let mut range = range("project = ? AND session_id = ?", [project.into(), session.into()]);
    match query.quarantined {
        Quarantined::No => range.add("AND quarantined_at IS NULL", []),
        Quarantined::Also => &mut range,
        Quarantined::Only => range.add("AND quarantined_at IS NOT NULL", []),
    };
    narrow(&mut range, query);
    range
}

/// Adds the conditions on status and drafts.
fn narrow(range: &mut Range, query: &PackageQuery<'_>) {
    if let Some(status) = query.status {
        range.add("AND status = ?", [text(status.as_str())]);
    }
    match query.drafts {
        Drafts::All => range,
        Drafts::None => range.add("AND status <> 'draft'", []),
        Drafts::Of(actor) => range.add(
            "AND (status <> 'draft' OR (actor_type = ? AND actor_id = ?))",
            [text(actor.kind.as_str()), text(actor.id.as_str())],
        ),
    };
}
