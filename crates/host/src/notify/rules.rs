//! What people want to be told. The rules of a person are a setting of the store.
//!
//! Invariants:
//! - the rules hold with the access with which they were set: when the key is revoked or has
//!   expired, nothing is sent;
//! - a URL of a person is looked up when it is set and each time that it is used. If one of its
//!   addresses is not public, no connection is opened, unless the operator permits others;
//! - a mail goes to the stored address of the person.

use std::sync::Arc;
use std::time::{Duration, Instant};

use accord_api::operations::notifications::{
    MOST_RULES, NotificationFormat, NotificationRule, NotificationRules,
};
use accord_api::operations::people::Person;
use accord_base::inbox::Urgency;
use accord_base::{Access, Author, By, Caller, Decision, Door, Need, StoredKey};
use accord_canon::sha256;
use accord_client::{Reach, blocking};
use accord_contract::{Code, Failure, Object, Time, Value, Wire as _};
use accord_memory::UnitResult;
use accord_notify::{Format, Quiet, Wants, ntfy_topic};
use accord_store::{ReadUnit, Scope};
use accord_system::spawn_blocking;
use hyper::Uri;

use super::receiver::{Personal, Place, Receiver};
use crate::http::Host;
use crate::settings::{PersonalUrls, Settings};

/// The beginning of the name of a setting of the store: what a person wants to be told.
const RULES: &str = "notify.rules.";
/// Members of that setting: the rules, and with what they were set.
const LIST: &str = "rules";
const SET_WITH: &str = "set_with";
/// What they were set with, if it was no key.
const OWNER: &str = "owner";
const NO_KEY: &str = "no key";
/// How long a name may take to be looked up.
const LOOKUP: Duration = Duration::from_secs(5);

/// What a person is told.
pub(crate) struct PersonRules {
    pub(crate) person: String,
    pub(crate) rules: Vec<NotificationRule>,
    /// What tells them from those of before.
    pub(crate) version: String,
}

fn version_of(stored: Option<&str>) -> String {
    sha256(stored.unwrap_or_default().as_bytes()).hex()[..16].to_owned()
}

impl Host {
    /// The person who asks, and what that person is told.
    pub(crate) async fn notification_rules(
        &self,
        caller: &Caller,
        actor: Option<&str>,
        door: Door,
    ) -> Result<PersonRules, Failure> {
        let person = person(caller, actor, door)?;
        set_with(caller)?;
        let name = format!("{RULES}{person}");
        let text = self.units().read(move |unit| Ok(unit.setting(Scope::Store, &name)?)).await?;
        let rules = text.as_deref().map(|text| read(text).0).unwrap_or_default();
        Ok(PersonRules { person, rules, version: version_of(text.as_deref()) })
    }

    /// Sets what a person is told.
    pub(crate) async fn set_notification_rules(
        &self,
        caller: &Caller,
        actor: Option<&str>,
        door: Door,
        asked: NotificationRules,
    ) -> Result<PersonRules, Failure> {
        let NotificationRules { rules, expect, .. } = asked;
        let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !expect.as_deref().is_none_or(|text| (1..=64).contains(&text.len()) && is_hex(text)) {
            return Err(wrong("it is not a version of rules", "/expect"));
        }
        let person = person(caller, actor, door)?;
        if rules.len() > MOST_RULES {
            return Err(wrong(&format!("a person has at most {MOST_RULES} rules"), "/rules"));
        }
        for (index, rule) in rules.iter().enumerate() {
            if rules[..index].iter().any(|other| other.name == rule.name) {
                let message = format!("two rules have the name {:?}", rule.name);
                return Err(wrong(&message, &format!("/rules/{index}/name")));
            }
            self.check_rule(rule, &format!("/rules/{index}")).await?;
        }
        let set_with = set_with(caller)?.to_owned();
        let list = rules.iter().map(|rule| rule.clone().encode()).collect();
        let members =
            [(LIST.to_owned(), Value::Array(list)), (SET_WITH.to_owned(), set_with.into())];
        let text =
            (!rules.is_empty()).then(|| Value::Object(Object::from_iter(members)).to_string());
        let (name, version) = (format!("{RULES}{person}"), version_of(text.as_deref()));
        let units = self.units();
        let write = units.write(move |unit| {
            let before = version_of(unit.setting(Scope::Store, &name)?.as_deref());
            if expect.as_ref().is_some_and(|expected| *expected != before) {
                let message = "the rules were changed since they were read";
                let stale = Failure::new(Code::DecisionStale, message).at("/expect");
                return Err(stale.suggesting("read them again").into());
            }
            Ok(unit.put_setting(Scope::Store, &name, text.as_deref())?)
        });
        write.await?;
        Ok(PersonRules { person, rules, version })
    }

    async fn check_rule(&self, rule: &NotificationRule, at: &str) -> Result<(), Failure> {
        let is_plain =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if rule.name.is_empty() || rule.name.len() > 40 || !rule.name.bytes().all(is_plain) {
            return Err(wrong("a name has a to z, 0 to 9 and -", &format!("{at}/name")));
        }
        if rule.quiet.as_deref().is_some_and(|quiet| Quiet::parse(quiet).is_none()) {
            let message = "quiet hours are two times of the day, such as 22:00-07:00+01:00";
            return Err(wrong(message, &format!("{at}/quiet")));
        }
        if rule.urgency.is_some_and(|urgency| !(1..=4).contains(&urgency)) {
            return Err(wrong("an urgency is 1 to 4", &format!("{at}/urgency")));
        }
        let at = format!("{at}/url");
        let Some(url) = &rule.url else {
            return match rule.format {
                NotificationFormat::Mail => Ok(()),
                _ => Err(wrong("this format needs a URL", &at)),
            };
        };
        let reach = match (rule.format, reach(self.settings())) {
            (NotificationFormat::Mail, _) => {
                return Err(wrong("a mail goes to the stored address; leave url out", &at));
            }
            (_, None) => return Err(wrong("the operator permits no URLs of people", &at)),
            (_, Some(reach)) => reach,
        };
        let uri: Uri = url.parse().map_err(|_| wrong("it is not a URL", &at))?;
        if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
            return Err(wrong("a URL with a user name is not taken", &at));
        }
        if rule.format == NotificationFormat::Ntfy && ntfy_topic(url).is_none() {
            return Err(wrong("the URL of ntfy ends with a topic", &at));
        }
        let deadline = Instant::now() + LOOKUP;
        let found = spawn_blocking(move || blocking::look_up(&uri, deadline, reach)).await;
        match found {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(wrong(&error.to_string(), &at)),
            Err(error) => Err(wrong(&error.to_string(), &at)),
        }
    }

    /// The people who are told now.
    pub(super) async fn people_told(&self) -> Result<Vec<Arc<Receiver>>, Failure> {
        let (host, now) = (self.clone(), self.now());
        let read = move |unit: &dyn ReadUnit| people(unit, host.settings(), now);
        Ok(self.units().read(read).await?.into_iter().map(Arc::new).collect())
    }
}

/// With what a caller sets rules. Who has a link to one question may read nothing else.
fn set_with(caller: &Caller) -> Result<&str, Failure> {
    match caller.key_id() {
        Some(key) => Ok(key),
        None if caller.is_local() => Ok(NO_KEY),
        None if caller.is_owner() => Ok(OWNER),
        None => {
            let message = "what a person is told is set with a key, or by the owner of the folder";
            Err(Failure::new(Code::AccessDenied, message))
        }
    }
}

/// The person in whose name somebody asks.
fn person(caller: &Caller, actor: Option<&str>, door: Door) -> Result<String, Failure> {
    let author = actor.map(|actor| By::parse(actor, door)).transpose();
    let author = author.map_err(|failure| failure.at("/actor"))?.map(|by| by.actor);
    let need = Need::Decide(Decision::PersonAnswer);
    let by = caller.attribute(need, Author::proven(author, "/actor"))?.by(door);
    let by = by.ok_or_else(|| {
        let message = "the request does not say who asks: name an actor, such as human:NAME";
        Failure::new(Code::WireFieldMissing, message).at("/actor")
    })?;
    Ok(by.name().to_owned())
}

fn wrong(message: &str, at: &str) -> Failure {
    Failure::new(Code::WireFieldValue, message).at(at)
}

/// To which addresses messages of people go; `None` for none.
fn reach(settings: &Settings) -> Option<Reach> {
    match settings.notify.personal {
        PersonalUrls::Public => Some(Reach::Public),
        PersonalUrls::Any => Some(Reach::Any),
        PersonalUrls::Off => None,
    }
}

/// The rules of a setting, and what they were set with.
fn read(text: &str) -> (Vec<NotificationRule>, String) {
    let Ok(Value::Object(members)) = serde_json::from_str(text) else { return Default::default() };
    let list = members.get(LIST).and_then(Value::as_array).into_iter().flatten();
    let rules = list.filter_map(|rule| NotificationRule::from_document(rule.clone()).ok());
    let set_with = members.get(SET_WITH).and_then(Value::as_str).unwrap_or_default();
    (rules.collect(), set_with.to_owned())
}

fn people(unit: &dyn ReadUnit, settings: &Settings, now: Time) -> UnitResult<Vec<Receiver>> {
    let mut all = Vec::new();
    for (name, text) in unit.settings(Scope::Store)? {
        let Some(actor) = name.strip_prefix(RULES) else { continue };
        let (rules, set_with) = read(&text);
        let Some(access) = access(unit, &set_with, now)? else { continue };
        for rule in &rules {
            let person = Personal {
                actor: actor.to_owned(),
                access: access.clone(),
                quiet: rule.quiet.as_deref().and_then(Quiet::parse),
                reach: reach(settings).unwrap_or(Reach::Public),
            };
            all.extend(receiver(unit, settings, rule, person)?);
        }
    }
    Ok(all)
}

/// With which access rules hold; `None` if it holds no more.
fn access(unit: &dyn ReadUnit, set_with: &str, now: Time) -> UnitResult<Option<Access>> {
    match set_with {
        OWNER => return Ok(Some(Access::open())),
        NO_KEY => return Ok(unit.keys(None, 1)?.is_empty().then(Access::open)),
        _ => {}
    }
    let Some(key) = unit.key(set_with)?.filter(|key| key.revoked_at.is_none()) else {
        return Ok(None);
    };
    let stored = StoredKey::read(&key.text).ok().filter(|stored| !stored.is_expired(now));
    Ok(stored.map(|stored| Access::of(&stored.scope)))
}

/// The receiver of a rule; `None` if there is no way to it.
fn receiver(
    unit: &dyn ReadUnit,
    settings: &Settings,
    rule: &NotificationRule,
    person: Personal,
) -> UnitResult<Option<Receiver>> {
    let format = Format::parse(rule.format.as_str()).unwrap_or_default();
    let mut to = Vec::new();
    let place = match (&rule.url, &settings.notify.mail) {
        (Some(url), _) if format != Format::Mail && reach(settings).is_some() => {
            Place::Url { url: url.clone(), secret_file: None, token_file: None }
        }
        (_, Some(command)) if format == Format::Mail => {
            let Some(address) = address(unit, &person.actor)? else { return Ok(None) };
            to.push(address);
            Place::Command(command.words().to_vec())
        }
        _ => return Ok(None),
    };
    let urgency = rule.urgency.and_then(|urgency| Urgency::of(i64::try_from(urgency).ok()?));
    Ok(Some(Receiver {
        name: format!("{}/{}", person.actor, rule.name),
        wants: Wants {
            projects: rule.project.iter().map(|project| project.as_str().to_owned()).collect(),
            kinds: rule.kinds.clone().unwrap_or_default(),
            urgency: urgency.unwrap_or(Urgency::Should),
        },
        place,
        format,
        to,
        from: None,
        timeout: settings.notify.timeout,
        person: Some(person),
    }))
}

/// The stored address of a person.
fn address(unit: &dyn ReadUnit, actor: &str) -> UnitResult<Option<String>> {
    let Some(name) = actor.strip_prefix("human:") else { return Ok(None) };
    let Some(row) = unit.person(name)? else { return Ok(None) };
    let document = serde_json::from_str(&row.text).unwrap_or(Value::Null);
    Ok(Person::from_document(document).ok().and_then(|person| person.email))
}
