//! What receivers of notifications are told.

use accord_base::ProjectId;
use accord_base::inbox::Urgency;
use accord_contract::Time;
use accord_store::{InboxRow, NoticeRow, NoticeWrites, Notices, Result, Untold};
use rusqlite::params;

use super::Unit;
use super::column::Row;
use super::inbox::{read as read_item, select_item};
use crate::error::damaged;

/// Selects the columns that [`read`] reads.
macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT j.project_id, n.item_id, n.source, n.urgency, n.from_at, n.message, n.told_at \
             FROM notice n CROSS JOIN project j ON j.pk = n.project ",
            $rest
        )
    };
}

impl Notices for Unit<'_> {
    fn unseen_items(&self, now: Time, limit: usize) -> Result<Vec<InboxRow>> {
        let sql = select_item!(
            "WHERE i.unseen_at <= ?1 AND j.archived_at IS NULL ORDER BY i.unseen_at LIMIT ?2"
        );
        let values = (now.unix_millis(), super::limit(limit));
        let rows = self.many(sql, values, |row| Ok(read_item(row).ok()))?;
        Ok(rows.into_iter().flatten().collect())
    }

    fn notice(&self, receiver: &str, project: &ProjectId, item: &str) -> Result<Option<NoticeRow>> {
        let sql = select!("WHERE n.receiver = ?1 AND n.project = ?2 AND n.item_id = ?3");
        self.one(sql, (receiver, self.or_none(project)?, item), read)
    }

    fn last_told(
        &self,
        receiver: &str,
        project: &ProjectId,
        source: &str,
    ) -> Result<Option<NoticeRow>> {
        let sql = select!(
            "WHERE n.project = ?1 AND n.source = ?2 AND n.receiver = ?3 AND n.told_at IS NOT NULL
             ORDER BY n.told_at DESC, n.item_id LIMIT 1"
        );
        self.one(sql, (self.or_none(project)?, source, receiver), read)
    }

    fn untold(&self, receiver: &str) -> Result<Option<Untold>> {
        let sql = "SELECT min(from_at), max(message) FROM notice
            WHERE receiver = ?1 AND told_at IS NULL HAVING count(*) > 0";
        self.one(sql, (receiver,), |row| {
            let first = Time::from_unix_millis(row.integer(0)?);
            Ok(Untold { first, message: row.optional_text(1)? })
        })
    }

    fn untold_items(
        &self,
        receiver: &str,
        limit: usize,
    ) -> Result<Vec<(NoticeRow, Option<InboxRow>)>> {
        let sql = select!(
            "WHERE n.receiver = ?1 AND n.told_at IS NULL ORDER BY n.from_at, n.item_id LIMIT ?2"
        );
        let notices = self.many(sql, (receiver, super::limit(limit)), read)?;
        let item = select_item!(
            "WHERE i.item_id = ?1 AND j.project_id = ?2 AND j.archived_at IS NULL LIMIT 1"
        );
        let with_item = |notice: NoticeRow| {
            let project = notice.project_id.as_str();
            let found =
                self.one(item, (&notice.item, project), |row| Ok(read_item(row).ok()))?.flatten();
            Ok((notice, found))
        };
        notices.into_iter().map(with_item).collect()
    }
}

impl NoticeWrites for Unit<'_> {
    fn see_item(&mut self, row: &InboxRow, now: Time) -> Result<()> {
        let sql = "UPDATE inbox_item SET unseen_at = ?3 WHERE item_id = ?1 AND project = ?2";
        let again = row.unseen_again(now).map(Time::unix_millis);
        let project = self.must_find(&row.project_id)?;
        self.write(sql, (row.id(), project, again))
    }

    fn put_notice(&mut self, receiver: &str, notice: &NoticeRow) -> Result<()> {
        let sql = "INSERT INTO notice (receiver, project, item_id, source, urgency, from_at,
                message, told_at)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
            ON CONFLICT DO UPDATE SET source = ?4, urgency = ?5, from_at = ?6, message = ?7,
                told_at = ?8";
        let project = self.must_find(&notice.project_id)?;
        let told_at = notice.told_at.map(Time::unix_millis);
        let (urgency, from) = (notice.urgency.number(), notice.from.unix_millis());
        let NoticeRow { item, source, message, .. } = notice;
        self.write(sql, params![receiver, project, item, source, urgency, from, message, told_at])
    }

    fn remove_notice(&mut self, receiver: &str, project: &ProjectId, item: &str) -> Result<()> {
        let sql = "DELETE FROM notice WHERE receiver = ?1 AND project = ?2 AND item_id = ?3";
        self.write(sql, (receiver, self.must_find(project)?, item))
    }

    fn tell(&mut self, receiver: &str, message: &str, at: Time) -> Result<()> {
        let sql = "UPDATE notice SET told_at = ?3, message = NULL
            WHERE receiver = ?1 AND message = ?2 AND told_at IS NULL";
        self.write(sql, (receiver, message, at.unix_millis()))
    }

    fn forget_notices(&mut self, before: Time) -> Result<()> {
        let sql = "DELETE FROM notice WHERE told_at < ?1
            AND NOT EXISTS (SELECT 1 FROM inbox_item i WHERE i.item_id = notice.item_id)";
        self.write(sql, (before.unix_millis(),))
    }

    fn keep_receivers(&mut self, receivers: &[String]) -> Result<()> {
        let sql = "SELECT DISTINCT receiver FROM notice WHERE told_at IS NULL";
        for receiver in self.many(sql, (), |row| row.text(0))? {
            if !receivers.contains(&receiver) {
                let sql = "DELETE FROM notice WHERE receiver = ?1 AND told_at IS NULL";
                self.write(sql, (receiver,))?;
            }
        }
        Ok(())
    }
}

fn read(row: &Row<'_>) -> Result<NoticeRow> {
    let told_at = match row.optional_text(6) {
        Ok(None) => None,
        // A number is no text.
        _ => Some(Time::from_unix_millis(row.integer(6)?)),
    };
    Ok(NoticeRow {
        project_id: row.id(0)?,
        item: row.text(1)?,
        source: row.text(2)?,
        urgency: Urgency::of(row.integer(3)?).ok_or_else(|| damaged("an urgency"))?,
        from: Time::from_unix_millis(row.integer(4)?),
        message: row.optional_text(5)?,
        told_at,
    })
}
