//! The form of a wire value, as data. Decoding errors, snapshots and JSON Schemas are made from it.

use super::{Object, Presence, TextForm, Value};

/// The shape of a wire value.
#[derive(Clone, Debug)]
pub enum Shape {
    /// Any JSON value.
    Any,
    /// A boolean.
    Boolean,
    /// Only `true`, or only `false`.
    Constant(bool),
    /// A string.
    Text,
    /// A string of a certain form.
    Form(TextForm),
    /// A number without a fraction, within these bounds.
    Integer {
        /// The smallest value, where there is one.
        minimum: Option<i64>,
        /// The largest value, where there is one.
        maximum: Option<i64>,
    },
    /// A number, within these bounds.
    Number {
        /// The smallest and the largest value, where there are any.
        range: Option<(i64, i64)>,
    },
    /// A list of one kind of value.
    List {
        /// The kind of value.
        item: Box<Self>,
        /// The fewest items.
        least: usize,
        /// The most items, where there is a limit.
        most: Option<usize>,
    },
    /// An object whose member names are data, all of one kind of value.
    Map(Box<Self>),
    /// A string out of a list of names.
    Enum(EnumShape),
    /// A declared message.
    Message(MessageShape),
    /// A value of one of several shapes.
    Either(Vec<Self>),
}

/// The shape of a list of names.
#[derive(Clone, Debug)]
pub struct EnumShape {
    /// The name on the wire contract.
    pub name: &'static str,
    /// Whether a reader accepts a name that is not in the list.
    pub open: bool,
    /// The names.
    pub members: Vec<&'static str>,
}

/// The shape of a [`message!`](crate::message).
#[derive(Clone, Debug)]
pub struct MessageShape {
    /// The name on the wire contract.
    pub name: &'static str,
    /// What the message is, in a sentence.
    pub about: String,
    /// Whether unknown members are kept (open) or refused (closed).
    pub open: bool,
    /// Makes the members' shapes. A function, because a message may contain itself.
    pub fields: fn() -> Vec<FieldShape>,
    /// The aliases that are written beside the canonical members.
    pub aliases: &'static [Alias],
    /// Makes the shapes of the members that the reader does not know (`adds` and `extensions`).
    pub beside: fn() -> Vec<FieldShape>,
}

/// The shape of one canonical member.
#[derive(Clone, Debug)]
pub struct FieldShape {
    /// The member's name on the wire.
    pub name: &'static str,
    /// What the member is, in a sentence.
    pub about: String,
    /// Whether it must be there and may be `null`.
    pub presence: Presence,
    /// A token for the meaning; it changes when the meaning does.
    pub semantics: &'static str,
    /// The shape of its value.
    pub shape: Shape,
    /// Whether the server sets it, so that clients leave it out.
    pub is_read_only: bool,
}

/// A member that repeats a canonical one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Alias {
    /// The member's name, at the top of the message.
    pub name: &'static str,
    /// The place of the canonical member, as a dotted path (`error.code`).
    pub mirrors: &'static str,
}

impl Alias {
    /// The canonical value in a document.
    pub(crate) fn canonical<'a>(&self, document: &'a Object) -> Option<&'a Value> {
        let mut names = self.mirrors.split('.');
        let first = document.get(names.next()?)?;
        names.try_fold(first, |object, name| object.as_object()?.get(name))
    }
}

impl Shape {
    /// The shape as a noun for an error message.
    pub fn in_words(&self) -> String {
        match self {
            Self::Any => "a value".into(),
            Self::Boolean => "a boolean".into(),
            Self::Constant(value) => value.to_string(),
            Self::Text => "a string".into(),
            Self::Form(form) => form.in_words(),
            Self::Integer { minimum: None, maximum: None } => "a whole number".into(),
            Self::Integer { minimum: Some(least), maximum: None } => {
                format!("a whole number of at least {least}")
            }
            Self::Integer { minimum: None, maximum: Some(most) } => {
                format!("a whole number of at most {most}")
            }
            Self::Integer { minimum: Some(least), maximum: Some(most) } => {
                format!("a whole number from {least} to {most}")
            }
            Self::Number { range: None } => "a number".into(),
            Self::Number { range: Some((low, high)) } => format!("a number from {low} to {high}"),
            Self::List { .. } => "a list".into(),
            Self::Map(_) | Self::Message(_) => "an object".into(),
            Self::Either(shapes) => {
                let shapes: Vec<_> = shapes.iter().map(Self::in_words).collect();
                shapes.join(" or ")
            }
            Self::Enum(names) if names.open => "a string".into(),
            Self::Enum(names) => match names.members.as_slice() {
                [only] => format!("\"{only}\""),
                several => format!("one of \"{}\"", several.join("\", \"")),
            },
        }
    }

    /// The JSON type, as contract snapshots and JSON Schema name it.
    pub(crate) fn json_type(&self) -> &'static str {
        match self {
            Self::Any | Self::Either(_) => "any",
            Self::Boolean | Self::Constant(_) => "boolean",
            Self::Text | Self::Form(_) | Self::Enum(_) => "string",
            Self::Integer { .. } => "integer",
            Self::Number { .. } => "number",
            Self::List { .. } => "array",
            Self::Map(_) | Self::Message(_) => "object",
        }
    }
}

/// The lines of a doc comment as one paragraph.
pub fn about(lines: &[&str]) -> String {
    let lines: Vec<_> = lines.iter().map(|line| line.trim()).collect();
    lines.join(" ").trim().to_owned()
}
