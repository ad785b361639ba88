//! The plan that connects a tool.

use std::collections::BTreeMap;

use accord_contract::Failure;

use crate::bytes::Text;
use crate::document::Dialect;
use crate::edit::{Edited, Entry, Terms, Written};
use crate::elsewhere::Elsewhere;
use crate::entry::{Choices, block_body, new_document};
use crate::ledger::{FileRecord, Ledger, Owned, digest, is_same};
use crate::plan::{Change, Plan, Snapshot, folders_of};
use crate::tool::{Homes, Scope, Tool};

/// An entry, and the file that it belongs into.
pub(crate) struct Target {
    pub(crate) path: String,
    pub(crate) dialect: Dialect,
    pub(crate) entry: Entry,
}

/// Plans the entries of a tool. Fails without a plan if a file cannot be edited safely.
///
/// `root` is the absolute path of the project.
pub fn wire(
    choices: &Choices,
    root: &str,
    homes: &Homes,
    snapshot: &Snapshot,
    ledger: &Ledger,
) -> Result<Plan, Failure> {
    let tool = choices.tool;
    let elsewhere = Elsewhere::find(choices, root, homes, snapshot);
    let mut plan = Plan { notes: elsewhere.notes(tool), ..Plan::default() };
    let mut editor = Editor::new(snapshot, ledger);
    for target in targets(choices, homes, snapshot, &mut plan.notes)? {
        let has_other = match target.entry {
            Entry::Member { .. } | Entry::Table { .. } => elsewhere.has_server(),
            Entry::Hook { .. } | Entry::File { .. } => elsewhere.has_hook(),
            Entry::Block { .. } => elsewhere.has_server(),
        };
        if !has_other {
            editor.put(tool, &target, choices.force, &mut plan)?;
        }
    }
    editor.finish(&mut plan);
    Ok(plan)
}

/// The entries of a tool, with their files.
pub(crate) fn targets(
    choices: &Choices,
    homes: &Homes,
    snapshot: &Snapshot,
    notes: &mut Vec<String>,
) -> Result<Vec<Target>, Failure> {
    let (tool, scope) = (choices.tool, choices.scope);
    let spot = tool.server(scope, homes, |path| snapshot.has(path));
    let path = spot.keys.iter().map(|key| (*key).to_owned());
    let path: Vec<String> = path.chain([choices.name.clone()]).collect();
    let value = choices.server();
    let entry = match spot.dialect {
        Dialect::Toml => Entry::Table { path, value },
        _ => Entry::Member { path, value },
    };
    let mut targets = vec![Target { path: spot.path, dialect: spot.dialect, entry }];
    if let Some(spot) = tool.hooks(scope, homes) {
        let is_inline = tool == Tool::Codex && has_inline_hooks(choices, homes, snapshot);
        if is_inline {
            // The client warns when both files have hooks.
            notes.push(
                "config.toml of Codex has hooks of its own, so no hooks.json is written; without \
                 the hook, the agent calls memory_orient"
                    .to_owned(),
            );
        } else {
            let path = spot.keys.iter().map(|key| (*key).to_owned()).collect();
            let entry = Entry::Hook { path, value: choices.hook() };
            targets.push(Target { path: spot.path, dialect: spot.dialect, entry });
        }
    }
    if let Some(path) = tool.plugin(scope, homes) {
        let entry = Entry::File { text: choices.plugin() };
        targets.push(Target { path, dialect: Dialect::Jsonc, entry });
    }
    if scope == Scope::Project {
        let path = instructions_file(tool, snapshot, notes)?;
        let entry = Entry::Block { body: block_body(choices) };
        targets.push(Target { path, dialect: Dialect::Jsonc, entry });
    }
    Ok(targets)
}

fn has_inline_hooks(choices: &Choices, homes: &Homes, snapshot: &Snapshot) -> bool {
    let spot = choices.tool.server(choices.scope, homes, |_| false);
    let text = snapshot.text(&spot.path).unwrap_or_default();
    let value = Dialect::Toml.value(&spot.path, text);
    // `[hooks.state]` is where the client keeps what the person trusts.
    let hooks = value.ok().and_then(|value| value.get("hooks").cloned());
    hooks.is_some_and(|hooks| {
        hooks.as_object().is_some_and(|hooks| hooks.keys().any(|key| key != "state"))
    })
}

/// The file that gets the instructions: one that the tool reads, and that hides no other.
pub(crate) fn instructions_file(
    tool: Tool,
    snapshot: &Snapshot,
    notes: &mut Vec<String>,
) -> Result<String, Failure> {
    const AGENTS: &str = "AGENTS.md";
    const CLAUDE: &str = "CLAUDE.md";
    const GEMINI: &str = "GEMINI.md";
    if tool == Tool::Gemini {
        let settings = snapshot.text(".gemini/settings.json").unwrap_or_default();
        let settings = Dialect::Comments.value(".gemini/settings.json", settings);
        let names = settings.map(|settings| settings["context"]["fileName"].clone());
        let names = names.map(|names| names.to_string()).unwrap_or_default();
        return Ok(if names.contains(AGENTS) { AGENTS } else { GEMINI }.to_owned());
    }
    if !snapshot.has(CLAUDE) {
        return snapshot.real(AGENTS);
    }
    let imports = snapshot.text(CLAUDE).is_some_and(|text| text.contains("@AGENTS.md"));
    let leads = snapshot.real(CLAUDE)? == snapshot.real(AGENTS)?;
    // Claude Code reads AGENTS.md only where there is no CLAUDE.md, or where that imports it.
    let reads_agents = snapshot.has(AGENTS) && (imports || leads || tool != Tool::Claude);
    if reads_agents {
        return snapshot.real(AGENTS);
    }
    if tool == Tool::Codex {
        notes.push(
            "Codex does not read CLAUDE.md, which has the instructions; an AGENTS.md would hide it \
             from other agents"
                .to_owned(),
        );
    }
    snapshot.real(CLAUDE)
}

/// The texts of files while entries get in and out.
pub(crate) struct Editor<'a> {
    snapshot: &'a Snapshot,
    pub(crate) old: &'a Ledger,
    pub(crate) ledger: Ledger,
    pub(crate) texts: BTreeMap<String, Text>,
}

impl<'a> Editor<'a> {
    pub(crate) fn new(snapshot: &'a Snapshot, ledger: &'a Ledger) -> Self {
        Self { snapshot, old: ledger, ledger: ledger.clone(), texts: BTreeMap::new() }
    }

    /// The text of a file as it is now.
    pub(crate) fn text(&self, path: &str) -> Result<Option<Text>, Failure> {
        match (self.texts.get(path), self.snapshot.files.get(path)) {
            (Some(text), _) => Ok(Some(text.clone())),
            (None, Some(bytes)) => Text::read(path, bytes).map(Some),
            (None, None) => Ok(None),
        }
    }

    fn put(
        &mut self,
        tool: Tool,
        target: &Target,
        force: bool,
        plan: &mut Plan,
    ) -> Result<(), Failure> {
        let path = self.snapshot.real(&target.path)?;
        let is_document =
            matches!(target.entry, Entry::Member { .. } | Entry::Hook { .. } | Entry::Table { .. });
        let text = self.text(&path)?.unwrap_or_else(|| match (&target.entry, is_document) {
            (Entry::Hook { .. }, _) => Text::new("{}\n".to_owned()),
            (_, true) => new_document(tool),
            (_, false) => Text::new(String::new()),
        });
        let record = self.old.file(&path);
        let old = record.and_then(|record| record.same(&target.entry));
        let terms = Terms {
            path: &path,
            dialect: target.dialect,
            written: old.map(|owned| &owned.written),
            force,
        };
        match target.entry.put(&text, &terms)? {
            Edited::Same => {
                let file = self.ledger.files.iter_mut().find(|file| file.path == path);
                let entries = file.into_iter().flat_map(|file| &mut file.entries);
                for owned in entries {
                    let is_it = is_same(&owned.written.entry, &target.entry);
                    if is_it && !owned.tools.contains(&tool) {
                        owned.tools.push(tool);
                    }
                }
            }
            Edited::Kept(why) => {
                plan.kept.push(format!("{path}: {why}; --force replaces it"));
            }
            Edited::Changed(after, written) => {
                self.texts.insert(path.clone(), text.with(after));
                self.record(tool, &path, written);
            }
        }
        if !plan.wired.contains(&path) {
            plan.wired.push(path);
        }
        Ok(())
    }

    fn record(&mut self, tool: Tool, path: &str, written: Written) {
        let bytes = self.snapshot.files.get(path);
        let at = self.ledger.files.iter().position(|file| file.path == path);
        let at = at.unwrap_or_else(|| {
            let before = bytes.map(|bytes| digest(bytes));
            let file = FileRecord {
                path: path.to_owned(),
                created: bytes.is_none(),
                before,
                after: String::new(),
                entries: Vec::new(),
            };
            self.ledger.files.push(file);
            self.ledger.files.len() - 1
        });
        let file = &mut self.ledger.files[at];
        let same = file.entries.iter_mut().find(|it| is_same(&it.written.entry, &written.entry));
        match same {
            Some(owned) => {
                owned.written = written;
                if !owned.tools.contains(&tool) {
                    owned.tools.push(tool);
                }
            }
            None => file.entries.push(Owned { tools: vec![tool], written }),
        }
    }

    /// Puts the new texts and the ledger into the plan.
    pub(crate) fn finish(mut self, plan: &mut Plan) {
        for (path, text) in &self.texts {
            let before = self.snapshot.files.get(path).cloned();
            let after = text.bytes();
            let file = self.ledger.files.iter_mut().find(|file| file.path == *path);
            if let Some(file) = file {
                let old = self.old.file(path);
                // Others changed the file since: what was before is not what they want back.
                let is_known = before.as_ref().map(|bytes| digest(bytes));
                if old.is_some_and(|old| Some(&old.after) != is_known.as_ref()) {
                    (file.created, file.before) = (before.is_none(), None);
                }
                file.after = digest(&after);
                if let (Some(prior), Some(bytes), None) = (&file.before, &before, old) {
                    plan.priors.insert(prior.clone(), bytes.clone());
                }
            }
            for folder in folders_of(path) {
                let is_known = self.snapshot.folders.contains(&folder);
                if !is_known && !plan.new_folders.contains(&folder) {
                    plan.new_folders.push(folder.clone());
                    if !self.ledger.folders.contains(&folder) {
                        self.ledger.folders.push(folder);
                    }
                }
            }
            if before.as_deref() != Some(&after) {
                plan.changes.push(Change { path: path.clone(), before, after: Some(after) });
            }
        }
        plan.ledger = self.ledger;
    }
}
