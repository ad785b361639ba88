//! Sessions in the model.

use accord_base::{ProjectId, SessionId};
use accord_contract::{Time, Timestamp};
use accord_memory_core::query::SessionPosition;

use super::{PackageEntry, State, insert};
use crate::{Order, Result, SessionQuery, SessionRow, SessionWrites, Sessions, StoreError};

impl Sessions for State {
    fn session(&self, project: &ProjectId, session: &SessionId) -> Result<Option<SessionRow>> {
        Ok(self.at(project).and_then(|project| project.sessions.get(session)).cloned())
    }

    fn sessions_named(&self, session: &SessionId) -> Result<Vec<SessionRow>> {
        let found = self.projects.values().filter_map(|project| project.sessions.get(session));
        Ok(found.cloned().collect())
    }

    fn session_ids(
        &self,
        prefix: &str,
        within: Option<&ProjectId>,
        limit: usize,
    ) -> Result<Vec<(ProjectId, SessionId)>> {
        let projects = self.projects.iter();
        let projects = projects.filter(|(id, _)| within.is_none_or(|within| *id == within));
        let ids = projects.flat_map(|(id, project)| {
            project.sessions.keys().map(move |found| (found.clone(), id.clone()))
        });
        let mut ids: Vec<_> = ids.filter(|(id, _)| id.as_str().starts_with(prefix)).collect();
        ids.sort();
        Ok(ids.into_iter().take(limit).map(|(id, project)| (project, id)).collect())
    }

    fn sessions(&self, project: &ProjectId, query: &SessionQuery<'_>) -> Result<Vec<SessionRow>> {
        let behind = |row: &SessionRow, after: SessionPosition| match query.order {
            Order::NewestFirst => place(row) < (after.started_at, after.seq),
            Order::OldestFirst => place(row) > (after.started_at, after.seq),
        };
        let has_package_since = |row: &SessionRow, since: Time| {
            let packages = self.at(project).into_iter().flat_map(|at| at.packages.values());
            let of_session =
                |entry: &&PackageEntry| entry.row.session_id.as_ref() == Some(&row.session_id);
            packages.filter(of_session).any(|entry| entry.row.created_at.time() >= since)
        };
        let fits = |row: &&SessionRow| {
            (query.callsign).is_none_or(|callsign| row.callsign.as_deref() == Some(callsign))
                && (!query.active || row.ended_at.is_none())
                && query.active_since.is_none_or(|since| {
                    row.started_at.time() >= since || has_package_since(row, since)
                })
                && query.after.is_none_or(|after| behind(row, after))
        };
        let rows = self.at(project).into_iter().flat_map(|project| project.sessions.values());
        let mut rows: Vec<SessionRow> = rows.filter(fits).cloned().collect();
        rows.sort_by_key(place);
        if query.order == Order::NewestFirst {
            rows.reverse();
        }
        rows.truncate(query.limit);
        Ok(rows)
    }
}

impl SessionWrites for State {
    fn insert_session(&mut self, row: &SessionRow) -> Result<u64> {
        let seq = self.number();
        let sessions = &mut self.at_mut(&row.project_id)?.sessions;
        insert(sessions, row.session_id.clone(), SessionRow { seq, ..row.clone() }, "session")?;
        Ok(seq)
    }

    fn end_session(
        &mut self,
        project: &ProjectId,
        session: &SessionId,
        ended_at: &Timestamp,
        text: &str,
    ) -> Result<()> {
        let found = self.at_mut(project)?.sessions.get_mut(session);
        let row = found.ok_or_else(|| StoreError::conflict("no session", session.as_str()))?;
        row.ended_at = Some(ended_at.clone());
        row.text = text.to_owned();
        Ok(())
    }
}

fn place(row: &SessionRow) -> (Time, u64) {
    (row.started_at.time(), row.seq)
}
