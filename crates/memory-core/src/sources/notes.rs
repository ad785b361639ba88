//! Markdown notes: one package per file.

use accord_contract::{Failure, Time, Value};

use super::front_matter::{self, Document};
use super::{Entry, Reading, Skipped, SourceFile, SourcePlace, markdown, stem, time_of};
use crate::package::KnownPackageType;

/// Members of front matter that become members of the package.
const MAPPED: [&str; 12] = [
    "title",
    "name",
    "date",
    "created",
    "created_at",
    "updated",
    "tags",
    "keywords",
    "description",
    "summary",
    "type",
    "topic",
];

pub(super) fn read(files: &[SourceFile], reading: &mut Reading) -> Result<(), Failure> {
    for file in files {
        let note = front_matter::read(&file.path, &file.text)?;
        if note.body.trim().is_empty() && note.members.is_empty() {
            reading.skipped.push(Skipped {
                path: file.path.clone(),
                line: 1,
                why: "it is empty".to_owned(),
            });
            continue;
        }
        reading.entries.push(entry(file, &note));
    }
    Ok(())
}

/// The package of a whole file.
pub(super) fn entry(file: &SourceFile, note: &Document<'_>) -> Entry {
    let own = note.text(&["title", "name"]).or_else(|| markdown::title(note.body));
    let title = own.unwrap_or_else(|| stem(&file.path));
    let place = SourcePlace::file(&file.path);
    let mut entry = Entry::new(place, 1, title, &file.text, created(file, note));
    entry.set("description", note.text(&["description", "summary"]).unwrap_or_default());
    entry.set("content_md", note.body.trim());
    entry.set("tags", note.list(&["tags", "keywords"]));
    entry.set("topic", note.text(&["topic"]).unwrap_or_default());
    let kind = note.text(&["type"]).and_then(KnownPackageType::parse);
    entry.set("package_type", kind.unwrap_or(KnownPackageType::Standard).as_str());
    let rest = note.members.iter().filter(|(name, _)| !MAPPED.contains(&name.as_str()));
    let mut rest: accord_contract::Object =
        rest.map(|(name, value)| (name.clone(), value.clone())).collect();
    if kind.is_none()
        && let Some(word) = note.members.get("type")
    {
        rest.insert("type".to_owned(), word.clone());
    }
    if !rest.is_empty() {
        entry.origin.insert("front_matter".to_owned(), Value::Object(rest));
    }
    entry
}

/// The date in the front matter, else the one that the name begins with, else that of the file.
pub(super) fn created(file: &SourceFile, note: &Document<'_>) -> Time {
    let named = stem(&file.path).get(..10).and_then(|day| Time::parse_or_date(day).ok());
    let own = note.text(&["date", "created_at", "created", "updated"]).and_then(time_of);
    own.or(named).unwrap_or(file.modified)
}
