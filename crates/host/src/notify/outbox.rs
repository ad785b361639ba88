//! What each receiver is told, in the store.

use std::sync::Arc;

use accord_base::inbox::Urgency;
use accord_contract::{Failure, Time};
use accord_memory::UnitResult;
use accord_notify::pace::{is_due, is_ready, may_send, within_an_hour};
use accord_notify::{Earlier, Message, Told, plan};
use accord_store::{InboxRow, MarkKind, NoticeRow, ReadUnit, Scope, WriteUnit};
use accord_system::durable_step;

use super::receiver::Receiver;
use crate::http::Host;

/// How many items are looked at in one transaction.
const PAGE: usize = 200;
/// The most items of a message.
const MOST: usize = 20_000;
/// How long what was told about an item that is gone is kept, in seconds.
const KEPT_SECONDS: i64 = 24 * 3_600;
/// The beginning of the name of a setting of the store: when a receiver got its last messages.
const SENT: &str = "notify.sent.";

/// What a receiver is told next.
struct Next {
    /// The id of a message that did not arrive.
    again: Option<String>,
    told: Vec<(NoticeRow, InboxRow)>,
    /// What ended, or is claimed.
    ended: Vec<NoticeRow>,
}

impl Host {
    /// Looks at the items that nobody has looked at, and notes who is told.
    pub(super) async fn look_at_inbox(&self, receivers: &[Arc<Receiver>]) -> Result<(), Failure> {
        loop {
            let now = self.now();
            let unseen = self.units().read(move |unit| Ok(unit.unseen_items(now, 1)?)).await?;
            if unseen.is_empty() {
                return Ok(());
            }
            let receivers = receivers.to_vec();
            self.units().write(move |unit| look(unit, &receivers, now)).await?;
            durable_step("notify.planned");
        }
    }

    /// The message that a receiver is sent now.
    pub(super) async fn next_message(
        &self,
        receiver: &Arc<Receiver>,
    ) -> Result<Option<Message>, Failure> {
        let (now, settings) = (self.now(), &self.settings().notify);
        let (group, per_hour) = (settings.group, settings.per_hour);
        if receiver.is_quiet(now) {
            return Ok(None);
        }
        let asked = Arc::clone(receiver);
        let read = move |unit: &dyn ReadUnit| -> UnitResult<Option<Next>> {
            let Some(untold) = unit.untold(&asked.name)? else { return Ok(None) };
            let is_time = || -> UnitResult<bool> {
                let sent = sent(unit, &asked.name)?;
                Ok(is_due(untold.first, now, group) && may_send(&sent, now, per_hour))
            };
            match untold.message.is_some() || is_time()? {
                true => next(unit, &asked, untold.message, now).map(Some),
                false => Ok(None),
            }
        };
        let Some(next) = self.units().read(read).await? else { return Ok(None) };
        let name = receiver.name.clone();
        let id = next.again.clone().unwrap_or_else(|| {
            Message::id_of(&name, next.told.iter().map(|(notice, _)| &*notice.item), now)
        });
        let told = next
            .told
            .iter()
            .map(|(_, row)| Told { project: row.project_id.clone(), waiting: row.waiting.clone() });
        let message = Message::new(&id, &name, now, self.url(), told.collect());
        if next.again.is_none() || !next.ended.is_empty() {
            self.units().write(move |unit| make(unit, &name, &id, &next)).await?;
            durable_step("notify.grouped");
        }
        Ok(message)
    }

    /// Notes that a message was delivered.
    pub(super) async fn note_told(&self, receiver: &str, message: &str) -> Result<(), Failure> {
        let (receiver, message, now) = (receiver.to_owned(), message.to_owned(), self.now());
        let write = move |unit: &mut dyn WriteUnit| {
            unit.tell(&receiver, &message, now)?;
            let mut sent = within_an_hour(&sent(unit, &receiver)?, now);
            sent.push(now);
            let sent: Vec<_> = sent.iter().map(|at| at.unix_millis().to_string()).collect();
            let name = format!("{SENT}{receiver}");
            Ok(unit.put_setting(Scope::Store, &name, Some(&sent.join(" ")))?)
        };
        self.units().write(write).await
    }

    /// Deletes what was told long ago, and what is for receivers that there are no more.
    pub(super) async fn forget_notices(&self, receivers: Vec<String>) -> Result<(), Failure> {
        let before = self.now().add_seconds(-KEPT_SECONDS);
        let write = move |unit: &mut dyn WriteUnit| {
            unit.keep_receivers(&receivers)?;
            Ok(unit.forget_notices(before)?)
        };
        self.units().write(write).await
    }
}

fn look(unit: &mut dyn WriteUnit, receivers: &[Arc<Receiver>], now: Time) -> UnitResult<()> {
    for row in unit.unseen_items(now, PAGE)? {
        for receiver in receivers {
            if waits(unit, receiver, &row, now)? {
                note(unit, receiver, &row, now)?;
            }
        }
        unit.see_item(&row, now)?;
    }
    Ok(())
}

/// Notes that a receiver is told an item, if it is.
fn note(
    unit: &mut dyn WriteUnit,
    receiver: &Receiver,
    row: &InboxRow,
    now: Time,
) -> UnitResult<()> {
    let (project, name) = (&row.project_id, &receiver.name);
    let urgency = row.waiting.urgency_at(now);
    if !receiver.wants.has(project, &row.waiting.kind, urgency) {
        return Ok(());
    }
    let (item, source) = (row.id(), NoticeRow::source_of(row));
    let earlier = |notice: NoticeRow| Earlier { urgency: notice.urgency, told_at: notice.told_at };
    let same = unit.notice(name, project, &item)?.map(earlier);
    let before = unit.last_told(name, project, &source)?.map(earlier);
    let Some(from) = plan(urgency, now, same, before) else { return Ok(()) };
    let project_id = project.clone();
    let notice =
        NoticeRow { project_id, item, source, urgency, from, message: None, told_at: None };
    Ok(unit.put_notice(name, &notice)?)
}

/// Whether an item waits for a receiver: nobody looks at it, and the person did not put it off.
fn waits<U: ReadUnit + ?Sized>(
    unit: &U,
    receiver: &Receiver,
    row: &InboxRow,
    now: Time,
) -> UnitResult<bool> {
    if !row.waiting.is_shown_at(now) || !receiver.may_read(&row.project_id) {
        return Ok(false);
    }
    // What was decided, and waits for its edge.
    if row.waiting.urgency_at(now) == Urgency::Notice {
        return Ok(false);
    }
    let person = receiver.person.as_ref().map(|person| person.actor.as_str());
    let marks = unit.inbox_marks(&row.project_id, &row.id())?;
    Ok(!marks.iter().any(|(kind, mark)| {
        let stops = match kind {
            MarkKind::Claim => true,
            MarkKind::Snooze => person == Some(mark.actor.as_str()),
            MarkKind::Assignment => false,
        };
        stops && mark.until.as_ref().is_none_or(|until| until.time() > now)
    }))
}

/// What a receiver is told now: again what did not arrive, or everything that can be told.
fn next(
    unit: &dyn ReadUnit,
    receiver: &Receiver,
    again: Option<String>,
    now: Time,
) -> UnitResult<Next> {
    let mut next = Next { again, told: Vec::new(), ended: Vec::new() };
    for (notice, item) in unit.untold_items(&receiver.name, MOST)? {
        let is_part = match &next.again {
            Some(message) => notice.message.as_ref() == Some(message),
            None => is_ready(notice.from, now),
        };
        if !is_part {
            continue;
        }
        match item {
            Some(row) if waits(unit, receiver, &row, now)? => next.told.push((notice, row)),
            _ => next.ended.push(notice),
        }
    }
    Ok(next)
}

/// Makes a message of what is told, and forgets what ended.
fn make(unit: &mut dyn WriteUnit, receiver: &str, id: &str, next: &Next) -> UnitResult<()> {
    for notice in &next.ended {
        unit.remove_notice(receiver, &notice.project_id, &notice.item)?;
    }
    for (notice, _) in next.told.iter().filter(|_| next.again.is_none()) {
        let message = Some(id.to_owned());
        unit.put_notice(receiver, &NoticeRow { message, ..notice.clone() })?;
    }
    Ok(())
}

/// When a receiver got its last messages.
fn sent<U: ReadUnit + ?Sized>(unit: &U, receiver: &str) -> UnitResult<Vec<Time>> {
    let text = unit.setting(Scope::Store, &format!("{SENT}{receiver}"))?.unwrap_or_default();
    let times = text.split(' ').filter_map(|at| at.parse().ok());
    Ok(times.map(Time::from_unix_millis).collect())
}
