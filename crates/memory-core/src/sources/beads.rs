//! Issues of beads: the lines that `bd export` writes and that `.beads/issues.jsonl` has.

use std::collections::HashSet;

use accord_contract::{Failure, Object, Value};

use super::{Entry, Reading, Skipped, SourceFile, SourcePlace, refused, time_of};

/// Longer texts become sections of the body, with these headings.
const SECTIONS: [(&str, &str); 3] =
    [("design", "Design"), ("acceptance_criteria", "Acceptance criteria"), ("notes", "Notes")];
/// What is kept in `x-source`.
const KEPT: [&str; 14] = [
    "status",
    "priority",
    "issue_type",
    "assignee",
    "owner",
    "created_by",
    "created_at",
    "updated_at",
    "closed_at",
    "close_reason",
    "external_ref",
    "estimated_minutes",
    "due_at",
    "metadata",
];

pub(super) fn read(file: &SourceFile, reading: &mut Reading) -> Result<(), Failure> {
    let mut seen = HashSet::new();
    for (index, line) in file.text.lines().enumerate() {
        let number = index + 1;
        let line = line.trim_start_matches('\u{feff}').trim();
        if line.is_empty() {
            continue;
        }
        let row: Object = serde_json::from_str(line).map_err(|error| {
            refused(&file.path, number, format!("it is no JSON object: {error}"))
        })?;
        let mut skip = |why: &str| {
            reading.skipped.push(Skipped {
                path: file.path.clone(),
                line: number,
                why: why.to_owned(),
            });
        };
        let text = |name: &str| row.get(name).and_then(Value::as_str).unwrap_or_default();
        let is_set = |name: &str| row.get(name) == Some(&Value::Bool(true));
        let entry = match text("_type") {
            "memory" => memory(file, number, &row)?,
            "" | "issue" if text("status") == "tombstone" => {
                skip("it was deleted");
                continue;
            }
            "" | "issue" if is_set("ephemeral") || is_set("is_template") => {
                skip("it is ephemeral, or a template");
                continue;
            }
            "" | "issue" => issue(file, number, &row)?,
            _ => {
                skip("it is neither an issue nor a memory");
                continue;
            }
        };
        if !seen.insert(entry.place.clone()) {
            let why = format!("{} stands here twice", entry.place.part.unwrap_or_default());
            return Err(refused(&file.path, number, why));
        }
        reading.entries.push(entry);
    }
    Ok(())
}

fn required<'r>(
    file: &SourceFile,
    line: usize,
    row: &'r Object,
    name: &str,
) -> Result<&'r str, Failure> {
    let found = row.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    found.ok_or_else(|| refused(&file.path, line, format!("{name} is missing, or no text")))
}

/// What `bd remember` stored.
fn memory(file: &SourceFile, line: usize, row: &Object) -> Result<Entry, Failure> {
    let (key, value) = (required(file, line, row, "key")?, required(file, line, row, "value")?);
    let place = SourcePlace::part(&file.path, format!("memory:{key}"));
    let mut entry = Entry::new(place, line, key, value, file.modified);
    entry.set("description", value);
    entry.set("package_type", "standard");
    entry.set("tags", vec!["memory"]);
    entry.set("significance", 6);
    Ok(entry)
}

fn issue(file: &SourceFile, line: usize, row: &Object) -> Result<Entry, Failure> {
    let (id, title) = (required(file, line, row, "id")?, required(file, line, row, "title")?);
    let text = |name: &str| row.get(name).and_then(Value::as_str).unwrap_or_default();
    let time = ["updated_at", "created_at"].into_iter().find_map(|name| {
        // Programs in Go write a time that was never set as year 1.
        time_of(text(name)).filter(|time| time.unix_seconds() > 0)
    });
    let place = SourcePlace::part(&file.path, id);
    let mut entry = Entry::new(place, line, title, &source(row), time.unwrap_or(file.modified));
    entry.set("description", text("description"));
    entry.set("content_md", body(row));
    let labels = row.get("labels").and_then(Value::as_array).into_iter().flatten();
    let labels = labels.filter_map(Value::as_str).chain([text("issue_type")]);
    entry.set("tags", labels.filter(|tag| !tag.is_empty()).collect::<Vec<_>>());
    let is_closed = text("status") == "closed";
    let kind = match text("issue_type") {
        "decision" => {
            entry.set("decisions_made", vec![title]);
            "decision"
        }
        "epic" | "feature" if is_closed => "milestone",
        _ => "standard",
    };
    if !is_closed && kind != "decision" {
        entry.set("open_questions", vec![format!("{id} is open: {title}")]);
    }
    entry.set("package_type", kind);
    let significance = match row.get("priority").and_then(Value::as_u64) {
        Some(0) => 9,
        Some(1) => 7,
        Some(3) => 4,
        Some(4..) => 3,
        _ => 5,
    };
    entry.set("significance", significance);
    entry.set("handoff_note", if is_closed { text("close_reason") } else { "" });
    entry.origin.insert("id".to_owned(), id.into());
    for name in KEPT {
        entry.named(name, row.get(name));
    }
    let others: Vec<(&str, &str)> = dependencies(row).collect();
    for (kind, other) in &others {
        let place = SourcePlace::part(&file.path, *other);
        match *kind {
            "parent-child" => entry.parent = Some(place),
            "supersedes" => entry.supersedes.push(place),
            _ => {}
        }
    }
    let others = others.iter().map(|(kind, other)| Value::from(format!("{kind}: {other}")));
    let others: Value = others.collect();
    entry.named("dependencies", Some(&others).filter(|it| **it != Value::Array(Vec::new())));
    Ok(entry)
}

fn dependencies(row: &Object) -> impl Iterator<Item = (&str, &str)> {
    let listed = row.get("dependencies").and_then(Value::as_array).into_iter().flatten();
    listed.filter_map(|it| {
        let kind = it.get("type").or_else(|| it.get("dep_type")).and_then(Value::as_str);
        Some((kind.unwrap_or("blocks"), it.get("depends_on_id")?.as_str()?))
    })
}

/// Design, criteria, notes, dependencies and comments, each with a heading.
fn body(row: &Object) -> String {
    let mut parts = Vec::new();
    for (name, heading) in SECTIONS {
        let text = row.get(name).and_then(Value::as_str).unwrap_or_default().trim();
        if !text.is_empty() {
            parts.push(format!("## {heading}\n\n{text}"));
        }
    }
    let others: Vec<_> =
        dependencies(row).map(|(kind, other)| format!("- {kind}: {other}")).collect();
    if !others.is_empty() {
        parts.push(format!("## Dependencies\n\n{}", others.join("\n")));
    }
    let comments = row.get("comments").and_then(Value::as_array).into_iter().flatten();
    let comments = comments.filter_map(|comment| {
        let text = |name: &str| comment.get(name).and_then(Value::as_str).unwrap_or_default();
        let said = text("text").trim();
        (!said.is_empty()).then(|| format!("{}, {}:\n\n{said}", text("author"), text("created_at")))
    });
    let comments: Vec<_> = comments.collect();
    if !comments.is_empty() {
        parts.push(format!("## Comments\n\n{}", comments.join("\n\n")));
    }
    parts.join("\n\n")
}

/// A record without the counts that change with other records.
fn source(row: &Object) -> String {
    let own = row.iter().filter(|(name, _)| !name.ends_with("_count"));
    let own: Object = own.map(|(name, value)| (name.clone(), value.clone())).collect();
    Value::Object(own).to_string()
}
