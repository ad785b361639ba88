//! What agents and hosts read.

use accord_base::{Caller, Verb};
use accord_contract::codes::Failure;
use accord_contract::wire::{Object, Value};
use accord_live_core::limits::SESSIONS_PAGE;
use accord_live_core::session::{Content, Session};
use accord_live_core::tools::{ListSessionsRequest, SearchBlueprintsRequest};
use accord_live_core::{AppId, SessionId, refuse};
use accord_store::{BlueprintRow, LivePart, LiveSessionQuery};

use super::unit::{UnitError, UnitResult};
use super::{Live, rows};

/// A session with its content, of any app.
#[derive(Clone, Debug)]
pub struct Found {
    /// The session.
    pub session: Session,
    /// Its content.
    pub content: Content,
    /// The props of the asked epoch, or of the present one, as JSON text.
    pub props_json: Option<String>,
}

/// A list of documents.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    /// The documents.
    pub items: Vec<Value>,
    /// Whether there are more.
    pub has_more: bool,
}

impl Live {
    /// The session of an id, of any app, for what a host mounts. The caller compares the app.
    ///
    /// # Errors
    /// When the store fails.
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
        read.await.map_err(UnitError::into_failure)
    }

    /// The snapshot of a session.
    ///
    /// # Errors
    /// `unauthorized`, `session_not_found`.
    pub async fn session(
        &self,
        caller: &Caller,
        app: &AppId,
        session: &SessionId,
    ) -> Result<Value, Failure> {
        self.enter(caller, app, Verb::Read)?;
        let found = self.found(session, None).await?;
        let found = found.filter(|found| found.session.app_id == *app);
        let missing = || refuse::tool_session_not_found("there is no such session");
        let found = found.ok_or_else(missing)?;
        Ok(found.session.snapshot(&found.content, self.now()))
    }

    /// The sessions of an app that have not expired, newest first.
    ///
    /// # Errors
    /// `unauthorized`.
    pub async fn sessions(
        &self,
        caller: &Caller,
        app: &AppId,
        request: ListSessionsRequest,
    ) -> Result<Listed, Failure> {
        let project = self.enter(caller, app, Verb::Read)?;
        let limit = request.limit.unwrap_or(SESSIONS_PAGE.1) as usize;
        let now = self.now();
        let read = self.read(move |unit| {
            let mut items = Vec::new();
            let mut after = None;
            loop {
                let position = after.as_ref().map(|(at, id)| (*at, id));
                let query =
                    LiveSessionQuery { active_at: Some(now), after: position, limit: limit + 1 };
                let page = unit.live_sessions(&project, &query)?;
                let is_last = page.len() <= limit;
                after =
                    page.last().map(|row| (row.session.head.created_at, row.session.id.clone()));
                for row in page {
                    let content = rows::content(unit, &row.session)?;
                    if is_of_host(&content.ui, &request) {
                        items.push(row.session.snapshot(&content, now));
                    }
                }
                if is_last || items.len() > limit {
                    let has_more = items.len() > limit;
                    items.truncate(limit);
                    return Ok(Listed { items, has_more });
                }
            }
        });
        read.await.map_err(UnitError::into_failure)
    }

    /// The UIs of an app that were rendered, newest first, whose intent has the words of the query.
    ///
    /// # Errors
    /// `unauthorized`.
    pub async fn blueprints(
        &self,
        caller: &Caller,
        app: &AppId,
        request: SearchBlueprintsRequest,
    ) -> Result<Listed, Failure> {
        let project = self.enter(caller, app, Verb::Read)?;
        let limit = request.limit.unwrap_or(SESSIONS_PAGE.1) as usize;
        let hash = request.contract.as_ref().map(accord_live_core::contract::contract_hash);
        let hash = hash.transpose()?;
        let query = request.query.unwrap_or_default().to_lowercase();
        let read = self.read(move |unit| {
            let rows = unit.live_blueprints(&project, MOST_BLUEPRINTS)?;
            let fits = |row: &BlueprintRow| {
                hash.as_ref().is_none_or(|hash| row.key.contract_hash == *hash)
                    && row.intent.to_lowercase().contains(&query)
            };
            let found: UnitResult<Vec<Value>> =
                rows.iter().filter(|row| fits(row)).map(blueprint).collect();
            let mut items = found?;
            let has_more = items.len() > limit;
            items.truncate(limit);
            Ok(Listed { items, has_more })
        });
        read.await.map_err(UnitError::into_failure)
    }

    /// Component code by its hash.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn code(&self, hash: &str) -> Result<Option<String>, Failure> {
        let hash = hash.to_owned();
        let read = self.read(move |unit| Ok(unit.live_code(&hash)?));
        read.await.map_err(UnitError::into_failure)
    }
}

/// UIs that a search looks at.
const MOST_BLUEPRINTS: usize = 1000;

fn blueprint(row: &BlueprintRow) -> UnitResult<Value> {
    let mut document = rows::blueprint_contract(row)?;
    document.insert("blueprintId".into(), row.key.id().into());
    document.insert("contractHash".into(), row.key.contract_hash.as_str().into());
    document.insert("variantKey".into(), row.key.variant_key.as_str().into());
    document.insert("intent".into(), row.intent.as_str().into());
    document.insert("renderedAt".into(), row.at.to_string().into());
    Ok(Value::Object(document))
}

/// Whether a UI was made in the host session that a request names.
fn is_of_host(ui: &Object, request: &ListSessionsRequest) -> bool {
    let host = ui.get("hostSession");
    let is = |name: &str, asked: Option<&String>| {
        let found = host.and_then(|host| host.get(name)).and_then(Value::as_str);
        asked.is_none_or(|asked| found == Some(asked))
    };
    is("hostName", request.host_name.as_ref())
        && is("hostSessionId", request.host_session_id.as_ref())
}
