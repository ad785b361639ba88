//! The plan that takes the entries of a tool out.

use accord_contract::Failure;
use serde_json::Value;

use crate::document::{Dialect, get};
use crate::edit::{Edited, Entry, Terms};
use crate::elsewhere::read;
use crate::entry::{Choices, is_hook, is_server};
use crate::ledger::{FileRecord, Ledger, digest};
use crate::plan::{Change, Plan, Snapshot};
use crate::tool::{Homes, Scope, TOOLS, Tool};
use crate::wire::{Editor, Target, targets};

/// Plans the removal of a tool's entries: by the ledger, else by their form.
pub fn remove(
    choices: &Choices,
    homes: &Homes,
    snapshot: &Snapshot,
    ledger: &Ledger,
) -> Result<Plan, Failure> {
    let mut plan = Plan::default();
    let mut editor = Editor::new(snapshot, ledger);
    let recorded: Vec<FileRecord> = ledger.files.clone();
    for file in &recorded {
        remove_recorded(file, choices, snapshot, &mut editor, &mut plan)?;
    }
    let mut ignored = Vec::new();
    for target in targets(choices, homes, snapshot, &mut ignored)? {
        let path = snapshot.real(&target.path)?;
        if ledger.file(&path).is_none() {
            remove_found(&path, target, choices, homes, snapshot, &mut editor, &mut plan)?;
        }
    }
    let gone: Vec<Change> = std::mem::take(&mut plan.changes);
    editor.texts.retain(|path, _| gone.iter().all(|change| change.path != *path));
    let folders = std::mem::take(&mut editor.ledger.folders);
    let is_needed = |folder: &String, ledger: &Ledger| {
        ledger.paths().any(|path| path.starts_with(&format!("{folder}/")))
    };
    let (kept, old) = folders.into_iter().partition(|folder| is_needed(folder, &editor.ledger));
    editor.ledger.folders = kept;
    plan.old_folders = old;
    plan.old_folders.reverse();
    editor.finish(&mut plan);
    plan.new_folders.clear();
    plan.changes.extend(gone);
    plan.changes.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(plan)
}

fn remove_recorded(
    file: &FileRecord,
    choices: &Choices,
    snapshot: &Snapshot,
    editor: &mut Editor<'_>,
    plan: &mut Plan,
) -> Result<(), Failure> {
    let tool = choices.tool;
    if !file.entries.iter().any(|owned| owned.tools.contains(&tool)) {
        return Ok(());
    }
    let is_only = |owned: &&crate::ledger::Owned| owned.tools == [tool];
    let mut entries = file.entries.clone();
    let bytes = snapshot.files.get(&file.path);
    let is_untouched = bytes.is_some_and(|bytes| digest(bytes) == file.after);
    let prior = file.before.as_ref().and_then(|before| snapshot.priors.get(before));
    let takes_all = file.entries.iter().all(|owned| is_only(&owned));
    let position = editor.ledger.files.iter().position(|it| it.path == file.path);
    let Some(at) = position else { return Ok(()) };
    if takes_all && is_untouched && (file.created || prior.is_some()) {
        let after = prior.filter(|_| !file.created).cloned();
        plan.changes.push(Change { path: file.path.clone(), before: bytes.cloned(), after });
        editor.ledger.files.remove(at);
        return Ok(());
    }
    let mut is_kept = false;
    for owned in file.entries.iter().rev() {
        if !owned.tools.contains(&tool) {
            continue;
        }
        if owned.tools.len() == 1
            && let Some(text) = editor.text(&file.path)?
        {
            let terms = Terms {
                path: &file.path,
                dialect: dialect_of(&file.path),
                written: Some(&owned.written),
                force: choices.force,
            };
            match owned.written.entry.take(&text, &terms)? {
                Edited::Same => {}
                Edited::Changed(after, _) => {
                    editor.texts.insert(file.path.clone(), text.with(after));
                }
                Edited::Kept(why) => {
                    let is_file = matches!(owned.written.entry, Entry::File { .. });
                    if is_file && choices.force {
                        let (path, before) = (file.path.clone(), bytes.cloned());
                        plan.changes.push(Change { path, before, after: None });
                    } else {
                        let path = &file.path;
                        plan.kept.push(format!("{path}: {why}; --force removes it"));
                        is_kept = true;
                        continue;
                    }
                }
            }
        }
        entries.retain(|it| it != owned || it.tools.len() > 1);
        for it in &mut entries {
            if it == owned {
                it.tools.retain(|other| *other != tool);
            }
        }
    }
    editor.ledger.files[at].entries = entries;
    if editor.ledger.files[at].entries.is_empty() && !is_kept {
        editor.ledger.files.remove(at);
    }
    remove_if_empty(&file.path, file.created, bytes, editor, plan);
    Ok(())
}

/// A file that Accord made goes if nothing is left in it.
fn remove_if_empty(
    path: &str,
    is_created: bool,
    bytes: Option<&Vec<u8>>,
    editor: &Editor<'_>,
    plan: &mut Plan,
) {
    let Some(text) = editor.texts.get(path).filter(|_| is_created) else { return };
    let words: String = text.text.split_whitespace().collect();
    let is_bare = words.is_empty()
        || words == "{}"
        || words == "{\"$schema\":\"https://opencode.ai/config.json\"}";
    if is_bare {
        plan.changes.push(Change { path: path.to_owned(), before: bytes.cloned(), after: None });
    }
}

fn dialect_of(path: &str) -> Dialect {
    match path.rsplit('.').next() {
        Some("toml") => Dialect::Toml,
        // What was written was valid for its client; a removal keeps it so.
        _ => Dialect::Jsonc,
    }
}

/// Without a record, an entry is Accord's if it has that form.
fn remove_found(
    path: &str,
    target: Target,
    choices: &Choices,
    homes: &Homes,
    snapshot: &Snapshot,
    editor: &mut Editor<'_>,
    plan: &mut Plan,
) -> Result<(), Failure> {
    let Some(text) = editor.text(path)? else { return Ok(()) };
    let entry = match target.entry {
        Entry::Member { path: keys, .. } => found_server(&text.text, path, target.dialect, &keys)?
            .map(|value| Entry::Member { path: keys, value }),
        Entry::Table { path: keys, .. } => found_server(&text.text, path, target.dialect, &keys)?
            .map(|value| Entry::Table { path: keys, value }),
        Entry::Hook { path: keys, .. } => {
            let document = target.dialect.value(path, &text.text)?;
            let groups = get(&document, &keys).and_then(Value::as_array).cloned();
            let groups = groups.unwrap_or_default();
            let mut handlers =
                groups.iter().filter_map(|group| group["hooks"].as_array()).flatten();
            let found = handlers.find(|it| is_hook(it)).cloned();
            found.map(|value| Entry::Hook { path: keys, value })
        }
        Entry::Block { .. } => {
            let others = TOOLS.into_iter().filter(|other| *other != choices.tool);
            let is_shared = others.into_iter().any(|other| is_wired(other, homes, snapshot));
            let body = crate::markdown::body(&text.text, path)?.filter(|_| !is_shared);
            body.map(|body| Entry::Block { body })
        }
        Entry::File { text: whole } => {
            let first = whole.lines().next().unwrap_or_default();
            if text.text.starts_with(first) {
                let before = snapshot.files.get(path).cloned();
                plan.changes.push(Change { path: path.to_owned(), before, after: None });
            }
            None
        }
    };
    let Some(entry) = entry else { return Ok(()) };
    let terms = Terms { path, dialect: target.dialect, written: None, force: choices.force };
    match entry.take(&text, &terms)? {
        Edited::Same => {}
        Edited::Kept(why) => plan.kept.push(format!("{path}: {why}; --force removes it")),
        Edited::Changed(after, _) => drop(editor.texts.insert(path.to_owned(), text.with(after))),
    }
    Ok(())
}

fn found_server(
    text: &str,
    path: &str,
    dialect: Dialect,
    keys: &[String],
) -> Result<Option<Value>, Failure> {
    let document = dialect.value(path, text)?;
    Ok(get(&document, keys).filter(|value| is_server(value)).cloned())
}

/// Whether another tool has Accord's server in this project.
fn is_wired(tool: Tool, homes: &Homes, snapshot: &Snapshot) -> bool {
    let spot = tool.server(Scope::Project, homes, |path| snapshot.has(path));
    let document = read(spot.dialect, &spot.path, snapshot);
    let keys: Vec<String> = spot.keys.iter().map(|key| (*key).to_owned()).collect();
    let servers = get(&document, &keys).and_then(Value::as_object);
    servers.is_some_and(|servers| servers.values().any(is_server))
}
