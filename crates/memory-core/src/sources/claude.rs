//! Files of Claude Code: rules such as `CLAUDE.md`, one package per section, and memory files with
//! front matter, one package each.

use std::collections::HashMap;

use accord_contract::Failure;

use super::front_matter::{self, Document};
use super::{Entry, Reading, Skipped, SourceFile, SourcePlace, markdown, notes, stem};

/// A rule holds until it is replaced.
const OF_RULES: u64 = 8;
const OF_MEMORIES: u64 = 6;

pub(super) fn read(files: &[SourceFile], reading: &mut Reading) -> Result<(), Failure> {
    for file in files {
        let document = front_matter::read(&file.path, &file.text)?;
        let is_memory =
            document.members.contains_key("name") || document.members.contains_key("description");
        if is_memory {
            reading.entries.push(memory(file, &document));
        } else if is_index(file, files) {
            reading.skipped.push(Skipped {
                path: file.path.clone(),
                line: 1,
                why: "it is the index of the other files".to_owned(),
            });
        } else {
            sections(file, &document, reading);
        }
    }
    Ok(())
}

/// A file that Claude Code wrote to remember something.
fn memory(file: &SourceFile, document: &Document<'_>) -> Entry {
    let mut entry = notes::entry(file, document);
    entry.set("tags", vec!["memory"]);
    entry.set("significance", OF_MEMORIES);
    entry
}

/// Whether a list only names the other files, as `MEMORY.md` does.
fn is_index(file: &SourceFile, files: &[SourceFile]) -> bool {
    let others: Vec<&str> = files.iter().map(|other| name(&other.path)).collect();
    let items = file.text.lines().map(str::trim).filter(|line| line.starts_with(['-', '*']));
    let items: Vec<&str> = items.collect();
    let names_other = |line: &&str| {
        let link = line.split_once("](").and_then(|(_, rest)| rest.split(')').next());
        link.is_some_and(|link| others.contains(&name(link)))
    };
    stem(&file.path) == "MEMORY" && !items.is_empty() && items.iter().all(names_other)
}

/// A package per section of the second level, and one for what stands before them.
fn sections(file: &SourceFile, document: &Document<'_>, reading: &mut Reading) {
    let body = document.body;
    let headings = markdown::headings(body);
    let seconds: Vec<_> = headings.iter().filter(|heading| heading.level == 2).collect();
    let first = headings.iter().find(|heading| heading.level == 1);
    let of_file = name(&file.path);
    let mut parts = Vec::new();
    let end = seconds.first().map_or(body.len(), |heading| heading.start);
    let from = first.map_or(0, |heading| heading.body).min(end);
    let title = first.map_or(of_file, |heading| heading.title);
    parts.push((title, None, 0, &body[from..end]));
    for (index, heading) in seconds.iter().enumerate() {
        let end = seconds.get(index + 1).map_or(body.len(), |next| next.start);
        let part = Some(heading.title);
        parts.push((heading.title, part, heading.line - 1, &body[heading.body..end]));
    }
    let mut seen: HashMap<&str, usize> = HashMap::new();
    for (title, part, line, text) in parts {
        if text.trim().is_empty() {
            continue;
        }
        let place = match part {
            None => SourcePlace::file(&file.path),
            Some(part) => {
                let count = seen.entry(part).or_default();
                *count += 1;
                let again = if *count > 1 { format!(" ({count})") } else { String::new() };
                SourcePlace::part(&file.path, format!("{part}{again}"))
            }
        };
        let full = if title == of_file { title.to_owned() } else { format!("{title} ({of_file})") };
        let source = format!("{title}\n{text}");
        let time = notes::created(file, document);
        let mut entry = Entry::new(place, document.body_line + line, &full, &source, time);
        entry.set("content_md", text.trim());
        entry.set("package_type", "standard");
        entry.set("tags", vec!["rules"]);
        entry.set("significance", OF_RULES);
        reading.entries.push(entry);
    }
}

fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
