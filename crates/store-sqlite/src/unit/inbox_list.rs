//! Pages and counts of the inbox.
//!
//! Items come out of an index in their order: the cost of a page depends on its length, and that of
//! a count on the number up to which is counted, not on the number of items. This holds for all
//! items, those of few projects, those of a kind and those of a person.

use std::cmp::Reverse;

use accord_base::inbox::Urgency;
use accord_store::{InboxPosition, InboxQuery, InboxRow, Result};
use rusqlite::types::Value;

use super::inbox::{item_columns, read};
use super::select::{Select, text};
use super::{Unit, limit, number};

/// The most projects that are listed one by one. Of more, the items of all are looked at.
const FEW: usize = 8;
/// The order of a page, and its length.
const ORDER: &str = "ORDER BY i.deadline, i.behind, i.since, i.item_id LIMIT ?";

/// Among which items a query looks.
#[derive(Clone, Copy, Debug)]
enum Among<'q> {
    All,
    Project(i64),
    /// Those that their source has for a person.
    Addressed(&'q str),
    /// Those that a person has claimed or is assigned, and that are not addressed to that person.
    Marked(&'q str),
}

impl Unit<'_> {
    pub(super) fn page_of_items(&self, query: &InboxQuery<'_>) -> Result<Vec<InboxRow>> {
        let mut page: Vec<InboxRow> = Vec::new();
        let among = self.among(query)?;
        let first = query.after.map_or(Urgency::Loss, |after| after.urgency);
        for urgency in Urgency::ALL.into_iter().filter(|urgency| *urgency >= first) {
            let wanted = query.limit - page.len();
            let mut rows = Vec::new();
            for among in &among {
                for risen in [false, true] {
                    let mut select = level(item_columns!(), query, *among, urgency, risen);
                    select.add(ORDER, [Value::Integer(limit(wanted))]);
                    // An item that cannot be read is one that a rebuild makes again.
                    let read = select.run(self, |row| Ok(read(row).ok()))?;
                    rows.extend(read.into_iter().flatten());
                }
            }
            rows.sort_by_cached_key(|row| row.position(query.now));
            rows.truncate(wanted);
            page.extend(rows);
            if page.len() >= query.limit {
                break;
            }
        }
        Ok(page)
    }

    pub(super) fn count_items(&self, query: &InboxQuery<'_>, most: usize) -> Result<[u64; 5]> {
        let mut counts = [0; 5];
        let (among, most) = (self.among(query)?, most as u64);
        for (urgency, count) in Urgency::ALL.into_iter().zip(&mut counts) {
            for (among, risen) in among.iter().flat_map(|it| [(*it, false), (*it, true)]) {
                let left = most - *count;
                if left == 0 {
                    break;
                }
                let mut select = level("1", query, among, urgency, risen);
                let left = Value::Integer(i64::try_from(left).unwrap_or(i64::MAX));
                select.add("LIMIT ?", [left]);
                *count += select.counted().run(self, |row| row.count(0))?.into_iter().sum::<u64>();
            }
        }
        Ok(counts)
    }

    fn among<'q>(&self, query: &InboxQuery<'q>) -> Result<Vec<Among<'q>>> {
        if let Some(actor) = query.only_for {
            return Ok(vec![Among::Addressed(actor), Among::Marked(actor)]);
        }
        match query.projects {
            Some(projects) if query.kind.is_none() && projects.len() <= FEW => {
                let found = projects.iter().map(|project| self.find(project));
                let found = found.filter_map(Result::transpose);
                found.map(|found| Ok(Among::Project(found?))).collect()
            }
            _ => Ok(vec![Among::All]),
        }
    }
}

/// Selects the items of one urgency: those that always had it, or those that have risen to it.
fn level(
    columns: &str,
    query: &InboxQuery<'_>,
    among: Among<'_>,
    urgency: Urgency,
    risen: bool,
) -> Select {
    let (now, level) = (Value::Integer(query.now.unix_millis()), urgency.number());
    // An item of a mark is found by its id. A sign in front of a column keeps its index out.
    let (from, plain) = match among {
        Among::Marked(_) => (
            "inbox_mark m CROSS JOIN inbox_item i
                 ON i.item_id = m.item_id AND +i.project = m.project",
            "+",
        ),
        _ => ("inbox_item i", ""),
    };
    let of_level = match risen {
        true => format!("i.rises_at IS NOT NULL AND {plain}i.rises_to = ? AND i.rises_at <= ?"),
        false => format!("{plain}i.urgency = ? AND (i.rises_at IS NULL OR i.rises_at > ?)"),
    };
    let sql = format!(
        "SELECT {columns} FROM {from} CROSS JOIN project j ON j.pk = i.project
         WHERE j.archived_at IS NULL AND {of_level}"
    );
    let mut select = Select::new(&sql, [Value::Integer(level.into()), now.clone()]);
    // Few items rise: those are found by that.
    let by = if risen { "+" } else { "" };
    match among {
        Among::All => {}
        Among::Project(project) => {
            select.add(&format!("AND {by}i.project = ?"), [Value::Integer(project)]);
        }
        Among::Addressed(actor) => {
            select.add(&format!("AND {by}i.addressee = ?"), [text(actor)]);
        }
        Among::Marked(actor) => {
            let held = "(m.until IS NULL OR m.until > ?)";
            let sql = format!(
                "AND m.actor = ? AND m.kind IN ('assignment', 'claim') AND {held}
                 AND i.addressee IS NOT ? AND NOT (m.kind = 'claim' AND EXISTS (
                    SELECT 1 FROM inbox_mark a WHERE a.project = m.project
                        AND a.item_id = m.item_id AND a.kind = 'assignment'
                        AND a.actor = m.actor AND (a.until IS NULL OR a.until > ?)))"
            );
            select.add(&sql, [text(actor), now.clone(), text(actor), now.clone()]);
        }
    }
    select.add(
        "AND (i.shown_from IS NULL OR i.shown_from <= ?) AND (i.gone_at IS NULL OR i.gone_at > ?)",
        [now.clone(), now.clone()],
    );
    if let Some(projects) = query.projects.filter(|_| !matches!(among, Among::Project(_))) {
        let marks = vec!["?"; projects.len()].join(", ");
        let ids = projects.iter().map(|project| text(project.as_str()));
        select.add(&format!("AND j.project_id IN ({marks})"), ids);
    }
    if let Some(kind) = query.kind {
        let by = if matches!(among, Among::All) { by } else { "+" };
        select.add(&format!("AND {by}i.kind = ?"), [text(kind)]);
    }
    if let Some(actor) = query.awake_for {
        select.add(
            "AND NOT EXISTS (SELECT 1 FROM inbox_mark s
                WHERE s.project = i.project AND s.item_id = i.item_id AND s.kind = 'snooze'
                    AND s.holder = ? AND (s.until IS NULL OR s.until > ?))",
            [text(actor), now],
        );
    }
    if let Some(after) = query.after.filter(|after| after.urgency == urgency) {
        let InboxPosition { deadline, behind: Reverse(behind), since, id, .. } = after;
        let behind = Value::Integer(-number(*behind));
        select.add(
            "AND (i.deadline, i.behind, i.since, i.item_id) > (?, ?, ?, ?)",
            [Value::Integer(*deadline), behind, Value::Integer(*since), text(id)],
        );
    }
    select
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use accord_base::ProjectId;
    use accord_contract::Time;

    use super::*;

    /// A page is read from an index in its order, and a count from the same index.
    #[test]
    fn pages_and_counts_use_an_index() {
        let connection = rusqlite::Connection::open_in_memory().unwrap();
        crate::migrate::migrate(&connection).unwrap();
        let after = InboxPosition {
            urgency: Urgency::Piece,
            deadline: 5,
            behind: Reverse(1),
            since: 3,
            id: "i".to_owned(),
        };
        let all = InboxQuery {
            now: Time::from_unix_millis(1),
            projects: None,
            kind: None,
            only_for: None,
            awake_for: Some("human:lead"),
            after: Some(&after),
            limit: 9,
        };
        let some = BTreeSet::from([ProjectId::new("shop").unwrap()]);
        let of_kind = InboxQuery { kind: Some("task.review"), projects: Some(&some), ..all };
        for (query, among, index) in [
            (all, Among::All, "inbox_order"),
            (all, Among::Project(7), "inbox_project"),
            (of_kind, Among::All, "inbox_kind"),
            (all, Among::Addressed("human:lead"), "inbox_addressee"),
        ] {
            for (risen, index) in [(false, index), (true, "inbox_risen")] {
                let of = |columns| level(columns, &query, among, Urgency::Piece, risen);
                let mut page = of(item_columns!());
                page.add(ORDER, [Value::Integer(9)]);
                let plan = page.plan(&connection);
                assert!(plan.contains(index) && !plan.contains("TEMP B-TREE"), "{risen}: {plan}");
                let plan = of("1").plan(&connection);
                assert!(plan.contains(index), "{risen}: {plan}");
            }
        }
        // The marks of a person are few. Each leads to its item.
        for risen in [false, true] {
            let among = Among::Marked("human:lead");
            let plan = level("1", &all, among, Urgency::Piece, risen).plan(&connection);
            assert!(plan.contains("inbox_mark_actor") && plan.contains("inbox_id"), "{plan}");
        }
    }
}
