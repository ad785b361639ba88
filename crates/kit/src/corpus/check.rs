//! Reads files into checked protocols. All mistakes in all files are collected.

use std::collections::{BTreeMap, BTreeSet};

use accord_contract::wire::{DecodeError, Pointer};
use accord_contract::{Value, Wire};

use super::{
    ChannelList, Clause, ClauseList, Fault, Faults, Files, OperationList, Protocol, RouteList,
    check_case, check_channel, check_exchange, check_folder, check_values,
};
use crate::case::{Case, Task};

pub(super) fn read(files: Files, empty: &[String]) -> Result<BTreeMap<String, Protocol>, Faults> {
    let mut check = Check { faults: Vec::new() };
    for folder in empty {
        check.fault(folder, "", "is an empty folder");
    }
    let mut by_protocol: BTreeMap<String, Files> = BTreeMap::new();
    for (path, text) in files {
        match path.split_once('/') {
            Some((protocol, _)) => {
                by_protocol.entry(protocol.to_owned()).or_default().insert(path, text);
            }
            None if path.ends_with(".md") => {}
            None => check.fault(&path, "", "only folders of protocols and *.md files belong here"),
        }
    }
    let checked = by_protocol.into_iter();
    let checked =
        checked.filter_map(|(name, files)| Some((name.clone(), check.protocol(name, files)?)));
    let protocols = checked.collect();
    if check.faults.is_empty() { Ok(protocols) } else { Err(Faults(check.faults)) }
}

pub(super) struct Check {
    faults: Vec<Fault>,
}

type Vocabulary = (Option<OperationList>, Option<RouteList>);

impl Check {
    pub(super) fn fault(&mut self, file: &str, pointer: impl ToString, why: impl Into<String>) {
        let (file, pointer) = (file.to_owned(), pointer.to_string());
        self.faults.push(Fault { file, pointer, why: why.into() });
    }

    fn protocol(&mut self, name: String, files: Files) -> Option<Protocol> {
        if !is_name(&name) {
            self.fault(&name, "", NAME_RULE);
        }
        let clauses: Option<ClauseList> = self.companion(&files, &format!("{name}/clauses.json"));
        let (operations, routes) = self.vocabulary(&name, &files);
        let channel = self.channel(&name, &files);
        if let Some(list) = &clauses {
            self.clauses(&name, list);
            check_values::declarations(self, &format!("{name}/clauses.json"), list);
        }
        if let Some(list) = &operations {
            check_values::results(self, &format!("{name}/operations.json"), list);
        }
        check_values::areas(self, &files);
        let cases = files.iter().filter_map(|(path, text)| Some((path, self.case(path, text)?)));
        let cases: Vec<(&String, Case)> = cases.collect();
        // After every file was read, so that the mistakes of all cases are reported.
        let (clauses, operations) = (clauses?, operations?);
        let by_id = clauses.clauses.iter().map(|clause| (clause.id.as_str(), clause));
        let by_id: BTreeMap<&str, &Clause> = by_id.collect();
        for (path, case) in &cases {
            check_case::check(self, path, case, &by_id);
            check_values::oracle(self, path, case, &clauses);
            match &case.task {
                Task::Call(call) => {
                    check_case::call(self, path, case, call, &operations.operations);
                    let operation = operations.operations.get(&call.input.operation);
                    check_values::level(self, path, case, &clauses);
                    check_values::outcome(self, path, call, operation);
                }
                Task::Exchange(exchange) => {
                    check_exchange::check(self, path, case, exchange, routes.as_ref());
                }
                Task::Channel(dialogue) => {
                    check_values::level(self, path, case, &clauses);
                    check_channel::check(self, path, dialogue, channel.as_ref());
                }
                Task::Folder(folder) => {
                    check_values::level(self, path, case, &clauses);
                    check_folder::check(self, path, folder, &operations);
                }
            }
        }
        let mut cases: Vec<Case> = cases.into_iter().map(|(_, case)| case).collect();
        cases.sort_by(|one, other| one.id.cmp(&other.id));
        Some(Protocol { name, clauses, operations, routes, channel, cases, files })
    }

    /// The vocabulary of a protocol's cases: its operations, its routes, or both.
    fn vocabulary(&mut self, name: &str, files: &Files) -> Vocabulary {
        let path = |kind: &str| format!("{name}/{kind}.json");
        let has = |kind: &str| files.contains_key(&path(kind));
        let operations = if !has("operations") && (has("routes") || has("channel")) {
            Some(OperationList::empty())
        } else {
            self.companion(files, &path("operations"))
        };
        let routes = files.get(&path("routes")).and_then(|text| {
            let list: RouteList = self.document(&path("routes"), text)?;
            check_exchange::routes(self, &path("routes"), &list);
            Some(list)
        });
        (operations, routes)
    }

    fn channel(&mut self, name: &str, files: &Files) -> Option<ChannelList> {
        let path = format!("{name}/channel.json");
        let list: ChannelList = self.document(&path, files.get(&path)?)?;
        check_channel::list(self, &path, &list);
        Some(list)
    }

    fn companion<T: Wire>(&mut self, files: &Files, path: &str) -> Option<T> {
        if let Some(text) = files.get(path) {
            return self.document(path, text);
        }
        self.fault(path, "", "is missing; every protocol of a corpus needs it");
        None
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
                self.fault(&file, place.member("id"), format!("{:?} is listed twice", clause.id));
            }
            let texts = [("id", &clause.id), ("text", &clause.text), ("source", &clause.source)];
            for (member, text) in texts {
                if text.trim().is_empty() {
                    self.fault(&file, place.member(member), "must not be empty");
                }
            }
        }
    }

    fn case(&mut self, path: &str, text: &str) -> Option<Case> {
        let (_, below) = path.split_once('/')?;
        if below.ends_with(".md") || COMPANIONS.contains(&below) {
            return None;
        }
        if !below.ends_with(".json") {
            self.fault(path, "", "is not a case (*.json) and not a text for people (*.md)");
            return None;
        }
        if !below.contains('/') {
            let why = "a case is in the folder of its area; only clauses.json, operations.json, \
                       routes.json and channel.json are beside the areas";
            self.fault(path, "", why);
            return None;
        }
        self.document(path, text)
    }

    fn document<T: Wire>(&mut self, path: &str, text: &str) -> Option<T> {
        let value: Value = match accord_canon::read(text.as_bytes()) {
            Ok(value) => value,
            Err(error) => {
                let why = format!("{} (byte {})", error.detail(), error.offset());
                self.fault(path, error.pointer(), why);
                return None;
            }
        };
        match T::from_document(value) {
            Ok(document) => Some(document),
            Err(DecodeError { pointer, expected, found, .. }) => {
                self.fault(path, pointer, format!("expected {expected}, found {found}"));
                None
            }
        }
    }
}

/// Whether a text can be a segment of an id: it must be a file name on every system.
pub(super) fn is_name(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    text.bytes().next().is_some_and(plain)
        && text.bytes().all(|byte| plain(byte) || b"._-".contains(&byte))
}

pub(super) const COMPANIONS: [&str; 4] =
    ["channel.json", "clauses.json", "operations.json", "routes.json"];

pub(super) const NAME_RULE: &str =
    "names are lowercase letters, digits, `-`, `_` and `.`, and begin with a letter or digit";
