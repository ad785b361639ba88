//! The index of terms: where they occur.

use accord_base::ProjectId;
use accord_store::{CommonTermLimits, FoundTerms, PackageRow, Result, TermIndex};
use rusqlite::params;

use super::column::Row;
use super::index::{COLUMNS, lengths};
use super::{Unit, limit, number};
use crate::error::damaged;

impl TermIndex for Unit<'_> {
    fn limits(&self) -> CommonTermLimits {
        self.common
    }

    fn indexed_packages(&self, project: &ProjectId) -> Result<u64> {
        let sql = "SELECT packages FROM counter WHERE project = ?1";
        let packages = self.one(sql, (self.or_none(project)?,), |row| row.count(0))?;
        Ok(packages.unwrap_or_default())
    }

    fn average_length(&self, project: &ProjectId) -> Result<f64> {
        let sql = "SELECT packages, terms FROM counter WHERE project = ?1";
        let counted =
            self.one(sql, (self.or_none(project)?,), |row| Ok((row.count(0)?, row.count(1)?)))?;
        let (packages, terms) = counted.unwrap_or_default();
        Ok((terms as f64 / packages.max(1) as f64).max(1.0))
    }

    fn count_packages_with(&self, project: &ProjectId, term: &str, most: u64) -> Result<u64> {
        // Terms of the group that are not in the index yet would not be found.
        self.index_pending()?;
        let sql = "SELECT count(*) FROM
            (SELECT 1 FROM package_terms WHERE package_terms MATCH ?1 LIMIT ?2)";
        let enough = number(most.saturating_add(1));
        let with = self.one(sql, (self.quoted(project, term)?, enough), |row| row.count(0))?;
        Ok(with.unwrap_or_default())
    }

    fn find_occurrences(
        &self,
        project: &ProjectId,
        term: &str,
        most: u64,
        found: &mut FoundTerms,
    ) -> Result<()> {
        let sql = "SELECT o.doc, d.sz, o.col, o.offset FROM package_occurrence o
            CROSS JOIN package_terms_docsize d ON d.id = o.doc WHERE o.term = ?1 LIMIT ?2";
        let values = params![self.indexed(project, term)?, number(most.saturating_add(1))];
        let read = |row: &Row<'_>| {
            let part = row.parsed(2, "a part", |name| COLUMNS.iter().position(|c| *c == name))?;
            let place = u32::try_from(row.count(3)?).map_err(|_| damaged("a place"))?;
            found.add(row.count(0)?, || lengths(row.bytes(1)?), part as u8, place)
        };
        self.each(sql, values, read, |()| true)
    }

    fn find_packages(&self, project: &ProjectId, term: &str, found: &mut FoundTerms) -> Result<()> {
        let sql = "SELECT t.rowid, d.sz FROM package_terms t
            CROSS JOIN package_terms_docsize d ON d.id = t.rowid WHERE t.package_terms MATCH ?1";
        let read = |row: &Row<'_>| found.add_package(row.count(0)?, || lengths(row.bytes(1)?));
        self.each(sql, (self.quoted(project, term)?,), read, |()| true)
    }

    fn visit_terms(
        &self,
        project: &ProjectId,
        beginning: &str,
        visit: &mut dyn FnMut(&str),
    ) -> Result<()> {
        let from = self.indexed(project, beginning)?;
        // No term that begins like this sorts behind it.
        let through = format!("{from}{}", char::MAX);
        let sql = "SELECT term FROM package_vocabulary WHERE term >= ?1 AND term <= ?2";
        self.each(
            sql,
            params![from, through],
            |row| {
                let term = row.text(0)?;
                visit(term.split_once(':').map_or("", |(_, term)| term));
                Ok(())
            },
            |()| true,
        )
    }

    fn latest_packages(&self, project: &ProjectId, term: &str, wanted: usize) -> Result<Vec<u64>> {
        let sql = "SELECT rowid FROM package_terms WHERE package_terms MATCH ?1
            ORDER BY rowid DESC LIMIT ?2";
        self.many(sql, (self.quoted(project, term)?, limit(wanted)), |row| row.count(0))
    }

    fn indexed_package(&self, project: &ProjectId, package: u64) -> Result<Option<PackageRow>> {
        self.row_of(number(package), project)
    }
}

impl Unit<'_> {
    fn indexed(&self, project: &ProjectId, term: &str) -> Result<String> {
        Ok(format!("{}:{term}", self.or_none(project)?))
    }

    /// The look-up of a term, which has only letters and digits and cannot end the quotation.
    fn quoted(&self, project: &ProjectId, term: &str) -> Result<String> {
        Ok(format!("\"{}\"", self.indexed(project, term)?))
    }
}
