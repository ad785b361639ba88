//! The packages of a briefing.

use accord_base::ProjectId;
use accord_contract::Time;
use accord_memory_core::bundle::{BriefingPart, STANDING_SIGNIFICANCE};
use accord_store::{Briefings, PackageRow, Result, fill, time_key};
use rusqlite::types::Value;

use super::links::superseding;
use super::select::{Select, text};
use super::{Unit, limit};

impl Briefings for Unit<'_> {
    fn briefed(
        &self,
        project: &ProjectId,
        part: BriefingPart,
        since: Option<Time>,
        wanted: usize,
    ) -> Result<Vec<PackageRow>> {
        let pk = self.or_none(project)?;
        fill(wanted, |wanted| {
            let mut places: Vec<i64> = Vec::new();
            for mut range in ranges(pk, part, since) {
                let left = Value::Integer(limit(wanted - places.len()));
                range.add("ORDER BY t.created_key DESC, t.pk DESC LIMIT ?", [left]);
                places.extend(range.run(self, |row| row.integer(0))?);
            }
            self.rows_of(places, project)
        })
    }

    fn briefed_count(&self, of: &ProjectId, part: BriefingPart, from: Option<Time>) -> Result<u64> {
        let pk = self.or_none(of)?;
        ranges(pk, part, from).iter().map(|range| self.count(range)).sum()
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
}

/// The ranges of an index that a part is read from, in their order. The conditions repeat those of
/// the partial indexes word for word: otherwise SQLite could not use them. The indexes are named,
/// because SQLite would prefer another with more equal columns.
fn ranges(project: i64, part: BriefingPart, since: Option<Time>) -> Vec<Select> {
    let since = text(&since.map(time_key::of).unwrap_or_default());
    let range = |index: &str, condition: &str| {
        let sql = format!(
            "SELECT t.pk FROM package t INDEXED BY {index}
            WHERE t.project = ? AND t.created_key >= ? AND {condition}"
        );
        Select::new(&sql, [project.into(), since.clone()])
    };
    match part {
        BriefingPart::Standing => {
            // One range per value, because the index begins with the significance.
            let values = (STANDING_SIGNIFICANCE..=10).rev();
            let complete =
                "t.quarantined_at IS NULL AND t.status <> 'draft' AND t.status = 'complete'";
            let ranges = values.map(|significance| {
                let mut range = range("package_weight", complete);
                range.add("AND t.significance = ?", [Value::Integer(significance.into())]);
                range.add(concat!("AND NOT EXISTS (SELECT 1 FROM ", superseding!(), ")"), []);
                range
            });
            ranges.collect()
        }
        BriefingPart::Waiting => {
            let waiting = "t.quarantined_at IS NULL AND t.status = 'awaiting_review'";
            vec![range("package_order", waiting)]
        }
        BriefingPart::Automatic => vec![range(
            "package_automatic",
            "t.quarantined_at IS NULL AND t.status = 'complete'
             AND t.package_type = 'auto_deposit' AND t.significance < 5",
        )],
        BriefingPart::Work => vec![range(
            "package_work",
            "t.quarantined_at IS NULL
             AND (t.status = 'revision_requested' OR (t.status = 'complete' AND t.significance < 8
                AND (t.package_type <> 'auto_deposit' OR t.significance >= 5)))",
        )],
    }
}

#[cfg(test)]
mod tests {
    use accord_memory_core::bundle::BriefingPart;
    use rusqlite::Connection;

    use super::ranges;
    use crate::migrate::migrate;

    /// A condition that differs from that of its index by a word would read every package.
    #[test]
    fn every_part_is_read_from_an_index_of_its_own() {
        let connection = Connection::open_in_memory().unwrap();
        migrate(&connection).unwrap();
        for (part, index) in [
            (
                BriefingPart::Standing,
                "package_weight (project=? AND significance=? AND created_key>?)",
            ),
            (BriefingPart::Waiting, "package_order (project=? AND status=? AND created_key>?)"),
            (BriefingPart::Automatic, "package_automatic (project=? AND created_key>?)"),
            (BriefingPart::Work, "package_work (project=? AND created_key>?)"),
        ] {
            for mut range in ranges(1, part, None) {
                range.add("ORDER BY t.created_key DESC, t.pk DESC LIMIT 5", []);
                let plan = range.plan(&connection);
                assert!(plan.contains(index) && !plan.contains("TEMP B-TREE"), "{part:?}: {plan}");
            }
        }
    }
}
