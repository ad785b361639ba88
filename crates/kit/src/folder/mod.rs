//! Cases that are judged by a folder: the kit writes the files, sends the steps to a process,
//! kills it where the case says so, and reads the folder itself.
//!
//! Invariants:
//! - What an implementation reports about its work is compared only where it reports it. The files
//!   decide.
//! - A kill is SIGKILL to the process group. The process is started again on the same folder.
//! - Paths of a case, and places that an implementation names, never leave the folder.

mod front_matter;
mod inspect;
mod snapshot;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use accord_contract::fixture::{AdapterResult, Status, Vocabulary};
use accord_contract::{Object, Value};
use serde_json::json;

use crate::case::{Folder, FolderStep};
use crate::corpus::Protocol;
use crate::driver::{NoAnswer, Reply};
use crate::exchange::variables::{Unknown, Variables};
use crate::exchange::{End, Exchanged};
use crate::report::Difference;
use snapshot::Snapshot;

/// A program that works in folders: it answers one request with one answer.
pub trait Target {
    /// Sends a request, and waits for its answer. A program that was killed is started again.
    fn ask(&mut self, request: &Value, limit: Duration) -> Result<Value, NoAnswer>;

    /// Sends a request, and kills the program after this time, whether or not it has answered.
    fn ask_and_kill(&mut self, request: &Value, after: Duration) -> Result<(), NoAnswer>;

    /// Kills the program.
    fn kill(&mut self);
}

/// The names of places in a folder, each with the paths that it may have. The first is the default.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places(BTreeMap<String, Vec<String>>);

impl Places {
    pub(crate) fn of(protocol: &Protocol) -> Self {
        let places = protocol.places();
        Self(places.map(|(name, choice)| (name.clone(), choice.values.clone())).collect())
    }

    /// The places as variables: those that an implementation names, else the defaults.
    fn variables(&self, named: &Value) -> Result<Variables, String> {
        let mut variables = Variables::default();
        for (name, paths) in &self.0 {
            let path = match named.get(name) {
                None => paths.first().cloned().unwrap_or_default(),
                Some(path) => {
                    let path = path.as_str().unwrap_or_default();
                    if !paths.iter().any(|known| known == path) {
                        let known = paths.join(" or ");
                        return Err(format!("the place {name} is {path:?}, expected {known}"));
                    }
                    path.to_owned()
                }
            };
            variables.set(name, path);
        }
        Ok(variables)
    }
}

/// Runs a case in a folder, which must be empty.
pub(crate) fn run(
    folder: &Folder,
    places: &Places,
    root: &Path,
    target: &mut dyn Target,
    limit: Duration,
) -> Result<Reply, NoAnswer> {
    let deadline = Instant::now() + limit;
    let clock = folder.clock.clone();
    let mut run = Run { folder, root, clock, deadline, target, variables: Variables::default() };
    match run.all(places) {
        Ok(()) => Ok(Reply::Exchanged(Exchanged::nothing(End::Met))),
        Err(Halt::Unmet(exchanged)) => Ok(Reply::Exchanged(*exchanged)),
        Err(Halt::Reply(status, message)) => {
            Ok(Reply::Result(AdapterResult::without_outcome(status, message).into()))
        }
        Err(Halt::NoAnswer(why)) => Err(why),
        Err(Halt::Kit(why)) => Ok(Reply::Exchanged(Exchanged::nothing(End::Harness(why)))),
    }
}

struct Run<'a> {
    folder: &'a Folder,
    root: &'a Path,
    clock: String,
    deadline: Instant,
    target: &'a mut dyn Target,
    variables: Variables,
}

/// Why a case ends early.
enum Halt {
    /// The folder is not as expected.
    Unmet(Box<Exchanged>),
    /// The implementation says that it cannot do a step.
    Reply(Status, String),
    NoAnswer(NoAnswer),
    /// The kit could not do its part.
    Kit(String),
}

impl From<NoAnswer> for Halt {
    fn from(why: NoAnswer) -> Self {
        Self::NoAnswer(why)
    }
}

impl From<Unknown> for Halt {
    fn from(unknown: Unknown) -> Self {
        Self::Kit(unknown.to_string())
    }
}

impl Run<'_> {
    fn all(&mut self, places: &Places) -> Result<(), Halt> {
        let described = self.ask("describe", Object::new())?;
        let named = places.variables(described.get("places").unwrap_or(&Value::Null));
        self.variables = named.map_err(NoAnswer::broken)?;
        self.write(&self.folder.files)?;
        self.ask("open", Object::new())?;
        let count = self.folder.steps.len();
        for (index, step) in self.folder.steps.iter().enumerate() {
            let about = step.about.as_ref().map(|about| format!(" ({about})"));
            let label = format!("step {} of {count}{}", index + 1, about.unwrap_or_default());
            self.step(step, &label)?;
        }
        self.ask("close", Object::new())?;
        Ok(())
    }

    fn step(&mut self, step: &FolderStep, label: &str) -> Result<(), Halt> {
        if let Some(clock) = &step.clock {
            self.clock.clone_from(clock);
        }
        if let Some(files) = &step.write {
            self.write(files)?;
        }
        let is_compared = step.checks().any(|check| check.unchanged.is_some());
        let before = if is_compared { self.snapshot()? } else { Snapshot::default() };
        let mut answer = Value::Null;
        if let Some(action) = &step.action {
            for round in 1..=step.repeat.unwrap_or(1) {
                self.variables.set("n", round);
                answer = self.act(step, action)?;
            }
        }
        if step.kill == Some(true) {
            self.target.kill();
            self.ask("open", Object::new())?;
        }
        self.judge(step, label, &before, &answer)?;
        self.capture(step, label, &answer)
    }

    fn act(&mut self, step: &FolderStep, action: &str) -> Result<Value, Halt> {
        let args = self.variables.object(step.args.as_ref().unwrap_or(&Object::new()))?;
        let Some(after) = step.kill_after_ms else { return self.ask(action, args) };
        let request = self.request(action, args);
        self.target.ask_and_kill(&request, Duration::from_millis(after))?;
        self.ask("open", Object::new())
    }

    fn judge(
        &self,
        step: &FolderStep,
        label: &str,
        before: &Snapshot,
        answer: &Value,
    ) -> Result<(), Halt> {
        let mut differences = Vec::new();
        if let Some(expected) = &step.answer {
            let mut expected = self.variables.object(expected)?;
            // An implementation that only does its work has nothing to report.
            expected.retain(|name, _| answer.get(name).is_some());
            let found = Vocabulary::Kit.differences(&Value::Object(expected), answer).into_iter();
            differences.extend(found.map(|found| Difference::from(found).within("answer#")));
        }
        let now = if step.checks().next().is_some() { self.snapshot()? } else { before.clone() };
        let judge = inspect::Judge { before, now: &now, variables: &self.variables };
        for check in step.check.iter().flatten() {
            differences.extend(judge.check(check)?);
        }
        if let Some(lists) = &step.either {
            let mut nearest: Option<Vec<Difference>> = None;
            for list in lists {
                let mut found = Vec::new();
                for check in &list.check {
                    found.extend(judge.check(check)?);
                }
                if nearest.as_ref().is_none_or(|nearest| found.len() < nearest.len()) {
                    nearest = Some(found);
                }
            }
            differences.extend(nearest.unwrap_or_default());
        }
        if differences.is_empty() {
            return Ok(());
        }
        Err(Halt::Unmet(Box::new(Exchanged {
            end: End::Unmet { differences, prepares: false },
            step: match &step.action {
                Some(action) => format!("{label}: {action}"),
                None => label.to_owned(),
            },
            actual: json!({"answer": answer, "clock": self.clock, "files": now.paths()}),
            claim: None,
        })))
    }

    fn capture(&mut self, step: &FolderStep, label: &str, answer: &Value) -> Result<(), Halt> {
        for (name, source) in step.capture.iter().flatten() {
            let value = match source.split_once('#') {
                None => answer.pointer(source).cloned(),
                Some((path, pointer)) => {
                    let path = self.variables.text(path)?;
                    let document = self.snapshot()?.json(&path);
                    document.and_then(|document| document.pointer(pointer).cloned())
                }
            };
            let Some(value) = value else {
                let message = format!("{label}: there is no value at {source} to go on with");
                return Err(Halt::Reply(Status::NotImplemented, message));
            };
            self.variables.set(name, value);
        }
        Ok(())
    }

    fn request(&self, action: &str, args: Object) -> Value {
        json!({
            "do": action,
            "args": args,
            "root": self.root.to_string_lossy(),
            "clock": self.clock,
            "settings": self.folder.settings,
        })
    }

    fn ask(&mut self, action: &str, args: Object) -> Result<Value, Halt> {
        let request = self.request(action, args);
        let left = self.deadline.saturating_duration_since(Instant::now());
        let answer = self.target.ask(&request, left)?;
        let message = || {
            let said = answer.get("message").and_then(Value::as_str);
            format!("{action}: {}", said.unwrap_or("it gives no reason"))
        };
        match answer.get("status").and_then(Value::as_str) {
            Some("ok") => Ok(answer),
            Some("not_implemented") => Err(Halt::Reply(Status::NotImplemented, message())),
            Some("error") => Err(Halt::Reply(Status::Error, message())),
            _ => {
                let why = format!("{action}: the answer has no `status` that the kit knows");
                Err(NoAnswer::broken(why).into())
            }
        }
    }

    fn write(&self, files: &BTreeMap<String, Value>) -> Result<(), Halt> {
        for (path, content) in files {
            let path = self.variables.text(path)?;
            let content = self.variables.value(content)?;
            snapshot::write(self.root, &path, &content)
                .map_err(|error| Halt::Kit(format!("{path} could not be written: {error}")))?;
        }
        Ok(())
    }

    fn snapshot(&self) -> Result<Snapshot, Halt> {
        Snapshot::of(self.root)
            .map_err(|error| Halt::Kit(format!("the folder could not be read: {error}")))
    }
}
