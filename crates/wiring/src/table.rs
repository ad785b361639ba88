//! Tables in TOML. A table of its own can stand at the end of every document, so that nothing else
//! in the text has to be touched.

use accord_contract::Failure;
use serde_json::Value;

use crate::bytes::{Text, append, broken, without};
use crate::document::get;
use crate::edit::{Edited, Entry, Terms, Written};
use crate::entry::{is_server, taken};
use crate::json::{set, unset};

pub(crate) fn put(
    text: &Text,
    path: &[String],
    value: &Value,
    terms: &Terms<'_>,
) -> Result<Edited, Failure> {
    let before = terms.dialect.value(terms.path, &text.text)?;
    let mut base = text.clone();
    if let Some(found) = get(&before, path) {
        if found == value {
            return Ok(Edited::Same);
        }
        let is_recorded = terms.written.is_some_and(|written| match &written.entry {
            Entry::Table { value, .. } => value == found,
            _ => false,
        });
        if !is_recorded && !terms.force {
            let name = path.last().map(String::as_str).unwrap_or_default();
            return match is_server(found) {
                true => Ok(Edited::Kept(format!("{} is there, with other values", path.join(".")))),
                false => Err(taken(terms.path, name)),
            };
        }
        let Some(cut) = cut(text, path, &before, terms)? else {
            return Ok(Edited::Kept(format!("{} cannot be replaced as text", path.join("."))));
        };
        base.text = cut;
    }
    let (after, added) = append(&base, &table(path, value));
    let mut expected = before;
    set(&mut expected, path, value.clone());
    let is_expected = terms.dialect.value(terms.path, &after).is_ok_and(|value| value == expected);
    if !is_expected {
        let above = path[..path.len() - 1].join(".");
        let why = format!("{above} is written so that no table can be added; write it as tables");
        return Err(broken(terms.path, 1, 1, &why));
    }
    let entry = Entry::Table { path: path.to_vec(), value: value.clone() };
    Ok(Edited::Changed(after, Written { added: Some(added), ..entry.written() }))
}

pub(crate) fn take(
    text: &Text,
    path: &[String],
    value: &Value,
    terms: &Terms<'_>,
) -> Result<Edited, Failure> {
    let before = terms.dialect.value(terms.path, &text.text)?;
    let Some(found) = get(&before, path) else { return Ok(Edited::Same) };
    if found != value && !terms.force {
        return Ok(Edited::Kept("somebody changed it".to_owned()));
    }
    let entry = Entry::Table { path: path.to_vec(), value: value.clone() };
    Ok(match cut(text, path, &before, terms)? {
        Some(after) => Edited::Changed(after, entry.written()),
        None => Edited::Kept(format!("{} cannot be removed as text", path.join("."))),
    })
}

/// The text without a table, if that can be cut out and all else keeps its value.
fn cut(
    text: &Text,
    path: &[String],
    before: &Value,
    terms: &Terms<'_>,
) -> Result<Option<String>, Failure> {
    let mut expected = before.clone();
    unset(&mut expected, path);
    let above = &path[..path.len() - 1];
    // A table above that only the header of this one made goes with it.
    let mut alone = expected.clone();
    if get(&alone, above).is_some_and(|value| value.as_object().is_some_and(|it| it.is_empty())) {
        unset(&mut alone, above);
    }
    let added = terms.written.and_then(|written| written.added.as_deref());
    let cuts = [added.and_then(|added| without(&text.text, added)), section(&text.text, path)];
    for after in cuts.into_iter().flatten() {
        if let Ok(value) = terms.dialect.value(terms.path, &after)
            && (value == expected || value == alone)
        {
            return Ok(Some(after));
        }
    }
    Ok(None)
}

/// The text without the lines from the header of a table to the next header that is not below it.
fn section(text: &str, path: &[String]) -> Option<String> {
    let header = header(path);
    let below = format!("{}.", &header[..header.len() - 1]);
    let mut kept = String::new();
    let (mut is_inside, mut was_found) = (false, false);
    for line in text.split_inclusive('\n') {
        let words = line.trim();
        if words.starts_with('[') {
            is_inside = words.starts_with(&header) || words.starts_with(&below);
            was_found |= is_inside;
        }
        if !is_inside {
            kept.push_str(line);
        }
    }
    was_found.then_some(kept)
}

fn header(path: &[String]) -> String {
    format!("[{}]", path.iter().map(|key| quoted(key)).collect::<Vec<_>>().join("."))
}

/// A key, without quotes if it can be.
fn quoted(key: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
    match !key.is_empty() && key.chars().all(is_plain) {
        true => key.to_owned(),
        false => Value::from(key).to_string(),
    }
}

/// The lines of a table. Strings are written as in JSON, which TOML reads the same.
fn table(path: &[String], value: &Value) -> String {
    let mut lines = format!("{}\n", header(path));
    for (key, value) in value.as_object().into_iter().flatten() {
        let value = match value {
            Value::Array(items) => {
                let items: Vec<String> = items.iter().map(Value::to_string).collect();
                format!("[{}]", items.join(", "))
            }
            other => other.to_string(),
        };
        lines.push_str(&format!("{} = {value}\n", quoted(key)));
    }
    lines
}
