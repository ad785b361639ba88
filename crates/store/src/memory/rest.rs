//! Projects, events, keys, blobs and settings in the model.

use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Unbounded};

use accord_base::ProjectId;
use accord_canon::Digest;
use accord_contract::time::{Time, Timestamp};

use super::{ProjectState, State, insert};
use crate::{
    BlobRow, BlobWrites, Blobs, EventEntry, EventRow, EventWrites, Events, Kept, KeyRow, KeyWrites,
    Keys, ProjectQuery, ProjectRow, ProjectWrites, Projects, Result, Scope, SettingWrites,
    Settings, StoreError,
};

impl Projects for State {
    fn project(&self, project: &ProjectId) -> Result<Option<ProjectRow>> {
        Ok(self.at(project).map(|project| project.row.clone()))
    }

    fn projects(&self, query: &ProjectQuery<'_>) -> Result<Vec<ProjectRow>> {
        let behind = (query.after.map_or(Unbounded, Excluded), Unbounded);
        let rows = self
            .projects
            .range::<ProjectId, _>(behind)
            .map(|(_, project)| &project.row);
        let shown = rows.filter(|row| query.archived || row.archived_at.is_none());
        Ok(shown.take(query.limit).cloned().collect())
    }
}

impl ProjectWrites for State {
    fn insert_project(&mut self, row: &ProjectRow) -> Result<()> {
        let project = ProjectState {
            row: row.clone(),
            packages: BTreeMap::new(),
            facts: BTreeMap::new(),
            sessions: BTreeMap::new(),
            events: BTreeMap::new(),
            newest_event: 0,
            blobs: BTreeMap::new(),
            settings: BTreeMap::new(),
        };
        insert(
            &mut self.projects,
            row.project_id.clone(),
            project,
            "project",
        )
    }

    fn update_project(&mut self, row: &ProjectRow) -> Result<()> {
        let project = &mut self.at_mut(&row.project_id)?.row;
        let created_at = project.created_at.clone();
        *project = ProjectRow {
            created_at,
            ..row.clone()
        };
        Ok(())
    }
}

impl Events for State {
    fn events(&self, project: &ProjectId, after: u64, limit: usize) -> Result<Vec<EventRow>> {
        let events = self
            .at(project)
            .into_iter()
            .flat_map(|project| &project.events);
        let behind = events.filter(|(seq, _)| **seq > after).take(limit);
        let row = |(seq, entry): (&u64, &EventEntry)| EventRow {
            seq: *seq,
            entry: entry.clone(),
        };
        Ok(behind.map(row).collect())
    }

    fn events_kept(&self, project: &ProjectId) -> Result<Kept> {
        let Some(project) = self.at(project) else {
            return Ok(Kept {
                oldest: 1,
                newest: 0,
            });
        };
        let newest = project.newest_event;
        let oldest = project.events.keys().next().copied().unwrap_or(newest + 1);
        Ok(Kept { oldest, newest })
    }

    fn newest_event_at(&self, project: &ProjectId) -> Result<Option<Timestamp>> {
        let newest = self
            .at(project)
            .and_then(|project| project.events.values().next_back());
        Ok(newest.map(|entry| entry.at.clone()))
    }

    fn events_before(&self, project: &ProjectId, instant: Time) -> Result<u64> {
        let kept = self.events_kept(project)?;
        let events = self
            .at(project)
            .into_iter()
            .flat_map(|project| project.events.values());
        let before = events.take_while(|event| event.at.time() < instant).count();
        Ok(kept.oldest - 1 + before as u64)
    }
}

impl EventWrites for State {
    fn append_event(&mut self, project: &ProjectId, entry: &EventEntry) -> Result<u64> {
        let stream = self.at_mut(project)?;
        stream.newest_event += 1;
        let seq = stream.newest_event;
        stream.events.insert(seq, entry.clone());
        self.advanced.insert(project.clone(), seq);
        Ok(seq)
    }

    fn trim_events(&mut self, project: &ProjectId, through: u64) -> Result<u64> {
        let Some(project) = self.projects.get_mut(project) else {
            return Ok(0);
        };
        let before = project.events.len();
        project.events.retain(|seq, _| *seq > through);
        Ok((before - project.events.len()) as u64)
    }
}

impl Keys for State {
    fn key_of_hash(&self, secret_hash: &Digest) -> Result<Option<KeyRow>> {
        Ok(self
            .keys
            .values()
            .find(|key| key.secret_hash == *secret_hash)
            .cloned())
    }

    fn key(&self, key_id: &str) -> Result<Option<KeyRow>> {
        Ok(self.keys.get(key_id).cloned())
    }

    fn keys(&self, after: Option<&str>, limit: usize) -> Result<Vec<KeyRow>> {
        let behind = (after.map_or(Unbounded, Excluded), Unbounded);
        Ok(self
            .keys
            .range::<str, _>(behind)
            .take(limit)
            .map(|(_, key)| key.clone())
            .collect())
    }
}

impl KeyWrites for State {
    fn insert_key(&mut self, row: &KeyRow) -> Result<()> {
        if self.key_of_hash(&row.secret_hash)?.is_some() {
            return Err(StoreError::conflict("key", &row.key_id));
        }
        insert(&mut self.keys, row.key_id.clone(), row.clone(), "key")
    }

    fn revoke_key(&mut self, key_id: &str, at: &Timestamp) -> Result<()> {
        let found = self.keys.get_mut(key_id);
        let key = found.ok_or_else(|| StoreError::conflict("no key", key_id))?;
        key.revoked_at.get_or_insert_with(|| at.clone());
        Ok(())
    }
}

impl Blobs for State {
    fn blob(&self, project: &ProjectId, digest: &Digest) -> Result<Option<BlobRow>> {
        Ok(self
            .at(project)
            .and_then(|project| project.blobs.get(digest))
            .cloned())
    }

    fn blobs_named(&self, digest: &Digest) -> Result<Vec<BlobRow>> {
        let found = self
            .projects
            .values()
            .filter_map(|project| project.blobs.get(digest));
        Ok(found.cloned().collect())
    }

    fn blobs(
        &self,
        project: &ProjectId,
        after: Option<&Digest>,
        limit: usize,
    ) -> Result<Vec<BlobRow>> {
        let blobs = self
            .at(project)
            .into_iter()
            .flat_map(|project| project.blobs.values());
        let behind = blobs.filter(|row| after.is_none_or(|after| row.digest > *after));
        Ok(behind.take(limit).cloned().collect())
    }
}

impl BlobWrites for State {
    fn insert_blob(&mut self, row: &BlobRow) -> Result<()> {
        insert(
            &mut self.at_mut(&row.project_id)?.blobs,
            row.digest,
            row.clone(),
            "blob",
        )
    }

    fn remove_blob(&mut self, project: &ProjectId, digest: &Digest) -> Result<bool> {
        let project = self.projects.get_mut(project);
        Ok(project.is_some_and(|project| project.blobs.remove(digest).is_some()))
    }
}

impl Settings for State {
    fn setting(&self, scope: Scope<'_>, name: &str) -> Result<Option<String>> {
        Ok(self
            .settings_of(scope)
            .and_then(|settings| settings.get(name))
            .cloned())
    }

    fn settings(&self, scope: Scope<'_>) -> Result<Vec<(String, String)>> {
        let settings = self.settings_of(scope).into_iter().flatten();
        Ok(settings
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect())
    }
}

impl SettingWrites for State {
    fn put_setting(&mut self, scope: Scope<'_>, name: &str, value: Option<&str>) -> Result<()> {
        let settings = match scope {
            Scope::Store => &mut self.settings,
            Scope::Project(project) => &mut self.at_mut(project)?.settings,
        };
        match value {
            Some(value) => settings.insert(name.to_owned(), value.to_owned()),
            None => settings.remove(name),
        };
        Ok(())
    }
}

impl State {
    fn settings_of(&self, scope: Scope<'_>) -> Option<&BTreeMap<String, String>> {
        match scope {
            Scope::Store => Some(&self.settings),
            Scope::Project(project) => self.at(project).map(|project| &project.settings),
        }
    }
}
