//! Reads files into checked protocols. All mistakes in all files are collected, so that an author
//! sees them at once.

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
    let protocols: BTreeMap<String, Protocol> = by_protocol
        .into_iter()
        .filter_map(|(name, files)| Some((name.clone(), check.protocol(name, files)?)))
        .collect();
    if check.faults.is_empty() { Ok(protocols) } else { Err(Faults(check.faults)) }
}

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
        let cases: Vec<(&String, Case)> =
            files.iter().filter_map(|(path, text)| Some((path, self.case(path, text)?))).collect();
        // Only now, after every file was read: the mistakes of all cases are reported, also without
        // clauses or operations.
        let (clauses, operations) = (clauses?, operations?);
        let by_id: BTreeMap<&str, &Clause> =
            clauses.clauses.iter().map(|clause| (clause.id.as_str(), clause)).collect();
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
    fn vocabulary(
        &mut self,
        name: &str,
        files: &Files,
    ) -> (Option<OperationList>, Option<RouteList>) {
        let [operations, routes] =
            ["operations", "routes"].map(|kind| format!("{name}/{kind}.json"));
        let routes = files.get(&routes).map(|text| (routes, text));
        let on_server = routes.is_some() || files.contains_key(&format!("{name}/channel.json"));
        let operations = match (on_server, files.contains_key(&operations)) {
            (true, false) => Some(OperationList::empty()),
            _ => self.companion(files, &operations),
        };
        let routes = routes.and_then(|(path, text)| {
            let list: RouteList = self.document(&path, text)?;
            check_exchange::routes(self, &path, &list);
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
                self.fault(&file, place.member("id"), format!("{:?} is listed twice", clause.id));
            }
            for (member, text) in
                [("id", &clause.id), ("text", &clause.text), ("source", &clause.source)]
            {
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
