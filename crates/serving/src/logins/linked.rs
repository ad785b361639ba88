//! Links that a person is given to one question, and that need no login.
//!
//! Invariants:
//! - A link begins one login, within [`LINK_SECONDS`]. That it was used is stored in the
//!   transaction that stores the login.
//! - The store has the hash of a link, not the link.
//! - The login is for one question of one live session, as long as it waits.
//! - Links and logins of a person end in the transaction that removes the person.
//! - Who has a link that was used or has expired can ask for another one. It is stored for the same
//!   question, at most [`MOST_RENEWALS`] times a day, and goes to the person's address alone.

use accord_base::inbox::kind;
use accord_base::{ActorId, ActorKey, ActorType, Caller, KeyScope, ProjectId, Verb};
use accord_canon::sha256;
use accord_contract::{Code, Failure, Time};
use accord_store::{ReadUnit, Scope, UnitError, WriteUnit};
use serde_json::{Value, json};

use super::secret;

/// How long a link can be used.
const LINK_SECONDS: i64 = 24 * 3600;
/// How long the store knows of a link that it was used or has expired.
const KNOWN_SECONDS: i64 = 7 * 24 * 3600;
/// The least time between two links to one question for one person that replace another.
const RENEW_SECONDS: i64 = 60;
/// The most of them within [`LINK_SECONDS`].
const MOST_RENEWALS: usize = 5;
/// The most that are kept. The oldest goes.
const MOST_LINKS: usize = 1_000;
/// The prefix of the store settings that keep the links, each under its hash.
const LINK: &str = "link.";

/// The detail of a refusal that says how a link of a person ended: `used` or `expired`.
const LINK_ENDED: &str = "link";

/// What a link of a person opens.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LinkedQuestion {
    /// The name of the person.
    pub person: String,
    pub project: ProjectId,
    /// The live session that asks.
    pub session: String,
    /// Since when it asks, in milliseconds. A later question of the session is another one.
    pub since: i64,
}

/// A link, for the transaction that stores it.
pub struct NewLink {
    /// The link itself, for the person only.
    pub secret: String,
    pub until: Time,
    question: LinkedQuestion,
    replaces: bool,
    now: Time,
}

impl LinkedQuestion {
    /// The id of its item in the inbox.
    pub fn item(&self) -> String {
        format!("{}:{}:{}:{}", kind::LIVE_ASK, self.project, self.session, self.since)
    }

    /// The rights of the person: to read and to answer in the project. The page allows the question
    /// alone.
    pub(crate) fn caller(&self) -> Option<Caller> {
        let scope = KeyScope::new(vec![Verb::Read, Verb::Write], Some(vec![self.project.clone()]));
        Some(Caller::guest(&scope.bound_to(self.actor()?, false)))
    }

    /// In whose name it answers.
    pub(super) fn actor(&self) -> Option<ActorKey> {
        Some(ActorKey { id: ActorId::new(self.person.as_str()).ok()?, kind: ActorType::Human })
    }

    pub(super) fn document(&self) -> Value {
        json!({"person": self.person, "project": self.project.as_str(), "session": self.session,
            "since": self.since})
    }

    pub(super) fn read(stored: &Value) -> Option<Self> {
        let text = |name: &str| stored[name].as_str().map(str::to_owned);
        let project = ProjectId::new(text("project")?).ok()?;
        let since = stored["since"].as_i64()?;
        Some(Self { person: text("person")?, project, session: text("session")?, since })
    }
}

impl NewLink {
    pub fn to(question: LinkedQuestion, now: Time) -> Self {
        let until = now.add_seconds(LINK_SECONDS);
        Self { secret: secret(), until, question, replaces: false, now }
    }

    /// One that a person asked for with another link.
    pub fn replacing(question: LinkedQuestion, now: Time) -> Self {
        Self { replaces: true, ..Self::to(question, now) }
    }

    pub fn question(&self) -> &LinkedQuestion {
        &self.question
    }

    /// Stores the link.
    pub fn put(&self, unit: &mut dyn WriteUnit) -> Result<(), UnitError> {
        make_room(unit, self.now)?;
        let (question, replaces) = (self.question.clone(), self.replaces);
        let stored = Stored { question, until: self.until, used_at: None, replaces };
        Ok(unit.put_setting(Scope::Store, &setting_of(&self.secret), Some(&stored.text()))?)
    }
}

/// What a link opens, which is used up; none if the text is no link. Fails with
/// `LOGIN_LINK_INVALID`.
pub(super) fn take(
    unit: &mut dyn WriteUnit,
    text: &str,
    now: Time,
) -> Result<Option<LinkedQuestion>, UnitError> {
    // The hash finds it: how long that takes says nothing about the text.
    let setting = setting_of(text);
    let Some(mut link) = link(unit, &setting)? else { return Ok(None) };
    let (why, ended) = match link.used_at {
        Some(_) => ("was used before", "used"),
        None if link.until <= now => ("has expired", "expired"),
        None => {
            link.used_at = Some(now);
            unit.put_setting(Scope::Store, &setting, Some(&link.text()))?;
            return Ok(Some(link.question));
        }
    };
    let message = format!("this link {why}; ask the operator of this server for a new one");
    Err(Failure::new(Code::LoginLinkInvalid, message)
        .suggesting("accord person link makes a new one")
        .with(LINK_ENDED, ended)
        .into())
}

/// The question of a link that was used or has expired, if another link may replace it now. None
/// for a text that is no such link, and if there were too many links to the question.
pub fn renewable(
    unit: &dyn ReadUnit,
    text: &str,
    now: Time,
) -> Result<Option<LinkedQuestion>, UnitError> {
    let Some(link) = link(unit, &setting_of(text))? else { return Ok(None) };
    if link.used_at.is_none() && link.until > now {
        return Ok(None);
    }
    let links = links(unit)?.into_iter().map(|(_, link)| link);
    let is_alike = |other: &Stored| other.replaces && other.question == link.question;
    let made = links.filter(is_alike).map(|link| link.made_at());
    let recent: Vec<Time> = made.filter(|at| at.add_seconds(LINK_SECONDS) > now).collect();
    let is_soon = recent.iter().any(|at| at.add_seconds(RENEW_SECONDS) > now);
    Ok((!is_soon && recent.len() < MOST_RENEWALS).then_some(link.question))
}

/// Removes the links of a person.
pub(super) fn forget(unit: &mut dyn WriteUnit, person: &str) -> Result<(), UnitError> {
    for (setting, _) in links(unit)?.into_iter().filter(|(_, link)| link.question.person == person)
    {
        unit.put_setting(Scope::Store, &setting, None)?;
    }
    Ok(())
}

/// A link as the store has it.
struct Stored {
    question: LinkedQuestion,
    until: Time,
    used_at: Option<Time>,
    /// Whether a person asked for it with another link.
    replaces: bool,
}

impl Stored {
    fn made_at(&self) -> Time {
        self.until.add_seconds(-LINK_SECONDS)
    }

    fn text(&self) -> String {
        let used_at = self.used_at.map(Time::unix_millis);
        let question = self.question.document();
        json!({"question": question, "until": self.until.unix_millis(), "used_at": used_at,
            "replaces": self.replaces})
        .to_string()
    }

    fn read(text: &str) -> Option<Self> {
        let stored: Value = serde_json::from_str(text).ok()?;
        let time = |name: &str| stored[name].as_i64().map(Time::from_unix_millis);
        let question = LinkedQuestion::read(&stored["question"])?;
        let replaces = stored["replaces"].as_bool().unwrap_or(false);
        Some(Self { question, until: time("until")?, used_at: time("used_at"), replaces })
    }
}

fn setting_of(text: &str) -> String {
    format!("{LINK}{}", sha256(text.as_bytes()).hex())
}

fn link(unit: &dyn ReadUnit, setting: &str) -> Result<Option<Stored>, UnitError> {
    Ok(unit.setting(Scope::Store, setting)?.as_deref().and_then(Stored::read))
}

fn links(unit: &dyn ReadUnit) -> Result<Vec<(String, Stored)>, UnitError> {
    let settings = unit.settings(Scope::Store)?.into_iter();
    let links = settings.filter(|(name, _)| name.starts_with(LINK));
    Ok(links.filter_map(|(name, text)| Some((name, Stored::read(&text)?))).collect())
}

/// Removes links that expired long ago, and the oldest ones if there are too many.
fn make_room(unit: &mut dyn WriteUnit, now: Time) -> Result<(), UnitError> {
    let mut kept = Vec::new();
    for (setting, link) in links(unit)? {
        match link.until.add_seconds(KNOWN_SECONDS) > now {
            true => kept.push((link.until, setting)),
            false => unit.put_setting(Scope::Store, &setting, None)?,
        }
    }
    kept.sort();
    let most = kept.len().saturating_sub(MOST_LINKS - 1);
    for (_, setting) in kept.drain(..most) {
        unit.put_setting(Scope::Store, &setting, None)?;
    }
    Ok(())
}

/// Whether a refusal to sign in is about a link of a person, which another link can replace.
pub fn is_of_person(refused: &Failure) -> bool {
    let details = refused.details.as_ref();
    details.is_some_and(|details| details.contains_key(LINK_ENDED))
}
