//! Entries in JSON: members of objects, and handlers in lists of hooks.

use accord_contract::Failure;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode};
use serde_json::{Map, Value, json};

use crate::bytes::{Text, broken};
use crate::document::get;
use crate::edit::{Edited, Entry, Terms, Written};
use crate::entry::{is_hook, is_server, taken};

const CHANGED: &str = "somebody changed it";

/// A parsed text, with the value that it has.
struct Parsed {
    root: CstRootNode,
    value: Value,
}

impl Parsed {
    fn read(text: &Text, terms: &Terms<'_>) -> Result<Self, Failure> {
        let value = terms.dialect.value(terms.path, &text.text)?;
        let root = CstRootNode::parse(&text.text, &terms.dialect.options());
        let root = root.map_err(|error| {
            let why = error.kind().to_string();
            broken(terms.path, error.line_display(), error.column_display(), &why)
        })?;
        Ok(Self { root, value })
    }

    /// The object at a path, made where it is missing. Returns the paths that were made, too.
    fn object(
        &self,
        path: &[String],
        terms: &Terms<'_>,
    ) -> Result<(CstObject, Vec<Vec<String>>), Failure> {
        let mut object = self.root.object_value_or_set();
        let mut made = Vec::new();
        for (depth, name) in path.iter().enumerate() {
            let below = match member(&object, name, terms)? {
                Some(found) => found.object_value(),
                None => {
                    made.push(path[..=depth].to_vec());
                    object.append(name, CstInputValue::Object(Vec::new())).object_value()
                }
            };
            let below = below.ok_or_else(|| wrong_type(terms, &path[..=depth], "an object"))?;
            object = below;
        }
        Ok((object, made))
    }

    /// The new text, if it has exactly the expected value.
    fn finish(
        self,
        expected: &Value,
        terms: &Terms<'_>,
        written: Written,
    ) -> Result<Edited, Failure> {
        let text = self.root.to_string();
        match terms.dialect.value(terms.path, &text)? == *expected {
            true => Ok(Edited::Changed(text, written)),
            false => Err(broken(terms.path, 1, 1, "an edit would change other members of it")),
        }
    }
}

fn wrong_type(terms: &Terms<'_>, path: &[String], expected: &str) -> Failure {
    broken(terms.path, 1, 1, &format!("{} is not {expected}", path.join(".")))
}

/// A member, if it is there once.
fn member(
    object: &CstObject,
    name: &str,
    terms: &Terms<'_>,
) -> Result<Option<CstObjectProp>, Failure> {
    let is_it = |prop: &CstObjectProp| prop.decoded_name().as_deref() == Some(name);
    let mut found = object.properties().into_iter().filter(is_it);
    let first = found.next();
    match found.next() {
        Some(_) => Err(broken(terms.path, 1, 1, &format!("it has the member {name} twice"))),
        None => Ok(first),
    }
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(flag) => CstInputValue::Bool(*flag),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(members) => {
            let members = members.iter().map(|(name, value)| (name.clone(), input(value)));
            CstInputValue::Object(members.collect())
        }
    }
}

pub(crate) fn put_member(
    text: &Text,
    path: &[String],
    value: &Value,
    terms: &Terms<'_>,
) -> Result<Edited, Failure> {
    let parsed = Parsed::read(text, terms)?;
    let Some((name, above)) = path.split_last() else { return Ok(Edited::Same) };
    let written = terms.written;
    if let Some(found) = get(&parsed.value, path) {
        if found == value {
            return Ok(Edited::Same);
        }
        let is_recorded = written.is_some_and(|written| match &written.entry {
            Entry::Member { path: old, value } => old == path && value == found,
            _ => false,
        });
        if !is_recorded && !terms.force {
            return match is_server(found) {
                true => Ok(Edited::Kept(format!("{} is there, with other values", path.join(".")))),
                false => Err(taken(terms.path, name)),
            };
        }
    }
    let mut expected = parsed.value.clone();
    set(&mut expected, path, value.clone());
    let (object, mut made) = parsed.object(above, terms)?;
    match member(&object, name, terms)? {
        Some(found) => found.set_value(input(value)),
        None => drop(object.append(name, input(value))),
    }
    if made.is_empty() {
        made = written.map(|written| written.made.clone()).unwrap_or_default();
    }
    let entry = Entry::Member { path: path.to_vec(), value: value.clone() };
    parsed.finish(&expected, terms, Written { made, ..entry.written() })
}

pub(crate) fn take_member(
    text: &Text,
    path: &[String],
    value: &Value,
    terms: &Terms<'_>,
) -> Result<Edited, Failure> {
    let parsed = Parsed::read(text, terms)?;
    let (Some(found), Some((name, above))) = (get(&parsed.value, path), path.split_last()) else {
        return Ok(Edited::Same);
    };
    if found != value && !terms.force {
        return Ok(Edited::Kept(CHANGED.to_owned()));
    }
    let mut expected = parsed.value.clone();
    unset(&mut expected, path);
    let (object, _) = parsed.object(above, terms)?;
    if let Some(found) = member(&object, name, terms)? {
        found.remove();
    }
    remove_empty(&parsed, &mut expected, terms)?;
    let entry = Entry::Member { path: path.to_vec(), value: value.clone() };
    parsed.finish(&expected, terms, entry.written())
}

/// Removes the objects and arrays that were made for an entry, if they are empty.
fn remove_empty(parsed: &Parsed, expected: &mut Value, terms: &Terms<'_>) -> Result<(), Failure> {
    let made = terms.written.map(|written| written.made.as_slice()).unwrap_or_default();
    for path in made.iter().rev() {
        let is_empty = match get(expected, path) {
            Some(Value::Object(members)) => members.is_empty(),
            Some(Value::Array(items)) => items.is_empty(),
            _ => false,
        };
        let (Some((name, above)), true) = (path.split_last(), is_empty) else { continue };
        unset(expected, path);
        let (object, _) = parsed.object(above, terms)?;
        if let Some(found) = member(&object, name, terms)? {
            found.remove();
        }
    }
    Ok(())
}

/// A handler in a list of hooks: its group, its place there, and its value.
struct Handler {
    group: usize,
    index: usize,
    value: Value,
}

/// The handlers of Accord in a list of groups.
fn handlers(groups: &Value) -> Vec<Handler> {
    let mut found = Vec::new();
    for (group, value) in list(groups).iter().enumerate() {
        for (index, value) in list(&value["hooks"]).iter().enumerate() {
            if is_hook(value) {
                found.push(Handler { group, index, value: value.clone() });
            }
        }
    }
    found
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// The node of a handler, with its group.
fn handler_node(groups: &CstArray, handler: &Handler) -> Option<(CstObject, CstNode)> {
    let group = groups.elements().get(handler.group)?.as_object()?;
    let node = group.array_value("hooks")?.elements().get(handler.index)?.clone();
    Some((group, node))
}

pub(crate) fn put_hook(
    text: &Text,
    path: &[String],
    value: &Value,
    terms: &Terms<'_>,
) -> Result<Edited, Failure> {
    let parsed = Parsed::read(text, terms)?;
    let Some((name, above)) = path.split_last() else { return Ok(Edited::Same) };
    let groups = get(&parsed.value, path).cloned().unwrap_or_else(|| json!([]));
    let found = handlers(&groups);
    if found.iter().any(|handler| handler.value == *value) {
        return Ok(Edited::Same);
    }
    let mut expected = parsed.value.clone();
    let entry = Entry::Hook { path: path.to_vec(), value: value.clone() };
    let (object, mut made) = parsed.object(above, terms)?;
    let array = match member(&object, name, terms)? {
        Some(found) => found.array_value(),
        None => {
            made.push(path.to_vec());
            object.append(name, CstInputValue::Array(Vec::new())).array_value()
        }
    };
    let array = array.ok_or_else(|| wrong_type(terms, path, "a list"))?;
    if let Some(handler) = found.first() {
        let is_recorded = terms.written.is_some_and(|written| match &written.entry {
            Entry::Hook { value, .. } => *value == handler.value,
            _ => false,
        });
        if !is_recorded && !terms.force {
            return Ok(Edited::Kept("it has the hook of Accord, with other values".to_owned()));
        }
        let Some((_, node)) = handler_node(&array, handler) else {
            return Err(wrong_type(terms, path, "a list of groups"));
        };
        if let Some(object) = node.as_object() {
            object.replace_with(input(value));
        }
        let mut changed = groups;
        changed[handler.group]["hooks"][handler.index] = value.clone();
        set(&mut expected, path, changed);
        made = terms.written.map(|written| written.made.clone()).unwrap_or_default();
    } else {
        let group = json!({"hooks": [value]});
        array.ensure_multiline();
        array.append(input(&group));
        let mut changed = groups;
        if let Value::Array(items) = &mut changed {
            items.push(group);
        }
        set(&mut expected, path, changed);
    }
    parsed.finish(&expected, terms, Written { made, ..entry.written() })
}

pub(crate) fn take_hook(
    text: &Text,
    path: &[String],
    value: &Value,
    terms: &Terms<'_>,
) -> Result<Edited, Failure> {
    let parsed = Parsed::read(text, terms)?;
    let Some(mut groups) = get(&parsed.value, path).cloned() else { return Ok(Edited::Same) };
    let found = handlers(&groups);
    let ours = found.iter().find(|handler| handler.value == *value);
    let ours = ours.or_else(|| found.first().filter(|_| terms.force));
    let Some(handler) = ours else {
        return Ok(match found.is_empty() {
            true => Edited::Same,
            false => Edited::Kept(CHANGED.to_owned()),
        });
    };
    let Some((name, above)) = path.split_last() else { return Ok(Edited::Same) };
    let (object, _) = parsed.object(above, terms)?;
    let array = member(&object, name, terms)?.and_then(|found| found.array_value());
    let node = array.as_ref().and_then(|array| handler_node(array, handler));
    let Some((group, node)) = node else { return Ok(Edited::Same) };
    node.remove();
    let own = &mut groups[handler.group];
    if let Value::Array(handlers) = &mut own["hooks"] {
        handlers.remove(handler.index);
    }
    // A group of nothing but the empty list was made for the handler.
    if *own == json!({"hooks": []}) {
        group.remove();
        if let Value::Array(items) = &mut groups {
            items.remove(handler.group);
        }
    }
    let mut expected = parsed.value.clone();
    set(&mut expected, path, groups);
    remove_empty(&parsed, &mut expected, terms)?;
    let entry = Entry::Hook { path: path.to_vec(), value: value.clone() };
    parsed.finish(&expected, terms, entry.written())
}

/// Sets a member, and makes the objects above it.
pub(crate) fn set(document: &mut Value, path: &[String], value: Value) {
    let Some((first, rest)) = path.split_first() else {
        *document = value;
        return;
    };
    if let Value::Object(members) = document {
        let below = members.entry(first.clone()).or_insert_with(|| Value::Object(Map::new()));
        set(below, rest, value);
    }
}

pub(crate) fn unset(document: &mut Value, path: &[String]) {
    let Some((name, above)) = path.split_last() else { return };
    let object = above.iter().try_fold(document, |value, key| value.get_mut(key));
    if let Some(Value::Object(members)) = object {
        members.shift_remove(name);
    }
}
