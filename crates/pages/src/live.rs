//! What a page shows of a live session.
//!
//! The view is made from the snapshot of the session, as the channel has it, and is given out in
//! fragments. A page that is open replaces only the fragment that changed, so that a form that is
//! half filled in stays.

use accord_contract::{Object, Time, Value};
use askama::Template;

use crate::form::{self, Field, Input};
use crate::html::Html;
use crate::markdown::markdown;
use crate::style::Style;
use crate::text::AgentText;
use crate::value::{label, shown};

/// The longest text of an agent that is a heading.
const HEADING_CHARS: usize = 100;

/// Names of the platform's own channels begin with it.
const RESERVED: &str = "_ggui:";

#[derive(Clone, Debug)]
pub struct LiveView {
    title: AgentText,
    about: Vec<Html>,
    asked_by: Option<AgentText>,
    /// Whom it is for, as the contract says.
    to: Option<AgentText>,
    app: AgentText,
    session: AgentText,
    ends: Time,
    is_ended: bool,
    epoch: u64,
    props: Vec<Prop>,
    actions: Vec<Action>,
    streams: Vec<Stream>,
}

#[derive(Clone, Debug)]
struct Prop {
    name: String,
    label: AgentText,
    about: Option<Html>,
    value: Html,
}

#[derive(Clone, Debug)]
struct Action {
    /// Names it on the page.
    id: String,
    name: String,
    label: AgentText,
    about: Option<Html>,
    confirm: bool,
    style: Style,
    /// The field of its data; none for an action that carries no data.
    data: Option<Field>,
}

#[derive(Clone, Debug)]
struct Stream {
    /// Names it on the page.
    id: String,
    name: String,
    label: AgentText,
    about: Option<Html>,
    mode: &'static str,
}

#[derive(Template)]
#[template(path = "head.html")]
struct Head<'a> {
    view: &'a LiveView,
    ends: String,
}

#[derive(Template)]
#[template(path = "props.html")]
struct Props<'a> {
    view: &'a LiveView,
}

#[derive(Template)]
#[template(path = "actions.html")]
struct Actions<'a> {
    view: &'a LiveView,
}

#[derive(Template)]
#[template(path = "streams.html")]
struct Streams<'a> {
    view: &'a LiveView,
}

impl LiveView {
    /// The view of a snapshot. `asked_by` names who waits for an answer.
    pub fn new(snapshot: &Value, asked_by: Option<&str>, now: Time) -> Self {
        let text = |name: &str| snapshot.get(name).and_then(Value::as_str);
        let number = |name: &str| snapshot.get(name).and_then(Value::as_i64).unwrap_or_default();
        let ends = Time::from_unix_millis(number("expiresAt"));
        let prompt = text("prompt").unwrap_or_default().trim();
        let is_heading =
            !prompt.is_empty() && !prompt.contains('\n') && prompt.chars().count() <= HEADING_CHARS;
        let title = if is_heading { prompt } else { "Live session" };
        let long_prompt = Some(prompt).filter(|prompt| !is_heading && !prompt.is_empty());
        let props_about = snapshot.pointer("/propsSpec/description").and_then(Value::as_str);
        let about = [long_prompt, text("description"), text("message"), props_about];
        Self {
            title: title.into(),
            about: about.into_iter().flatten().map(markdown).collect(),
            asked_by: asked_by.map(AgentText::from),
            to: text("x-to").map(AgentText::from),
            app: text("appId").unwrap_or_default().into(),
            session: text("id").unwrap_or_default().into(),
            ends,
            is_ended: text("status") == Some("expired") || ends <= now,
            epoch: snapshot.get("epoch").and_then(Value::as_u64).unwrap_or_default(),
            props: props(snapshot),
            actions: actions(snapshot),
            streams: (entries(snapshot, "streamSpec"))
                .filter(|(name, _)| !name.starts_with(RESERVED))
                .enumerate()
                .map(Stream::read)
                .collect(),
        }
    }

    /// Title and facts.
    pub fn head(&self) -> Html {
        Html::of(&Head { view: self, ends: self.ends.to_seconds_text() })
    }

    /// What the agent shows: the props of the last update, and no others. An open page replaces the
    /// fragment when an update arrives.
    ///
    /// Clauses: GGUI-PAGE-PROPS-UPDATE.
    pub fn props(&self) -> Html {
        Html::of(&Props { view: self })
    }

    /// What a person can do, with the forms for it.
    pub fn actions(&self) -> Html {
        Html::of(&Actions { view: self })
    }

    /// The actions in their order, those next to each other that are only a button together.
    fn runs(&self) -> impl Iterator<Item = &[Action]> {
        self.actions.chunk_by(|one, other| one.is_button() && other.is_button())
    }

    /// Whether a person decides with buttons alone: they stay in sight.
    fn is_decided_by(&self, run: &[Action]) -> bool {
        run.len() == self.actions.len() && run.iter().all(Action::is_button)
    }

    /// The lists that messages of the agent are added to.
    pub fn streams(&self) -> Html {
        Html::of(&Streams { view: self })
    }

    pub fn is_ended(&self) -> bool {
        self.is_ended
    }

    /// The version of what is shown.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    pub fn ends(&self) -> Time {
        self.ends
    }
}

/// The props: those of the contract in its order, then others.
fn props(snapshot: &Value) -> Vec<Prop> {
    let (none, no_props) = (Object::new(), Object::new());
    let declared = snapshot.pointer("/propsSpec/properties").and_then(Value::as_object);
    let declared = declared.unwrap_or(&none);
    let values = snapshot.get("props").and_then(Value::as_object).unwrap_or(&no_props);
    let known = declared.keys().filter(|name| values.contains_key(*name));
    let others = values.keys().filter(|name| !declared.contains_key(*name));
    let prop = |name: &String| {
        let entry = declared.get(name);
        let schema = entry.and_then(|entry| entry.get("schema"));
        let said = |name: &str| entry.and_then(|entry| entry.get(name)).and_then(Value::as_str);
        let title = schema.and_then(|schema| schema.get("title")).and_then(Value::as_str);
        Prop {
            name: name.clone(),
            label: AgentText::new(title.map_or_else(|| label(name), str::to_owned)),
            about: said("description").map(markdown),
            value: shown(&values[name], schema),
        }
    };
    known.chain(others).map(prop).collect()
}

/// The actions of the contract. Of several buttons side by side that move things on, the first one
/// is filled, unless the contract says otherwise.
fn actions(snapshot: &Value) -> Vec<Action> {
    let mut actions: Vec<Action> = Vec::new();
    for (number, (name, entry)) in entries(snapshot, "actionSpec").enumerate() {
        let mut action = Action::read((number, (name, entry)));
        let is_named = entry.get("x-style").and_then(Value::as_str).and_then(Style::named);
        let beside = actions.iter().rev().take_while(|action| action.is_button());
        let is_beside = action.is_button() && beside.count() > 0;
        let is_first =
            !actions.iter().any(|other| other.is_button() && other.style == Style::Primary);
        if is_named.is_none() && action.style == Style::Primary && is_beside && !is_first {
            action.style = Style::Secondary;
        }
        actions.push(action);
    }
    actions
}

/// The entries of a spec, in the order of the contract.
fn entries<'s>(
    snapshot: &'s Value,
    spec: &str,
) -> impl Iterator<Item = (&'s String, &'s Value)> + use<'s> {
    snapshot.get(spec).and_then(Value::as_object).into_iter().flatten()
}

impl Action {
    fn read((number, (name, entry)): (usize, (&String, &Value))) -> Self {
        let text = |name: &str| entry.get(name).and_then(Value::as_str);
        let schema = entry.get("schema");
        let label = AgentText::new(text("label").map_or_else(|| label(name), str::to_owned));
        let mut data = schema.map(form::read);
        // A single value has no name of its own.
        let is_named = schema.and_then(|schema| schema.get("title")).is_some_and(Value::is_string);
        if let Some(field) = data.as_mut().filter(|_| !is_named) {
            field.label = label.clone();
        }
        Self {
            id: format!("action-{number}"),
            name: name.clone(),
            label,
            about: text("description").map(markdown),
            confirm: entry.get("confirm") == Some(&Value::Bool(true)),
            style: (text("x-style").and_then(Style::named))
                .or_else(|| Style::of_name(name))
                .unwrap_or(Style::Primary),
            data,
        }
    }

    fn fields(&self) -> Html {
        let id = &self.id;
        match &self.data {
            None => Html::default(),
            // The members of the data need no frame of their own.
            Some(Field { input: Input::Group(fields), .. }) => form::all(fields, id),
            Some(field) => field.html(id),
        }
    }

    /// The name, unless the label contains it. Case and separators do not count.
    fn hidden_name(&self) -> Option<AgentText> {
        let letters = |text: &str| -> String {
            let letters = text.chars().filter(|letter| letter.is_alphanumeric());
            letters.flat_map(char::to_lowercase).collect()
        };
        let is_said = letters(self.label.as_str()).contains(&letters(&self.name));
        (!is_said).then(|| AgentText::new(self.name.as_str()))
    }

    fn is_button(&self) -> bool {
        match &self.data {
            None => true,
            Some(field) => matches!(&field.input, Input::Group(fields) if fields.is_empty()),
        }
    }

    /// How the module `forms.js` reads the data.
    fn shape(&self) -> &'static str {
        match &self.data {
            None => "void",
            Some(Field { input: Input::Group(_), .. }) => "object",
            Some(_) => "value",
        }
    }
}

impl Stream {
    fn read((number, (name, entry)): (usize, (&String, &Value))) -> Self {
        let text = |name: &str| entry.get(name).and_then(Value::as_str);
        Self {
            id: format!("stream-{number}"),
            name: name.clone(),
            label: AgentText::new(label(name)),
            about: text("description").map(markdown),
            mode: if text("mode") == Some("replace") { "replace" } else { "append" },
        }
    }
}
