//! Decision records: MADR, with front matter or with a list at the top, and the records of
//! adr-tools, whose status is a section.

use std::collections::HashMap;

use accord_contract::Failure;

use super::front_matter::{self, Document};
use super::{
    Entry, Reading, Skipped, SourceFile, SourcePlace, markdown, notes, refused, shortened, stem,
    time_of,
};

/// How much of the reasons stands in the decision itself; the whole text follows it.
const REASON_CHARS: usize = 600;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Status {
    Accepted,
    Proposed,
    Rejected,
    Deprecated,
    Superseded,
    /// A word that is not known.
    Other,
}

/// A record, before the numbers of others are resolved.
struct Record {
    entry: Entry,
    number: Option<u64>,
    supersedes: Vec<u64>,
    superseded_by: Vec<u64>,
}

pub(super) fn read(files: &[SourceFile], reading: &mut Reading) -> Result<(), Failure> {
    let mut records = Vec::new();
    for file in files {
        let document = front_matter::read(&file.path, &file.text)?;
        match record(file, &document) {
            Ok(record) => records.push(record),
            Err(why) => reading.skipped.push(Skipped {
                path: file.path.clone(),
                line: 1,
                why: why.to_owned(),
            }),
        }
    }
    let mut places: HashMap<u64, SourcePlace> = HashMap::new();
    for record in &records {
        let Some(number) = record.number else { continue };
        if let Some(other) = places.insert(number, record.entry.place.clone()) {
            let why = format!("{} has the number {number}, too", other.path);
            return Err(refused(&record.entry.place.path, 1, why));
        }
    }
    // Both sides may say it; the newer one names what it supersedes.
    let mut links: Vec<(SourcePlace, SourcePlace)> = Vec::new();
    for record in &records {
        let own = &record.entry.place;
        for number in &record.supersedes {
            links.extend(places.get(number).map(|older| (own.clone(), older.clone())));
        }
        for number in &record.superseded_by {
            links.extend(places.get(number).map(|newer| (newer.clone(), own.clone())));
        }
    }
    for Record { mut entry, .. } in records {
        let older = links.iter().filter(|(newer, older)| *newer == entry.place && newer != older);
        for (_, older) in older {
            if !entry.supersedes.contains(older) {
                entry.supersedes.push(older.clone());
            }
        }
        reading.entries.push(entry);
    }
    Ok(())
}

fn record(file: &SourceFile, document: &Document<'_>) -> Result<Record, &'static str> {
    let name = stem(&file.path).to_ascii_lowercase();
    let number = number_in_name(&name);
    if ["readme", "index", "template"].contains(&name.as_str()) || name.ends_with("-template") {
        return Err("it is no decision record");
    }
    let lines = status_lines(document);
    let Some(first) = lines.first() else {
        return match number {
            None => Err("it has neither a number nor a status"),
            Some(_) => Ok(of_status(file, document, number, Status::Accepted, &lines)),
        };
    };
    if first.contains('|') || first.contains('{') {
        return Err("it is a template");
    }
    let is_superseded =
        lines.iter().any(|line| after(line, &["superseded by", "superceded by"]).is_some())
            || document.text(&["superseded-by", "superseded_by"]).is_some();
    let status = if is_superseded { Status::Superseded } else { status_of(first) };
    Ok(of_status(file, document, number, status, &lines))
}

fn of_status(
    file: &SourceFile,
    document: &Document<'_>,
    number: Option<u64>,
    status: Status,
    lines: &[String],
) -> Record {
    let mut entry = notes::entry(file, document);
    entry.title = without_number(&entry.title).to_owned();
    if let Some(date) = line_with(document.body, "date").and_then(|text| time_of(&text)) {
        entry.created_at = accord_contract::Timestamp::emit(date);
    }
    let title = entry.title.clone();
    let context = markdown::section(
        document.body,
        &["Context and Problem Statement", "Context", "Problem", "Issue"],
    );
    if !entry.members.contains_key("description") {
        entry.set("description", context.map(markdown::first_paragraph).unwrap_or_default());
    }
    let decision = markdown::section(document.body, &["Decision Outcome", "Decision"]);
    let reason = decision.map(markdown::first_paragraph).unwrap_or_default();
    let reason = shortened(&reason, REASON_CHARS);
    let said = |word: &str| match reason.is_empty() {
        true => format!("{word}{title}"),
        false => format!("{word}{title}: {reason}"),
    };
    let (kind, significance) = match status {
        Status::Accepted => {
            entry.set("decisions_made", vec![said("")]);
            ("decision", 7)
        }
        Status::Rejected => {
            entry.set("decisions_made", vec![said("Rejected: ")]);
            ("decision", 5)
        }
        Status::Proposed => {
            entry.set("open_questions", vec![format!("Proposed decision: {title}?")]);
            ("question", 6)
        }
        // It no longer holds. What replaces it is a record of its own.
        Status::Superseded | Status::Deprecated => ("standard", 3),
        Status::Other => ("standard", 5),
    };
    entry.set("package_type", kind);
    entry.set("significance", significance);
    if let Some(word) = lines.first() {
        entry.origin.insert("status".to_owned(), word.as_str().into());
    }
    if let Some(number) = number {
        entry.origin.insert("number".to_owned(), number.into());
    }
    let mut supersedes = numbers(document.list(&["supersedes", "replaces"]));
    let mut superseded_by = numbers(document.list(&["superseded-by", "superseded_by"]));
    for line in lines {
        if let Some(rest) = after(line, &["superseded by", "superceded by"]) {
            superseded_by.extend(number_of(rest));
        } else if let Some(rest) = after(line, &["supersedes", "supercedes", "replaces"]) {
            supersedes.extend(number_of(rest));
        }
    }
    Record { entry, number, supersedes, superseded_by }
}

/// The lines that tell the status: of the front matter, of the section, or of the list at the top.
fn status_lines(document: &Document<'_>) -> Vec<String> {
    if let Some(text) = document.text(&["status"]) {
        return vec![text.to_owned()];
    }
    let section = markdown::section(document.body, &["Status"]);
    let lines = section.unwrap_or_default().lines().map(|line| line.trim().to_owned());
    let lines: Vec<String> = lines.filter(|line| !line.is_empty()).collect();
    match lines.is_empty() {
        true => line_with(document.body, "status").into_iter().collect(),
        false => lines,
    }
}

/// The value of a line such as `* Status: accepted` or `Date: 2026-02-12` at the top.
fn line_with(body: &str, name: &str) -> Option<String> {
    body.lines().take(30).find_map(|line| {
        let line = line.trim_start_matches(['*', '-', ' ', '\t', '_']);
        let (own, value) = line.split_once(':')?;
        let is_named = own.trim_end_matches(['*', '_']).eq_ignore_ascii_case(name);
        let value = value.trim_matches(['*', '_', ' ', '\t']);
        (is_named && !value.is_empty()).then(|| value.to_owned())
    })
}

fn status_of(text: &str) -> Status {
    let word = text.trim_matches(['*', '_', '`', '"', ' ']).to_ascii_lowercase();
    let begins = |words: &[&str]| words.iter().any(|it| word.starts_with(it));
    if begins(&["accepted", "approved", "adopted", "decided", "implemented", "active", "done"]) {
        Status::Accepted
    } else if begins(&["proposed", "draft", "pending", "open", "rfc", "in review"]) {
        Status::Proposed
    } else if begins(&["rejected", "declined", "withdrawn"]) {
        Status::Rejected
    } else if begins(&["deprecated", "obsolete", "retired"]) {
        Status::Deprecated
    } else if begins(&["superseded", "superceded"]) {
        Status::Superseded
    } else {
        Status::Other
    }
}

fn after<'t>(line: &'t str, words: &[&str]) -> Option<&'t str> {
    // Of the same length: only letters of ASCII change.
    let lower = line.to_ascii_lowercase();
    words.iter().find_map(|word| lower.find(word).map(|at| &line[at + word.len()..]))
}

fn numbers(texts: Vec<String>) -> Vec<u64> {
    texts.iter().filter_map(|text| number_of(text)).collect()
}

/// The number of a record that a text names, best by a link to its file.
fn number_of(text: &str) -> Option<u64> {
    let linked =
        text.split_once("](").map(|(_, rest)| rest.rsplit_once('/').map_or(rest, |it| it.1));
    linked.and_then(first_number).or_else(|| first_number(text))
}

fn first_number(text: &str) -> Option<u64> {
    let from = text.find(|letter: char| letter.is_ascii_digit())?;
    let digits = text[from..].bytes().take_while(u8::is_ascii_digit).count();
    text[from..from + digits].parse().ok()
}

fn number_in_name(name: &str) -> Option<u64> {
    // `2026-02-12-use-x` begins with a day.
    let is_day = name.get(..10).is_some_and(|day| time_of(day).is_some());
    let rest = name.trim_start_matches("adr").trim_start_matches(['-', '_']);
    let has_number = rest.starts_with(|letter: char| letter.is_ascii_digit()) && !is_day;
    has_number.then(|| first_number(rest)).flatten()
}

/// `Use SQLite` of `5. Use SQLite` and of `ADR-0005: Use SQLite`.
fn without_number(title: &str) -> &str {
    let rest = title.strip_prefix("ADR").unwrap_or(title).trim_start_matches(['-', ' ', '#']);
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let after = rest[digits..].trim_start();
    match after.strip_prefix([':', '.', ')', '-']) {
        Some(own) if digits > 0 && !own.trim().is_empty() => own.trim(),
        _ => title,
    }
}
