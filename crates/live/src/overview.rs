//! The sessions of a project for people: lists, one session, what waits for an answer.

use accord_base::{Caller, Need, ProjectId, cursor, fill_page, refuse::project_not_found};
use accord_contract::{Failure, Object, Time, Timestamp, Value};
use accord_live_core::operations::questions::{
    LiveAsk, LiveAsksAnswer, LiveSessionAnswer, LiveSessionItem, LiveSessionsAnswer, actor_of,
};
use accord_live_core::session::{Content, PendingAsk, Session, asked_by};
use accord_live_core::{AppId, SessionId, tools::SessionDocument};
use accord_store::{LiveSessionQuery, ReadUnit};

use super::unit::{UnitError, UnitResult};
use super::{Found, Live, rows};

#[derive(Clone, Debug, Default)]
pub struct PageQuery {
    /// Where an earlier page ended.
    pub cursor: Option<String>,
    pub limit: usize,
}

/// A position in a list: a time, and the session.
type Position = (Time, SessionId);

/// The marks of the cursors of both lists.
const SESSIONS: &str = "lv";
const ASKS: &str = "la";

impl Live {
    /// A page of the sessions of an app that have not expired, the newest first, each with what it
    /// waits for. With a prefix, only those whose ids begin so.
    pub async fn overview(
        &self,
        caller: &Caller,
        app: &AppId,
        prefix: Option<String>,
        page: &PageQuery,
    ) -> Result<LiveSessionsAnswer, Failure> {
        let project = self.existing(caller, app).await?;
        let (after, limit) = (decoded(SESSIONS, &project, page)?, page.limit);
        let now = self.now();
        let read = self.read(move |unit| {
            let mut sessions = Vec::new();
            let next = fill_page(
                limit,
                after.clone(),
                |after, limit| {
                    let after = after.map(|(at, id): &Position| (*at, id));
                    let query = LiveSessionQuery { active_at: Some(now), after, limit };
                    Ok::<_, UnitError>(unit.live_sessions(&project, &query)?)
                },
                |row| (row.session.head.created_at, row.session.id.clone()),
                |row| {
                    let session = &row.session;
                    let begins = |prefix: &String| session.id.as_str().starts_with(prefix.as_str());
                    if !prefix.as_ref().is_none_or(begins) {
                        return Ok(None);
                    }
                    let item = item(unit, session, now)?;
                    let size = item.intent.as_ref().map_or(0, String::len);
                    sessions.push(item);
                    Ok(Some(size))
                },
            )?;
            let next_cursor = next.map(|next| text(SESSIONS, &project, &next));
            Ok(LiveSessionsAnswer { sessions, next_cursor, extra: Object::new() })
        });
        Ok(read.await?)
    }

    /// A page of what the sessions of an app wait for, the oldest first.
    pub async fn pending_asks(
        &self,
        caller: &Caller,
        app: &AppId,
        page: &PageQuery,
    ) -> Result<LiveAsksAnswer, Failure> {
        let project = self.existing(caller, app).await?;
        let after = decoded(ASKS, &project, page)?;
        // One more than needed, because the answer says whether the list goes on.
        let mut asks = self.asks(caller, app, after, page.limit + 1).await?;
        let has_more = asks.len() > page.limit;
        asks.truncate(page.limit);
        let last = asks.last().filter(|_| has_more);
        let last = last.map(|last| (last.ask.since, last.session.id.clone()));
        Ok(LiveAsksAnswer {
            asks: asks.iter().map(LiveAsk::of).collect(),
            next_cursor: last.map(|last| text(ASKS, &project, &last)),
            extra: Object::new(),
        })
    }

    /// The project of an app, which exists: a misspelt one must not look like an empty one.
    pub(crate) async fn existing(
        &self,
        caller: &Caller,
        app: &AppId,
    ) -> Result<ProjectId, Failure> {
        let project = self.enter(caller, app, Need::Read)?;
        let read = self.read(move |unit| {
            let found = unit.project(&project)?;
            found.ok_or_else(|| project_not_found(&project))?;
            Ok(project.clone())
        });
        Ok(read.await?)
    }

    /// A session as the channel shows it, with what it waits for.
    pub async fn view(
        &self,
        caller: &Caller,
        app: &AppId,
        session: &SessionId,
    ) -> Result<LiveSessionAnswer, Failure> {
        let Found { session: found, content, .. } = self.found_in(caller, app, session).await?;
        let (ask, _) = self.ask(session).await?;
        let digest = Some(content.shown().to_string());
        let session = SessionDocument::new(&found, &content, self.now());
        Ok(LiveSessionAnswer { session, ask, digest, extra: Object::new() })
    }

    /// What a session waits for, if it waits for a person, and the last event of its ledger at
    /// that moment. The caller has checked its app.
    pub(crate) async fn ask(&self, session: &SessionId) -> Result<(Option<LiveAsk>, u64), Failure> {
        let (session, now) = (session.clone(), self.now());
        let read = self.read(move |unit| {
            let Some(row) = unit.live_session(&session)? else { return Ok((None, 0)) };
            Ok((ask(unit, &row.session, now)?, row.session.head.ledger))
        });
        Ok(read.await?)
    }
}

fn item(unit: &dyn ReadUnit, session: &Session, now: Time) -> UnitResult<LiveSessionItem> {
    let head = &session.head;
    let content = Content { ui: rows::ui(unit, &session.id)?, ..Content::default() };
    let intent = content.ui.get("prompt").and_then(Value::as_str);
    Ok(LiveSessionItem {
        session_id: session.id.clone(),
        app_id: session.app_id.clone(),
        status: session.status(now),
        intent: intent.map(str::to_owned),
        asked_by: asked_by(&content.ui).as_ref().map(actor_of),
        epoch: head.epoch,
        last_sequence: head.ledger,
        stream_seq: head.stream,
        created_at: Timestamp::emit(head.created_at),
        last_activity_at: Timestamp::emit(head.last_activity_at),
        expires_at: Timestamp::emit(head.expires_at),
        ask: ask(unit, session, now)?,
        extra: Object::new(),
    })
}

pub(crate) fn ask(
    unit: &dyn ReadUnit,
    session: &Session,
    now: Time,
) -> UnitResult<Option<LiveAsk>> {
    if !session.head.is_asking {
        return Ok(None);
    }
    let ask = unit.live_ask(&session.id)?;
    let ui = rows::ui(unit, &session.id)?;
    Ok(PendingAsk::of(session, ask.as_ref(), &ui, now).as_ref().map(LiveAsk::of))
}

fn decoded(list: &str, project: &ProjectId, page: &PageQuery) -> Result<Option<Position>, Failure> {
    let Some(text) = &page.cursor else { return Ok(None) };
    let ([id], at, _) = cursor::decode::<1>(list, project, text)?;
    let id = SessionId::new(id).map_err(|_| cursor::invalid())?;
    Ok(Some((at, id)))
}

fn text(list: &str, project: &ProjectId, (at, id): &Position) -> String {
    cursor::encode(list, project, [id.as_str()], *at, 0)
}
