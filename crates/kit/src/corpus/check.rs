//! From files to sound protocols. Every mistake in every file is collected, so that an author sees
//! them all at once.

use std::collections::{BTreeMap, BTreeSet};

use accord_contract::wire::{DecodeError, Pointer, Value, Wire};

use super::{Clause, ClauseList, Fault, Faults, Files, OperationList, Protocol, check_case};
use crate::case::Case;

/// Reads and checks all files of a corpus.
pub(super) fn read(files: Files) -> Result<BTreeMap<String, Protocol>, Faults> {
    let mut check = Check { faults: Vec::new() };
    let mut by_protocol: BTreeMap<String, Files> = BTreeMap::new();
    for (path, text) in files {
        match path.split_once('/') {
            Some((protocol, _)) => {
                by_protocol
                    .entry(protocol.to_owned())
                    .or_default()
                    .insert(path, text);
            }
            None if path.ends_with(".md") => {}
            None => check.fault(
                &path,
                "",
                "only folders of protocols and *.md files belong here",
            ),
        }
    }
    let protocols: BTreeMap<String, Protocol> = by_protocol
        .into_iter()
        .filter_map(|(name, files)| Some((name.clone(), check.protocol(name, files)?)))
        .collect();
    match check.faults.is_empty() {
        true => Ok(protocols),
        false => Err(Faults(check.faults)),
    }
}

/// Collects mistakes.
pub(super) struct Check {
    faults: Vec<Fault>,
}

impl Check {
    pub(super) fn fault(&mut self, file: &str, pointer: impl ToString, why: impl Into<String>) {
        self.faults.push(Fault {
            file: file.to_owned(),
            pointer: pointer.to_string(),
            why: why.into(),
        });
    }

    fn protocol(&mut self, name: String, files: Files) -> Option<Protocol> {
        if !is_name(&name) {
            self.fault(&name, "", NAME_RULE);
        }
        let clauses: Option<ClauseList> = self.companion(&files, &format!("{name}/clauses.json"));
        let operations: Option<OperationList> =
            self.companion(&files, &format!("{name}/operations.json"));
        if let Some(list) = &clauses {
            self.clauses(&name, list);
        }
        let cases: Vec<(&String, Case)> = files
            .iter()
            .filter_map(|(path, text)| Some((path, self.case(path, text)?)))
            .collect();
        let (clauses, operations) = (clauses?, operations?);
        let by_id: BTreeMap<&str, &Clause> = clauses
            .clauses
            .iter()
            .map(|clause| (clause.id.as_str(), clause))
            .collect();
        for (path, case) in &cases {
            check_case::check(self, path, case, &by_id, &operations.operations);
        }
        let mut cases: Vec<Case> = cases.into_iter().map(|(_, case)| case).collect();
        cases.sort_by(|one, other| one.id.cmp(&other.id));
        Some(Protocol {
            name,
            clauses,
            operations,
            cases,
            files,
        })
    }

    fn companion<T: Wire>(&mut self, files: &Files, path: &str) -> Option<T> {
        match files.get(path) {
            Some(text) => self.document(path, text),
            None => {
                self.fault(path, "", "is missing; every protocol of a corpus needs it");
                None
            }
        }
    }

    fn clauses(&mut self, protocol: &str, list: &ClauseList) {
        let file = format!("{protocol}/clauses.json");
        if list.protocol != protocol {
            let why = format!("is {:?}, but the folder is {protocol:?}", list.protocol);
            self.fault(&file, "/protocol", why);
        }
        let root = Pointer::Root;
        let place = root.member("clauses");
        let mut seen = BTreeSet::new();
        for (index, clause) in list.clauses.iter().enumerate() {
            let place = place.index(index);
            if !seen.insert(&clause.id) {
                self.fault(
                    &file,
                    place.member("id"),
                    format!("{:?} is there twice", clause.id),
                );
            }
            for (member, text) in [
                ("id", &clause.id),
                ("text", &clause.text),
                ("source", &clause.source),
            ] {
                if text.trim().is_empty() {
                    self.fault(&file, place.member(member), "must not be empty");
                }
            }
        }
    }

    /// A case, if the file is one.
    fn case(&mut self, path: &str, text: &str) -> Option<Case> {
        let (_, below) = path.split_once('/')?;
        if below.ends_with(".md") || matches!(below, "clauses.json" | "operations.json") {
            return None;
        }
        if !below.ends_with(".json") {
            self.fault(
                path,
                "",
                "is neither a case (*.json) nor a text for people (*.md)",
            );
            return None;
        }
        if !below.contains('/') {
            let why = "a case lies in the folder of its area; only clauses.json and operations.json \
                       stand beside the areas";
            self.fault(path, "", why);
            return None;
        }
        self.document(path, text)
    }

    fn document<T: Wire>(&mut self, path: &str, text: &str) -> Option<T> {
        let value: Value = match accord_canon::read(text.as_bytes()) {
            Ok(value) => value,
            Err(error) => {
                self.fault(
                    path,
                    error.pointer(),
                    format!("{} (byte {})", error.detail(), error.offset()),
                );
                return None;
            }
        };
        match T::from_document(value) {
            Ok(document) => Some(document),
            Err(DecodeError {
                pointer,
                expected,
                found,
                ..
            }) => {
                self.fault(path, pointer, format!("expected {expected}, found {found}"));
                None
            }
        }
    }
}

/// Tells whether a text may be a segment of an id: it must be a file name on every system.
pub(super) fn is_name(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    text.bytes().next().is_some_and(plain)
        && text
            .bytes()
            .all(|byte| plain(byte) || b"._-".contains(&byte))
}

pub(super) const NAME_RULE: &str =
    "names are lowercase letters, digits, `-`, `_` and `.`, and begin with a letter or digit";
