//! What Accord committed about the tasks of a tree. It is record, not index: the log keeps it.
//!
//! Invariants:
//! - every task that can still move has an entry, from the commit that made it or noticed it;
//! - the entry of a task that Accord leased, or that is in review, has the text of its file, so
//!   that any edit of it can be undone;
//! - a task with a lease of which nothing says who gave it out has the origin
//!   [`LeaseOrigin::Unknown`] until a person adopts it;
//! - the number of a task is never given out again, whatever becomes of its files.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use accord_contract::{Object, Value};
use accord_tasks_core::observed::OBSERVED;
use accord_tasks_core::referee::{DECISIONS as DECIDED, Known};
use accord_tasks_core::task::TaskFile;
use accord_tasks_core::{DayNumbers, Status, TaskDay, TaskId};
use accord_trees::wal::{Committed, Op, Record, digest};
use serde_json::json;

use crate::layout::{DECISIONS, SETTINGS, WRITER};
use crate::work::object;
use crate::writers::Writers;

/// A longer text is not kept with the committed state. Only its front matter is.
const MAX_TEXT: usize = 256 * 1024;
/// The member of a record with the public key of a copy that a person confirmed.
pub(crate) const CONFIRMED: &str = "confirmed";

#[derive(Debug, Default)]
pub(crate) struct State {
    tasks: HashMap<TaskId, Held>,
    /// Files that cannot be read and were reported, with the digests of their contents.
    broken: BTreeMap<String, String>,
    /// The content of the file with the settings that count only as set through Accord.
    settings: Option<String>,
    /// The numbers that were given out, by day.
    numbers: HashMap<TaskDay, DayNumbers>,
    /// The digest of the last line of the record of decisions.
    last_decision: Option<String>,
    /// What was written to each event log.
    seals: BTreeMap<String, Seal>,
    last_event: u64,
    is_begun: bool,
    /// The content of the file with the writers of this copy, and what it says.
    writer: Option<String>,
    writers: Option<Writers>,
    /// The event log that was written last, and its length after that.
    end: Option<(String, u64)>,
    /// The public keys of other copies that a person confirmed.
    confirmed: BTreeSet<String>,
}

/// What Accord wrote to an event log, so that a changed line is noticed.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Seal {
    /// The number of the last event that is not sealed: an earlier version wrote it.
    pub(crate) after: u64,
    /// The digest of all sealed lines, in their order.
    sum: String,
}

impl Seal {
    /// A seal of the lines after an event.
    pub(crate) fn after(after: u64) -> Self {
        Self { after, sum: String::new() }
    }

    pub(crate) fn add(&mut self, line: &str) {
        self.sum.push_str(line);
        self.sum = digest(self.sum.as_bytes());
    }
}

/// What Accord committed about a task that can still move.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Held {
    pub(crate) status: Status,
    pub(crate) front: String,
    pub(crate) review_required: Option<Value>,
    pub(crate) review_by: Option<Value>,
    pub(crate) observed: Option<Value>,
    /// The members of the metadata that say what a person decided. Earlier versions kept none.
    pub(crate) decisions: Option<Object>,
    pub(crate) lease: LeaseOrigin,
    pub(crate) text: Option<String>,
    /// `run.json`, while Accord's lease lasts.
    pub(crate) run: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum LeaseOrigin {
    #[default]
    None,
    Accord,
    /// Another tool: the task follows its file.
    Other,
    /// Another copy of the tree. It holds nothing here, and only that copy goes on with it.
    Elsewhere,
    /// Nothing says who. A person must adopt the task.
    Unknown,
}

impl LeaseOrigin {
    /// Whether only this copy of the tree, or a person, decides about the task: what events of
    /// other copies explain does not count.
    pub(crate) fn is_here(self) -> bool {
        matches!(self, Self::Accord | Self::Unknown)
    }

    /// Whether every member that decides is held while the lease lasts.
    pub(crate) fn is_held(self) -> bool {
        matches!(self, Self::Accord | Self::Unknown | Self::Elsewhere)
    }

    fn name(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Accord => Some("accord"),
            Self::Other => Some("other"),
            Self::Elsewhere => Some("elsewhere"),
            Self::Unknown => Some("unknown"),
        }
    }

    fn read(name: Option<&str>) -> Self {
        match name {
            None => Self::None,
            Some("accord") => Self::Accord,
            Some("other") => Self::Other,
            Some("elsewhere") => Self::Elsewhere,
            Some(_) => Self::Unknown,
        }
    }
}

impl State {
    pub(crate) fn held(&self, id: TaskId) -> Option<&Held> {
        self.tasks.get(&id)
    }

    pub(crate) fn tasks(&self) -> impl Iterator<Item = (TaskId, &Held)> {
        self.tasks.iter().map(|(id, held)| (*id, held))
    }

    /// The digest of the broken content of a file that was reported.
    pub(crate) fn broken(&self, path: &str) -> Option<&str> {
        self.broken.get(path).map(String::as_str)
    }

    /// The content of the file with the settings that count only as set through Accord.
    pub(crate) fn settings(&self) -> Option<&str> {
        self.settings.as_deref()
    }

    /// The numbers of tasks that were given out, by day.
    pub(crate) fn numbers(&self) -> &HashMap<TaskDay, DayNumbers> {
        &self.numbers
    }

    /// The number of the last event. `None` before the first commit.
    pub(crate) fn last_event(&self) -> Option<u64> {
        self.is_begun.then_some(self.last_event)
    }

    /// The digest of the last line of the record of decisions.
    pub(crate) fn last_decision(&self) -> Option<&str> {
        self.last_decision.as_deref()
    }

    /// The writers that this copy of the tree was. `None` before it wrote an event of its own.
    pub(crate) fn writers(&self) -> Option<&Writers> {
        self.writers.as_ref()
    }

    /// The event log that was written last, and its length after that.
    pub(crate) fn end(&self) -> Option<(&str, u64)> {
        self.end.as_ref().map(|(log, end)| (log.as_str(), *end))
    }

    /// Whether a person confirmed the copy of the tree that has this public key.
    pub(crate) fn is_confirmed(&self, key: &str) -> bool {
        self.confirmed.contains(key)
    }

    fn set_writer(&mut self, text: String) {
        self.writers = Writers::read(&text);
        self.writer = Some(text);
    }

    pub(crate) fn seal(&self, log: &str) -> Option<&Seal> {
        self.seals.get(log)
    }

    /// Seals the lines of a record that are appended to event logs.
    fn seal_events(&mut self, record: &Record, last: u64) {
        for op in &record.ops {
            if let Op::Append { path, at, text } = op
                && path != DECISIONS
            {
                self.end = Some((path.clone(), at + text.len() as u64));
            }
        }
        let lines = || {
            record.ops.iter().filter_map(|op| match op {
                Op::Append { path, text, .. } if path != DECISIONS => Some((path, text.lines())),
                _ => None,
            })
        };
        let lines = || lines().map(|(path, lines)| (path, lines.filter(|line| !line.is_empty())));
        let count: usize = lines().map(|(_, lines)| lines.count()).sum();
        let before = last.saturating_sub(count as u64);
        for (path, lines) in lines() {
            let seal = self.seals.entry(path.clone()).or_insert_with(|| Seal::after(before));
            lines.for_each(|line| seal.add(line));
        }
    }

    /// Whether a commit has taken note of the tasks that existed.
    pub(crate) fn is_begun(&self) -> bool {
        self.is_begun
    }
}

impl Held {
    pub(crate) fn of(file: &TaskFile, lease: LeaseOrigin) -> Self {
        let task = file.task();
        let is_kept = lease.is_held() || task.status == Status::Review;
        let decision = |name: &str| Some((name.to_owned(), task.metadata(name)?.clone()));
        let decisions = DECIDED.into_iter().filter_map(decision);
        Self {
            status: task.status,
            front: digest(file.front().as_bytes()),
            review_required: task.metadata("reviewRequired").cloned(),
            review_by: task.metadata("reviewBy").cloned(),
            observed: task.metadata(OBSERVED).cloned(),
            decisions: Some(decisions.collect()),
            lease,
            text: is_kept.then(|| kept(file)),
            run: None,
        }
    }

    /// What the rules about edits need to know. `file` is the kept file.
    pub(crate) fn known<'k>(&'k self, file: Option<&'k TaskFile>) -> Known<'k> {
        match (self.lease, file) {
            (lease, Some(file)) if lease.is_held() => Known::Leased(file.members()),
            (LeaseOrigin::Other, _) => Known::Free,
            _ => Known::Open {
                status: self.status,
                review_required: self.review_required.as_ref(),
                review_by: self.review_by.as_ref(),
                observed: self.observed.as_ref(),
                decisions: self.decisions.as_ref(),
                reviewed: file.filter(|_| self.status == Status::Review).map(TaskFile::members),
            },
        }
    }

    pub(crate) fn file(&self) -> Option<TaskFile> {
        TaskFile::read(self.text.as_deref()?).ok()
    }

    /// The entry without its texts, for a record that has them as contents of files.
    fn entry(&self) -> Value {
        let mut entry = object(json!({"status": self.status.as_str(), "front": self.front}));
        let more = [
            ("reviewRequired", self.review_required.clone()),
            ("reviewBy", self.review_by.clone()),
            (OBSERVED, self.observed.clone()),
            ("decisions", self.decisions.clone().map(Value::Object)),
            ("lease", self.lease.name().map(Value::from)),
            ("kept", self.text.is_some().then_some(Value::Bool(true))),
        ];
        let more = more.into_iter();
        entry.extend(more.filter_map(|(name, value)| Some((name.to_owned(), value?))));
        Value::Object(entry)
    }

    /// The entry for a record with these changes.
    pub(crate) fn entry_in(&self, id: TaskId, ops: &[Op]) -> Value {
        let name = id.to_string();
        let has_text = put(ops, |path| is_file_of(path, &name)).is_some();
        if has_text { self.entry() } else { self.saved() }
    }

    fn saved(&self) -> Value {
        let mut entry = object(self.entry());
        for (name, text) in [("text", &self.text), ("run", &self.run)] {
            entry.extend(text.clone().map(|text| (name.to_owned(), text.into())));
        }
        Value::Object(entry)
    }

    fn read(entry: &Value) -> Option<Self> {
        let text = |name: &str| entry.get(name).and_then(Value::as_str).map(str::to_owned);
        Some(Self {
            status: Status::parse(entry.get("status")?.as_str()?)?,
            front: text("front")?,
            review_required: entry.get("reviewRequired").cloned(),
            review_by: entry.get("reviewBy").cloned(),
            observed: entry.get(OBSERVED).cloned(),
            decisions: entry.get("decisions").and_then(Value::as_object).cloned(),
            lease: LeaseOrigin::read(entry.get("lease").and_then(Value::as_str)),
            text: text("text"),
            run: text("run"),
        })
    }
}

/// The text of a file, without the body if it is too long.
fn kept(file: &TaskFile) -> String {
    let text = file.text();
    if text.len() <= MAX_TEXT {
        return text;
    }
    let mut file = file.clone();
    file.set_body("");
    file.text()
}

impl Committed for State {
    fn load(saved: Option<&Object>) -> Self {
        let Some(saved) = saved else { return Self::default() };
        let each = |name: &str| saved.get(name).and_then(Value::as_object).into_iter().flatten();
        let held = |(id, entry): (&String, _)| Some((TaskId::parse(id).ok()?, Held::read(entry)?));
        let text =
            |(path, text): (&String, &Value)| Some((path.clone(), text.as_str()?.to_owned()));
        let seal = |(log, seal): (&String, &Value)| {
            let (after, sum) =
                (seal.get("after")?.as_u64()?, seal.get("sum")?.as_str()?.to_owned());
            Some((log.clone(), Seal { after, sum }))
        };
        let last = |name: &str| saved.get(name).and_then(Value::as_str).map(str::to_owned);
        let ids = saved.get("numbers").and_then(Value::as_array).into_iter().flatten();
        let mut numbers = HashMap::new();
        ids.filter_map(|id| TaskId::parse(id.as_str()?).ok()).for_each(|id| note(&mut numbers, id));
        let end = saved.get("end").and_then(|end| {
            Some((end.get("log")?.as_str()?.to_owned(), end.get("length")?.as_u64()?))
        });
        let writer = last("writer");
        Self {
            tasks: each("tasks").filter_map(held).collect(),
            broken: each("broken").filter_map(text).collect(),
            settings: last("settings"),
            last_decision: last("decision"),
            numbers,
            seals: each("seals").filter_map(seal).collect(),
            last_event: saved.get("event").and_then(Value::as_u64).unwrap_or(0),
            is_begun: saved.get("event").is_some(),
            writers: writer.as_deref().and_then(Writers::read),
            writer,
            end,
            confirmed: saved
                .get(CONFIRMED)
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .filter_map(|key| key.as_str().map(str::to_owned))
                .collect(),
        }
    }

    fn apply(&mut self, record: &Record) {
        let detail = &record.detail;
        let each = |name: &str| detail.get(name).and_then(Value::as_object).into_iter().flatten();
        for (name, entry) in each("tasks") {
            let Ok(id) = TaskId::parse(name) else { continue };
            note(&mut self.numbers, id);
            let Some(mut held) = Held::read(entry) else {
                self.tasks.remove(&id);
                continue;
            };
            let before = self.tasks.remove(&id);
            if entry.get("kept").is_some() && held.text.is_none() {
                let text = put(&record.ops, |path| is_file_of(path, name));
                held.text = text.map(|text| match text.len() > MAX_TEXT {
                    true => TaskFile::read(text).map_or_else(|_| text.to_owned(), |f| kept(&f)),
                    false => text.to_owned(),
                });
            }
            if held.lease == LeaseOrigin::Accord && held.run.is_none() {
                let end = format!("runs/{name}/run.json");
                let run = put(&record.ops, |path| path.ends_with(&end)).map(str::to_owned);
                held.run = run.or(before.and_then(|held| held.run));
            }
            self.tasks.insert(id, held);
        }
        for (path, digest) in each("broken") {
            match digest.as_str() {
                Some(digest) => self.broken.insert(path.clone(), digest.to_owned()),
                None => self.broken.remove(path),
            };
        }
        if let Some(settings) = put(&record.ops, |path| path == SETTINGS) {
            self.settings = Some(settings.to_owned());
        }
        if let Some(writer) = put(&record.ops, |path| path == WRITER) {
            let before = self.writers.as_ref().map(|writers| writers.ids.clone());
            self.set_writer(writer.to_owned());
            if before != self.writers.as_ref().map(|writers| writers.ids.clone()) {
                // What earlier writers wrote is theirs: git may bring back any version of it.
                self.seals.clear();
                self.end = None;
            }
        }
        if let Some(key) = detail.get(CONFIRMED).and_then(Value::as_str) {
            self.confirmed.insert(key.to_owned());
        }
        if let Some(decision) = detail.get("decision").and_then(Value::as_str) {
            self.last_decision = Some(decision.to_owned());
        }
        if let Some(event) = detail.get("event").and_then(Value::as_u64) {
            self.seal_events(record, event);
            self.last_event = event;
            self.is_begun = true;
        }
    }

    fn save(&self) -> Object {
        let mut saved = Object::new();
        if !self.is_begun {
            return saved;
        }
        let tasks = self.tasks.iter().map(|(id, held)| (id.to_string(), held.saved()));
        saved.insert("tasks".into(), Value::Object(tasks.collect()));
        let broken =
            self.broken.iter().map(|(path, digest)| (path.clone(), digest.as_str().into()));
        saved.insert("broken".into(), Value::Object(broken.collect()));
        let numbers = self.numbers.iter().flat_map(|(day, numbers)| numbers.last(*day));
        let numbers: Vec<String> = numbers.map(|id| id.to_string()).collect();
        saved.insert("numbers".into(), numbers.into());
        let seal = |seal: &Seal| json!({"after": seal.after, "sum": seal.sum});
        let seals = self.seals.iter().map(|(log, it)| (log.clone(), seal(it)));
        saved.insert("seals".into(), Value::Object(seals.collect()));
        let end = self.end.as_ref().map(|(log, end)| json!({"log": log, "length": end}));
        saved.extend(end.map(|end| ("end".to_owned(), end)));
        if !self.confirmed.is_empty() {
            let keys: Vec<&str> = self.confirmed.iter().map(String::as_str).collect();
            saved.insert(CONFIRMED.into(), keys.into());
        }
        let texts = [
            ("settings", &self.settings),
            ("decision", &self.last_decision),
            ("writer", &self.writer),
        ];
        for (name, text) in texts {
            saved.extend(text.clone().map(|text| (name.to_owned(), text.into())));
        }
        saved.insert("event".into(), self.last_event.into());
        saved
    }
}

pub(crate) fn note(numbers: &mut HashMap<TaskDay, DayNumbers>, id: TaskId) {
    numbers.entry(id.day()).or_default().note(id);
}

fn is_file_of(path: &str, id: &str) -> bool {
    path.starts_with("tasks/") && path.strip_suffix(".md").is_some_and(|path| path.ends_with(id))
}

/// The last content that changes give to a file.
fn put(ops: &[Op], is_it: impl Fn(&str) -> bool) -> Option<&str> {
    ops.iter().rev().find_map(|op| match op {
        Op::Put { path, text, .. } if is_it(path) => Some(text.as_str()),
        _ => None,
    })
}
