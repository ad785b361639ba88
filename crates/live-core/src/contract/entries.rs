//! The entries of the specs.

use accord_contract::{Object, Value, wire_enum};

use super::read::{Reader, join};

/// Named entries, in the order of the document.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Entries<T> {
    entries: Vec<(String, T)>,
    /// The places of the entries, in the order of their names.
    by_name: Vec<usize>,
}

impl<T> Entries<T> {
    pub fn get(&self, name: &str) -> Option<&T> {
        let found = self.by_name.binary_search_by(|at| self.entries[*at].0.as_str().cmp(name));
        found.ok().map(|at| &self.entries[self.by_name[at]].1)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &T)> {
        self.entries.iter().map(|(name, entry)| (name.as_str(), entry))
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|(name, _)| name.as_str())
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn read(
        members: &Object,
        name: &str,
        reader: &mut Reader,
        entry: impl Fn(&Object, &str, &mut Reader) -> Option<T>,
    ) -> Option<Self> {
        Self::read_value(members.get(name)?, name, reader, entry)
    }

    pub(crate) fn read_value(
        value: &Value,
        field: &str,
        reader: &mut Reader,
        entry: impl Fn(&Object, &str, &mut Reader) -> Option<T>,
    ) -> Option<Self> {
        let mut entries: Vec<(String, T)> = Vec::new();
        for (name, value) in reader.object(value, field)? {
            let place = join(field, name);
            if let Some(members) = reader.object(value, &place)
                && let Some(entry) = entry(members, &place, reader)
            {
                entries.push((name.clone(), entry));
            }
        }
        let mut by_name: Vec<_> = (0..entries.len()).collect();
        by_name.sort_unstable_by(|one, other| entries[*one].0.cmp(&entries[*other].0));
        Some(Self { entries, by_name })
    }
}

#[derive(Clone, Debug)]
pub struct PropsSpec {
    pub description: Option<String>,
    pub properties: Entries<PropEntry>,
}

impl PropsSpec {
    pub(crate) fn read(value: Option<&Value>, reader: &mut Reader) -> Option<Self> {
        let field = "propsSpec";
        let members = reader.object(value?, field)?;
        reader.only(members, field, &["description", "properties"]);
        let description = reader.text(members, field, "description");
        let properties = reader.required(members, field, "properties")?;
        let place = join(field, "properties");
        let properties = Entries::read_value(properties, &place, reader, PropEntry::read)?;
        Some(Self { description, properties })
    }
}

#[derive(Clone, Debug)]
pub struct PropEntry {
    pub schema: Value,
    pub required: bool,
    pub default: Option<Value>,
    pub example: Option<Value>,
    pub description: Option<String>,
    pub source_tool: Option<String>,
}

impl PropEntry {
    pub(super) fn read(members: &Object, field: &str, reader: &mut Reader) -> Option<Self> {
        let known = ["schema", "required", "default", "example", "description", "sourceTool"];
        reader.only(members, field, &known);
        let description = reader.text(members, field, "description");
        let required = reader.flag(members, field, "required").unwrap_or(false);
        let source_tool = reader.text(members, field, "sourceTool");
        Some(Self {
            schema: reader.own_schema(members, field)?,
            required,
            default: members.get("default").cloned(),
            example: members.get("example").cloned(),
            description,
            source_tool,
        })
    }
}

#[derive(Clone, Debug)]
pub struct ActionEntry {
    /// The text of the button.
    pub label: String,
    /// The schema of its data; an action without one carries none.
    pub schema: Option<Value>,
    pub description: Option<String>,
    pub example: Option<Value>,
    pub icon: Option<String>,
    /// Whether the person is asked again.
    pub confirm: bool,
    /// The tool that the agent intends to call next.
    pub next_step: Option<String>,
}

impl ActionEntry {
    pub(super) fn read(members: &Object, field: &str, reader: &mut Reader) -> Option<Self> {
        let known =
            ["label", "schema", "description", "example", "icon", "confirm", "nextStep", "x-style"];
        reader.retired(members, field, "dispatch", "nextStep");
        reader.only(members, field, &known);
        let schema = members.get("schema");
        let schema = schema.and_then(|value| reader.schema(value, &join(field, "schema")));
        let description = reader.text(members, field, "description");
        let icon = reader.text(members, field, "icon");
        let confirm = reader.flag(members, field, "confirm").unwrap_or(false);
        let next_step = reader.name(members, field, "nextStep");
        reader.one_of::<ActionStyle>(members, field, "x-style");
        reader.required(members, field, "label")?;
        Some(Self {
            label: reader.text(members, field, "label")?,
            schema,
            description,
            example: members.get("example").cloned(),
            icon,
            confirm,
            next_step,
        })
    }
}

wire_enum! {
    /// How the button of an action looks (`x-style`).
    pub enum ActionStyle("GguiActionStyle", closed) {
        /// Filled: what moves things on.
        Primary = "primary",
        /// Framed: a refusal, or one of several ways.
        Secondary = "secondary",
        /// Framed in the colour of danger.
        Danger = "danger",
    }

    /// What a payload does to those before it.
    pub enum Mode("GguiStreamMode", closed) {
        /// It is added to them.
        Append = "append",
        /// It replaces them.
        Replace = "replace",
    }

    /// Which payloads a subscriber gets that comes later.
    pub enum Replay("GguiReplayPolicy", closed) {
        /// The last one.
        Latest = "latest",
        /// All that are kept.
        All = "all",
        /// None.
        None = "none",
    }
}

/// A channel from the agent to the page.
#[derive(Clone, Debug)]
pub struct StreamEntry {
    pub schema: Value,
    pub description: Option<String>,
    pub example: Option<Value>,
    /// What a payload does to those before it.
    pub mode: Mode,
    pub replay: Replay,
    /// Whether a payload can say that it is the last one.
    pub complete: bool,
    /// The tool that the payloads come from.
    pub source: Option<StreamSource>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct StreamSource {
    pub tool: String,
    pub args: Object,
}

impl StreamEntry {
    /// Clauses: GGUI-CONTRACT-STREAM-DEFAULTS.
    pub(super) fn read(members: &Object, field: &str, reader: &mut Reader) -> Option<Self> {
        let known = ["schema", "description", "example", "mode", "replay", "complete", "source"];
        reader.only(members, field, &known);
        let description = reader.text(members, field, "description");
        let mode = reader.one_of(members, field, "mode").unwrap_or(Mode::Append);
        let replay = reader.one_of(members, field, "replay").unwrap_or(Replay::None);
        let complete = reader.flag(members, field, "complete").unwrap_or(false);
        let place = join(field, "source");
        let source = members.get("source").and_then(|value| reader.object(value, &place));
        let source = source.and_then(|source| StreamSource::read(source, &place, reader));
        Some(Self {
            schema: reader.own_schema(members, field)?,
            description,
            example: members.get("example").cloned(),
            mode,
            replay,
            complete,
            source,
        })
    }
}

impl StreamSource {
    pub(super) fn read(members: &Object, field: &str, reader: &mut Reader) -> Option<Self> {
        reader.only(members, field, &["tool", "args"]);
        let args = members.get("args");
        let args = args.and_then(|args| reader.object(args, &join(field, "args")).cloned());
        reader.required(members, field, "tool")?;
        Some(Self { tool: reader.text(members, field, "tool")?, args: args.unwrap_or_default() })
    }
}

/// A slot of what the page tells the agent about itself.
#[derive(Clone, Debug)]
pub struct ContextEntry {
    pub schema: Value,
    pub description: Option<String>,
    pub default: Option<Value>,
    /// Milliseconds without a change after which the page sends it.
    pub debounce_ms: u64,
    pub example: Option<Value>,
}

impl ContextEntry {
    pub(super) fn read(members: &Object, field: &str, reader: &mut Reader) -> Option<Self> {
        let known = ["schema", "description", "default", "debounceMs", "example"];
        reader.only(members, field, &known);
        let description = reader.text(members, field, "description");
        let debounce_ms = reader.count(members, field, "debounceMs").unwrap_or(300);
        Some(Self {
            schema: reader.own_schema(members, field)?,
            description,
            default: members.get("default").cloned(),
            debounce_ms,
            example: members.get("example").cloned(),
        })
    }
}
