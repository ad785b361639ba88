//! Receivers of notifications: `[[notify.receivers]]`, a list of tables. In a flag or a variable it
//! is the same list as JSON.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use accord_base::inbox::Urgency;
use accord_notify::{Format, Wants, ntfy_topic};
use serde_json::{Map, Value};

use super::value::{CommandLine, Setting, WebhookUrl};

/// The receivers of notifications.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Receivers {
    /// They, in their order.
    pub all: Vec<ReceiverSetting>,
    shown: Vec<Value>,
}

/// A receiver of notifications.
#[derive(Clone, Debug, PartialEq)]
pub struct ReceiverSetting {
    /// Its name, for logs and messages.
    pub name: String,
    /// Where it is.
    pub place: ReceiverPlace,
    /// How a message looks.
    pub format: Format,
    /// The file with the secret of the signature.
    pub secret_file: Option<PathBuf>,
    /// The file with the token that is sent as `Authorization: Bearer`.
    pub token_file: Option<PathBuf>,
    /// Whom mails are to.
    pub to: Vec<String>,
    /// Whom mails are from.
    pub from: Option<String>,
    /// How long it may take for one message.
    pub timeout: Duration,
    /// Which items it is told.
    pub wants: Wants,
}

/// Where a receiver is.
#[derive(Clone, Debug, PartialEq)]
pub enum ReceiverPlace {
    /// A URL.
    Url(WebhookUrl),
    /// A program.
    Command(CommandLine),
}

/// Names that are not free: the receivers of `notify.url` and `notify.command`.
const TAKEN: [&str; 2] = ["url", "command"];
const MEMBERS: &str = "name, url, command, format, secret_file, token_file, to, from, timeout, \
    projects, kinds, urgency";

impl Setting for Receivers {
    fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Ok(Self::default());
        }
        let not = "is not a list of receivers, each a table or a JSON object with a name";
        let Ok(Value::Array(shown)) = serde_json::from_str(text) else { return Err(not.into()) };
        let mut all = Vec::new();
        for one in &shown {
            all.push(receiver(one.as_object().ok_or(not)?)?);
        }
        let names: BTreeSet<&str> = all.iter().map(|one| one.name.as_str()).collect();
        if names.len() < all.len() {
            return Err("has two receivers of one name".into());
        }
        Ok(Self { all, shown })
    }

    fn show(&self) -> Value {
        Value::Array(self.shown.clone())
    }
}

fn receiver(members: &Map<String, Value>) -> Result<ReceiverSetting, String> {
    let mut left = members.clone();
    let name = text(&mut left, "name")?.unwrap_or_default();
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if name.is_empty() || name.len() > 40 || !name.bytes().all(is_plain) {
        return Err(format!("has a receiver with the name {name:?}; use a to z, 0 to 9 and -"));
    }
    if TAKEN.contains(&&*name) {
        return Err(format!(
            "has a receiver with the name {name:?}, which is that of notify.{name}"
        ));
    }
    let of = |problem: &str| format!("has the receiver {name}, which {problem}");
    let format = text(&mut left, "format")?.unwrap_or_else(|| "json".to_owned());
    let format = Format::parse(&format).ok_or_else(|| {
        of(&format!("has the format {format:?}; it is json, ntfy, slack or mail"))
    })?;
    let url = text(&mut left, "url")?.unwrap_or_default();
    let url = Option::<WebhookUrl>::parse(&url).map_err(|problem| of(&problem))?;
    let place = match (url, command(&mut left)?) {
        (Some(url), None) => ReceiverPlace::Url(url),
        (None, Some(command)) => ReceiverPlace::Command(command),
        _ => return Err(of("needs a url or a command, and not both")),
    };
    let timeout = text(&mut left, "timeout")?.unwrap_or_else(|| "10s".to_owned());
    let urgency = left.take("urgency").unwrap_or(4.into());
    let urgency = urgency.as_i64().filter(|number| (1..=4).contains(number));
    let urgency =
        urgency.and_then(Urgency::of).ok_or_else(|| of("needs an urgency from 1 to 4"))?;
    let receiver = ReceiverSetting {
        format,
        secret_file: text(&mut left, "secret_file")?.map(PathBuf::from),
        token_file: text(&mut left, "token_file")?.map(PathBuf::from),
        to: texts(&mut left, "to")?,
        from: text(&mut left, "from")?,
        timeout: Duration::parse(&timeout).map_err(|problem| of(&problem))?,
        wants: Wants {
            projects: texts(&mut left, "projects")?,
            kinds: texts(&mut left, "kinds")?,
            urgency,
        },
        place,
        name: name.clone(),
    };
    if let Some(unknown) = left.keys().next() {
        return Err(of(&format!("has the unknown member {unknown:?}; it has {MEMBERS}")));
    }
    match (&receiver.place, format) {
        (ReceiverPlace::Url(_), Format::Mail) => Err(of("sends mail, and needs a command")),
        (ReceiverPlace::Command(_), Format::Mail) if receiver.to.is_empty() => {
            Err(of("sends mail, and needs `to`"))
        }
        (ReceiverPlace::Url(url), Format::Ntfy) if ntfy_topic(url.as_str()).is_none() => {
            Err(of("needs a url that ends with a topic, such as https://ntfy.example.org/shop"))
        }
        (ReceiverPlace::Command(_), _)
            if receiver.secret_file.is_some() || receiver.token_file.is_some() =>
        {
            Err(of("is a command, and neither signs nor has a token"))
        }
        _ => Ok(receiver),
    }
}

trait Take {
    fn take(&mut self, name: &str) -> Option<Value>;
}

impl Take for Map<String, Value> {
    fn take(&mut self, name: &str) -> Option<Value> {
        self.remove(name).filter(|value| !value.is_null())
    }
}

fn text(members: &mut Map<String, Value>, name: &str) -> Result<Option<String>, String> {
    match members.take(name) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text).filter(|text| !text.is_empty())),
        Some(_) => Err(format!("has a receiver whose {name} is not a text")),
    }
}

/// A list of texts, or one text.
fn texts(members: &mut Map<String, Value>, name: &str) -> Result<Vec<String>, String> {
    let not = || format!("has a receiver whose {name} is not a list of texts");
    match members.take(name) {
        None => Ok(Vec::new()),
        Some(Value::String(text)) => Ok(vec![text]),
        Some(Value::Array(items)) => {
            let items = items.iter().map(|item| item.as_str().map(str::to_owned));
            items.collect::<Option<_>>().ok_or_else(not)
        }
        Some(_) => Err(not()),
    }
}

/// A command: one text, or its arguments.
fn command(members: &mut Map<String, Value>) -> Result<Option<CommandLine>, String> {
    if members.get("command").is_some_and(Value::is_array) {
        let words = texts(members, "command")?;
        return Ok(CommandLine::of(words));
    }
    let text = text(members, "command")?.unwrap_or_default();
    Option::<CommandLine>::parse(&text)
}
