//! The tables: `operations.txt` and `tools.txt` say what is sent, `matrix.txt` says who may.

use std::fmt::{self, Display};

use serde_json::{Map, Value, json};

const OPERATIONS: &str = include_str!("operations.txt");
const TOOLS: &str = include_str!("tools.txt");
const MATRIX: &str = include_str!("matrix.txt");

/// In whose name a request is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Acting {
    Person,
    Agent,
    Nobody,
}

/// How a request names who acts, or who else it is for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Author {
    Claimed,
    Proven,
    Agent,
    Key,
    Owner,
    Login,
    Link,
    Frames,
    None,
}

/// A line of `operations.txt`.
pub(super) struct Operation {
    pub(super) name: &'static str,
    pub(super) need: &'static str,
    pub(super) author: Author,
    /// The statuses of requests that the policy passes.
    pub(super) statuses: Vec<u16>,
    pub(super) method: &'static str,
    path: &'static str,
    body: &'static str,
}

/// A line of `tools.txt`.
pub(super) struct Tool {
    pub(super) name: &'static str,
    pub(super) need: &'static str,
    pub(super) author: Author,
    /// What calls that the policy passes are answered with: `ok`, or codes.
    pub(super) answers: Vec<&'static str>,
    arguments: &'static str,
}

/// What the placeholders of a line stand for.
#[derive(Clone, Copy, Default)]
pub(super) struct Values<'a> {
    pub(super) session: &'a str,
    pub(super) key: Option<&'a str>,
}

impl Acting {
    pub(super) const ALL: [Self; 3] = [Self::Person, Self::Agent, Self::Nobody];

    /// The actor, as `TYPE:ID`.
    pub(super) fn actor(self) -> Option<&'static str> {
        match self {
            Self::Person => Some("human:lead"),
            Self::Agent => Some("agent:dev"),
            Self::Nobody => None,
        }
    }
}

impl Display for Acting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.actor().unwrap_or("nobody"))
    }
}

impl Author {
    fn of(word: &str) -> Self {
        match word {
            "claimed" => Self::Claimed,
            "proven" => Self::Proven,
            "agent" => Self::Agent,
            "key" => Self::Key,
            "owner" => Self::Owner,
            "login" => Self::Login,
            "link" => Self::Link,
            "frames" => Self::Frames,
            "none" => Self::None,
            _ => panic!("{word:?} is no author"),
        }
    }

    /// In whose names requests are sent.
    pub(super) fn acting(self) -> &'static [Acting] {
        match self {
            Self::Claimed | Self::Proven => &Acting::ALL,
            Self::Agent => &[Acting::Agent],
            _ => &[Acting::Nobody],
        }
    }
}

/// The lines of a table, without comments.
fn lines(table: &'static str) -> impl Iterator<Item = &'static str> {
    table.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// The first word of a line, and the rest.
fn word(line: &'static str) -> (&'static str, &'static str) {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    (word, rest.trim_start())
}

pub(super) fn operations() -> Vec<Operation> {
    let operation = |line| {
        let (name, rest) = word(line);
        let (need, rest) = word(rest);
        let (author, rest) = word(rest);
        let (statuses, rest) = word(rest);
        let (method, rest) = word(rest);
        let (path, body) = word(rest);
        let statuses = statuses.split(',').filter(|status| !status.is_empty());
        let statuses = statuses.map(|status| status.parse().expect("a status")).collect();
        Operation { name, need, author: Author::of(author), statuses, method, path, body }
    };
    lines(OPERATIONS).map(operation).collect()
}

pub(super) fn tools() -> Vec<Tool> {
    let tool = |line| {
        let (name, rest) = word(line);
        let (need, rest) = word(rest);
        let (author, rest) = word(rest);
        let (answers, arguments) = word(rest);
        let answers = answers.split(',').collect();
        Tool { name, need, author: Author::of(author), answers, arguments }
    };
    lines(TOOLS).map(tool).collect()
}

impl Operation {
    /// The path of a request.
    pub(super) fn path(&self, acting: Acting, values: Values<'_>) -> String {
        let path = self.path.replace("{session}", values.session);
        match acting.actor() {
            Some(actor) => path.replace("{actor}", actor),
            None => path.replace("?actor={actor}", "").replace("&actor={actor}", ""),
        }
    }

    /// The body of a request.
    pub(super) fn body(&self, acting: Acting, values: Values<'_>) -> Option<String> {
        match self.body {
            "" => None,
            body if body.starts_with('{') => Some(filled(body, acting, values).to_string()),
            body => Some(body.to_owned()),
        }
    }
}

impl Tool {
    /// The arguments of a call.
    pub(super) fn arguments(&self, acting: Acting, values: Values<'_>) -> Value {
        filled(self.arguments, acting, values)
    }
}

/// A document with its placeholders filled in.
fn filled(document: &str, acting: Acting, values: Values<'_>) -> Value {
    let members: Map<String, Value> =
        serde_json::from_str(document).unwrap_or_else(|error| panic!("{error}: {document}"));
    let parts = acting.actor().and_then(|actor| actor.split_once(':'));
    let value = |value: Value| match value.as_str() {
        Some("{actor}") => acting.actor().map(Value::from),
        Some("{by}") => parts.map(|(kind, id)| json!({"id": id, "type": kind})),
        Some("{actor_id}") => parts.map(|(_, id)| id.into()),
        Some("{actor_type}") => parts.map(|(kind, _)| kind.into()),
        Some("{key}") => values.key.map(Value::from),
        Some("{session}") => Some(values.session.into()),
        _ => Some(value),
    };
    let filled = members.into_iter().filter_map(|(name, sent)| Some((name, value(sent)?)));
    Value::Object(filled.collect())
}

/// Whether a caller may do what needs this.
pub(super) fn may(need: &str, caller: &str, author: Author, acting: Acting) -> bool {
    let rows = || lines(MATRIX).map(|line| line.split_whitespace().collect::<Vec<_>>());
    let of = |caller: &str| rows().find(|row| row.starts_with(&[need, caller]));
    let row = of(caller).or_else(|| of("*"));
    let row = row.unwrap_or_else(|| panic!("no line for {need} {caller}"));
    if row[2] == "as" {
        return may(row[3], caller, author, acting);
    }
    let column = match (acting, author) {
        (Acting::Person, Author::Proven) => 3,
        (Acting::Person, _) => 2,
        (Acting::Agent, _) => 4,
        (Acting::Nobody, _) => 5,
    };
    match row[column] {
        "yes" => true,
        "no" => false,
        other => panic!("{need} {caller}: {other:?}"),
    }
}
