//! Answers that no agent has read. Those of a session that ends are kept for some days.
//!
//! The store keeps them in one setting for each session, because a session that has expired has
//! nothing but its row.

use accord_base::{Caller, ProjectId};
use accord_contract::{Failure, Object, Time, Timestamp, Value, Wire as _};
use accord_live_core::operations::questions::{LiveAnswersAnswer, LiveUnreadAnswer};
use accord_live_core::session::Session;
use accord_live_core::{AppId, SessionId, limits::SESSIONS_PAGE};
use accord_store::{LiveSessionQuery, ReadUnit, Scope};
use serde_json::json;

use super::unit::{Job, UnitResult};
use super::{Live, rows};

/// The prefix of the settings, before the id of the session.
const UNREAD: &str = "live.unread.";

/// The most answers of a session that are kept.
const MOST: usize = 100;

impl Live {
    pub async fn unread(&self, caller: &Caller, app: &AppId) -> Result<LiveAnswersAnswer, Failure> {
        let project = self.existing(caller, app).await?;
        let now = self.now();
        let read = self.read(move |unit| {
            let limit = SESSIONS_PAGE.0 as usize;
            let query = LiveSessionQuery { active_at: Some(now), after: None, limit };
            let mut answers = Vec::new();
            for row in unit.live_sessions(&project, &query)? {
                answers.extend(of_session(unit, &row.session)?);
            }
            for (_, kept) in kept(unit)? {
                if kept.project == project.as_str() && kept.until > now {
                    answers.extend(since_removal(unit, &project, kept.answers)?);
                }
            }
            Ok(LiveAnswersAnswer { answers, extra: Object::new() })
        });
        Ok(read.await?)
    }
}

/// The answers of a session that no agent has read.
fn of_session(unit: &dyn ReadUnit, session: &Session) -> UnitResult<Vec<LiveUnreadAnswer>> {
    let pending = rows::pending(unit, session, MOST)?;
    let returned = rows::returned(unit, &session.id)?;
    if returned.is_empty() && pending.is_empty() {
        return Ok(Vec::new());
    }
    let ui = rows::ui(unit, &session.id)?;
    let intent = ui.get("prompt").and_then(Value::as_str);
    let unread = returned.into_iter().chain(pending);
    Ok(unread.map(|row| LiveUnreadAnswer::of(&session.id, intent, row)).collect())
}

/// The kept answers of a session that has ended.
struct Kept {
    project: String,
    until: Time,
    answers: Vec<LiveUnreadAnswer>,
}

/// What is kept, each with the name of its setting. One that cannot be read has no time left.
fn kept(unit: &dyn ReadUnit) -> UnitResult<Vec<(String, Kept)>> {
    let settings = unit.settings(Scope::Store)?.into_iter();
    let named = settings.filter(|(name, _)| name.starts_with(UNREAD));
    Ok(named.map(|(name, text)| (name, read(&text))).collect())
}

fn name_of(id: &SessionId) -> String {
    format!("{UNREAD}{}", id.as_str())
}

fn read(text: &str) -> Kept {
    let mut stored: Value = serde_json::from_str(text).unwrap_or_default();
    let project = stored["project"].as_str().unwrap_or_default().to_owned();
    let until = Time::from_unix_millis(stored["until"].as_i64().unwrap_or(0));
    let answers = match stored["answers"].take() {
        Value::Array(answers) => answers,
        _ => Vec::new(),
    };
    let answers = answers.into_iter().filter_map(|it| LiveUnreadAnswer::from_document(it).ok());
    Kept { project, until, answers: answers.collect() }
}

/// The answers that were given after the last removal of their project. A project of the same id
/// that was created later has none of the others.
fn since_removal(
    unit: &dyn ReadUnit,
    project: &ProjectId,
    mut answers: Vec<LiveUnreadAnswer>,
) -> UnitResult<Vec<LiveUnreadAnswer>> {
    if let Some(removal) = unit.removal(project)? {
        answers.retain(|answer| answer.at.time() > removal.at.time());
    }
    Ok(answers)
}

impl Job<'_> {
    /// Keeps the answers of a session that ends, if no agent has read them.
    pub(crate) fn keep_unread(
        &mut self,
        project: &ProjectId,
        session: &Session,
        until: Time,
    ) -> UnitResult<()> {
        let mut answers = of_session(self.unit, session)?;
        if answers.is_empty() {
            return Ok(());
        }
        for answer in &mut answers {
            answer.until = Some(Timestamp::emit(until));
        }
        let answers: Vec<Value> = answers.iter().map(|answer| answer.encode()).collect();
        let text = json!({
            "project": project.as_str(), "until": until.unix_millis(), "answers": answers,
        });
        let name = name_of(&session.id);
        Ok(self.unit.put_setting(Scope::Store, &name, Some(&text.to_string()))?)
    }

    /// The last answer that was kept of a session that has ended.
    pub(crate) fn kept_answer(&self, id: &SessionId) -> UnitResult<Option<LiveUnreadAnswer>> {
        let Some(text) = self.unit.setting(Scope::Store, &name_of(id))? else { return Ok(None) };
        let Kept { project, answers, .. } = read(&text);
        let Ok(project) = ProjectId::new(project.as_str()) else { return Ok(None) };
        Ok(since_removal(&*self.unit, &project, answers)?.pop())
    }

    /// Deletes what was kept of a session that has ended, if it is not after a number.
    pub(crate) fn forget_answers(&mut self, id: &SessionId, up_to: u64) -> UnitResult<()> {
        if self.kept_answer(id)?.is_some_and(|last| last.sequence <= up_to) {
            self.unit.put_setting(Scope::Store, &name_of(id), None)?;
        }
        Ok(())
    }

    /// Deletes what was kept long enough, or of a project that was removed since.
    pub(crate) fn trim_unread(&mut self, now: Time) -> UnitResult<()> {
        for (name, Kept { project, until, answers }) in kept(self.unit)? {
            let is_kept = match ProjectId::new(project.as_str()) {
                Ok(project) if until > now && self.unit.project(&project)?.is_some() => {
                    !since_removal(self.unit, &project, answers)?.is_empty()
                }
                _ => false,
            };
            if !is_kept {
                self.unit.put_setting(Scope::Store, &name, None)?;
            }
        }
        Ok(())
    }
}
