//! Links to sign in, and logins.
//!
//! Invariants:
//! - A link signs in once, until it expires. Only a link of a person ([`linked`]) outlasts the
//!   process.
//! - A login is found by the hash of its cookie, and accepted with the secret of its origin. The
//!   two are compared in constant time. Only hashes are kept.
//! - A login ends [`LOGIN_SECONDS`] after it began, [`IDLE_SECONDS`] after its last use, when it is
//!   signed out, and when its key is no longer valid.
//! - The store has the logins, so that a restart of the host ends none: a page that was open goes
//!   on with what its person entered.
//! - The numbers of links, logins and remembered failures are bounded. What the holder of a key
//!   adds ends links and logins of no one else ([`room`]).

pub mod linked;
mod room;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;

use accord_base::{ActorId, ActorKey, ActorType, Caller};
use accord_canon::{Digest, sha256};
use accord_contract::{Code, Failure, Object, Time};
use accord_live_core::token::Claims;
use accord_store::{ReadUnit, Scope, UnitError, Units, WriteUnit};
use accord_system::random;
use data_encoding::BASE32_DNSSEC;
use parking_lot::Mutex;
use serde_json::{Value, json};
use subtle::ConstantTimeEq as _;

use self::linked::LinkedQuestion;
use crate::keys::Keys;

pub const LOGIN_SECONDS: i64 = 12 * 3600;
/// How long a login lasts that is not used.
const IDLE_SECONDS: i64 = 3600;
const USE_SECONDS: i64 = 60;
/// How many attempts of one address may fail within a minute.
const MOST_FAILURES: usize = 5;
const FAILURE_SECONDS: i64 = 60;
/// The most of each that are kept.
const MOST_LINKS: usize = 100;
const MOST_LOGINS: usize = 1_000;
const MOST_ADDRESSES: usize = 1_000;
/// The prefix of the store settings that keep the logins, each under the hash of its cookie.
const LOGIN: &str = "login.";

/// The links and logins of a host. A clone has the same ones.
#[derive(Clone)]
pub struct Logins {
    name: Arc<str>,
    units: Units,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    links: BTreeMap<Digest, Link>,
    failures: BTreeMap<Option<IpAddr>, Vec<Time>>,
}

struct Link {
    person: Person,
    until: Time,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Person {
    pub holder: Holder,
    /// In whose name it answers, if not in that of the key.
    pub actor: Option<ActorKey>,
}

impl Person {
    /// The user of the operating system, on a host without keys: only processes of this user sign
    /// in there.
    pub fn of_this_user(holder: Holder) -> Self {
        let id = ActorId::new(accord_process::os_user()).ok();
        Self { holder, actor: id.map(|id| ActorKey { id, kind: ActorType::Human }) }
    }
}

impl From<Holder> for Person {
    fn from(holder: Holder) -> Self {
        Self { holder, actor: None }
    }
}

/// Whose login it is. The process that signed in is not the one that sends the requests of the
/// page, so nothing of it is kept.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Holder {
    Owner,
    /// A person on this machine, on a host without keys.
    Local,
    /// The holder of the key of an id.
    Key(String),
    /// A person who was given a link to one question.
    Linked(LinkedQuestion),
}

/// A login as the store has it.
struct Login {
    /// The hash of its secret, as hexadecimal digits.
    secret: String,
    person: Person,
    until: Time,
    used_at: Time,
}

#[derive(Clone)]
pub struct Begun {
    /// The half for the cookie.
    pub cookie: String,
    /// The half for the storage of the origin.
    pub secret: String,
    /// When it ends at the latest.
    pub until: Time,
}

/// The two halves that a request carries, as hashes.
#[derive(Clone, Debug)]
pub struct Halves {
    /// The settings of the cookies. A page of another port can add a cookie, so there may be
    /// several.
    pub cookies: Vec<String>,
    secret: String,
}

impl Halves {
    pub fn new<'v>(cookies: impl Iterator<Item = &'v str>, secret: &str) -> Self {
        let cookies = cookies.map(setting_of).collect();
        Self { cookies, secret: sha256(secret.as_bytes()).hex() }
    }
}

impl Logins {
    pub fn new(folder: &Path, units: &Units) -> Self {
        let place = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let digest = sha256(place.as_os_str().as_encoded_bytes());
        let name = digest.hex()[..12].into();
        Self { name, units: units.clone(), state: Arc::default() }
    }

    /// Tells hosts on one machine apart, whose pages share their cookies. It is not secret.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A link that signs a person in, for some seconds. Returns its secret and when it ends.
    pub fn mint_link(&self, person: Person, now: Time, seconds: i64) -> (String, Time) {
        let (text, until) = (secret(), now.add_seconds(seconds));
        let mut state = self.state.lock();
        state.links.retain(|_, link| link.until > now);
        let mut kept: Vec<_> = state.links.iter().collect();
        kept.sort_by_key(|(_, link)| link.until);
        let kept = kept.into_iter().map(|(digest, link)| (link.person.holder.clone(), *digest));
        for digest in room::LINKS.leaves(kept.collect(), &person.holder) {
            state.links.remove(&digest);
        }
        state.links.insert(sha256(text.as_bytes()), Link { person, until });
        (text, until)
    }

    /// The person of a link, which is used up. Fails with `LOGIN_LINK_INVALID`.
    pub fn use_link(&self, text: &str, now: Time) -> Result<Person, Failure> {
        // The hash finds it: how long that takes says nothing about the text.
        let link = self.state.lock().links.remove(&sha256(text.as_bytes()));
        let link = link.filter(|link| link.until > now);
        let invalid = || {
            let message = "this link was used before or has expired; run accord live open again";
            Failure::new(Code::LoginLinkInvalid, message)
        };
        Ok(link.ok_or_else(invalid)?.person)
    }

    /// Begins a login. Fails when the store fails.
    pub async fn begin(&self, person: Person, now: Time) -> Result<Begun, Failure> {
        let begun = Begun::new(now);
        let holder = person.holder.clone();
        let (setting, text) = begun.stored(person, now);
        let write = self.units.write(move |unit| {
            make_room(unit, &holder, now)?;
            Ok(unit.put_setting(Scope::Store, &setting, Some(&text))?)
        });
        write.await?;
        Ok(begun)
    }

    /// Begins the login of a link of a person, which is used up; none if the text is no such link.
    /// Fails with `LOGIN_LINK_INVALID`, and when the store fails.
    pub async fn begin_linked(&self, link: &str, now: Time) -> Result<Option<Begun>, Failure> {
        let (link, begun) = (link.to_owned(), Begun::new(now));
        let stored = begun.clone();
        let write = self.units.write(move |unit| {
            let Some(question) = linked::take(unit, &link, now)? else { return Ok(false) };
            let actor = question.actor();
            let person = Person { holder: Holder::Linked(question), actor };
            make_room(unit, &person.holder, now)?;
            let (setting, text) = stored.stored(person, now);
            unit.put_setting(Scope::Store, &setting, Some(&text))?;
            Ok(true)
        });
        Ok(write.await?.then_some(begun))
    }

    /// The holder of a login, which counts as used, and what names the login in tokens.
    pub async fn find(
        &self,
        halves: &Halves,
        now: Time,
    ) -> Result<Option<(Holder, String)>, Failure> {
        let asked = halves.clone();
        let read = self.units.read(move |unit| {
            for setting in &asked.cookies {
                let Some(login) = login(unit, setting)? else { continue };
                let is_right = login.secret.as_bytes().ct_eq(asked.secret.as_bytes());
                if bool::from(is_right) && login.is_valid(now) {
                    return Ok(Some((setting.clone(), login)));
                }
            }
            Ok(None)
        });
        let Some((setting, login)) = read.await? else { return Ok(None) };
        if login.used_at.add_seconds(USE_SECONDS) <= now {
            self.record_use(setting.clone(), now).await?;
        }
        let name = setting.strip_prefix(LOGIN).unwrap_or_default().to_owned();
        Ok(Some((login.person.holder, name)))
    }

    /// Whether the login that a token names has not ended. A page that is open and does nothing
    /// stays signed in. Fails when the store fails.
    pub async fn is_open(&self, name: &str, now: Time) -> Result<bool, Failure> {
        Ok(self.opened(name, now).await?.is_some())
    }

    /// Who signed in with the login that a token names, unless it has ended.
    pub async fn opened(&self, name: &str, now: Time) -> Result<Option<Person>, Failure> {
        let setting = format!("{LOGIN}{name}");
        let found = self.units.read(move |unit| login(unit, &setting)).await?;
        Ok(found.filter(|login| login.until > now).map(|login| login.person))
    }

    async fn record_use(&self, setting: String, now: Time) -> Result<(), Failure> {
        let write = self.units.write(move |unit| {
            // One that was signed out meanwhile stays so.
            let Some(found) = login(unit, &setting)? else { return Ok(()) };
            let text = Login { used_at: now, ..found }.text();
            Ok(unit.put_setting(Scope::Store, &setting, Some(&text))?)
        });
        write.await
    }

    /// Ends the login of a request. Fails when the store fails.
    pub async fn end(&self, halves: &Halves) -> Result<(), Failure> {
        let halves = halves.clone();
        let write = self.units.write(move |unit| {
            for setting in &halves.cookies {
                if login(unit, setting)?.is_some_and(|login| login.secret == halves.secret) {
                    unit.put_setting(Scope::Store, setting, None)?;
                }
            }
            Ok(())
        });
        write.await
    }

    /// Refuses an address whose attempts fail too often. Fails with `LOGIN_TOO_OFTEN`.
    pub fn check_failures(&self, address: Option<IpAddr>, now: Time) -> Result<(), Failure> {
        let state = self.state.lock();
        let failed = state.failures.get(&address).into_iter().flatten();
        let recent = failed.filter(|at| at.add_seconds(FAILURE_SECONDS) > now).count();
        if recent < MOST_FAILURES {
            return Ok(());
        }
        let message = "too many attempts to sign in have failed; wait a minute";
        Err(Failure::new(Code::LoginTooOften, message))
    }

    pub fn record_failure(&self, address: Option<IpAddr>, now: Time) {
        let mut state = self.state.lock();
        let is_recent = |at: &Time| at.add_seconds(FAILURE_SECONDS) > now;
        state.failures.retain(|_, failed| {
            failed.retain(is_recent);
            !failed.is_empty()
        });
        if state.failures.len() < MOST_ADDRESSES || state.failures.contains_key(&address) {
            state.failures.entry(address).or_default().push(now);
        }
    }
}

/// The claim of a token that says whose rights it has.
const HOLDER: &str = "x-holder";
/// The claim of a token that names the login of a page.
const LOGIN_CLAIM: &str = "x-login";

impl Holder {
    /// The claims of a token for a page that this holder signed in.
    pub fn page_claims(&self, login: &str) -> Object {
        let mut claims = self.claims();
        claims.insert(LOGIN_CLAIM.to_owned(), login.into());
        claims
    }

    /// The login of the page that a token is for; none for a token that no page asked for.
    pub fn login_of(claims: &Claims) -> Option<&str> {
        claims.extra.get(LOGIN_CLAIM)?.as_str()
    }

    /// The claims of a token that this holder gives away.
    pub fn claims(&self) -> Object {
        let text = match self {
            Self::Owner => "owner".to_owned(),
            Self::Local => "local".to_owned(),
            Self::Key(id) => format!("key:{id}"),
            // A link opens a page and no channel. This names a key that nobody has.
            Self::Linked(_) => "key:".to_owned(),
        };
        Object::from_iter([(HOLDER.to_owned(), text.into())])
    }

    /// Whose rights a token has; none for one that only time ends.
    pub fn of_token(claims: &Claims) -> Option<Self> {
        match claims.extra.get(HOLDER)?.as_str()? {
            "owner" => Some(Self::Owner),
            "local" => Some(Self::Local),
            text => Some(Self::Key(text.strip_prefix("key:")?.to_owned())),
        }
    }

    /// The caller that the holder is now; none once its key is no longer valid.
    pub async fn caller(&self, keys: &Keys) -> Result<Option<Caller>, Failure> {
        let caller = match self {
            Self::Owner => Caller::owner(),
            Self::Local => Caller::local(),
            Self::Key(id) => return keys.holder(id).await,
            Self::Linked(question) => return Ok(question.caller()),
        };
        Ok(keys.accepts(&caller).await?.then_some(caller))
    }

    pub fn of(caller: &Caller) -> Self {
        match caller.key_id() {
            Some(id) => Self::Key(id.to_owned()),
            // It gives nothing away.
            None if caller.is_guest() => Self::Key(String::new()),
            None if caller.is_owner() => Self::Owner,
            None => Self::Local,
        }
    }
}

impl Login {
    fn is_valid(&self, now: Time) -> bool {
        self.until > now && self.used_at.add_seconds(IDLE_SECONDS) > now
    }

    fn text(&self) -> String {
        let (kind, key, linked) = match &self.person.holder {
            Holder::Owner => ("owner", None, None),
            Holder::Local => ("local", None, None),
            Holder::Key(id) => ("key", Some(id), None),
            Holder::Linked(question) => ("linked", None, Some(question.document())),
        };
        let (until, used_at) = (self.until.unix_millis(), self.used_at.unix_millis());
        let actor = self.person.actor.as_ref();
        let actor = actor.map(|actor| format!("{}:{}", actor.kind.as_str(), actor.id));
        json!({"secret": self.secret, "holder": kind, "key_id": key, "linked": linked,
            "actor": actor, "until": until, "used_at": used_at})
        .to_string()
    }

    /// Reads a stored login; none from a text that is none.
    fn read(text: &str) -> Option<Self> {
        let stored: Value = serde_json::from_str(text).ok()?;
        let holder = match stored["holder"].as_str()? {
            "owner" => Holder::Owner,
            "local" => Holder::Local,
            "key" => Holder::Key(stored["key_id"].as_str()?.to_owned()),
            "linked" => Holder::Linked(LinkedQuestion::read(&stored["linked"])?),
            _ => return None,
        };
        let time = |name: &str| stored[name].as_i64().map(Time::from_unix_millis);
        let secret = stored["secret"].as_str()?.to_owned();
        let actor = stored["actor"].as_str().and_then(|actor| ActorKey::parse(actor).ok());
        let person = Person { holder, actor };
        Some(Self { secret, person, until: time("until")?, used_at: time("used_at")? })
    }
}

impl Begun {
    fn new(now: Time) -> Self {
        Self { cookie: secret(), secret: secret(), until: now.add_seconds(LOGIN_SECONDS) }
    }

    /// The setting that keeps the login, and its text.
    fn stored(&self, person: Person, now: Time) -> (String, String) {
        let secret = sha256(self.secret.as_bytes()).hex();
        let login = Login { secret, person, until: self.until, used_at: now };
        (setting_of(&self.cookie), login.text())
    }
}

/// Ends the links and logins of a person.
pub(crate) fn forget_person(unit: &mut dyn WriteUnit, name: &str) -> Result<(), UnitError> {
    linked::forget(unit, name)?;
    let is_of =
        |login: Login| matches!(login.person.holder, Holder::Linked(of) if of.person == name);
    let settings = unit.settings(Scope::Store)?.into_iter();
    for (setting, text) in settings.filter(|(setting, _)| setting.starts_with(LOGIN)) {
        if Login::read(&text).is_some_and(is_of) {
            unit.put_setting(Scope::Store, &setting, None)?;
        }
    }
    Ok(())
}

fn setting_of(cookie: &str) -> String {
    format!("{LOGIN}{}", sha256(cookie.as_bytes()).hex())
}

/// The login that a setting keeps.
fn login(unit: &dyn ReadUnit, setting: &str) -> Result<Option<Login>, UnitError> {
    Ok(unit.setting(Scope::Store, setting)?.as_deref().and_then(Login::read))
}

/// Removes the logins that have ended, and those that leave for one more of a holder.
fn make_room(unit: &mut dyn WriteUnit, holder: &Holder, now: Time) -> Result<(), UnitError> {
    let settings = unit.settings(Scope::Store)?.into_iter();
    let mut kept = Vec::new();
    for (setting, text) in settings.filter(|(name, _)| name.starts_with(LOGIN)) {
        match Login::read(&text).filter(|login| login.is_valid(now)) {
            Some(login) => kept.push((login.used_at, setting, login.person.holder)),
            None => unit.put_setting(Scope::Store, &setting, None)?,
        }
    }
    kept.sort_by(|one, other| (one.0, &one.1).cmp(&(other.0, &other.1)));
    let kept = kept.into_iter().map(|(_, setting, holder)| (holder, setting)).collect();
    for setting in room::LOGINS.leaves(kept, holder) {
        unit.put_setting(Scope::Store, &setting, None)?;
    }
    Ok(())
}

fn secret() -> String {
    BASE32_DNSSEC.encode(&random::<32>())
}
