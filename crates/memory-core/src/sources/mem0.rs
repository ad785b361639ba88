//! Memories of mem0: what `get_all` returns, as `{"results": […]}` or as a list.
//!
//! A memory is a sentence about a user, an agent or a run, with an id and no subject or property.
//! So it becomes a package: a fact needs both.

use std::collections::HashSet;

use accord_contract::{Failure, Object, Value};

use super::{Entry, Reading, Skipped, SourceFile, SourcePlace, refused, time_of};

const KEPT: [&str; 11] = [
    "user_id",
    "agent_id",
    "app_id",
    "run_id",
    "actor_id",
    "role",
    "attributed_to",
    "hash",
    "metadata",
    "created_at",
    "updated_at",
];

pub(super) fn read(file: &SourceFile, reading: &mut Reading) -> Result<(), Failure> {
    let text = file.text.trim_start_matches('\u{feff}');
    let document: Value = serde_json::from_str(text).map_err(|error| {
        refused(&file.path, error.line(), format!("the document is no JSON: {error}"))
    })?;
    let results = match &document {
        Value::Array(results) => results,
        Value::Object(members) => {
            match members.get("results").or_else(|| members.get("memories")) {
                Some(Value::Array(results)) => results,
                _ => {
                    let why = "the document is not what get_all returns: it has no list `results`";
                    return Err(refused(&file.path, 1, why));
                }
            }
        }
        _ => return Err(refused(&file.path, 1, "the document is neither an object nor a list")),
    };
    let relations = document.get("relations").and_then(Value::as_array);
    if let Some(relations) = relations.filter(|relations| !relations.is_empty()) {
        reading.skipped.push(Skipped {
            path: file.path.clone(),
            line: 1,
            why: format!(
                "{} relations: a relation may have several values at a time, a fact has one",
                relations.len()
            ),
        });
    }
    let mut seen = HashSet::new();
    let mut place = LineOf { text, from: 0, line: 1 };
    for (index, result) in results.iter().enumerate() {
        let id = result.get("id").and_then(Value::as_str).unwrap_or_default();
        let line = place.of(id);
        let Some(memory) = result.as_object().filter(|_| !id.is_empty()) else {
            return Err(refused(&file.path, line, format!("results[{index}] has no id")));
        };
        let entry = entry(file, line, index, id, memory)?;
        if !seen.insert(id.to_owned()) {
            return Err(refused(&file.path, line, format!("the id {id} stands here twice")));
        }
        reading.entries.push(entry);
    }
    Ok(())
}

fn entry(
    file: &SourceFile,
    line: usize,
    index: usize,
    id: &str,
    memory: &Object,
) -> Result<Entry, Failure> {
    let text = |name: &str| memory.get(name).and_then(Value::as_str).unwrap_or_default();
    let said = text("memory").trim();
    if said.is_empty() {
        let why = format!("results[{index}] has no text as its member `memory`");
        return Err(refused(&file.path, line, why));
    }
    let time = ["updated_at", "created_at"].into_iter().find_map(|name| time_of(text(name)));
    let title = said.split_once(". ").map_or(said, |(first, _)| first);
    let source = Value::Object(memory.clone()).to_string();
    let place = SourcePlace::part(&file.path, id);
    let mut entry = Entry::new(place, line, title, &source, time.unwrap_or(file.modified));
    // A title may be shortened.
    entry.set("description", said);
    entry.set("package_type", "standard");
    let metadata = memory.get("metadata");
    let category = metadata.and_then(|it| it.get("category")).and_then(Value::as_str);
    let listed = memory.get("categories").and_then(Value::as_array).into_iter().flatten();
    let tags = listed.filter_map(Value::as_str).chain(category).chain(["memory"]);
    entry.set("tags", tags.collect::<Vec<_>>());
    entry.origin.insert("id".to_owned(), id.into());
    for name in KEPT {
        entry.named(name, memory.get(name));
    }
    Ok(entry)
}

/// Finds the lines of ids in a document, in their order.
struct LineOf<'t> {
    text: &'t str,
    from: usize,
    line: usize,
}

impl LineOf<'_> {
    fn of(&mut self, id: &str) -> usize {
        let quoted = format!("\"{id}\"");
        if let Some(at) = self.text[self.from..].find(&quoted).filter(|_| !id.is_empty()) {
            self.line += self.text[self.from..self.from + at].matches('\n').count();
            self.from += at;
        }
        self.line
    }
}
