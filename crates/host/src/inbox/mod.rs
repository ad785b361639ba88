//! The inbox: what waits for people in every protocol. This is where protocols meet, which do not
//! know each other: the store keeps the items, the services of each protocol show the evidence, and
//! decisions are made with the operations of the protocols ([`verbs`]).

mod evidence;
mod follow;
mod link;
mod tasks;
mod verbs;

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

use accord_api::operations::inbox::{InboxCounts, InboxMarking, InboxQuery, MarkInboxRequest};
use accord_base::inbox::{
    CLAIM_SECONDS, INBOX_ASSIGNED, INBOX_CLAIMED, INBOX_RELEASED, InboxItem, InboxMark,
    URGENT_SNOOZE_SECONDS, Urgency, event,
};
use accord_base::{Author, By, Caller, Decision, Door, Need, ProjectId, Verb, cursor};
use accord_contract::{Code, Failure, Object, Time, Timestamp, Value};
use accord_memory::{UnitError, UnitResult};
use accord_store::{InboxPosition, InboxRow, MarkKind, ReadUnit, Units, WriteUnit};

use crate::http::Host;

pub(crate) use self::follow::{Bell, follow};
pub(crate) use self::link::PersonLink;
pub(crate) use self::tasks::{clear, refresh};
pub use self::verbs::own_verb;

/// The mark of the cursors of the list.
const LIST: &str = "ib";
/// The items of a page that names no number.
const DEFAULT: u32 = 50;
/// How many items of an urgency are counted.
pub(super) const COUNTED: usize = 1_000;
/// How long something is put off, in seconds, unless the request says otherwise.
const SNOOZE_SECONDS: i64 = 3_600;

/// A page of the inbox.
pub(crate) struct Page {
    pub(crate) items: Vec<InboxItem>,
    pub(crate) next_cursor: Option<String>,
    pub(crate) as_of: Timestamp,
    pub(crate) counts: Option<InboxCounts>,
}

impl Host {
    /// A page of what waits in the projects of a caller.
    pub(crate) async fn inbox(&self, caller: &Caller, asked: InboxQuery) -> Result<Page, Failure> {
        let projects = scope(caller, asked.project.as_ref())?;
        let reader = reader(caller, asked.actor.as_deref())?;
        if asked.mine && reader.is_none() {
            return Err(nobody());
        }
        self.refresh_tasks(projects.as_ref()).await;
        let after = asked.cursor.as_deref().map(decode).transpose()?;
        // The pages of one list have one time, so that no item is skipped or repeated.
        let now = after.as_ref().map_or_else(|| self.now(), |(now, _)| *now);
        let limit = asked.limit.unwrap_or(DEFAULT) as usize;
        let mut page = self
            .units()
            .read(move |unit| {
                let query = accord_store::InboxQuery {
                    now,
                    projects: projects.as_ref(),
                    kind: asked.kind.as_deref(),
                    only_for: reader.as_deref().filter(|_| asked.mine),
                    awake_for: reader.as_deref().filter(|_| !asked.snoozed),
                    after: after.as_ref().map(|(_, position)| position),
                    limit: limit + 1,
                };
                let mut rows = unit.inbox(&query)?;
                let has_more = rows.len() > limit;
                rows.truncate(limit);
                let last = rows.last().filter(|_| has_more);
                let next_cursor = last.map(|row| encode(now, &row.position(now)));
                let counts = match asked.count {
                    true => Some(counts(unit.inbox_counts(&query, COUNTED + 1)?)),
                    false => None,
                };
                let item = |row: &InboxRow| item(unit, row, reader.as_deref(), now);
                let items = rows.iter().map(item).collect::<UnitResult<Vec<_>>>()?;
                Ok(Page { items, next_cursor, as_of: Timestamp::emit(now), counts })
            })
            .await?;
        for item in &mut page.items {
            self.add_decisions(caller, item).await;
        }
        Ok(page)
    }

    /// One item with its evidence. Fails with `INBOX_ITEM_NOT_FOUND`, `ID_AMBIGUOUS`.
    pub(crate) async fn inbox_item(
        &self,
        caller: &Caller,
        name: &str,
        actor: Option<&str>,
    ) -> Result<InboxItem, Failure> {
        let projects = scope(caller, None)?;
        let reader = reader(caller, actor)?;
        self.refresh_tasks(projects.as_ref()).await;
        let mut found = self.find_item(&projects, name, reader.as_deref()).await?;
        if found.kind.starts_with("task.") && verbs::edge_of(&found).is_none() {
            // A decision a moment ago: the scheduler looks at the tree a few times a second.
            let own = BTreeSet::from([found.project_id.clone()]);
            self.refresh_now(Some(&own)).await;
            found = self.find_item(&projects, &found.id, reader.as_deref()).await?;
        }
        self.add_evidence(caller, &mut found).await?;
        Ok(found)
    }

    async fn find_item(
        &self,
        projects: &Option<BTreeSet<ProjectId>>,
        name: &str,
        reader: Option<&str>,
    ) -> Result<InboxItem, Failure> {
        let (projects, name) = (projects.clone(), name.to_owned());
        let (reader, now) = (reader.map(str::to_owned), self.now());
        let read = move |unit: &dyn ReadUnit| {
            let row = named(unit, projects.as_ref(), &name, now)?;
            item(unit, &row, reader.as_deref(), now)
        };
        self.units().read(read).await
    }

    /// Marks an item in the name of who asks.
    pub(crate) async fn mark_inbox(
        &self,
        caller: &Caller,
        name: &str,
        actor: Option<&str>,
        (door, request): (Door, MarkInboxRequest),
    ) -> Result<InboxItem, Failure> {
        let author = actor.map(|actor| By::parse(actor, door)).transpose();
        let author = author.map_err(|failure| failure.at("/actor"))?.map(|by| by.actor);
        // What an agent marks as its own, or puts aside, people would not look at.
        let need = Need::Decide(Decision::PersonAnswer);
        let by = caller.attribute(need, Author::proven(author, "/actor"))?.by(door);
        let by = by.ok_or_else(nobody)?;
        let projects = scope(caller, None)?;
        self.refresh_tasks(projects.as_ref()).await;
        let (searched, now) = (name.to_owned(), self.now());
        let row =
            self.units().read(move |unit| named(unit, projects.as_ref(), &searched, now)).await?;
        caller.access().may(Verb::Write, &row.project_id)?;
        let to = match &request.to {
            Some(to) => By::parse(to, door).map_err(|failure| failure.at("/to"))?.name().to_owned(),
            None => by.name().to_owned(),
        };
        let id = row.id();
        self.units()
            .write(move |unit| {
                let found = unit.project(&row.project_id)?;
                if found.is_some_and(|project| project.archived_at.is_some()) {
                    let message = format!("the project {:?} is archived", row.project_id.as_str());
                    return Err(Failure::new(Code::AgenticProjectArchived, message).into());
                }
                mark(unit, &row, &request, (by.name(), &to), now)
            })
            .await?;
        self.inbox_item(caller, &id, actor).await
    }

    pub(crate) fn units(&self) -> Units {
        Units::new(Arc::clone(self.memory().store()))
    }

    pub(crate) fn now(&self) -> Time {
        Time::from_unix_millis(accord_system::now().unix_millis())
    }
}

/// Writes a mark, and the event about it. What a person puts off is nobody else's business.
fn mark(
    unit: &mut dyn WriteUnit,
    row: &InboxRow,
    request: &MarkInboxRequest,
    (by, to): (&str, &str),
    now: Time,
) -> UnitResult<()> {
    let (project, id) = (&row.project_id, row.id());
    let urgent = row.waiting.urgency_at(now) == Urgency::Loss;
    let seconds = request.seconds.map(|seconds| i64::try_from(seconds).unwrap_or(i64::MAX));
    let until = |seconds: i64| Some(Timestamp::emit(now.add_seconds(seconds)));
    let made = |actor: &str, until| InboxMark {
        actor: actor.to_owned(),
        at: Timestamp::emit(now),
        until,
        extra: Object::new(),
    };
    let (kind, mark, announced) = match request.mark {
        InboxMarking::Claim => {
            let seconds = seconds.unwrap_or(CLAIM_SECONDS).min(CLAIM_SECONDS);
            (MarkKind::Claim, made(by, until(seconds)), Some(INBOX_CLAIMED))
        }
        InboxMarking::Assign => {
            (MarkKind::Assignment, made(to, seconds.and_then(until)), Some(INBOX_ASSIGNED))
        }
        InboxMarking::Snooze => {
            let most = if urgent { URGENT_SNOOZE_SECONDS } else { i64::MAX };
            let seconds = seconds.unwrap_or(SNOOZE_SECONDS.min(most));
            if seconds > most {
                let message = format!("an item of urgency 1 is put off for {most} s at most");
                return Err(Failure::new(Code::WireFieldValue, message).at("/seconds").into());
            }
            (MarkKind::Snooze, made(by, until(seconds)), None)
        }
        InboxMarking::Release => {
            let mut removed = false;
            for kind in [MarkKind::Claim, MarkKind::Assignment] {
                removed |= unit.remove_inbox_mark(project, &id, kind, by)?;
            }
            if removed {
                let event = event(INBOX_RELEASED, project, &id, &made(by, None));
                unit.append_event(project, &(&event).into())?;
            }
            return Ok(());
        }
        InboxMarking::Wake => {
            unit.remove_inbox_mark(project, &id, MarkKind::Snooze, by)?;
            return Ok(());
        }
    };
    unit.put_inbox_mark(project, &id, kind, &mark)?;
    if let Some(announced) = announced {
        let event = event(announced, project, &id, &mark);
        unit.append_event(project, &(&event).into())?;
    }
    Ok(())
}

/// The projects whose items a caller may see; `None` for all of them.
fn scope(
    caller: &Caller,
    project: Option<&ProjectId>,
) -> Result<Option<BTreeSet<ProjectId>>, Failure> {
    let access = caller.access();
    if let Some(project) = project {
        access.may(Verb::Read, project)?;
        return Ok(Some(BTreeSet::from([project.clone()])));
    }
    access.may_anywhere(Verb::Read)?;
    Ok(access.projects().cloned())
}

fn nobody() -> Failure {
    let message = "the request does not say who asks: name an actor, such as human:NAME";
    Failure::new(Code::WireFieldMissing, message).at("/actor")
}

/// Who reads: the named actor, else that of the key.
fn reader(caller: &Caller, named: Option<&str>) -> Result<Option<String>, Failure> {
    if let Some(named) = named {
        let by = By::parse(named, Door::Http).map_err(|failure| failure.at("/actor"))?;
        return Ok(Some(by.name().to_owned()));
    }
    let actor = caller.access().actor();
    Ok(actor
        .map(|key| By::new(accord_base::Actor::new(key.id.clone(), key.kind), Door::Http))
        .map(|by| by.name().to_owned()))
}

/// The one item that is shown now under an id or a short name.
fn named(
    unit: &dyn ReadUnit,
    projects: Option<&BTreeSet<ProjectId>>,
    name: &str,
    now: Time,
) -> UnitResult<InboxRow> {
    const MOST: usize = 20;
    let mut found = unit.inbox_named(name, MOST)?;
    found.retain(|row| {
        row.waiting.is_shown_at(now) && projects.is_none_or(|all| all.contains(&row.project_id))
    });
    match found.len() {
        1 => Ok(found.remove(0)),
        0 => {
            let message = format!("nothing waits under the name {name:?}");
            let help = "it was decided, or its source changed: `accord inbox` lists what waits";
            Err(Failure::new(Code::InboxItemNotFound, message).suggesting(help).into())
        }
        count => {
            let ids: Vec<Value> = found.iter().map(|row| row.id().into()).collect();
            let message = format!("{count} items begin with {name:?}; give more of the name");
            Err(Failure::new(Code::IdAmbiguous, message).with("candidates", ids).into())
        }
    }
}

fn item(
    unit: &dyn ReadUnit,
    row: &InboxRow,
    reader: Option<&str>,
    now: Time,
) -> UnitResult<InboxItem> {
    let marks = unit.inbox_marks(&row.project_id, &row.id()).map_err(UnitError::from)?;
    let mut item = row.item(marks, reader, now);
    item.verbs = verbs::of(&item);
    Ok(item)
}

/// The counts of a list that was counted up to one more than [`COUNTED`].
fn counts(found: [u64; 5]) -> InboxCounts {
    let by_urgency = found.map(|count| count.min(COUNTED as u64));
    InboxCounts {
        total: by_urgency.iter().sum(),
        by_urgency: by_urgency.to_vec(),
        more: (found != by_urgency).then_some(true),
        extra: Object::new(),
    }
}

fn encode(now: Time, position: &InboxPosition) -> String {
    let InboxPosition { urgency, deadline, behind: Reverse(behind), since, id } = position;
    let values = [
        now.unix_millis().into(),
        urgency.number().into(),
        (*deadline).into(),
        (*behind).into(),
        (*since).into(),
        id.as_str().into(),
    ];
    cursor::write(LIST, values.to_vec())
}

fn decode(text: &str) -> Result<(Time, InboxPosition), Failure> {
    let values = cursor::read(LIST, text)?;
    let read = || {
        let [now, urgency, deadline, behind, since, id] = <[Value; 6]>::try_from(values).ok()?;
        let position = InboxPosition {
            urgency: Urgency::of(urgency.as_i64()?)?,
            deadline: deadline.as_i64()?,
            behind: Reverse(behind.as_u64()?),
            since: since.as_i64()?,
            id: id.as_str()?.to_owned(),
        };
        Some((Time::from_unix_millis(now.as_i64()?), position))
    };
    read().ok_or_else(cursor::invalid)
}
