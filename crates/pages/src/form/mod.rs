//! Forms for the data of an action, made from its JSON Schema.
//!
//! Invariants:
//! - Every schema has a form. What has no input of its own is entered as JSON.
//! - A form does not decide: the server checks what it sends. Limits in a form are hints.
//! - The number and the depth of fields are limited.

mod hint;
mod pattern;
mod read;

use askama::Template;

use crate::html::Html;
use crate::text::AgentText;

pub(crate) use self::read::read;

#[derive(Clone, Debug)]
pub(crate) struct Field {
    /// Its place, as `address.street`; empty for the whole data, `[]` for an entry of a list,
    /// `[].name` for a member of one.
    pub(crate) path: String,
    /// Its member in the object around it.
    pub(crate) name: String,
    /// Its name, for people.
    pub(crate) label: AgentText,
    pub(crate) description: Option<Html>,
    /// What its schema allows, in words.
    pub(crate) hint: String,
    /// The regular expression of its schema.
    pub(crate) pattern: Option<AgentText>,
    pub(crate) required: bool,
    pub(crate) nullable: bool,
    pub(crate) input: Input,
}

/// What a value is entered with.
#[derive(Clone, Debug)]
pub(crate) enum Input {
    /// A text in one line, of an input type of HTML.
    Line(&'static str, Option<String>),
    /// A text in several lines.
    Lines(Option<String>),
    /// A number.
    Number { whole: bool, bounds: (Option<String>, Option<String>), value: Option<String> },
    /// Yes or no.
    YesNo(Option<bool>),
    /// One of several values.
    Choice(Vec<Choice>),
    /// Any of several values.
    Several(Vec<Choice>),
    /// A list of values.
    List { entry: Box<Field>, least: Option<u64>, most: Option<u64>, values: String },
    /// The members of an object.
    Group(Vec<Field>),
    /// The only value that is allowed, as JSON.
    Fixed(AgentText),
    /// JSON, with the schema as JSON.
    Json { value: Option<String>, schema: AgentText },
}

#[derive(Clone, Debug)]
pub(crate) struct Choice {
    pub(crate) json: String,
    /// Its name, for people.
    pub(crate) label: AgentText,
    /// Whether it is chosen at first.
    pub(crate) chosen: bool,
}

#[derive(Template)]
#[template(path = "field.html")]
struct FieldTemplate<'a> {
    id: &'a str,
    field: &'a Field,
    inner: Html,
}

impl Field {
    /// The markup of the field. `id` is unique on the page.
    pub(crate) fn html(&self, id: &str) -> Html {
        let inner = match &self.input {
            Input::Group(fields) => all(fields, id),
            Input::List { entry, .. } => entry.html(&format!("{id}-entry")),
            _ => Html::default(),
        };
        Html::of(&FieldTemplate { id, field: self, inner })
    }

    /// The name of its kind, which the module `forms.js` reads.
    pub(crate) fn kind(&self) -> &'static str {
        match self.input {
            Input::Line("datetime-local", _) => "date-time",
            Input::Line(..) | Input::Lines(_) => "text",
            Input::Number { whole: true, .. } => "integer",
            Input::Number { .. } => "number",
            Input::YesNo(_) => "boolean",
            Input::Choice(_) => "choice",
            Input::Several(_) => "several",
            Input::List { .. } => "list",
            Input::Group(_) => "group",
            Input::Fixed(_) => "fixed",
            Input::Json { .. } => "json",
        }
    }

    /// Whether it is shown as a group of inputs with a legend.
    pub(crate) fn is_fieldset(&self) -> bool {
        matches!(self.input, Input::Several(_) | Input::List { .. } | Input::Group(_))
    }

    /// Whether it is an object without members.
    fn is_empty_group(&self) -> bool {
        matches!(&self.input, Input::Group(fields) if fields.is_empty())
    }

    fn is_fixed(&self) -> bool {
        matches!(self.input, Input::Fixed(_))
    }

    /// What describes its input, for assistive technology.
    fn described_by(&self, id: &str) -> String {
        let hint = if self.hint.is_empty() { String::new() } else { format!("{id}-hint ") };
        let about = self.description.as_ref().map(|_| format!("{id}-about "));
        format!("{}{hint}{id}-error", about.unwrap_or_default())
    }
}

pub(crate) fn all(fields: &[Field], id: &str) -> Html {
    let html = fields
        .iter()
        .enumerate()
        .map(|(number, field)| field.html(&format!("{id}-{number}")).into_string());
    Html::trusted(html.collect())
}
