//! The index of terms in the model: reads every package.

use std::collections::BTreeSet;

use accord_base::ProjectId;

use super::{PackageEntry, State};
use crate::{CommonTermLimits, FoundTerms, PARTS, PackageRow, Result, TermIndex};

impl TermIndex for State {
    fn limits(&self) -> CommonTermLimits {
        self.common
    }

    fn indexed_packages(&self, project: &ProjectId) -> Result<u64> {
        Ok(self.indexed(project).len() as u64)
    }

    fn average_length(&self, project: &ProjectId) -> Result<f64> {
        let packages = self.indexed(project);
        let terms: u64 = packages.iter().flat_map(|entry| entry.lengths()).sum();
        Ok((terms as f64 / packages.len().max(1) as f64).max(1.0))
    }

    fn count_packages_with(&self, project: &ProjectId, term: &str, _: u64) -> Result<u64> {
        Ok(self.latest_packages(project, term, usize::MAX)?.len() as u64)
    }

    fn find_occurrences(
        &self,
        project: &ProjectId,
        term: &str,
        most: u64,
        found: &mut FoundTerms,
    ) -> Result<()> {
        let mut left = most.saturating_add(1);
        for entry in self.indexed(project) {
            for (part, place) in entry.places(term) {
                if left > 0 {
                    left -= 1;
                    found.add(entry.row.seq, || Ok(entry.lengths()), part, place)?;
                }
            }
        }
        Ok(())
    }

    fn find_packages(&self, project: &ProjectId, term: &str, found: &mut FoundTerms) -> Result<()> {
        for entry in self.indexed(project) {
            if entry.places(term).next().is_some() {
                found.add_package(entry.row.seq, || Ok(entry.lengths()))?;
            }
        }
        Ok(())
    }

    fn visit_terms(
        &self,
        project: &ProjectId,
        beginning: &str,
        visit: &mut dyn FnMut(&str),
    ) -> Result<()> {
        let packages = self.indexed(project);
        let parts = packages.iter().flat_map(|entry| entry.index.terms());
        let terms: BTreeSet<&str> = parts.flat_map(|part| part.split_terminator(' ')).collect();
        terms.into_iter().filter(|term| term.starts_with(beginning)).for_each(visit);
        Ok(())
    }

    fn latest_packages(&self, project: &ProjectId, term: &str, limit: usize) -> Result<Vec<u64>> {
        let with = self.indexed(project).into_iter().rev();
        let with = with.filter(|entry| entry.places(term).next().is_some());
        Ok(with.map(|entry| entry.row.seq).take(limit).collect())
    }

    fn indexed_package(&self, project: &ProjectId, number: u64) -> Result<Option<PackageRow>> {
        Ok(self.rows(project).find(|row| row.seq == number).cloned())
    }
}

impl State {
    /// The packages of a project in the order of their numbers.
    fn indexed(&self, project: &ProjectId) -> Vec<&PackageEntry> {
        let packages = self.at(project).into_iter().flat_map(|project| project.packages.values());
        let mut packages: Vec<&PackageEntry> = packages.collect();
        packages.sort_by_key(|entry| entry.row.seq);
        packages
    }
}

impl PackageEntry {
    /// The number of terms in each part.
    fn lengths(&self) -> [u64; PARTS] {
        let parts = self.index.terms().each_ref();
        parts.map(|terms| terms.split_terminator(' ').count() as u64)
    }

    /// The parts in which a term occurs, and the places in them.
    fn places(&self, term: &str) -> impl Iterator<Item = (u8, u32)> {
        let parts = self.index.terms().iter().zip(0..);
        parts.flat_map(move |(terms, part)| {
            let places = terms.split_terminator(' ').zip(0..);
            places.filter(move |(known, _)| *known == term).map(move |(_, place)| (part, place))
        })
    }
}
