//! Packages in the model.

use std::collections::BTreeMap;

use accord_base::{ProjectId, SessionId};
use accord_contract::Time;
use accord_memory_core::PackageId;
use accord_memory_core::deposit::LinkTargets;
use accord_memory_core::package::{Links, Status};
use accord_memory_core::query::PackagePosition;

use super::repair::is_numbered;
use super::{PackageEntry, ProjectState, State, insert};
use crate::derived::TallySums;
use crate::{
    Drafts, HighlightQuery, Order, PackageIndex, PackageQuery, PackageRow, PackageState,
    PackageWrites, Packages, Quarantine, Quarantined, QuestionQuery, QuestionRow, Result,
    RevisionRow, StoreError, Tally,
};

impl Packages for State {
    fn package(&self, project: &ProjectId, package: &PackageId) -> Result<Option<PackageRow>> {
        let entry = self.at(project).and_then(|project| project.packages.get(package));
        Ok(entry.map(|entry| entry.row.clone()))
    }

    fn packages_named(&self, package: &PackageId) -> Result<Vec<PackageRow>> {
        let entries = self.projects.values().filter_map(|project| project.packages.get(package));
        Ok(entries.map(|entry| entry.row.clone()).collect())
    }

    fn package_ids(
        &self,
        prefix: &str,
        within: Option<&ProjectId>,
        limit: usize,
    ) -> Result<Vec<(ProjectId, PackageId)>> {
        let projects = self.projects.iter();
        let projects = projects.filter(|(id, _)| within.is_none_or(|within| *id == within));
        let ids = projects.flat_map(|(id, project)| {
            project.packages.keys().map(move |found| (found.clone(), id.clone()))
        });
        let mut ids: Vec<_> = ids.filter(|(id, _)| id.as_str().starts_with(prefix)).collect();
        ids.sort();
        Ok(ids.into_iter().take(limit).map(|(id, project)| (project, id)).collect())
    }

    fn packages(&self, project: &ProjectId, query: &PackageQuery<'_>) -> Result<Vec<PackageRow>> {
        let mut rows: Vec<_> = self.rows(project).filter(|row| fits(row, query)).collect();
        rows.sort_by_key(|row| place(row));
        if query.order == Order::NewestFirst {
            rows.reverse();
        }
        Ok(rows.into_iter().take(query.limit).cloned().collect())
    }

    fn packages_of_session(&self, of: &ProjectId, session: &SessionId) -> Result<Vec<PackageId>> {
        let query = PackageQuery {
            session: Some(session),
            order: Order::OldestFirst,
            limit: usize::MAX,
            ..PackageQuery::default()
        };
        let rows = self.packages(of, &query)?;
        Ok(rows.into_iter().map(|row| row.package_id).collect())
    }

    fn revisions(&self, project: &ProjectId, package: &PackageId) -> Result<Vec<RevisionRow>> {
        let entry = self.at(project).and_then(|project| project.packages.get(package));
        Ok(entry.map_or_else(Vec::new, |entry| entry.log.clone()))
    }

    fn tallies(&self, project: &ProjectId, since: Option<Time>) -> Result<Vec<Tally>> {
        let mut sums = TallySums::default();
        let shown = self.rows(project).filter(|row| row.quarantine.is_none());
        for row in shown.filter(|row| since.is_none_or(|since| row.created_at.time() >= since)) {
            let (package_type, actor) = (row.package_type.clone(), row.actor.clone());
            sums.add(Tally { package_type, actor, status: row.state.status, packages: 1 });
        }
        Ok(sums.into_tallies())
    }

    fn package_count(&self, project: &ProjectId, status: Status) -> Result<u64> {
        let shown = self.rows(project).filter(|row| row.quarantine.is_none());
        Ok(shown.filter(|row| row.state.status == status).count() as u64)
    }

    fn highlights(&self, project: &ProjectId, query: &HighlightQuery) -> Result<Vec<PackageRow>> {
        let (drafts, since, limit) = (Drafts::None, query.since, usize::MAX);
        let all = PackageQuery { drafts, since, limit, ..PackageQuery::default() };
        let mut rows = self.packages(project, &all)?;
        rows.retain(|row| {
            let matters = query.least.is_none_or(|least| row.significance >= least);
            matters && (!query.standing || self.superseders(row).is_empty())
        });
        rows.sort_by_key(|row| std::cmp::Reverse(row.significance));
        rows.truncate(query.limit);
        Ok(rows)
    }

    fn questions(&self, of: &ProjectId, query: &QuestionQuery<'_>) -> Result<Vec<QuestionRow>> {
        Ok(self.list_questions(of, query))
    }

    fn superseded(
        &self,
        project: &ProjectId,
        packages: &mut dyn Iterator<Item = &PackageId>,
    ) -> Result<BTreeMap<PackageId, Vec<PackageId>>> {
        let entries = packages.filter_map(|id| self.at(project).and_then(|at| at.packages.get(id)));
        let mark = |of: &PackageEntry| (of.row.package_id.clone(), self.superseders(&of.row));
        Ok(entries.map(mark).filter(|(_, by)| !by.is_empty()).collect())
    }

    fn link_targets(&self, of: &ProjectId, links: &Links, with: Drafts<'_>) -> Result<LinkTargets> {
        Ok(self.targets_of(of, links, with))
    }

    fn open_question_count(&self, project: &ProjectId, since: Option<Time>) -> Result<u64> {
        let (drafts, limit) = (Drafts::None, usize::MAX);
        let query = QuestionQuery { since, drafts, limit, ..QuestionQuery::default() };
        Ok(self.questions(project, &query)?.len() as u64)
    }
}

impl PackageWrites for State {
    fn insert_package(
        &mut self,
        row: &PackageRow,
        index: &PackageIndex,
        log: &[RevisionRow],
    ) -> Result<u64> {
        row.check_log(log)?;
        let seq = self.number();
        let (stored, log) = (PackageRow { seq, ..row.clone() }, log.to_vec());
        let entry = PackageEntry { row: stored, index: index.clone(), log, embedding: None };
        let packages = &mut self.at_mut(&row.project_id)?.packages;
        insert(packages, row.package_id.clone(), entry, "package")?;
        Ok(seq)
    }

    fn move_package(
        &mut self,
        project: &ProjectId,
        package: &PackageId,
        state: &PackageState,
        revisions: &[RevisionRow],
    ) -> Result<()> {
        let entry = self.at_mut(project)?.entry_mut(package)?;
        entry.row.check_move(state, revisions)?;
        entry.row.state = state.clone();
        entry.log.extend_from_slice(revisions);
        Ok(())
    }

    fn quarantine_package(
        &mut self,
        project: &ProjectId,
        package: &PackageId,
        quarantine: Option<&Quarantine>,
    ) -> Result<()> {
        self.at_mut(project)?.entry_mut(package)?.row.quarantine = quarantine.cloned();
        Ok(())
    }

    fn reindex_package(
        &mut self,
        project: &ProjectId,
        package: &PackageId,
        index: &PackageIndex,
    ) -> Result<()> {
        self.at_mut(project)?.entry_mut(package)?.index = index.clone();
        Ok(())
    }

    fn put_package(&mut self, number: i64, row: &PackageRow, index: &PackageIndex) -> Result<bool> {
        let packages = &mut self.at_mut(&row.project_id)?.packages;
        match packages.get_mut(&row.package_id) {
            Some(entry) if is_numbered(entry, number) => {
                let seq = entry.row.seq;
                entry.row = PackageRow { seq, ..row.clone() };
                entry.index = index.clone();
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    fn set_aside(&mut self, number: i64, quarantine: &Quarantine) -> Result<()> {
        let projects = self.projects.values_mut();
        let mut entries = projects.flat_map(|project| project.packages.values_mut());
        if let Some(entry) = entries.find(|entry| is_numbered(entry, number)) {
            entry.row.quarantine = Some(quarantine.clone());
        }
        Ok(())
    }
}

impl State {
    pub(super) fn rows(&self, project: &ProjectId) -> impl Iterator<Item = &PackageRow> {
        let packages = self.at(project).into_iter().flat_map(|project| project.packages.values());
        packages.map(|entry| &entry.row)
    }
}

impl ProjectState {
    fn entry_mut(&mut self, package: &PackageId) -> Result<&mut PackageEntry> {
        let found = self.packages.get_mut(package);
        found.ok_or_else(|| StoreError::conflict("no package", package.as_str()))
    }
}

pub(super) fn place(row: &PackageRow) -> (Time, u64) {
    (row.created_at.time(), row.seq)
}

fn fits(row: &PackageRow, query: &PackageQuery<'_>) -> bool {
    let behind = |after: PackagePosition| match query.order {
        Order::NewestFirst => place(row) < (after.created_at, after.seq),
        Order::OldestFirst => place(row) > (after.created_at, after.seq),
    };
    let quarantined = row.quarantine.is_some();
    query.status.is_none_or(|status: Status| row.state.status == status)
        && (query.session).is_none_or(|session| row.session_id.as_ref() == Some(session))
        && row.is_shown(query.drafts)
        && match query.quarantined {
            Quarantined::No => !quarantined,
            Quarantined::Also => true,
            Quarantined::Only => quarantined,
        }
        && query.since.is_none_or(|since| row.created_at.time() >= since)
        && query.after.is_none_or(behind)
}
