//! The inbox as lines, for a comparison. The model computes what waits from its sources for each
//! query, so an engine that agrees with it keeps the inbox equal to its sources.

use std::collections::BTreeSet;

use accord_base::ProjectId;
use accord_base::inbox::{InboxMark, Urgency, Waiting, kind};
use accord_contract::{Object, Time, Timestamp};

use super::Generator;
use crate::{
    InboxQuery, InboxRow, MarkKind, NoticeRow, ReadUnit, Result, Store, StoreExt as _, WriteUnit,
};

/// A write of the inbox.
#[derive(Clone, Debug)]
pub(super) enum InboxStep {
    Tasks(ProjectId, Vec<Waiting>),
    Mark(ProjectId, String, MarkKind, InboxMark),
    Unmark(ProjectId, String, MarkKind, String),
    Rebuild,
}

/// Reads everything about the inbox.
pub(super) fn everything(store: &dyn Store) -> Vec<String> {
    let lines = store.read(|unit| all(unit));
    lines.unwrap_or_else(|error| panic!("{error}: {}", error.detail()))
}

fn all(unit: &dyn ReadUnit) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    let some: BTreeSet<ProjectId> = Generator::projects().skip(1).collect();
    for now in [0, MIDDLE, 4_000_000_000_000] {
        let all = InboxQuery {
            now: Time::from_unix_millis(now),
            projects: None,
            kind: None,
            only_for: None,
            awake_for: None,
            after: None,
            limit: usize::MAX,
        };
        let rows = unit.inbox(&all)?;
        if now == MIDDLE {
            assert_eq!(pages(unit, &all)?, rows);
            for row in rows.iter().take(3) {
                assert!(unit.inbox_named(&row.id(), 9)?.contains(row));
            }
        }
        let counts = unit.inbox_counts(&all, usize::MAX)?;
        assert_eq!(counts.iter().sum::<u64>(), rows.len() as u64);
        assert_eq!(unit.inbox_counts(&all, 2)?, counts.map(|count| count.min(2)));
        lines.push(format!("{now} {counts:?}"));
        let narrowed = [
            all,
            InboxQuery { projects: Some(&some), ..all },
            InboxQuery { kind: Some(kind::PACKAGE_REVIEW), ..all },
            InboxQuery { kind: Some(kind::TASK_REVIEW), projects: Some(&some), ..all },
            InboxQuery { only_for: Some(PERSON), projects: Some(&some), ..all },
            InboxQuery { only_for: Some(PERSON), ..all },
            InboxQuery { awake_for: Some(PERSON), ..all },
        ];
        for query in narrowed {
            let rows = unit.inbox(&query)?;
            let counts = unit.inbox_counts(&query, usize::MAX)?;
            assert_eq!(counts.iter().sum::<u64>(), rows.len() as u64);
            for row in rows {
                let marks = unit.inbox_marks(&row.project_id, &row.id())?;
                lines.push(format!("{row:?} {marks:?}"));
            }
        }
    }
    lines.push(format!("{:?}", unit.untold(RECEIVER)?));
    for (told, item) in unit.untold_items(RECEIVER, 20)? {
        assert_eq!(unit.notice(RECEIVER, &told.project_id, &told.item)?.as_ref(), Some(&told));
        lines.push(format!("{told:?} {item:?}"));
    }
    for project in Generator::projects() {
        for by in Generator::actors().map(Some).chain([None]) {
            let at = Time::from_unix_millis(MIDDLE);
            lines.push(format!("{}", unit.open_asks(&project, by.as_ref(), at)?));
        }
        lines.push(format!("{:?}", unit.last_told(RECEIVER, &project, PERSON)?));
    }
    Ok(lines)
}

fn pages(unit: &dyn ReadUnit, query: &InboxQuery<'_>) -> Result<Vec<InboxRow>> {
    let mut rows: Vec<InboxRow> = Vec::new();
    loop {
        let after = rows.last().map(|row| row.position(query.now));
        let page = unit.inbox(&InboxQuery { after: after.as_ref(), limit: 3, ..*query })?;
        let is_last = page.len() < 3;
        rows.extend(page);
        if is_last {
            return Ok(rows);
        }
    }
}

impl InboxStep {
    pub(super) fn random(generator: &mut Generator) -> Self {
        let project = generator.project();
        match generator.random.below(8) {
            0..=2 => {
                let count = generator.random.below(4);
                Self::Tasks(project, (0..count).map(|_| task(generator)).collect())
            }
            3..=5 => {
                let (kind, mark) = (mark_kind(generator), mark(generator));
                Self::Mark(project.clone(), item(generator, &project), kind, mark)
            }
            6 => {
                let (kind, actor) = (mark_kind(generator), mark(generator).actor);
                Self::Unmark(project.clone(), item(generator, &project), kind, actor)
            }
            _ => Self::Rebuild,
        }
    }

    /// Whether a store accepts the step.
    pub(super) fn fits(&self, unit: &dyn WriteUnit) -> Result<bool> {
        match self {
            Self::Tasks(project, _) | Self::Mark(project, ..) | Self::Unmark(project, ..) => {
                Ok(unit.project(project)?.is_some())
            }
            Self::Rebuild => Ok(true),
        }
    }

    pub(super) fn take(&self, unit: &mut dyn WriteUnit) -> Result<String> {
        match self {
            Self::Tasks(project, items) => Ok(unit.set_task_items(project, items)?.to_string()),
            Self::Mark(project, item, kind, mark) => {
                unit.put_inbox_mark(project, item, *kind, mark)?;
                unit.put_notice(RECEIVER, &notice(project, item, *kind, mark))?;
                Ok(format!("{:?}", unit.inbox_marks(project, item)?))
            }
            Self::Unmark(project, item, kind, actor) => {
                unit.tell(RECEIVER, kind.as_str(), Time::from_unix_millis(MIDDLE))?;
                Ok(unit.remove_inbox_mark(project, item, *kind, actor)?.to_string())
            }
            Self::Rebuild => unit.rebuild_inbox().map(|()| String::new()),
        }
    }
}

/// A time between those of the generator.
const MIDDLE: i64 = 1_776_542_400_000;
const PERSON: &str = "human:lead";
const RECEIVER: &str = "list";

/// What somebody is told with a mark.
fn notice(project: &ProjectId, item: &str, kind: MarkKind, mark: &InboxMark) -> NoticeRow {
    NoticeRow {
        project_id: project.clone(),
        item: item.to_owned(),
        source: mark.actor.clone(),
        urgency: Urgency::Piece,
        from: mark.at.time(),
        message: (kind != MarkKind::Snooze).then(|| kind.as_str().to_owned()),
        told_at: None,
    }
}

fn task(generator: &mut Generator) -> Waiting {
    let opening = generator.random.below(3) as u64;
    let subject = format!("TASK-{}", generator.random.below(3));
    let since = generator.time().time();
    let kinds = [kind::TASK_REVIEW, kind::TASK_BLOCKED];
    let title = generator.words(3);
    let mut task = Waiting::new(generator.random.pick(&kinds), &subject, opening, title, since);
    let urgency = |generator: &mut Generator| generator.random.pick(&Urgency::ALL);
    task.urgency = urgency(generator);
    let time = |generator: &mut Generator, one_in| {
        generator.random.one_in(one_in).then(|| generator.time().time())
    };
    (task.deadline, task.shown_from) = (time(generator, 2), time(generator, 3));
    task.gone_at = time(generator, 4);
    task.rises = time(generator, 2).map(|at| (at, urgency(generator)));
    task.behind = generator.random.below(3) as u64;
    task.to = generator.random.one_in(3).then(|| PERSON.to_owned());
    task
}

/// The id of an item that there may be.
fn item(generator: &mut Generator, project: &ProjectId) -> String {
    let mut task = task(generator);
    task.kind = kind::TASK_REVIEW.to_owned();
    task.id(project)
}

fn mark_kind(generator: &mut Generator) -> MarkKind {
    generator.random.pick(&[MarkKind::Claim, MarkKind::Assignment, MarkKind::Snooze])
}

fn mark(generator: &mut Generator) -> InboxMark {
    let millis =
        |at: Timestamp| Timestamp::emit(Time::from_unix_millis(at.time().unix_millis().max(0)));
    let until = generator.random.one_in(2).then(|| millis(generator.time()));
    InboxMark {
        actor: generator.random.pick(&[PERSON, "human:other"]).to_owned(),
        at: millis(generator.time()),
        until,
        extra: Object::new(),
    }
}
