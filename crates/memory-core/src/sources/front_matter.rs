//! Front matter: the lines between `---` at the beginning of a Markdown file.
//!
//! It is read as the part of YAML that notes use: texts, lists and texts of several lines, and one
//! level of members below a member. What is nested deeper is kept as text.

use accord_contract::{Failure, Object, Value};

use super::refused;

pub(super) struct Document<'t> {
    pub(super) members: Object,
    pub(super) body: &'t str,
    /// The line in which the body begins, from 1.
    pub(super) body_line: usize,
}

/// Fails when a line between the marks is not understood.
pub(super) fn read<'t>(path: &str, text: &'t str) -> Result<Document<'t>, Failure> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let whole = Document { members: Object::new(), body: text, body_line: 1 };
    let mut lines = Lines { rest: text, number: 0 };
    if lines.next().is_none_or(|line| line != "---") {
        return Ok(whole);
    }
    let mut inner = Vec::new();
    loop {
        match lines.next() {
            // A horizontal rule at the beginning of a text.
            None => return Ok(whole),
            Some("---" | "...") => break,
            Some(line) => inner.push((lines.number, line)),
        }
    }
    let members = members(path, &inner)?;
    Ok(Document { members, body: lines.rest, body_line: lines.number + 1 })
}

impl Document<'_> {
    /// The text of the first of these members that has one.
    pub(super) fn text(&self, names: &[&str]) -> Option<&str> {
        let mut found = names.iter().filter_map(|name| self.members.get(*name)?.as_str());
        found.find(|text| !text.is_empty())
    }

    /// The texts of a member that is a list, or a text with commas or spaces.
    pub(super) fn list(&self, names: &[&str]) -> Vec<String> {
        let found = names.iter().find_map(|name| self.members.get(*name));
        let parts: Vec<String> = match found {
            Some(Value::Array(items)) => {
                items.iter().filter_map(Value::as_str).map(str::to_owned).collect()
            }
            Some(Value::String(text)) => {
                let is_end = |letter: char| match text.contains(',') {
                    true => letter == ',',
                    false => letter.is_whitespace(),
                };
                text.split(is_end).map(|part| part.trim().to_owned()).collect()
            }
            _ => Vec::new(),
        };
        let parts = parts.into_iter().map(|part| part.trim_start_matches('#').to_owned());
        parts.filter(|part| !part.is_empty()).collect()
    }
}

struct Lines<'t> {
    rest: &'t str,
    number: usize,
}

impl<'t> Iterator for Lines<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        if self.rest.is_empty() {
            return None;
        }
        let (line, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
        self.rest = rest;
        self.number += 1;
        Some(line.trim_end())
    }
}

fn members(path: &str, lines: &[(usize, &str)]) -> Result<Object, Failure> {
    let mut members = Object::new();
    let mut at = 0;
    while let Some((number, line)) = lines.get(at).copied() {
        at += 1;
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let pair = line.split_once(':').filter(|(name, value)| {
            !name.starts_with([' ', '\t', '-'])
                && !name.is_empty()
                && (value.is_empty() || value.starts_with([' ', '\t']))
        });
        let Some((name, value)) = pair else {
            let why = "the front matter has no member here; write NAME: VALUE";
            return Err(refused(path, number, why));
        };
        let is_below = |(_, line): &&(usize, &str)| {
            line.is_empty() || line.starts_with([' ', '\t']) || line.starts_with("- ")
        };
        let below = lines[at..].iter().take_while(is_below).map(|(_, line)| *line);
        let below: Vec<&str> = below.collect();
        at += below.len();
        let name = unquoted(name.trim()).to_owned();
        if members.insert(name, value_of(value.trim(), &below)).is_some() {
            return Err(refused(path, number, "the front matter has this member twice"));
        }
    }
    Ok(members)
}

fn value_of(value: &str, below: &[&str]) -> Value {
    let texts = || below.iter().map(|line| line.trim()).filter(|line| !line.is_empty());
    if value.starts_with(['|', '>']) {
        let mark = if value.starts_with('|') { "\n" } else { " " };
        return texts().collect::<Vec<_>>().join(mark).into();
    }
    if let Some(inner) = value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        return items(inner).into_iter().map(Value::from).collect();
    }
    if !value.is_empty() {
        let more = texts().fold(without_comment(value).to_owned(), |text, line| text + " " + line);
        return unquoted(&more).into();
    }
    if texts().all(|line| line.starts_with('-')) {
        let items = texts().map(|line| unquoted(line.trim_start_matches('-').trim()));
        let items: Vec<Value> = items.map(Value::from).collect();
        return if items.is_empty() { Value::Null } else { Value::Array(items) };
    }
    let pairs = texts().map(|line| line.split_once(':').map(|(name, value)| (name, value.trim())));
    match pairs.collect::<Option<Vec<_>>>() {
        Some(pairs) => {
            let members = pairs.into_iter();
            let member = |(name, value): (&str, &str)| {
                (unquoted(name).to_owned(), unquoted(without_comment(value)).into())
            };
            Value::Object(members.map(member).collect())
        }
        None => texts().collect::<Vec<_>>().join("\n").into(),
    }
}

fn items(inner: &str) -> Vec<&str> {
    let (mut items, mut from, mut quote) = (Vec::new(), 0, None);
    for (at, letter) in inner.char_indices() {
        match (quote, letter) {
            (None, '"' | '\'') => quote = Some(letter),
            (Some(open), _) if open == letter => quote = None,
            (None, ',') => {
                items.push(&inner[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    items.push(&inner[from..]);
    let items = items.into_iter().map(|item| unquoted(item.trim()));
    items.filter(|item| !item.is_empty()).collect()
}

fn without_comment(value: &str) -> &str {
    if value.starts_with(['"', '\'']) {
        return value;
    }
    value.split(" #").next().unwrap_or(value).trim_end()
}

fn unquoted(text: &str) -> &str {
    let mut inner =
        ['"', '\''].into_iter().filter_map(|quote| text.strip_prefix(quote)?.strip_suffix(quote));
    inner.next().unwrap_or(text)
}
