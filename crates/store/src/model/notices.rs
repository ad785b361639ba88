//! What receivers of notifications are told, in the model.

use accord_base::ProjectId;
use accord_contract::Time;

use super::State;
use crate::{InboxRow, NoticeRow, NoticeWrites, Notices, Result, Untold};

impl State {
    fn notices(&self, receiver: &str) -> Vec<&NoticeRow> {
        let all = self.projects.values().flat_map(|project| &project.inbox.notices);
        all.filter(|((of, _), _)| of == receiver).map(|(_, notice)| notice).collect()
    }

    fn is_archived(&self, project: &ProjectId) -> bool {
        self.at(project).is_none_or(|project| project.row.archived_at.is_some())
    }
}

impl Notices for State {
    fn unseen_items(&self, now: Time, limit: usize) -> Result<Vec<InboxRow>> {
        let mut rows = self.items()?;
        rows.retain(|row| {
            let project = self.at(&row.project_id);
            let seen = project.and_then(|project| project.inbox.seen.get(&row.id()));
            !self.is_archived(&row.project_id)
                && row.waiting.shown_from.is_none_or(|from| from <= now)
                && seen != Some(&row.waiting.urgency_at(now))
        });
        rows.truncate(limit);
        Ok(rows)
    }

    fn notice(&self, receiver: &str, project: &ProjectId, item: &str) -> Result<Option<NoticeRow>> {
        let key = (receiver.to_owned(), item.to_owned());
        Ok(self.at(project).and_then(|project| project.inbox.notices.get(&key).cloned()))
    }

    fn last_told(
        &self,
        receiver: &str,
        project: &ProjectId,
        source: &str,
    ) -> Result<Option<NoticeRow>> {
        let all = self.notices(receiver).into_iter();
        let told = all.filter(|notice| {
            notice.project_id == *project && notice.source == source && notice.told_at.is_some()
        });
        let newest = |notice: &&NoticeRow| (notice.told_at, std::cmp::Reverse(notice.item.clone()));
        Ok(told.max_by_key(newest).cloned())
    }

    fn untold(&self, receiver: &str) -> Result<Option<Untold>> {
        let mut all = self.notices(receiver);
        all.retain(|notice| notice.told_at.is_none());
        let message = all.iter().filter_map(|notice| notice.message.clone()).max();
        let first = all.iter().map(|notice| notice.from).min();
        Ok(first.map(|first| Untold { first, message }))
    }

    fn untold_items(
        &self,
        receiver: &str,
        limit: usize,
    ) -> Result<Vec<(NoticeRow, Option<InboxRow>)>> {
        let items = self.items()?;
        let mut all = self.notices(receiver);
        all.retain(|notice| notice.told_at.is_none());
        all.sort_by_key(|notice| (notice.from, notice.item.clone()));
        all.truncate(limit);
        let with_item = |notice: &NoticeRow| {
            let item = items.iter().find(|row| row.id() == notice.item);
            let item = item.filter(|_| !self.is_archived(&notice.project_id));
            (notice.clone(), item.cloned())
        };
        Ok(all.into_iter().map(with_item).collect())
    }
}

impl NoticeWrites for State {
    fn see_item(&mut self, row: &InboxRow, now: Time) -> Result<()> {
        let urgency = row.waiting.urgency_at(now);
        self.at_mut(&row.project_id)?.inbox.seen.insert(row.id(), urgency);
        Ok(())
    }

    fn put_notice(&mut self, receiver: &str, notice: &NoticeRow) -> Result<()> {
        let key = (receiver.to_owned(), notice.item.clone());
        self.at_mut(&notice.project_id)?.inbox.notices.insert(key, notice.clone());
        Ok(())
    }

    fn remove_notice(&mut self, receiver: &str, project: &ProjectId, item: &str) -> Result<()> {
        let key = (receiver.to_owned(), item.to_owned());
        self.at_mut(project)?.inbox.notices.remove(&key);
        Ok(())
    }

    fn tell(&mut self, receiver: &str, message: &str, at: Time) -> Result<()> {
        for project in self.projects.values_mut() {
            for ((of, _), notice) in &mut project.inbox.notices {
                let is_part = notice.message.as_deref() == Some(message);
                if of == receiver && is_part && notice.told_at.is_none() {
                    (notice.told_at, notice.message) = (Some(at), None);
                }
            }
        }
        Ok(())
    }

    fn forget_notices(&mut self, before: Time) -> Result<()> {
        let items: Vec<String> = self.items()?.iter().map(InboxRow::id).collect();
        for project in self.projects.values_mut() {
            project.inbox.notices.retain(|_, notice| {
                notice.told_at.is_none_or(|told| told >= before) || items.contains(&notice.item)
            });
        }
        Ok(())
    }

    fn keep_receivers(&mut self, receivers: &[String]) -> Result<()> {
        for project in self.projects.values_mut() {
            project
                .inbox
                .notices
                .retain(|(of, _), notice| notice.told_at.is_some() || receivers.contains(of));
        }
        Ok(())
    }
}
