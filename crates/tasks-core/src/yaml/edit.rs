//! Editing a mapping in place.

use std::ops::Range;

use accord_contract::{Object, Value};

use super::load::{Block, Member, Node, load};
use super::{YamlError, emit};

/// A longer text is edited in place, whatever its form.
const MAX_REWRITTEN: usize = 64 * 1024;
/// The most items of a value that needs no check by reading.
const MAX_FLAT: usize = 1_000;

/// A YAML mapping, with its text.
#[derive(Clone, Debug)]
pub struct Yaml {
    text: String,
    members: Object,
    /// Whether the text is known to be what [`Yaml::write`] makes of the members.
    is_written: bool,
}

impl PartialEq for Yaml {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text && self.members == other.members
    }
}

impl Eq for Yaml {}

/// A change of a member. A path has one name, or two for a member of a member.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    path: Vec<String>,
    value: Option<Value>,
}

impl Change {
    pub fn set(path: &[&str], value: impl Into<Value>) -> Self {
        Self { path: owned(path), value: Some(value.into()) }
    }

    pub fn remove(path: &[&str]) -> Self {
        Self { path: owned(path), value: None }
    }

    fn value(&self) -> Option<&Value> {
        self.value.as_ref()
    }

    /// Whether the value has no collection in a collection: no limit of the reader is exceeded.
    fn is_flat(&self) -> bool {
        let is_scalar = |value: &Value| !value.is_array() && !value.is_object();
        match &self.value {
            Some(Value::Array(items)) => items.len() <= MAX_FLAT && items.iter().all(is_scalar),
            Some(Value::Object(members)) => {
                members.len() <= MAX_FLAT && members.values().all(is_scalar)
            }
            _ => true,
        }
    }
}

/// Bytes of a text, and what is written in their place.
type Splice = (Range<usize>, String);

/// How many of the first changes are about different members, so that one reading is enough.
fn independent(changes: &[Change]) -> usize {
    let names = || changes.iter().map(|change| change.path.first());
    let is_again = |(place, name)| names().take(place).any(|earlier| earlier == name);
    names().enumerate().position(is_again).unwrap_or(changes.len())
}

fn owned(path: &[&str]) -> Vec<String> {
    path.iter().map(|&name| name.to_owned()).collect()
}

impl Yaml {
    pub fn read(text: impl Into<String>) -> Result<Self, YamlError> {
        let text = text.into();
        match load(&text)?.value {
            Value::Object(members) => Ok(Self { text, members, is_written: false }),
            _ => Err(YamlError { line: 1, problem: "expected a mapping".into() }),
        }
    }

    /// A mapping with these members, in their order.
    pub fn write(members: Object) -> Self {
        let mut text = String::with_capacity(1_024);
        emit::members(&members, 0, &mut text);
        Self { text, members, is_written: true }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn members(&self) -> &Object {
        &self.members
    }

    /// Makes changes. The lines of other members stay as they are. Fails, and changes nothing, when
    /// the changed text does not say what the changes mean.
    pub fn edit(&mut self, changes: &[Change]) -> Result<(), YamlError> {
        *self = self.edited(changes)?;
        Ok(())
    }

    /// The mapping with changes. Fails as for [`Yaml::edit`].
    pub fn edited(&self, changes: &[Change]) -> Result<Self, YamlError> {
        if let Some(edited) = self.rewritten(changes) {
            return Ok(edited);
        }
        let mut edited = self.clone();
        let mut rest = changes;
        let mut root = None;
        while !rest.is_empty() {
            let (now, later) = rest.split_at(independent(rest));
            root = edited.apply(now, root)?;
            rest = later;
        }
        Ok(edited)
    }

    /// The mapping with changes, if its text is exactly what [`Yaml::write`] makes: no text has to
    /// be read then. Lines of other members stay the same, because each is made by itself.
    fn rewritten(&self, changes: &[Change]) -> Option<Self> {
        if self.text.len() > MAX_REWRITTEN || !changes.iter().all(Change::is_flat) {
            return None;
        }
        if !self.is_written {
            let mut text = String::with_capacity(self.text.len());
            emit::members(&self.members, 0, &mut text);
            if text != self.text {
                return None;
            }
        }
        let mut members = self.members.clone();
        changes.iter().for_each(|change| change_value(&mut members, &change.path, change.value()));
        // An empty mapping has another form.
        (!members.is_empty()).then(|| Self::write(members))
    }

    /// Makes changes of different members. `root` and the answer are what is known of the text.
    fn apply(&mut self, changes: &[Change], root: Option<Node>) -> Result<Option<Node>, YamlError> {
        let mut wanted = self.members.clone();
        let is_new = |change: &&Change| value_at(&self.members, &change.path) != change.value();
        let changes: Vec<&Change> = changes.iter().filter(is_new).collect();
        let Some(last) = changes.last() else { return Ok(root) };
        self.is_written = false;
        changes.iter().for_each(|change| change_value(&mut wanted, &change.path, change.value()));
        let root = root.map_or_else(|| load(&self.text), Ok)?;
        match &root.block {
            _ if wanted.is_empty() => "{}\n".clone_into(&mut self.text),
            Some(block) => {
                let splice = |change: &&Change| {
                    self.change_block(block, &change.path, change.value(), &wanted)
                };
                let mut splices: Vec<Splice> = changes.iter().filter_map(splice).collect();
                splices.sort_by_key(|(bytes, _)| (bytes.start, bytes.end));
                // From the end, so that what is before a splice stays where it is.
                for (bytes, text) in splices.into_iter().rev() {
                    self.text.replace_range(bytes, &text);
                }
            }
            // The whole mapping stands between braces.
            None => {
                self.text.clear();
                emit::members(&wanted, 0, &mut self.text);
            }
        }
        let root = load(&self.text)?;
        if root.value.as_object() != Some(&wanted) {
            let problem = format!("the member {} cannot be changed here", last.path.join("."));
            return Err(YamlError { line: 1, problem });
        }
        self.members = wanted;
        Ok(Some(root))
    }

    fn change_block(
        &self,
        block: &Block,
        path: &[String],
        value: Option<&Value>,
        wanted: &Object,
    ) -> Option<Splice> {
        let (name, rest) = path.split_first()?;
        let found = block.members.iter().find(|member| member.key == *name);
        match (found, rest.is_empty(), value) {
            // A member of a member that is a block itself.
            (Some(Member { node: Node { block: Some(inner), .. }, .. }), false, _)
                if is_object_with_members(wanted.get(name)) =>
            {
                self.change_block(inner, rest, value, wanted.get(name)?.as_object()?)
            }
            (Some(member), true, None) => Some((self.lines(member), String::new())),
            (Some(member), ..) => Some(self.replace(member, wanted.get(name)?, block.indent)),
            (None, ..) => Some(self.append(block, name, wanted.get(name)?)),
        }
    }

    /// Replaces the value of a member. A comment behind it stays.
    fn replace(&self, member: &Member, value: &Value, indent: usize) -> Splice {
        let old = &member.node.bytes;
        let is_one_line = !self.text[member.key_bytes.start..old.end].contains('\n');
        let has_value = old.start >= member.key_bytes.end && !old.is_empty();
        if let Some(text) = emit::inline(value).filter(|_| is_one_line) {
            if has_value {
                return (old.clone(), text);
            }
            // `key:` without a value.
            let colon = self.text[member.key_bytes.end..].find(':');
            if let Some(colon) = colon {
                let at = member.key_bytes.end + colon + 1;
                return (at..at, format!(" {text}"));
            }
        }
        let lines = self.lines(member);
        let mut text = String::new();
        emit::member(&member.key, value, indent, &mut text);
        if let Some(comment) = self.comment(member) {
            let end = text.find('\n').unwrap_or(text.len());
            text.insert_str(end, &format!(" {comment}"));
        }
        (lines, text)
    }

    /// Adds a member after the last one of a block.
    fn append(&self, block: &Block, name: &str, value: &Value) -> Splice {
        let at = block.members.last().map_or(0, |last| self.lines(last).end);
        let mut text = String::new();
        if at > 0 && !self.text[..at].ends_with('\n') {
            text.push('\n');
        }
        emit::member(name, value, block.indent, &mut text);
        (at..at, text)
    }

    /// The bytes of the whole lines of a member.
    fn lines(&self, member: &Member) -> Range<usize> {
        let start = self.text[..member.key_bytes.start].rfind('\n').map_or(0, |at| at + 1);
        let end = member.node.bytes.end.max(member.key_bytes.end);
        // A block scalar ends with its line break.
        let is_whole = end > member.key_bytes.end && self.text[..end].ends_with('\n');
        let rest = self.text[end..].find('\n').map_or(self.text.len(), |at| end + at + 1);
        start..if is_whole { end } else { rest }
    }

    /// The comment behind the key, or behind a value on the same line.
    fn comment(&self, member: &Member) -> Option<&str> {
        let line = &self.text[member.key_bytes.end..];
        let line = &line[..line.find('\n').unwrap_or(line.len())];
        let value = &member.node.bytes;
        let from = value.end.saturating_sub(member.key_bytes.end);
        // A `#` inside the value is not a comment.
        let behind = if from <= line.len() { line.get(from..)? } else { line };
        let at = behind.find(" #")?;
        (from <= line.len() || !member.node.is_inline).then(|| behind[at..].trim())
    }
}

fn is_object_with_members(value: Option<&Value>) -> bool {
    value.and_then(Value::as_object).is_some_and(|members| !members.is_empty())
}

fn value_at<'m>(members: &'m Object, path: &[String]) -> Option<&'m Value> {
    let (name, rest) = path.split_first()?;
    let value = members.get(name)?;
    if rest.is_empty() { Some(value) } else { value_at(value.as_object()?, rest) }
}

fn change_value(members: &mut Object, path: &[String], value: Option<&Value>) {
    let Some((name, rest)) = path.split_first() else { return };
    if rest.is_empty() {
        match value {
            Some(value) => drop(members.insert(name.clone(), value.clone())),
            None => drop(members.shift_remove(name)),
        }
        return;
    }
    if value.is_none() && !members.get(name).is_some_and(Value::is_object) {
        return;
    }
    let inner = members.entry(name.clone()).or_insert_with(|| Value::Object(Object::new()));
    if !inner.is_object() {
        *inner = Value::Object(Object::new());
    }
    if let Value::Object(inner) = inner {
        change_value(inner, rest, value);
    }
}
