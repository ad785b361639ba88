//! How a message looks to its receiver.

use std::fmt::Write as _;

use accord_base::excerpt::{one_line, visible};
use accord_base::inbox::Urgency;
use accord_contract::{Object, Value, Wire as _};
use data_encoding::BASE64;

use crate::Message;

/// The most items that a text names.
const NAMED: usize = 5;

/// The most characters of a subject.
const SUBJECT: usize = 500;

/// How a message looks.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Format {
    /// The document [`Notification`](crate::Notification).
    #[default]
    Json,
    /// What a server of ntfy takes.
    Ntfy,
    /// What Slack takes, and servers that imitate it.
    Slack,
    /// A mail, with its headers.
    Mail,
}

/// The addresses of a mail.
#[derive(Clone, Copy, Debug, Default)]
pub struct MailAddresses<'a> {
    /// Whom it is to.
    pub to: &'a [String],
    /// Whom it is from; the mail program decides where this is empty.
    pub from: Option<&'a str>,
}

/// What is sent.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Sent {
    /// The type of the body.
    pub content_type: &'static str,
    /// The body.
    pub body: String,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Json, Self::Ntfy, Self::Slack, Self::Mail];

    /// Its name in settings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Ntfy => "ntfy",
            Self::Slack => "slack",
            Self::Mail => "mail",
        }
    }

    /// The format of a name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.as_str() == text)
    }

    /// A message in this format. `topic` is that of ntfy ([`ntfy_topic`]).
    pub fn write(self, message: &Message, topic: &str, addresses: MailAddresses<'_>) -> Sent {
        let json = "application/json";
        match self {
            Self::Json => {
                Sent { content_type: json, body: message.document().encode().to_string() }
            }
            Self::Ntfy => Sent { content_type: json, body: ntfy(message, topic).to_string() },
            Self::Slack => Sent { content_type: json, body: slack(message).to_string() },
            Self::Mail => Sent { content_type: "message/rfc822", body: mail(message, addresses) },
        }
    }
}

/// The address of a server of ntfy, and the topic, of the address of a topic: its last segment.
pub fn ntfy_topic(url: &str) -> Option<(&str, &str)> {
    let (server, topic) = url.split_once("://").and_then(|(scheme, rest)| {
        let at = rest.rfind('/')?;
        Some((&url[..scheme.len() + 3 + at + 1], &rest[at + 1..]))
    })?;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    (!topic.is_empty() && topic.bytes().all(is_plain)).then_some((server, topic))
}

/// What a message says below its title, one item a line.
fn text_of(message: &Message) -> String {
    let mut text = String::new();
    let told = message.told();
    for one in told.iter().take(NAMED) {
        let item = one.waiting.item(&one.project, message.at);
        let _ = write!(text, "Urgency {} [{}] {}", item.urgency, one.place(), one.title());
        let _ = write!(text, " ({})", item.reason);
        // Some titles begin with who asks.
        if let Some(actor) = one.asked_by().filter(|actor| !one.title().contains(&**actor)) {
            let _ = write!(text, ", asked by {actor}");
        }
        let _ = writeln!(text, ": accord inbox show {}", one.handle());
    }
    if told.len() > NAMED {
        let _ = writeln!(text, "and {} more: accord inbox", told.len() - NAMED);
    }
    text
}

fn object(members: Vec<(&str, Value)>) -> Value {
    let members = members.into_iter().map(|(name, value)| (name.to_owned(), value));
    Value::Object(Object::from_iter(members))
}

fn ntfy(message: &Message, topic: &str) -> Value {
    let priority = match message.urgency() {
        Urgency::Loss => 5,
        Urgency::Chain => 4,
        Urgency::Piece => 3,
        Urgency::Should | Urgency::Notice => 2,
    };
    let mut members = vec![
        ("topic", topic.into()),
        ("title", message.title().into()),
        ("message", text_of(message).trim_end().into()),
        ("priority", priority.into()),
    ];
    // No actions: a button that decides would carry a key.
    if let Some(link) = message.link() {
        members.push(("click", link.into()));
    }
    object(members)
}

/// A text for Slack: without its markup, links and mentions.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => plain.push_str("&amp;"),
            '<' => plain.push_str("&lt;"),
            '>' => plain.push_str("&gt;"),
            // Imitations of Slack read mentions in any text.
            '@' => plain.push('\u{ff20}'),
            '*' | '_' | '~' | '`' => plain.extend(['\u{2060}', letter]),
            other => plain.push(other),
        }
    }
    plain
}

fn slack(message: &Message) -> Value {
    let mut text = format!("{}\n{}", plain(&message.title()), plain(&text_of(message)));
    if let Some(link) = message.link() {
        let _ = write!(text, "<{link}|Answer it in Accord>");
    }
    object(vec![("text", text.trim_end().into())])
}

fn mail(message: &Message, addresses: MailAddresses<'_>) -> String {
    let mut body = text_of(message);
    if let Some(link) = message.link() {
        let _ = writeln!(body, "\n{link}");
    }
    letter(&message.id, (&message.title(), &body), addresses)
}

/// A mail with its headers: a subject of one line, and a text. What is invisible in them is shown.
pub fn letter(id: &str, (subject, body): (&str, &str), addresses: MailAddresses<'_>) -> String {
    let mut mail = String::new();
    let mut header = |name: &str, value: &str| {
        // An address with a line break would be another header.
        let value: String = value.chars().filter(|letter| !letter.is_control()).collect();
        let _ = write!(mail, "{name}: {value}\r\n");
    };
    header("To", &addresses.to.join(", "));
    if let Some(from) = addresses.from {
        header("From", from);
    }
    header("Subject", &encoded(&one_line(subject, SUBJECT)));
    header("Message-ID", &format!("<{id}@accord.invalid>"));
    header("Auto-Submitted", "auto-generated");
    header("MIME-Version", "1.0");
    header("Content-Type", "text/plain; charset=utf-8");
    header("Content-Transfer-Encoding", "base64");
    mail.push_str("\r\n");
    // Lines of 76 characters.
    for line in BASE64.encode(visible(body).as_bytes()).as_bytes().chunks(76) {
        mail.push_str(&String::from_utf8_lossy(line));
        mail.push_str("\r\n");
    }
    mail
}

/// A text of a header: as it is where that is possible, else in encoded words.
fn encoded(text: &str) -> String {
    if text.is_ascii() && !text.contains("=?") {
        return text.to_owned();
    }
    let mut words = Vec::new();
    let mut word = String::new();
    for letter in text.chars() {
        // An encoded word has at most 75 characters.
        if word.len() + letter.len_utf8() > 42 {
            words.push(std::mem::take(&mut word));
        }
        word.push(letter);
    }
    words.push(word);
    let words: Vec<_> = words.iter().map(|word| BASE64.encode(word.as_bytes())).collect();
    let words: Vec<_> = words.iter().map(|word| format!("=?utf-8?B?{word}?=")).collect();
    words.join(" ")
}
