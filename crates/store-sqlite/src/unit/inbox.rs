//! The inbox: items that follow from packages, questions, live sessions, requests of edges, notes
//! of damage and tasks, and marks.
//!
//! A write of a package, a question, a live session, a request or a note takes note of what it
//! touched. At the end of the transaction the items of all of that are made again, once each.

use std::collections::BTreeSet;

use accord_base::inbox::{HANDLE_DIGITS, InboxMark, Urgency, Waiting, handle, is_handle};
use accord_base::{ActorKey, ProjectId};
use accord_contract::{Object, Time, Timestamp};
use accord_live_core::SessionId;
use accord_live_core::session::waiting;
use accord_memory_core::damage::{self, Damage};
use accord_memory_core::inbox::{PackageFacts, QuestionFacts, package, question};
use accord_memory_core::operations::Suspect;
use accord_memory_core::package::QuestionKey;
use accord_store::derived::{ALL_READERS, LinkRows as _, PackageRows as _};
use accord_store::{
    Edges as _, Inbox, InboxQuery, InboxRow, InboxWrites, LivePart, LiveSessions as _, MarkKind,
    Result, Table, time_key,
};
use rusqlite::params;

use super::column::{Row, actor_columns};
use super::derived::Wrong;
use super::{Unit, number};
use crate::error::damaged;

/// What was written since the items were made.
#[derive(Default)]
pub(super) struct Touched {
    packages: BTreeSet<i64>,
    questions: BTreeSet<i64>,
    sessions: BTreeSet<SessionId>,
    /// Requests of edges: project, edge and item.
    requests: BTreeSet<(i64, String, String)>,
    /// Settings that note damage: project and name.
    notes: BTreeSet<(i64, String)>,
}

/// How many damaged items are reported.
const NAMED: usize = 100;

/// The columns that [`read`] reads, and the origin.
macro_rules! item_columns {
    () => {
        "j.project_id, i.kind, i.subject, i.opening, i.urgency, i.rises_at, i.rises_to, \
         i.shown_from, i.gone_at, i.deadline, i.behind, i.since, i.text, i.origin"
    };
}

/// Selects the columns that [`read`] reads.
macro_rules! select_item {
    ($rest:literal) => {
        concat!(
            "SELECT ",
            $crate::unit::inbox::item_columns!(),
            " FROM inbox_item i CROSS JOIN project j ON j.pk = i.project ",
            $rest
        )
    };
}

pub(super) use {item_columns, select_item};

/// What is kept of an item of an origin.
type Made = Option<(i64, InboxRow)>;

impl Unit<'_> {
    pub(super) fn touch_package(&self, package: i64) {
        self.touched.borrow_mut().packages.insert(package);
    }

    pub(super) fn touch_question(&self, question: i64) {
        self.touched.borrow_mut().questions.insert(question);
    }

    pub(super) fn touch_live(&self, session: &SessionId) {
        self.touched.borrow_mut().sessions.insert(session.clone());
    }

    pub(super) fn touch_edge_item(&self, project: i64, edge: &str, item: &str) {
        let request = (project, edge.to_owned(), item.to_owned());
        self.touched.borrow_mut().requests.insert(request);
    }

    /// Touches a setting of a project, if it notes damage.
    pub(super) fn touch_setting(&self, project: i64, name: &str) {
        if name.starts_with(damage::NOTES) {
            self.touched.borrow_mut().notes.insert((project, name.to_owned()));
        }
    }

    /// Touches everything that an edge waits for.
    pub(super) fn touch_edge(&self, project: i64, edge: &str) -> Result<()> {
        let sql = "SELECT item_id FROM edge_item WHERE project = ?1 AND edge_id = ?2
            AND kind = 'request'";
        for item in self.many(sql, (project, edge), |row| row.text(0))? {
            self.touch_edge_item(project, edge, &item);
        }
        Ok(())
    }

    /// Makes the items of everything that was touched.
    pub(super) fn settle_inbox(&self) -> Result<()> {
        let Touched { packages, questions, sessions, requests, notes } = self.touched.take();
        for package in packages {
            self.put_item(&format!("package/{package}"), self.item_of_package(package)?)?;
        }
        for question in questions {
            self.put_item(&format!("question/{question}"), self.item_of_question(question)?)?;
        }
        for session in sessions {
            let (origin, made) = (format!("live/{session}"), self.item_of_live(&session)?);
            if let Some((project, _)) = &made {
                // A session may have changed its project.
                let sql = "DELETE FROM inbox_item WHERE origin = ?1 AND project <> ?2";
                self.write(sql, (&origin, project))?;
            }
            self.put_item(&origin, made)?;
        }
        for request in requests {
            self.put_item(&origin_of(&request), self.item_of_edge(&request)?)?;
        }
        for note in notes {
            self.put_item(&origin_of_note(&note), self.item_of_note(&note)?)?;
        }
        Ok(())
    }

    fn put_item(&self, origin: &str, made: Made) -> Result<()> {
        match made {
            Some((project, row)) => self.write_item(origin, project, &row),
            None => self.write("DELETE FROM inbox_item WHERE origin = ?1", (origin,)),
        }
    }

    fn write_item(&self, origin: &str, project: i64, row: &InboxRow) -> Result<()> {
        let sql = "INSERT INTO inbox_item (origin, project, item_id, handle, kind, subject,
                opening, urgency, rises_at, rises_to, shown_from, gone_at, deadline, behind,
                since, addressee, text, unseen_at)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17,
                coalesce(?11, 0))
            ON CONFLICT (project, origin) DO UPDATE SET
                unseen_at = CASE WHEN item_id IS ?3 AND urgency IS ?8 AND rises_at IS ?9
                    AND rises_to IS ?10 AND shown_from IS ?11
                    THEN unseen_at ELSE coalesce(?11, 0) END,
                item_id = ?3, handle = ?4, kind = ?5, subject = ?6, opening = ?7, urgency = ?8,
                rises_at = ?9, rises_to = ?10, shown_from = ?11, gone_at = ?12, deadline = ?13,
                behind = ?14, since = ?15, addressee = ?16, text = ?17";
        let (id, waiting) = (row.id(), &row.waiting);
        let (rises_at, rises_to) =
            waiting.rises.map(|(at, to)| (at.unix_millis(), to.number())).unzip();
        let millis = |time: Option<Time>| time.map(Time::unix_millis);
        let values = params![
            origin,
            project,
            id,
            handle(&id),
            waiting.kind,
            waiting.subject,
            number(waiting.opening),
            waiting.urgency.number(),
            rises_at,
            rises_to,
            millis(waiting.shown_from),
            millis(waiting.gone_at),
            millis(waiting.deadline).unwrap_or(i64::MAX),
            -number(waiting.behind),
            waiting.since.unix_millis(),
            waiting.to,
            waiting.texts(),
        ];
        self.write(sql, values)
    }

    /// The item of a package. One that cannot be read has none: a verification notes it.
    fn item_of_package(&self, number: i64) -> Result<Made> {
        let sql = "SELECT j.project_id, p.project FROM package p JOIN project j ON j.pk = p.project
            WHERE p.pk = ?1 AND (p.quarantined_at IS NOT NULL
                OR p.status IN ('awaiting_review', 'revision_requested'))";
        let found =
            self.one(sql, (number,), |row| Ok((row.id::<ProjectId>(0), row.integer(1)?)))?;
        let Some((Ok(project), pk)) = found else { return Ok(None) };
        let Some(Ok(row)) = self.numbered(number, &project)? else { return Ok(None) };
        if let Some(held) = &row.quarantine {
            let item = (!held.is_rejected()).then(|| {
                damage::waiting(&Damage {
                    suspect: Suspect::Package,
                    id: row.package_id.as_str(),
                    found_at: held.at.time(),
                    cause: &held.reason,
                })
            });
            return Ok(item.map(|item| (pk, InboxRow::new(&project, item))));
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
        let log = self.log_texts(number)?;
        let item = package(&facts, log.iter().map(String::as_str));
        Ok(item.map(|item| (pk, InboxRow::new(&project, item))))
    }

    /// The item of a question that is open for every reader.
    fn item_of_question(&self, number: i64) -> Result<Made> {
        let sql = "SELECT j.project_id, q.project, q.text, q.asked_key FROM question q
            JOIN project j ON j.pk = q.project
            WHERE q.pk = ?1 AND q.open = 1 AND q.audience = ?2";
        let found = self.one(sql, (number, ALL_READERS), |row| {
            Ok((row.id::<ProjectId>(0), row.integer(1)?, row.text(2), row.text(3)?))
        })?;
        let Some((Ok(project), pk, Ok(text), newest)) = found else { return Ok(None) };
        let through = self.answered_through(&project, &QuestionKey::of(&text))?;
        let sql = "SELECT p.actor_type, p.actor_id, p.deposited_at FROM question_use u
            JOIN package p ON p.pk = u.package
            WHERE u.question = ?1 AND u.ask_key > ?2 ORDER BY u.ask_key, u.package LIMIT 1";
        let first =
            self.one(sql, (number, &through), |row| Ok((row.actor(0).ok(), row.time(2).ok())))?;
        // Since the host has it: an agent can date a package back.
        let (asked_by, since): (Option<ActorKey>, Option<Timestamp>) = first.unwrap_or_default();
        let since = since.map(|since| since.time()).or_else(|| time_key::time(&newest));
        let facts = QuestionFacts {
            text: &text,
            since: since.unwrap_or(Time::from_unix_millis(0)),
            answered_until: time_key::time(&through),
            asked_by: asked_by.as_ref(),
        };
        Ok(Some((pk, InboxRow::new(&project, question(&facts)))))
    }

    /// The item of a live session. One that cannot be read has none.
    fn item_of_live(&self, session: &SessionId) -> Result<Made> {
        let Ok(Some(row)) = self.live_session(session) else { return Ok(None) };
        let Some(project) = row.project_id.as_ref().filter(|_| row.session.head.is_asking) else {
            return Ok(None);
        };
        let ask = self.live_ask(session).ok().flatten();
        let ui = self.live_content(session, LivePart::Ui).ok().flatten().unwrap_or_default();
        let item = waiting(&row.session, ask.as_ref(), &ui);
        let Some(pk) = self.find(project)? else { return Ok(None) };
        Ok(item.map(|item| (pk, InboxRow::new(project, item))))
    }

    /// The item of a request of an edge. One that cannot be read has none.
    fn item_of_edge(&self, request: &(i64, String, String)) -> Result<Made> {
        let (pk, edge, item) = request;
        let sql = "SELECT project_id FROM project WHERE pk = ?1";
        let project = self.one(sql, (pk,), |row| Ok(row.id::<ProjectId>(0)))?;
        let Some(Ok(project)) = project else { return Ok(None) };
        let Ok(Some(row)) = self.edge(&project, edge) else { return Ok(None) };
        let Ok(Some(sent)) = self.edge_item(&project, edge, item) else { return Ok(None) };
        let sql = "SELECT text FROM edge_decision
            WHERE project = ?1 AND edge_id = ?2 AND item_id = ?3 ORDER BY decision_id";
        let decisions = self.many(sql, (pk, edge, item), |row| row.text(0))?;
        Ok(sent.waiting(&row, &decisions).map(|item| (*pk, InboxRow::new(&project, item))))
    }

    /// The item of a setting that notes damage. One that cannot be read has none.
    fn item_of_note(&self, (pk, name): &(i64, String)) -> Result<Made> {
        let sql = "SELECT j.project_id, s.value FROM setting s JOIN project j ON j.pk = s.project
            WHERE s.project = ?1 AND s.name = ?2";
        let found = self.one(sql, (pk, name), |row| Ok((row.id::<ProjectId>(0), row.text(1))))?;
        let Some((Ok(project), Ok(text))) = found else { return Ok(None) };
        let item = damage::noted(name, &text);
        Ok(item.map(|item| (*pk, InboxRow::new(&project, item))))
    }

    /// Touches everything in the store that can wait.
    fn touch_all(&self) -> Result<()> {
        let packages = "SELECT pk FROM package
            WHERE status IN ('awaiting_review', 'revision_requested')
                AND quarantined_at IS NULL
            UNION ALL SELECT pk FROM package WHERE quarantined_at IS NOT NULL";
        let questions = "SELECT pk FROM question WHERE open = 1 AND audience = ''";
        let sessions = "SELECT session_id FROM live_session WHERE is_asking = 1";
        let packages = self.many(packages, (), |row| row.integer(0))?;
        let questions = self.many(questions, (), |row| row.integer(0))?;
        let sessions = self.many(sessions, (), |row| Ok(row.id::<SessionId>(0).ok()))?;
        let requests = "SELECT project, edge_id, item_id FROM edge_item WHERE kind = 'request'";
        let requests =
            self.many(requests, (), |row| Ok((row.integer(0)?, row.text(1)?, row.text(2)?)))?;
        let notes = "SELECT project, name FROM setting WHERE project <> 0 AND name GLOB ?1";
        let pattern = format!("{}*", damage::NOTES);
        let notes = self.many(notes, (pattern,), |row| Ok((row.integer(0)?, row.text(1)?)))?;
        let mut touched = self.touched.borrow_mut();
        touched.notes.extend(notes);
        touched.requests.extend(requests);
        touched.packages.extend(packages);
        touched.questions.extend(questions);
        touched.sessions.extend(sessions.into_iter().flatten());
        Ok(())
    }

    /// Makes every item again, except those of tasks.
    pub(crate) fn make_items(&self) -> Result<()> {
        self.delete_items()?;
        self.touch_all()?;
        self.settle_inbox()
    }

    fn delete_items(&self) -> Result<()> {
        self.write("DELETE FROM inbox_item WHERE origin NOT GLOB 'task/*'", ())
    }

    /// Items of a project that are not those of their sources, except those of tasks.
    pub(super) fn wrong_items(&self, project: i64) -> Result<Vec<Wrong>> {
        let sql = select_item!("WHERE i.project = ?1 AND i.origin NOT GLOB 'task/*'");
        let mut kept = std::collections::BTreeMap::new();
        for (origin, row) in
            self.many(sql, (project,), |row| Ok((row.label(13), read(row).ok())))?
        {
            kept.insert(origin, row);
        }
        let mut wrong = Vec::new();
        let mut compare = |origin: String, made: Made| {
            let made = made.filter(|(of, _)| *of == project).map(|(_, row)| row);
            let what = match (kept.remove(&origin), made) {
                (None, None) => return,
                (Some(Some(kept)), Some(made)) if kept == made => return,
                (None, Some(_)) => "it is missing in the inbox",
                (Some(_), None) => "it does not wait",
                (Some(_), Some(_)) => "the inbox shows it differently",
            };
            if wrong.len() < NAMED {
                wrong.push((Table::Inbox, origin, what.to_owned()));
            }
        };
        // What is touched is made at the end of the transaction.
        let before = self.touched.take();
        self.touch_all()?;
        let Touched { packages, questions, sessions, requests, notes } = self.touched.take();
        self.touched.replace(before);
        for package in packages {
            compare(format!("package/{package}"), self.item_of_package(package)?);
        }
        for question in questions {
            compare(format!("question/{question}"), self.item_of_question(question)?);
        }
        for session in sessions {
            compare(format!("live/{session}"), self.item_of_live(&session)?);
        }
        for request in requests {
            compare(origin_of(&request), self.item_of_edge(&request)?);
        }
        for note in notes {
            compare(origin_of_note(&note), self.item_of_note(&note)?);
        }
        for origin in kept.keys().cloned().collect::<Vec<_>>() {
            wrong.push((Table::Inbox, origin, "nothing waits there".to_owned()));
        }
        Ok(wrong)
    }
}

/// What the item of a request of an edge comes from. Edges name themselves, so the project is part
/// of it.
fn origin_of((project, edge, item): &(i64, String, String)) -> String {
    format!("edge/{project}/{edge}/{item}")
}

/// What the item of a note of damage comes from.
fn origin_of_note((project, name): &(i64, String)) -> String {
    format!("note/{project}/{name}")
}

impl Inbox for Unit<'_> {
    fn inbox(&self, query: &InboxQuery<'_>) -> Result<Vec<InboxRow>> {
        self.page_of_items(query)
    }

    fn inbox_counts(&self, query: &InboxQuery<'_>, most: usize) -> Result<[u64; 5]> {
        self.count_items(query, most)
    }

    fn inbox_named(&self, name: &str, limit: usize) -> Result<Vec<InboxRow>> {
        let limit = super::limit(limit);
        let by_id = select_item!("WHERE i.item_id = ?1 ORDER BY i.item_id LIMIT ?2");
        let mut rows = self.many(by_id, (name, limit), |row| Ok(read(row).ok()))?;
        if rows.is_empty() && is_handle(name) {
            // The letter after the last digit is behind every short name that begins so.
            let end = format!("{name}g");
            debug_assert!(name.len() <= HANDLE_DIGITS);
            let sql =
                select_item!("WHERE i.handle >= ?1 AND i.handle < ?2 ORDER BY i.item_id LIMIT ?3");
            rows = self.many(sql, (name, end, limit), |row| Ok(read(row).ok()))?;
        }
        Ok(rows.into_iter().flatten().collect())
    }

    fn open_asks(&self, project: &ProjectId, by: Option<&ActorKey>, at: Time) -> Result<u64> {
        let sql = "SELECT count(*) FROM live_ask a JOIN live_session s ON s.pk = a.session
            JOIN inbox_item i ON i.project = s.project AND i.origin = 'live/' || s.session_id
            WHERE a.asked_by_type IS ?1 AND a.asked_by_id IS ?2 AND s.project = ?3
                AND i.gone_at > ?4";
        let ((kind, id), pk) = (actor_columns(by), self.or_none(project)?);
        let values = params![kind, id, pk, at.unix_millis()];
        Ok(self.one(sql, values, |row| row.count(0))?.unwrap_or_default())
    }

    fn inbox_marks(&self, project: &ProjectId, item: &str) -> Result<Vec<(MarkKind, InboxMark)>> {
        let sql = "SELECT kind, actor, at, until FROM inbox_mark
            WHERE project = ?1 AND item_id = ?2 ORDER BY kind, holder";
        let read = |row: &Row<'_>| {
            let stamp = |at: i64| Timestamp::emit(Time::from_unix_millis(at));
            let until = row.optional_text(3).is_ok_and(|it| it.is_none());
            let mark = InboxMark {
                actor: row.text(1)?,
                at: stamp(row.integer(2)?),
                until: if until { None } else { Some(stamp(row.integer(3)?)) },
                extra: Object::new(),
            };
            Ok((row.parsed(0, "a mark", MarkKind::parse)?, mark))
        };
        self.many(sql, (self.or_none(project)?, item), read)
    }
}

impl InboxWrites for Unit<'_> {
    fn set_task_items(&mut self, project: &ProjectId, items: &[Waiting]) -> Result<bool> {
        let pk = self.must_find(project)?;
        let rows = items.iter().map(|item| InboxRow::new(project, item.clone()));
        let mut wanted: std::collections::BTreeMap<String, InboxRow> =
            rows.map(|row| (format!("task/{}", row.id()), row)).collect();
        let sql = select_item!("WHERE i.project = ?1 AND i.origin GLOB 'task/*'");
        let kept = self.many(sql, (pk,), |row| Ok((row.label(13), read(row).ok())))?;
        let mut changed = false;
        for (origin, kept) in kept {
            match wanted.get(&origin) {
                Some(row) if kept.as_ref() == Some(row) => {
                    wanted.remove(&origin);
                }
                Some(_) => {}
                None => {
                    changed = true;
                    let sql = "DELETE FROM inbox_item WHERE project = ?1 AND origin = ?2";
                    self.write(sql, (pk, &origin))?;
                }
            }
        }
        for (origin, row) in &wanted {
            changed = true;
            self.write_item(origin, pk, row)?;
        }
        Ok(changed)
    }

    fn put_inbox_mark(
        &mut self,
        project: &ProjectId,
        item: &str,
        kind: MarkKind,
        mark: &InboxMark,
    ) -> Result<()> {
        let sql = "INSERT INTO inbox_mark (project, item_id, kind, holder, actor, at, until)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
            ON CONFLICT DO UPDATE SET actor = ?5, at = ?6, until = ?7";
        let pk = self.must_find(project)?;
        let until = mark.until.as_ref().map(|until| until.time().unix_millis());
        let (holder, at) = (kind.holder(&mark.actor), mark.at.time().unix_millis());
        self.write(sql, params![pk, item, kind.as_str(), holder, mark.actor, at, until])
    }

    fn remove_inbox_mark(
        &mut self,
        project: &ProjectId,
        item: &str,
        kind: MarkKind,
        actor: &str,
    ) -> Result<bool> {
        let sql = "DELETE FROM inbox_mark
            WHERE project = ?1 AND item_id = ?2 AND kind = ?3 AND holder = ?4";
        let pk = self.must_find(project)?;
        Ok(self.run(sql, (pk, item, kind.as_str(), kind.holder(actor)))? > 0)
    }

    fn rebuild_inbox(&mut self) -> Result<()> {
        // They are made at the end of the transaction: a job that is rolled back must not take
        // what others touched with it.
        self.delete_items()?;
        self.touch_all()
    }
}

pub(super) fn read(row: &Row<'_>) -> Result<InboxRow> {
    let time = |at: usize| -> Result<Option<Time>> {
        // A number is no text: an absent one is read as no text.
        match row.optional_text(at) {
            Ok(None) => Ok(None),
            _ => Ok(Some(Time::from_unix_millis(row.integer(at)?))),
        }
    };
    let urgency = |at: usize| Urgency::of(row.integer(at)?).ok_or_else(|| damaged("an urgency"));
    let (kind, subject) = (row.text(1)?, row.text(2)?);
    let since = Time::from_unix_millis(row.integer(11)?);
    let mut waiting = Waiting::new(&kind, &subject, row.count(3)?, String::new(), since);
    waiting.urgency = urgency(4)?;
    waiting.rises = match time(5)? {
        Some(at) => Some((at, urgency(6)?)),
        None => None,
    };
    (waiting.shown_from, waiting.gone_at) = (time(7)?, time(8)?);
    let deadline = row.integer(9)?;
    waiting.deadline = (deadline != i64::MAX).then(|| Time::from_unix_millis(deadline));
    waiting.behind = row.integer(10)?.unsigned_abs();
    let waiting = waiting.with_texts(&row.text(12)?).ok_or_else(|| damaged("texts"))?;
    Ok(InboxRow { project_id: row.id(0)?, waiting })
}
