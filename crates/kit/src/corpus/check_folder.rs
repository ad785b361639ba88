//! Checks a case that is judged by a folder.

use std::collections::BTreeSet;

use accord_contract::fixture::Vocabulary;
use accord_contract::{Object, Time, Value};

use super::OperationList;
use super::check::Check as Faults;
use super::check_names::is_variable;
use crate::case::{Folder, FolderCheck, FolderStep};
use crate::exchange::variables::names;

pub(super) fn check(faults: &mut Faults, file: &str, folder: &Folder, operations: &OperationList) {
    let known = operations.places.iter().flatten().map(|(name, _)| name.clone()).collect();
    let mut reader = Reader { faults, file, operations, known };
    reader.time(&folder.clock, "/clock");
    for (name, value) in &folder.settings {
        let at = format!("/settings/{name}");
        match operations.settings.as_ref().and_then(|settings| settings.get(name)) {
            None => reader.fault(&at, "is not in operations.json"),
            Some(choice) if !choice.values.iter().any(|known| value == known) => {
                reader.fault(&at, &format!("must be one of {}", choice.values.join(", ")));
            }
            Some(_) => {}
        }
    }
    reader.files(folder.files.iter(), "/files", false);
    for (index, step) in folder.steps.iter().enumerate() {
        reader.step(step, &format!("/steps/{index}"));
    }
    if folder.steps.iter().all(|step| step.checks().next().is_none()) {
        reader.fault("/steps", "judges nothing: no step looks at the folder");
    }
}

struct Reader<'a> {
    faults: &'a mut Faults,
    file: &'a str,
    operations: &'a OperationList,
    known: BTreeSet<String>,
}

impl Reader<'_> {
    fn fault(&mut self, at: &str, why: &str) {
        self.faults.fault(self.file, at, why);
    }

    fn time(&mut self, text: &str, at: &str) {
        if Time::parse_rfc3339(text).is_none() {
            self.fault(at, "must be a time, such as 2026-02-09T21:00:00.000Z");
        }
    }

    fn files<'v>(
        &mut self,
        files: impl Iterator<Item = (&'v String, &'v Value)>,
        at: &str,
        may_remove: bool,
    ) {
        for (path, content) in files {
            let at = format!("{at}/{}", path.replace('/', "~1"));
            self.path(path, &at);
            self.variables(content, &at);
            if path.contains('*') {
                self.fault(&at, "a file that is written has a name, not a pattern");
            }
            let is_content = match content {
                Value::Null => may_remove,
                Value::String(_) | Value::Object(_) | Value::Array(_) => true,
                _ => false,
            };
            if !is_content {
                self.fault(&at, "must be a text, a list of lines, or a JSON document");
            }
        }
    }

    fn step(&mut self, step: &FolderStep, at: &str) {
        if let Some(clock) = &step.clock {
            self.time(clock, &format!("{at}/clock"));
        }
        self.files(step.write.iter().flatten(), &format!("{at}/write"), true);
        self.action(step, at);
        if step.kill.is_some() && step.kill_after_ms.is_some() {
            self.fault(at, "has `kill` or `kill_after_ms`, not both");
        }
        if step.kill_after_ms.is_some() && step.answer.is_some() {
            self.fault(&format!("{at}/answer"), "a request that is killed has no answer");
        }
        for (index, check) in step.check.iter().flatten().enumerate() {
            self.check(check, &format!("{at}/check/{index}"));
        }
        for (index, list) in step.either.iter().flatten().enumerate() {
            for (inner, check) in list.check.iter().enumerate() {
                self.check(check, &format!("{at}/either/{index}/check/{inner}"));
            }
        }
        for (name, source) in step.capture.iter().flatten() {
            let at = format!("{at}/capture/{name}");
            if !is_variable(name) {
                self.fault(&at, super::check_names::RULE);
            }
            let (path, pointer) = source.split_once('#').unwrap_or(("", source));
            if !path.is_empty() {
                self.path(path, &at);
            }
            if !pointer.starts_with('/') {
                self.fault(&at, "must be a JSON pointer, or a path, `#` and a JSON pointer");
            }
            self.known.insert(name.clone());
        }
    }

    fn action(&mut self, step: &FolderStep, at: &str) {
        let empty = Object::new();
        let args = step.args.as_ref().unwrap_or(&empty);
        let Some(name) = &step.action else {
            let needs = [
                ("args", step.args.is_some()),
                ("answer", step.answer.is_some()),
                ("repeat", step.repeat.is_some()),
                ("kill_after_ms", step.kill_after_ms.is_some()),
            ];
            for (member, _) in needs.iter().filter(|(_, given)| *given) {
                self.fault(&format!("{at}/{member}"), "is there without an action");
            }
            return;
        };
        let Some(operation) = self.operations.operations.get(name) else {
            let why = format!("no operation {name:?} is in operations.json");
            return self.fault(&format!("{at}/do"), &why);
        };
        let is_repeated = step.repeat.is_some() && self.known.insert("n".to_owned());
        for (key, value) in args {
            let at = format!("{at}/args/{key}");
            self.variables(value, &at);
            // The type of a variable is known only when it has its value.
            let is_variable = value.as_str().is_some_and(|text| text.starts_with("${"));
            match operation.args.get(key) {
                None => self.fault(&at, &format!("the operation {name:?} has no such argument")),
                Some(argument) if !is_variable && !argument.kind.accepts(value) => {
                    self.fault(&at, &format!("must be of type {}", argument.kind));
                }
                Some(_) => {}
            }
        }
        if is_repeated {
            self.known.remove("n");
        }
        let is_given = |key: &str| args.contains_key(key);
        for (key, _) in operation.args.iter().filter(|(key, arg)| arg.required && !is_given(key)) {
            let why = format!("is missing; the operation {name:?} needs it");
            self.fault(&format!("{at}/args/{key}"), &why);
        }
        let Some(answer) = &step.answer else { return };
        let known: BTreeSet<&String> = operation.result.iter().flatten().collect();
        for key in answer.keys().filter(|key| !known.contains(key)) {
            let why = format!("the operation {name:?} has no such member in its result");
            self.fault(&format!("{at}/answer/{key}"), &why);
        }
        self.expectation(&Value::Object(answer.clone()), &format!("{at}/answer"));
    }

    fn check(&mut self, check: &FolderCheck, at: &str) {
        self.path(&check.path, &format!("{at}/path"));
        if let Some(only) = &check.only {
            self.path(only, &format!("{at}/only"));
        }
        if check.absent.is_some() && (check.has_content() || check.lines.is_some()) {
            self.fault(at, "a file that is absent has no content");
        }
        if check.lines.is_some() && check.has_content() {
            self.fault(at, "is about lines, or about one file");
        }
        if let Some(json) = &check.json {
            self.expectation(json, &format!("{at}/json"));
        }
        if let Some(front) = &check.front {
            self.expectation(&Value::Object(front.clone()), &format!("{at}/front"));
        }
        let texts = check.has.iter().chain(&check.lacks).flatten().chain(&check.text);
        let counted = check.times.iter().flatten().map(|count| &count.text);
        for text in texts.chain(counted) {
            self.variables(&Value::from(text.as_str()), at);
        }
        let Some(lines) = &check.lines else { return };
        for (name, list) in [("order", &lines.order), ("some", &lines.some), ("none", &lines.none)]
        {
            for (index, line) in list.iter().flatten().enumerate() {
                self.expectation(line, &format!("{at}/lines/{name}/{index}"));
            }
        }
        for (index, count) in lines.times.iter().flatten().enumerate() {
            self.expectation(&count.line, &format!("{at}/lines/times/{index}/line"));
        }
    }

    fn expectation(&mut self, expected: &Value, at: &str) {
        self.variables(expected, at);
        if let Err(error) = Vocabulary::Kit.check(expected) {
            self.fault(&format!("{at}{}", error.pointer), &error.why);
        }
    }

    fn path(&mut self, path: &str, at: &str) {
        self.variables(&Value::from(path), at);
        let leaves = |name: &str| name == ".." || name == ".";
        if path.starts_with('/') || path.is_empty() || path.split('/').any(leaves) {
            self.fault(at, "must be a path inside the folder");
        }
    }

    fn variables(&mut self, value: &Value, at: &str) {
        match value {
            Value::String(text) => {
                let unknown = names(text).filter(|name| !self.known.contains(*name));
                for name in unknown.map(str::to_owned).collect::<Vec<_>>() {
                    self.fault(at, &format!("nothing gives the variable `{name}` a value"));
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.variables(item, at)),
            Value::Object(members) => members.values().for_each(|item| self.variables(item, at)),
            _ => {}
        }
    }
}
