//! Compares the files of a folder with what a case expects.

use accord_contract::Value;
use accord_contract::fixture::Vocabulary;
use serde_json::json;

use super::front_matter;
use super::snapshot::Snapshot;
use crate::case::FolderCheck;
use crate::exchange::variables::{Unknown, Variables};
use crate::filter::glob::Glob;
use crate::lines::Lines;
use crate::report::Difference;

pub(super) struct Judge<'a> {
    pub(super) before: &'a Snapshot,
    pub(super) now: &'a Snapshot,
    pub(super) variables: &'a Variables,
}

impl Judge<'_> {
    /// Where the folder differs from what a check expects.
    pub(super) fn check(&self, check: &FolderCheck) -> Result<Vec<Difference>, Unknown> {
        let pattern = self.variables.text(&check.path)?;
        let found = matching(self.now, &pattern);
        if check.absent == Some(true) {
            return Ok(found.iter().map(|(path, _)| surplus(path, "no such file")).collect());
        }
        let mut differences = Vec::new();
        if let Some(only) = &check.only {
            let others = matching(self.now, &self.variables.text(only)?);
            let others = others.iter().filter(|(path, _)| !found.iter().any(|(at, _)| at == path));
            differences.extend(others.map(|(path, _)| surplus(path, "no other file")));
        }
        if check.unchanged == Some(true) {
            differences.extend(self.changes(&pattern, &found));
        }
        if let Some(lines) = &check.lines {
            let documents = documents(&found);
            let at = format!("{pattern}#");
            differences.extend(Lines::from(lines).judge(&documents, &at, self.variables)?);
            return Ok(differences);
        }
        if check.unchanged == Some(true) && !check.has_content() {
            return Ok(differences);
        }
        let [(path, content)] = found.as_slice() else {
            let expected = json!("one file");
            differences.push(match found.as_slice() {
                [] => Difference::missing(&pattern, expected),
                several => {
                    let paths: Vec<&str> = several.iter().map(|(path, _)| *path).collect();
                    Difference::new(&pattern, expected, paths)
                }
            });
            return Ok(differences);
        };
        self.content(check, path, &String::from_utf8_lossy(content), &mut differences)?;
        Ok(differences)
    }

    fn content(
        &self,
        check: &FolderCheck,
        path: &str,
        text: &str,
        differences: &mut Vec<Difference>,
    ) -> Result<(), Unknown> {
        let at = format!("{path}#");
        if let Some(expected) = &check.json {
            match accord_canon::read(text.as_bytes()) {
                Ok(document) => self.document(expected, &document, &at, differences)?,
                Err(error) => {
                    let why = format!("{}: {text}", error.detail());
                    differences.push(Difference::new(&at, json!("a JSON document"), why));
                }
            }
        }
        if let Some(expected) = &check.front {
            match front_matter::read(text) {
                Ok(document) => {
                    let expected = Value::Object(expected.clone());
                    self.document(&expected, &document, &at, differences)?;
                }
                Err(why) => {
                    differences.push(Difference::new(&at, json!("a YAML front matter"), why));
                }
            }
        }
        if let Some(expected) = &check.text {
            let expected = self.variables.text(expected)?;
            if expected.trim_end() != text.trim_end() {
                differences.push(Difference::new(&at, expected.into(), text));
            }
        }
        for expected in check.has.iter().flatten() {
            let expected = self.variables.text(expected)?;
            if !text.contains(&expected) {
                differences.push(Difference::new(&at, json!({"has": expected}), text));
            }
        }
        for expected in check.lacks.iter().flatten() {
            let expected = self.variables.text(expected)?;
            if text.contains(&expected) {
                differences.push(Difference::new(&at, json!({"lacks": expected}), text));
            }
        }
        for count in check.times.iter().flatten() {
            let expected = self.variables.text(&count.text)?;
            let times = text.matches(&expected).count() as u64;
            if times != count.times {
                let expected = json!({"text": expected, "times": count.times});
                differences.push(Difference::new(&at, expected, times));
            }
        }
        Ok(())
    }

    fn document(
        &self,
        expected: &Value,
        actual: &Value,
        at: &str,
        differences: &mut Vec<Difference>,
    ) -> Result<(), Unknown> {
        let expected = self.variables.value(expected)?;
        let found = Vocabulary::Kit.differences(&expected, actual);
        differences.extend(found.into_iter().map(|found| Difference::from(found).within(at)));
        Ok(())
    }

    fn changes(&self, pattern: &str, now: &[(&str, &[u8])]) -> Vec<Difference> {
        let before = matching(self.before, pattern);
        let text = |content: &[u8]| Value::from(String::from_utf8_lossy(content).into_owned());
        let mut differences = Vec::new();
        for (path, content) in &before {
            match now.iter().find(|(at, _)| at == path) {
                None => differences.push(Difference::missing(path, text(content))),
                Some((_, changed)) if changed != content => {
                    differences.push(Difference::new(path, text(content), text(changed)));
                }
                Some(_) => {}
            }
        }
        let new = now.iter().filter(|(path, _)| !before.iter().any(|(at, _)| at == path));
        differences.extend(new.map(|(path, _)| surplus(path, "no such file")));
        differences
    }
}

fn surplus(path: &str, expected: &str) -> Difference {
    Difference::new(path, json!(expected), path)
}

/// The files that a pattern matches. `*` stays within one name.
fn matching<'s>(snapshot: &'s Snapshot, pattern: &str) -> Vec<(&'s str, &'s [u8])> {
    let names: Vec<Glob> = pattern.split('/').map(Glob::new).collect();
    let is_match = |path: &str| {
        let parts: Vec<&str> = path.split('/').collect();
        parts.len() == names.len()
            && names.iter().zip(parts).all(|(pattern, name)| pattern.matches(name))
    };
    snapshot.files().filter(|(path, _)| is_match(path)).collect()
}

fn documents(files: &[(&str, &[u8])]) -> Vec<Value> {
    let lines = files.iter().flat_map(|(_, content)| content.split(|byte| *byte == b'\n'));
    lines.filter_map(|line| accord_canon::read(line).ok()).collect()
}
