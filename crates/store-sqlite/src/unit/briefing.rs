//! The packages of a briefing.

use accord_base::ProjectId;
use accord_memory_core::PackageId;
use accord_memory_core::bundle::BriefingPart;
use accord_store::{Briefings, PackageRow, Result, fill};
use rusqlite::types::Value;

use super::links::superseding;
use super::select::Select;
use super::{Unit, limit, number};

impl Briefings for Unit<'_> {
    fn briefed(
        &self,
        project: &ProjectId,
        part: BriefingPart,
        wanted: usize,
    ) -> Result<Vec<PackageRow>> {
        let pk = self.or_none(project)?;
        fill(wanted, |wanted| {
            let mut rows = rows(pk, part);
            rows.add(order(part), [Value::Integer(limit(wanted))]);
            self.rows_of(rows.run(self, |row| row.integer(0))?, project)
        })
    }

    fn briefed_count(&self, of: &ProjectId, part: BriefingPart, most: u64) -> Result<u64> {
        let mut rows = rows(self.or_none(of)?, part);
        rows.add("LIMIT ?", [Value::Integer(number(most))]);
        self.count(&rows)
    }

    fn latest_standing(&self, project: &ProjectId, wanted: usize) -> Result<Vec<PackageRow>> {
        self.newest(project, "package_decision", STANDING, wanted)
    }

    fn latest_handoff(&self, project: &ProjectId) -> Result<Option<PackageRow>> {
        let pk = self.or_none(project)?;
        let sql = concat!(
            "SELECT t.pk FROM package t INDEXED BY package_handoff
             WHERE t.project = ?1 AND t.package_type = 'handoff' AND t.status = 'complete'
             AND t.quarantined_at IS NULL AND NOT EXISTS (SELECT 1 FROM ",
            superseding!(),
            ") ORDER BY t.created_key DESC, t.pk DESC LIMIT ?2"
        );
        let found = fill(1, |wanted| {
            let places = self.many(sql, (pk, limit(wanted)), |row| row.integer(0))?;
            self.rows_of(places, project)
        })?;
        Ok(found.into_iter().next())
    }

    fn handed_over(&self, project: &ProjectId, wanted: usize) -> Result<Vec<PackageRow>> {
        let condition = "t.hands_over = 1 AND t.status = 'complete' AND t.quarantined_at IS NULL";
        self.newest(project, "package_handed_over", condition, wanted)
    }

    fn with_note(&self, project: &ProjectId, wanted: usize) -> Result<Vec<PackageRow>> {
        let condition = "t.has_note = 1 AND t.status <> 'draft' AND t.quarantined_at IS NULL";
        self.newest(project, "package_noted", condition, wanted)
    }

    fn children(
        &self,
        of: &ProjectId,
        parent: &PackageId,
        wanted: usize,
    ) -> Result<Vec<PackageRow>> {
        let pk = self.or_none(of)?;
        let sql = concat!(
            "SELECT t.pk FROM package t INDEXED BY package_child
             WHERE t.project = ?1 AND t.parent_id = ?2 AND t.status = 'complete'
             AND t.quarantined_at IS NULL AND NOT EXISTS (SELECT 1 FROM ",
            superseding!(),
            ") ORDER BY t.created_key DESC, t.pk DESC LIMIT ?3"
        );
        fill(wanted, |wanted| {
            let values = (pk, parent.as_str(), limit(wanted));
            let places = self.many(sql, values, |row| row.integer(0))?;
            self.rows_of(places, of)
        })
    }
}

impl Unit<'_> {
    /// The newest packages of an index with a condition that no other supersedes.
    fn newest(
        &self,
        project: &ProjectId,
        index: &str,
        condition: &str,
        wanted: usize,
    ) -> Result<Vec<PackageRow>> {
        let pk = self.or_none(project)?;
        let sql = format!(
            "SELECT t.pk FROM package t INDEXED BY {index} WHERE t.project = ?1 AND {condition}
             AND NOT EXISTS (SELECT 1 FROM {}) ORDER BY t.created_key DESC, t.pk DESC LIMIT ?2",
            superseding!()
        );
        fill(wanted, |wanted| {
            let places = self.many(&sql, (pk, limit(wanted)), |row| row.integer(0))?;
            self.rows_of(places, project)
        })
    }
}

/// The condition of standing packages.
const STANDING: &str = "t.quarantined_at IS NULL AND t.status = 'complete' AND t.rank > 0";

/// The rows of a part. The conditions repeat those of the partial indexes word for word: otherwise
/// SQLite could not use them. The indexes are named, because SQLite would prefer another with more
/// equal columns.
fn rows(project: i64, part: BriefingPart) -> Select {
    let (index, condition) = match part {
        BriefingPart::Standing => ("package_rank", STANDING),
        BriefingPart::Asked => {
            ("package_order", "t.quarantined_at IS NULL AND t.status = 'revision_requested'")
        }
        BriefingPart::Waiting => {
            ("package_order", "t.quarantined_at IS NULL AND t.status = 'awaiting_review'")
        }
        BriefingPart::Automatic => (
            "package_automatic",
            "t.quarantined_at IS NULL AND t.status = 'complete'
             AND t.package_type = 'auto_deposit' AND t.significance < 5",
        ),
        BriefingPart::Work => (
            "package_note",
            "t.quarantined_at IS NULL AND t.status = 'complete' AND t.rank = 0
             AND (t.package_type <> 'auto_deposit' OR t.significance >= 5)",
        ),
    };
    let sql = format!(
        "SELECT t.pk FROM package t INDEXED BY {index} WHERE t.project = ? AND {condition}"
    );
    let mut rows = Select::new(&sql, [project.into()]);
    if !matches!(part, BriefingPart::Asked | BriefingPart::Waiting) {
        rows.add(concat!("AND NOT EXISTS (SELECT 1 FROM ", superseding!(), ")"), []);
    }
    rows
}

fn order(part: BriefingPart) -> &'static str {
    match part {
        BriefingPart::Standing => "ORDER BY t.rank DESC, t.created_key DESC, t.pk DESC LIMIT ?",
        _ => "ORDER BY t.created_key DESC, t.pk DESC LIMIT ?",
    }
}

#[cfg(test)]
mod tests {
    use accord_memory_core::bundle::BriefingPart;
    use rusqlite::Connection;

    use super::{order, rows};
    use crate::migrate::migrate;

    /// A condition that differs from that of its index by a word would read every package.
    #[test]
    fn every_part_is_read_from_an_index_of_its_own() {
        let connection = Connection::open_in_memory().unwrap();
        migrate(&connection).unwrap();
        for (part, index) in [
            (BriefingPart::Standing, "package_rank (project=? AND rank>?)"),
            (BriefingPart::Asked, "package_order (project=? AND status=?)"),
            (BriefingPart::Waiting, "package_order (project=? AND status=?)"),
            (BriefingPart::Automatic, "package_automatic (project=?)"),
            (BriefingPart::Work, "package_note (project=?)"),
        ] {
            let mut range = rows(1, part);
            range.add(order(part), [5.into()]);
            let plan = range.plan(&connection);
            assert!(plan.contains(index) && !plan.contains("TEMP B-TREE"), "{part:?}: {plan}");
        }
    }
}
