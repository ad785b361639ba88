//! What agents and hosts read.

use accord_base::{Caller, Need};
use accord_contract::{Failure, Object, Value};
use accord_live_core::session::{Content, Session};
use accord_live_core::tools::{
    BlueprintDocument, BlueprintList, ListSessionsRequest, RenderSource,
};
use accord_live_core::tools::{
    SearchBlueprintsRequest, SessionDocument, SessionList, SessionSummary,
};
use accord_live_core::{AppId, HandshakeId, SessionId, refuse};
use accord_live_core::{contract::contract_hash, limits::SESSIONS_PAGE};
use accord_store::{BlueprintRow, LivePart, LiveSessionQuery};

use super::{Live, contracts, rows, unit::UnitResult};

/// A session with its content, of any app.
#[derive(Clone, Debug)]
pub struct Found {
    pub session: Session,
    pub content: Content,
    /// The props of the asked epoch, or of the present one, as JSON text.
    pub props_json: Option<String>,
}

impl Live {
    /// The session of an id, of any app, for what a host mounts. The caller compares the app.
    pub async fn found(
        &self,
        session: &SessionId,
        epoch: Option<u64>,
    ) -> Result<Option<Found>, Failure> {
        let session = session.clone();
        let read = self.read(move |unit| {
            let Some(row) = unit.live_session(&session)? else { return Ok(None) };
            let content = rows::content(unit, &row.session)?;
            let epoch = epoch.unwrap_or(row.session.head.epoch);
            let props_json = unit.live_content(&session, LivePart::Props(epoch))?;
            Ok(Some(Found { session: row.session, content, props_json }))
        });
        Ok(read.await?)
    }

    /// The app of a session that has not expired. The caller compares it.
    pub async fn app_of(&self, session: &SessionId) -> Result<Option<AppId>, Failure> {
        let (live, session) = (self.clone(), session.clone());
        let read = self.read(move |unit| {
            let found = unit.live_session(&session)?;
            let found = found.filter(|row| row.session.is_active(live.now()));
            Ok(found.map(|row| row.session.app_id))
        });
        Ok(read.await?)
    }

    /// The app of a handshake. The caller compares it.
    pub async fn app_of_handshake(&self, id: &HandshakeId) -> Result<Option<AppId>, Failure> {
        let id = id.clone();
        let read = self.read(move |unit| {
            let stored = unit.live_handshake(&id)?;
            let made = stored.as_ref().map(rows::handshake).transpose()?;
            Ok(made.map(|made| made.app_id))
        });
        Ok(read.await?)
    }

    pub async fn session(
        &self,
        caller: &Caller,
        app: &AppId,
        session: &SessionId,
    ) -> Result<SessionDocument, Failure> {
        let found = self.found_in(caller, app, session).await?;
        Ok(SessionDocument::new(&found.session, &found.content, self.now()))
    }

    pub async fn render_source(
        &self,
        caller: &Caller,
        app: &AppId,
        session: &SessionId,
    ) -> Result<RenderSource, Failure> {
        let found = self.found_in(caller, app, session).await?;
        let contract = contracts::document_of(&found.content.ui);
        Ok(RenderSource::new(&found.session, &found.content, contract))
    }

    pub(crate) async fn found_in(
        &self,
        caller: &Caller,
        app: &AppId,
        session: &SessionId,
    ) -> Result<Found, Failure> {
        self.enter(caller, app, Need::Read)?;
        let found = self.found(session, None).await?;
        let found = found.filter(|found| found.session.app_id == *app);
        found.ok_or_else(|| refuse::tool_session_not_found("there is no such session"))
    }

    /// The sessions of an app that have not expired, newest first; those of a conversation in its
    /// order.
    pub async fn sessions(
        &self,
        caller: &Caller,
        app: &AppId,
        request: ListSessionsRequest,
    ) -> Result<SessionList, Failure> {
        let project = self.enter(caller, app, Need::Read)?;
        let limit = request.limit.unwrap_or(SESSIONS_PAGE.1) as usize;
        let now = self.now();
        let read = self.read(move |unit| {
            let mut sessions = Vec::new();
            let mut last = None;
            loop {
                let after = last.as_ref().map(|(at, id)| (*at, id));
                let query = LiveSessionQuery { active_at: Some(now), after, limit: limit + 1 };
                let page = unit.live_sessions(&project, &query)?;
                let is_last = page.len() <= limit;
                last = page.last().map(|it| (it.session.head.created_at, it.session.id.clone()));
                for row in page {
                    // Neither code nor props nor context: a list shows nothing of them.
                    let ui = rows::ui(unit, &row.session.id)?;
                    if is_of_host(&ui, &request) {
                        sessions.push(SessionSummary::new(&row.session, &ui, now));
                    }
                }
                if is_last || sessions.len() > limit {
                    let has_more = sessions.len() > limit;
                    sessions.truncate(limit);
                    if request.host_session_id.is_some() {
                        sessions.reverse();
                    }
                    return Ok(SessionList::new(sessions, has_more));
                }
            }
        });
        Ok(read.await?)
    }

    /// The UIs of an app that were rendered, newest first, whose intent has the words of the query.
    pub async fn blueprints(
        &self,
        caller: &Caller,
        app: &AppId,
        request: SearchBlueprintsRequest,
    ) -> Result<BlueprintList, Failure> {
        let project = self.enter(caller, app, Need::Read)?;
        let limit = request.limit.unwrap_or(SESSIONS_PAGE.1) as usize;
        let hash = request.contract.as_ref().map(contract_hash).transpose()?;
        let query = request.query.unwrap_or_default().to_lowercase();
        let words: Vec<String> = query.split_whitespace().map(str::to_owned).collect();
        let read = self.read(move |unit| {
            let rows = unit.live_blueprints(&project, MOST_BLUEPRINTS)?;
            let fits = |row: &&BlueprintRow| {
                let intent = row.intent.to_lowercase();
                hash.as_ref().is_none_or(|hash| row.key.contract_hash == *hash)
                    && words.iter().all(|word| intent.contains(word))
            };
            let found: Vec<&BlueprintRow> = rows.iter().filter(fits).take(limit + 1).collect();
            let has_more = found.len() > limit;
            let shown = found.into_iter().take(limit).map(|row| {
                let made_from = rows::blueprint_contract(row)?;
                Ok(BlueprintDocument::new(&row.key, &row.intent, row.at, made_from))
            });
            Ok(BlueprintList::new(shown.collect::<UnitResult<Vec<_>>>()?, has_more))
        });
        Ok(read.await?)
    }

    pub async fn code(&self, hash: &str) -> Result<Option<String>, Failure> {
        let hash = hash.to_owned();
        let read = self.read(move |unit| Ok(unit.live_code(&hash)?));
        Ok(read.await?)
    }
}

/// UIs that a search looks at.
const MOST_BLUEPRINTS: usize = 1000;

fn is_of_host(ui: &Object, request: &ListSessionsRequest) -> bool {
    let host = ui.get("hostSession");
    let is = |name: &str, asked: Option<&String>| {
        let found = host.and_then(|host| host.get(name)).and_then(Value::as_str);
        asked.is_none_or(|asked| found == Some(asked))
    };
    is("hostName", request.host_name.as_ref())
        && is("hostSessionId", request.host_session_id.as_ref())
}
