//! A new tree, or other settings of an existing one.

use accord_base::By;
use accord_contract::{Code, Failure, Value};
use accord_tasks_core::event::{TaskEvent, kind};
use accord_tasks_core::operations::{
    ApplyMode, InitAnswer, InitRequest, LayoutName, ProjectType, ReviewMode,
};
use accord_tasks_core::yaml::{Change, Yaml};
use accord_tasks_core::{Status, aof_project_id};
use accord_trees::atomic;
use serde_json::json;

use crate::layout::{MANIFEST, SETTINGS, WHOLE, status_folder};
use crate::manifest::{
    CommittedSettings, Manifest, Settings, committed_text, new_members, read_manifest,
};
use crate::tree::failure;
use crate::work::Work;
use crate::{Result, Tree};

impl Tree {
    /// Makes the folders of a tree and its `project.yaml`. What exists stays as it is, except for
    /// the settings that the request names.
    pub fn init(&self, request: &InitRequest, by: &By) -> Result<InitAnswer> {
        let known = self.settings();
        let known = known.manifest.as_ref().and_then(|manifest| manifest.layout);
        let layout = match request.layout.or(known) {
            Some(LayoutName::Upstream) => "state/runs",
            _ => "runs",
        };
        let statuses = Status::ALL.iter().map(|status| status_folder(*status));
        for folder in statuses.chain([layout.into(), "events".into()]) {
            atomic::make_folders(self.disk(), &folder).map_err(|error| failure(&error))?;
        }
        let (request, by, project) = (request.clone(), by.clone(), self.project().to_owned());
        let root = self.disk().root_path().display().to_string();
        let answer = self.change(move |work| {
            let old = work.text(MANIFEST)?;
            let created = old.is_none();
            check_person(&request, &by, created)?;
            git_files(work)?;
            let (text, manifest) = manifest_text(old.as_deref(), &project, &request)?;
            if old.as_deref() != Some(&text) {
                work.put(MANIFEST, text)?;
            }
            let committed = commit_settings(work, &request, &by)?;
            let settings = Settings::of(manifest, committed);
            if !created {
                note_changes(work, &request, &by);
            }
            let goes_on_after = work.index.vanished.take().filter(|_| created);
            Ok(InitAnswer { goes_on_after, ..answer(&settings, &project, root, created) })
        })?;
        self.current_settings();
        Ok(answer)
    }
}

/// What belongs to one copy of a tree alone: git ignores it.
const IGNORED: &str = "\
# Accord: what belongs to this copy of the tasks alone
/state/
/runs/*/run.json
/runs/*/run_heartbeat.json
# The results of tasks, whatever else is ignored
!/tasks/*/*/outputs/**
";

/// Two branches of one copy append to the same log: git keeps the lines of both.
const ATTRIBUTES: &str = "*.jsonl text eol=lf merge=union\n";

/// The files by which git can carry a tree. What exists stays as it is.
fn git_files(work: &mut Work<'_>) -> Result<()> {
    let known = work.text(".gitignore")?.unwrap_or_default();
    let is_missing = |line: &&str| !known.lines().any(|known| known.trim() == *line);
    let missing: Vec<&str> = IGNORED.lines().filter(is_missing).collect();
    if !missing.iter().all(|line| line.starts_with('#')) {
        let blank = if known.is_empty() || known.ends_with('\n') { "" } else { "\n" };
        let text = format!("{known}{blank}{}\n", missing.join("\n"));
        work.put(".gitignore", text)?;
    }
    // Git keeps no empty folder, and takes one that becomes empty for one that was renamed.
    let kept = Status::ALL.iter().map(|status| format!("{}/.gitkeep", status_folder(*status)));
    let more = kept.map(|path| (path, String::new()));
    let attributes = [("events", ATTRIBUTES), ("tasks", WHOLE)];
    let attributes =
        attributes.map(|(folder, text)| (format!("{folder}/.gitattributes"), text.to_owned()));
    for (path, text) in more.chain(attributes) {
        if work.text(&path)?.is_none() {
            work.put(&path, text)?;
        }
    }
    Ok(())
}

/// Settings that decide about the work of agents are a person's.
fn check_person(request: &InitRequest, by: &By, created: bool) -> Result<()> {
    let is_usual = request.apply.is_none_or(|apply| apply == ApplyMode::AtOnce)
        && request.review.is_none_or(|review| review == ReviewMode::Human);
    if *request == InitRequest::default() || (created && is_usual) {
        return Ok(());
    }
    by.check_person("change the settings of a tree")
}

/// The text of `project.yaml`: made, or edited in place.
fn manifest_text(old: Option<&str>, name: &str, init: &InitRequest) -> Result<(String, Manifest)> {
    let text = match old {
        Some(old) => {
            let invalid = |why: String| {
                Failure::new(Code::AofProjectManifestInvalid, format!("{MANIFEST}: {why}"))
            };
            let mut yaml = Yaml::read(old).map_err(|error| invalid(error.to_string()))?;
            yaml.edit(&changes(init)).map_err(|error| invalid(error.to_string()))?;
            yaml.text().to_owned()
        }
        None => {
            let mut members = new_members(name);
            let title = init.title.as_deref().unwrap_or(name);
            let kind = init.kind.unwrap_or(ProjectType::Swe);
            let owner = json!({
                "team": init.team.as_deref().unwrap_or("system"),
                "lead": init.lead.as_deref().unwrap_or("system"),
            });
            members.insert("title".into(), title.into());
            members.insert("status".into(), "active".into());
            members.insert("type".into(), kind.as_str().into());
            members.insert("owner".into(), owner);
            members.insert("apply".into(), ApplyMode::AtOnce.as_str().into());
            members.insert("review".into(), ReviewMode::Human.as_str().into());
            members.insert("layout".into(), LayoutName::Guide.as_str().into());
            let mut yaml = Yaml::write(members);
            yaml.edit(&changes(init)).map_err(|error| {
                Failure::new(Code::AofProjectManifestInvalid, error.to_string())
            })?;
            yaml.text().to_owned()
        }
    };
    let manifest = read_manifest(&text)?;
    Ok((text, manifest))
}

fn changes(request: &InitRequest) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut set = |path: &[&str], value: Option<Value>| {
        changes.extend(value.map(|value| Change::set(path, value)));
    };
    set(&["title"], request.title.as_deref().map(Value::from));
    set(&["type"], request.kind.map(|kind| kind.as_str().into()));
    set(&["owner", "team"], request.team.as_deref().map(Value::from));
    set(&["owner", "lead"], request.lead.as_deref().map(Value::from));
    set(&["apply"], request.apply.map(|apply| apply.as_str().into()));
    set(&["review"], request.review.map(|review| review.as_str().into()));
    set(&["layout"], request.layout.map(|layout| layout.as_str().into()));
    set(&["ids"], request.ids.map(|ids| ids.as_str().into()));
    set(&["leaseTtlMs"], request.lease_ttl_ms.map(Value::from));
    set(&["heartbeatTtlMs"], request.heartbeat_ttl_ms.map(Value::from));
    set(&["limits", "running"], request.max_running.map(Value::from));
    let teams = request.team_limits.as_ref();
    set(&["limits", "teams"], teams.map(|teams| json!(teams)));
    set(&["retry", "maxAttempts"], request.max_attempts.map(Value::from));
    changes
}

/// Commits `apply` and `review`. What an existing `project.yaml` says counts only if a person
/// gives the same values here, or adopts it.
fn commit_settings(work: &mut Work<'_>, init: &InitRequest, by: &By) -> Result<CommittedSettings> {
    let old = work.settings().committed.clone();
    let apply = old.as_ref().map_or(ApplyMode::AtOnce, |old| old.apply);
    let review = old.as_ref().map_or(ReviewMode::Human, |old| old.review);
    let (apply, review) = (init.apply.unwrap_or(apply), init.review.unwrap_or(review));
    if let Some(old) = old.filter(|old| old.apply == apply && old.review == review) {
        return Ok(old);
    }
    let committed = CommittedSettings {
        apply,
        review,
        by: by.name().to_owned(),
        door: by.door.as_str().to_owned(),
        at: work.now().to_string(),
        evidence: None,
        extra: accord_contract::wire::Object::new(),
    };
    work.put(SETTINGS, committed_text(&committed))?;
    Ok(committed)
}

fn note_changes(work: &mut Work<'_>, request: &InitRequest, by: &By) {
    let before = work.settings().clone();
    let rules = before.committed.as_ref();
    let mut event = TaskEvent::new(kind::SETTINGS_CHANGED, by.name(), None, work.now())
        .with("door", by.door.as_str());
    let mut is_changed = false;
    let mut note = |name: &str, from: Option<&str>, to: Option<&str>| {
        if let Some(to) = to.filter(|to| from != Some(to)) {
            event.payload.insert(name.to_owned(), json!({"from": from, "to": to}));
            is_changed = true;
        }
    };
    let old = rules.map(|rules| (rules.apply.as_str(), rules.review.as_str()));
    note("apply", old.map(|old| old.0), request.apply.map(ApplyMode::as_str));
    note("review", old.map(|old| old.1), request.review.map(ReviewMode::as_str));
    let layout = before.manifest.as_ref().and_then(|manifest| manifest.layout);
    note("layout", layout.map(LayoutName::as_str), request.layout.map(LayoutName::as_str));
    if is_changed {
        work.event(event);
    }
}

fn answer(settings: &Settings, project: &str, root: String, created: bool) -> InitAnswer {
    let times = settings.times();
    let ms = |seconds: i64| u64::try_from(seconds).unwrap_or(0) * 1_000;
    let (committed, manifest) = (settings.committed.as_ref(), settings.manifest.as_ref());
    let layout = manifest.and_then(|manifest| manifest.layout);
    InitAnswer {
        project_id: project.to_owned(),
        aof_id: manifest.map_or_else(|| aof_project_id(project), |manifest| manifest.id.clone()),
        root,
        created,
        goes_on_after: None,
        apply: committed.map_or(ApplyMode::AtOnce, |committed| committed.apply),
        review: committed.map_or(ReviewMode::Human, |committed| committed.review),
        layout: layout.unwrap_or(LayoutName::Guide),
        ids: manifest.and_then(|manifest| manifest.ids),
        lease_ttl_ms: ms(times.lease_seconds),
        heartbeat_ttl_ms: ms(times.heartbeat_seconds),
    }
}
