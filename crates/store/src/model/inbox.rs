//! The inbox of the model. What waits in packages and live sessions is computed for each query.

use std::collections::BTreeMap;

use accord_base::inbox::{InboxMark, Urgency, Waiting, kind};
use accord_base::{ActorKey, ProjectId};
use accord_contract::Time;
use accord_live_core::session::waiting;
use accord_memory_core::damage::{self, Damage};
use accord_memory_core::inbox::{PackageFacts, package};
use accord_memory_core::operations::Suspect;

use super::{PackageEntry, State};
use crate::{
    EdgeDecisionRow, Inbox, InboxQuery, InboxRow, InboxWrites, LivePart, LiveSessions as _,
    MarkKind, NoticeRow, Result,
};

/// What the model keeps of the inbox of a project.
#[derive(Clone, Debug, Default)]
pub(super) struct KeptInbox {
    /// The items of tasks, by id.
    tasks: BTreeMap<String, InboxRow>,
    marks: BTreeMap<(String, MarkKind, String), InboxMark>,
    /// How urgent an item was when it was looked at, by id.
    pub(super) seen: BTreeMap<String, Urgency>,
    /// What receivers are told, by receiver and item.
    pub(super) notices: BTreeMap<(String, String), NoticeRow>,
}

impl State {
    /// Everything that waits, in no order.
    pub(super) fn items(&self) -> Result<Vec<InboxRow>> {
        let mut rows = Vec::new();
        for (id, project) in &self.projects {
            for entry in project.packages.values() {
                rows.extend(entry.waiting().map(|item| InboxRow::new(id, item)));
            }
            let asked = project.open_questions();
            rows.extend(asked.into_iter().map(|item| InboxRow::new(id, item)));
            rows.extend(project.inbox.tasks.values().cloned());
            let noted = project.settings.iter();
            let noted = noted.filter_map(|(name, text)| damage::noted(name, text));
            rows.extend(noted.map(|item| InboxRow::new(id, item)));
            for item in project.edge_items.values() {
                let Some(edge) = project.edges.get(&item.edge_id) else { continue };
                let decisions = project.edge_decisions.values();
                let is_about = |it: &&EdgeDecisionRow| {
                    it.edge_id == item.edge_id && it.item_id == item.item_id
                };
                let decisions = decisions.filter(is_about).map(|it| it.text.clone());
                let decisions: Vec<String> = decisions.collect();
                rows.extend(item.waiting(edge, &decisions).map(|item| InboxRow::new(id, item)));
            }
        }
        for id in self.live_ids() {
            let Some(row) = self.live_session(&id)? else { continue };
            let Some(project) = &row.project_id else { continue };
            let ui = self.live_content(&id, LivePart::Ui)?.unwrap_or_default();
            let item = waiting(&row.session, self.live_ask(&id)?.as_ref(), &ui);
            rows.extend(item.map(|item| InboxRow::new(project, item)));
        }
        Ok(rows)
    }

    fn fits(&self, row: &InboxRow, query: &InboxQuery<'_>) -> bool {
        let project = self.at(&row.project_id);
        let is_archived = project.is_none_or(|project| project.row.archived_at.is_some());
        let waiting = &row.waiting;
        let id = row.id();
        let has = |kind: MarkKind, actor: &str| {
            let marks = project.into_iter().flat_map(|project| &project.inbox.marks);
            marks.filter(|((item, of, _), _)| (item, *of) == (&id, kind)).any(|(_, mark)| {
                let ended = mark.until.as_ref().is_some_and(|until| until.time() <= query.now);
                mark.actor == actor && !ended
            })
        };
        !is_archived
            && waiting.is_shown_at(query.now)
            && query.projects.is_none_or(|projects| projects.contains(&row.project_id))
            && query.kind.is_none_or(|kind| kind == waiting.kind)
            && query.only_for.is_none_or(|actor| {
                waiting.to.as_deref() == Some(actor)
                    || has(MarkKind::Assignment, actor)
                    || has(MarkKind::Claim, actor)
            })
            && query.awake_for.is_none_or(|actor| !has(MarkKind::Snooze, actor))
            && query.after.is_none_or(|after| row.position(query.now) > *after)
    }
}

impl PackageEntry {
    fn waiting(&self) -> Option<Waiting> {
        let row = &self.row;
        if let Some(held) = &row.quarantine {
            return (!held.is_rejected()).then(|| {
                damage::waiting(&Damage {
                    suspect: Suspect::Package,
                    id: row.package_id.as_str(),
                    found_at: held.at.time(),
                    cause: &held.reason,
                })
            });
        }
        let facts = PackageFacts {
            package_id: &row.package_id,
            author: &row.actor,
            created_at: row.created_at.time(),
            status: row.state.status,
            review_type: row.state.review_type,
            revision: row.state.revision,
            content_hash: &row.state.content_hash,
            text: &row.state.text,
        };
        package(&facts, self.log.iter().map(|entry| entry.text.as_str()))
    }
}

impl Inbox for State {
    fn inbox(&self, query: &InboxQuery<'_>) -> Result<Vec<InboxRow>> {
        let mut rows = self.items()?;
        rows.retain(|row| self.fits(row, query));
        rows.sort_by_cached_key(|row| row.position(query.now));
        rows.truncate(query.limit);
        Ok(rows)
    }

    fn inbox_counts(&self, query: &InboxQuery<'_>, most: usize) -> Result<[u64; 5]> {
        let mut counts = [0; 5];
        for row in self.items()?.iter().filter(|row| self.fits(row, query)) {
            counts[usize::from(row.waiting.urgency_at(query.now).number()) - 1] += 1;
        }
        Ok(counts.map(|count| count.min(most as u64)))
    }

    fn inbox_named(&self, name: &str, limit: usize) -> Result<Vec<InboxRow>> {
        let mut rows = self.items()?;
        rows.retain(|row| row.is_named(name));
        rows.sort_by_key(InboxRow::id);
        rows.truncate(limit);
        Ok(rows)
    }

    fn open_asks(&self, project: &ProjectId, by: Option<&ActorKey>, at: Time) -> Result<u64> {
        let by = by.map(ToString::to_string);
        let is_open = |row: &&InboxRow| {
            let waiting = &row.waiting;
            (&row.project_id, &*waiting.kind) == (project, kind::LIVE_ASK)
                && waiting.asked_by == by
                && waiting.gone_at.is_some_and(|gone_at| gone_at > at)
        };
        Ok(self.items()?.iter().filter(is_open).count() as u64)
    }

    fn inbox_marks(&self, project: &ProjectId, item: &str) -> Result<Vec<(MarkKind, InboxMark)>> {
        let marks = self.at(project).into_iter().flat_map(|project| &project.inbox.marks);
        let marks = marks.filter(|((of, ..), _)| of == item);
        Ok(marks.map(|((_, kind, _), mark)| (*kind, mark.clone())).collect())
    }
}

impl InboxWrites for State {
    fn set_task_items(&mut self, project: &ProjectId, items: &[Waiting]) -> Result<bool> {
        let rows = items.iter().map(|item| InboxRow::new(project, item.clone()));
        let rows: BTreeMap<String, InboxRow> = rows.map(|row| (row.id(), row)).collect();
        let kept = &mut self.at_mut(project)?.inbox.tasks;
        let changed = *kept != rows;
        *kept = rows;
        Ok(changed)
    }

    fn put_inbox_mark(
        &mut self,
        project: &ProjectId,
        item: &str,
        kind: MarkKind,
        mark: &InboxMark,
    ) -> Result<()> {
        let key = (item.to_owned(), kind, kind.holder(&mark.actor).to_owned());
        self.at_mut(project)?.inbox.marks.insert(key, mark.clone());
        Ok(())
    }

    fn remove_inbox_mark(
        &mut self,
        project: &ProjectId,
        item: &str,
        kind: MarkKind,
        actor: &str,
    ) -> Result<bool> {
        let key = (item.to_owned(), kind, kind.holder(actor).to_owned());
        Ok(self.at_mut(project)?.inbox.marks.remove(&key).is_some())
    }

    fn rebuild_inbox(&mut self) -> Result<()> {
        Ok(())
    }
}
