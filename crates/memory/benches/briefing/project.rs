//! Invented projects, and a memory in which one has happened.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use accord_base::worker::Attempt;
use accord_base::{Actor, ActorId, ActorKey, Caller, Door, ProjectId};
use accord_contract::{Time, Timestamp};
use accord_memory::{DepositOptions, FlowPackage, FlowSource, Memory, MemoryOptions, TakenOver};
use accord_memory_core::PackageId;
use accord_memory_core::fact::AssertOptions;
use accord_memory_core::lifecycle::{Change, Move};
use accord_memory_core::operations::OrientParams;
use accord_memory_core::package::Status;
use accord_memory_core::query::{OrientFormat, Orientation};
use accord_store_sqlite::{Options, SqliteStore};
use serde::Deserialize;
use serde_json::{Value, json};
use tempfile::TempDir;

#[derive(Deserialize)]
pub(crate) struct Project {
    #[serde(skip)]
    pub(crate) name: String,
    focus: Option<String>,
    steps: Vec<Step>,
    pub(crate) needed: Vec<Phrases>,
    #[serde(default)]
    pub(crate) unwanted: Vec<Phrases>,
}

/// Something that a text says with one of several phrases.
#[derive(Deserialize)]
pub(crate) struct Phrases {
    pub(crate) what: String,
    pub(crate) any: Vec<String>,
}

#[derive(Deserialize)]
struct Step {
    before: String,
    deposit: Option<Value>,
    review: Option<Review>,
    fact: Option<Value>,
    repeat: Option<Repeat>,
}

#[derive(Deserialize)]
struct Review {
    of: String,
    to: String,
    by: String,
    note: String,
}

#[derive(Deserialize)]
struct Repeat {
    times: u32,
    every: String,
    deposit: Option<Value>,
    fact: Option<Value>,
}

/// A memory in which a project has happened.
pub(crate) struct Played {
    memory: Memory,
    id: ProjectId,
    focus: Option<String>,
    begin: Time,
    /// The ids of packages by the names that steps refer to.
    names: HashMap<String, String>,
    /// How many results Accord kept.
    flows: Option<u64>,
    _folder: TempDir,
}

impl Phrases {
    pub(crate) fn is_in(&self, text: &str) -> bool {
        let text = collapsed(text);
        self.any.iter().any(|phrase| text.contains(&collapsed(phrase)))
    }
}

/// Without the marks and breaks with which a briefing writes a text of several lines.
fn collapsed(text: &str) -> String {
    let words = text.split_whitespace().filter(|word| *word != ">");
    words.collect::<Vec<_>>().join(" ")
}

impl Project {
    pub(crate) fn read(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).unwrap();
        let read = serde_json::from_str(&text);
        let mut project: Self = read.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        project.name = path.file_stem().unwrap().to_string_lossy().into_owned();
        project
    }

    /// A memory in which it has happened. With flows, each agent worked on a task or a turn, and
    /// Accord kept its result, too.
    pub(crate) async fn played(&self, has_flows: bool) -> Played {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path(), &Options::default()).unwrap();
        let memory = Memory::new(Arc::new(store), MemoryOptions::default());
        let mut played = Played {
            begin: memory.now(),
            memory,
            id: ProjectId::new(self.name.clone()).unwrap(),
            focus: self.focus.clone(),
            names: HashMap::new(),
            flows: has_flows.then_some(0),
            _folder: folder,
        };
        for step in &self.steps {
            let before = minutes(&step.before);
            match step {
                Step { deposit: Some(deposit), .. } => played.deposit(deposit, before).await,
                Step { review: Some(review), .. } => played.review(review).await,
                Step { fact: Some(fact), .. } => played.assert(fact, before).await,
                Step { repeat: Some(repeat), .. } => played.repeat(repeat, before).await,
                Step { .. } => panic!("a step does nothing"),
            }
        }
        played
    }
}

impl Played {
    pub(crate) async fn briefing(&self, budget: u32) -> String {
        let asked = OrientParams {
            format: Some(OrientFormat::Briefing),
            max_tokens: Some(budget),
            focus: self.focus.clone(),
            ..OrientParams::default()
        };
        let Orientation::Briefing(asked) = Orientation::of(asked).unwrap() else {
            panic!("a briefing was asked for");
        };
        self.memory.brief(&Caller::owner(), &self.id, asked).await.unwrap()
    }

    fn at(&self, before: i64) -> String {
        Timestamp::emit(self.begin.add_seconds(-60 * before)).to_string()
    }

    async fn deposit(&mut self, step: &Value, before: i64) {
        let mut package = json!({
            "project_id": self.id.as_str(),
            "relay_version": "0.1",
            "title": step["title"],
            "status": text_or(step, "status", "complete"),
            "package_type": text_or(step, "type", "standard"),
            "review_type": text_or(step, "review_type", "none"),
            "created_at": self.at(before),
            "created_by": actor(step),
        });
        let members = package.as_object_mut().unwrap();
        for name in [
            "significance",
            "description",
            "content_md",
            "topic",
            "tags",
            "decisions_made",
            "open_questions",
            "handoff_note",
        ] {
            if let Some(value) = step.get(name) {
                members.insert(name.to_owned(), value.clone());
            }
        }
        if let Some(parent) = step["parent"].as_str() {
            members.insert("parent_package_id".to_owned(), json!(self.names[parent]));
        }
        if let Some(old) = step["supersedes"].as_array() {
            let ids = old.iter().map(|name| self.names[name.as_str().unwrap()].clone());
            members.insert("x-supersedes".to_owned(), ids.collect());
        }
        if let Some(answers) = step["answers"].as_array() {
            let answers = answers.iter().map(|text| json!({"question": text}));
            members.insert("x-answers".to_owned(), answers.collect());
        }
        let sent = package.to_string().into();
        let options = DepositOptions { mint: true, ..DepositOptions::default() };
        let work = self.flows.map(|kept| Work::numbered(kept + 1));
        let work = work.filter(|_| step["by"].as_str().unwrap().starts_with("agent:"));
        let caller = match &work {
            Some(work) => Caller::owner().for_worker(&work.attempt(&self.id, step)).unwrap(),
            None => Caller::owner(),
        };
        let stored = self.memory.deposit(&caller, &self.id, sent, options).await.unwrap();
        if let Some(work) = work {
            self.keep(&work, step, before);
        }
        if let Some(name) = step["as"].as_str() {
            let id = stored.package.package_id.as_str().to_owned();
            self.names.insert(name.to_owned(), id);
        }
    }

    /// Keeps the result of work, as the flows of tasks and governed runs do, and now and then a
    /// gate that was passed.
    fn keep(&mut self, work: &Work, step: &Value, before: i64) {
        let (title, agent) = (step["title"].as_str().unwrap(), actor(step)["id"].clone());
        let (name, agent) = (&work.name, agent.as_str().unwrap());
        let said = step["description"].as_str().unwrap_or_default();
        let decisions = step["decisions_made"].as_array().cloned().unwrap_or_default();
        let mut kept = Vec::new();
        match work.is_turn() {
            false => kept.push(json!({
                "title": format!("Done: {title} ({name})"), "package_type": "auto_deposit",
                "description":
                    format!("{said}\n\nagent:{agent} worked on {name}; human:lead approved it."),
            })),
            // A turn without decisions leaves nothing.
            true => kept.extend(decisions.first().map(|first| json!({
                "title": format!("{agent} decided (implementation): {}", first.as_str().unwrap()),
                "package_type": "decision", "decisions_made": decisions.clone(),
                "description": format!("{agent} decided it in the turn {name}.\n\n{said}"),
            }))),
        }
        kept.iter_mut().for_each(|it| it["x-result_of"] = json!({"work": name}));
        if work.number.is_multiple_of(10) {
            let gate = format!("the gate implementation_complete of run_{} is passed", work.number);
            kept.push(json!({
                "title": format!("Passed the gate implementation_complete to qa ({name})"),
                "package_type": "decision", "significance": 3,
                "decisions_made": [format!("{gate}; human:lead approved it")],
            }));
        }
        let at = self.at(before - 1);
        let packages = kept.into_iter().enumerate().map(|(place, members)| {
            let mut package = json!({
                "package_id": format!("pkg_kept_{}_{place}", work.number),
                "project_id": self.id.as_str(), "relay_version": "0.1", "status": "complete",
                "review_type": "none", "created_at": at,
                "created_by": {"id": "accord", "type": "script"},
                "x-source": {"protocol": "tasks", "kind": "task.done", "task_id": name},
            });
            package.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
            FlowPackage::new(&package).unwrap()
        });
        let source = FlowSource { project: self.id.clone(), id: "work".to_owned() };
        let upto = TakenOver { number: work.number, place: String::new() };
        self.memory.flow(&source, packages.collect(), Vec::new(), upto).unwrap();
        self.flows = Some(work.number);
    }

    async fn review(&self, review: &Review) {
        let id = PackageId::new(self.names[&review.of].clone()).unwrap();
        let to = Status::ALL.iter().find(|status| status.as_str() == review.to).unwrap();
        let by = ActorKey::parse(&review.by).unwrap();
        let (note, actor) = (Some(review.note.clone()), Some(Actor::new(by.id, by.kind)));
        let asked = Move { note, actor, ..Move::new(Change::Review(*to)) };
        self.memory.transition(&Caller::owner(), Door::Http, None, id, asked).await.unwrap();
    }

    async fn assert(&self, fact: &Value, before: i64) {
        let sent = json!({
            "subject": fact["subject"],
            "predicate": fact["relation"],
            "value": fact["object"],
            "valid_from": self.at(before),
            "asserted_by": actor(fact),
        });
        let (caller, sent) = (Caller::owner(), sent.to_string());
        let options = AssertOptions::default();
        self.memory.assert_fact(&caller, &self.id, sent.as_bytes(), options).await.unwrap();
    }

    async fn repeat(&mut self, repeat: &Repeat, before: i64) {
        let every = minutes(&repeat.every);
        for number in 0..repeat.times {
            let at = before - every * i64::from(number);
            let numbered = |value: &Value| -> Value {
                let text = value.to_string().replace("{n}", &(number + 1).to_string());
                serde_json::from_str(&text).unwrap()
            };
            if let Some(deposit) = &repeat.deposit {
                self.deposit(&numbered(deposit), at).await;
            }
            if let Some(fact) = &repeat.fact {
                self.assert(&numbered(fact), at).await;
            }
        }
    }
}

/// Work of an agent: a task or a turn.
struct Work {
    number: u64,
    name: String,
}

impl Work {
    fn numbered(number: u64) -> Self {
        let name = match number.is_multiple_of(2) {
            true => format!("turn_{number:016x}"),
            false => format!("TASK-2026-01-01-{number:03}"),
        };
        Self { number, name }
    }

    fn is_turn(&self) -> bool {
        self.name.starts_with("turn_")
    }

    fn attempt(&self, project: &ProjectId, step: &Value) -> Attempt {
        let agent = ActorId::new(actor(step)["id"].as_str().unwrap()).unwrap();
        Attempt { project: project.clone(), agent, work: self.name.clone(), id: None }
    }
}

fn text_or(step: &Value, name: &str, default: &str) -> Value {
    json!(step[name].as_str().unwrap_or(default))
}

/// The author of a step, such as `agent:builder`.
fn actor(step: &Value) -> Value {
    let (kind, id) = step["by"].as_str().unwrap().split_once(':').unwrap();
    json!({"id": id, "type": kind})
}

/// A time such as `2d4h30m`, in minutes.
fn minutes(text: &str) -> i64 {
    let (mut minutes, mut number) = (0, 0);
    for letter in text.chars() {
        match letter.to_digit(10) {
            Some(digit) => number = number * 10 + i64::from(digit),
            None => {
                let unit = [('m', 1), ('h', 60), ('d', 24 * 60)];
                let unit = unit.iter().find(|(name, _)| *name == letter).expect("d, h or m");
                minutes += number * unit.1;
                number = 0;
            }
        }
    }
    minutes
}
