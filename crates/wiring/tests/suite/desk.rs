//! The files of a project, in memory.

use std::collections::{BTreeMap, BTreeSet};

use accord_contract::{Code, Failure};
use accord_wiring::{
    Choices, Door, Homes, Ledger, Plan, Scope, Snapshot, Tool, folders_of, remove, wire,
};
use serde_json::Value;

pub(crate) const ROOT: &str = "/srv/shop";

/// A project and a user, with their files.
#[derive(Clone, Debug, Default)]
pub(crate) struct Desk {
    pub(crate) files: BTreeMap<String, Vec<u8>>,
    pub(crate) links: BTreeMap<String, Option<String>>,
    folders: BTreeSet<String>,
    priors: BTreeMap<String, Vec<u8>>,
    pub(crate) ledger: Ledger,
}

pub(crate) fn homes() -> Homes {
    Homes { home: "/home/ada".to_owned(), ..Homes::default() }
}

pub(crate) fn choices(tool: Tool) -> Choices {
    Choices {
        tool,
        scope: Scope::Project,
        name: "accord".to_owned(),
        project: Some("shop".to_owned()),
        command: "accord".to_owned(),
        door: Door::Command,
        force: false,
    }
}

pub(crate) fn forced(tool: Tool) -> Choices {
    Choices { force: true, ..choices(tool) }
}

impl Desk {
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let mut desk = Self::default();
        for (path, text) in files {
            desk.put(path, text);
        }
        desk
    }

    pub(crate) fn put(&mut self, path: &str, text: &str) {
        self.files.insert(path.to_owned(), text.as_bytes().to_vec());
        self.folders.extend(folders_of(path));
    }

    #[track_caller]
    pub(crate) fn text(&self, path: &str) -> String {
        let bytes = self.files.get(path).unwrap_or_else(|| panic!("no {path}: {:?}", self.paths()));
        String::from_utf8(bytes.clone()).expect("text")
    }

    pub(crate) fn paths(&self) -> Vec<&String> {
        self.files.keys().collect()
    }

    #[track_caller]
    pub(crate) fn json(&self, path: &str) -> Value {
        let text = self.text(path);
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}\n{text}"))
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        Snapshot {
            files: self.files.clone(),
            links: self.links.clone(),
            folders: self.folders.clone(),
            priors: self.priors.clone(),
        }
    }

    pub(crate) fn plan(&self, choices: &Choices) -> Result<Plan, Failure> {
        wire(choices, ROOT, &homes(), &self.snapshot(), &self.ledger)
    }

    /// Connects a tool, and returns the plan that was carried out.
    #[track_caller]
    pub(crate) fn wire(&mut self, choices: &Choices) -> Plan {
        let plan = self.plan(choices).expect("a plan");
        self.write(&plan);
        plan
    }

    #[track_caller]
    pub(crate) fn remove(&mut self, choices: &Choices) -> Plan {
        let plan = remove(choices, &homes(), &self.snapshot(), &self.ledger).expect("a plan");
        self.write(&plan);
        plan
    }

    /// The code of the refusal of a plan, and its message.
    #[track_caller]
    pub(crate) fn refusal(&self, choices: &Choices) -> (Code, String) {
        let refused = self.plan(choices).expect_err("a refusal");
        (refused.code, refused.message)
    }

    fn write(&mut self, plan: &Plan) {
        for change in &plan.changes {
            assert_eq!(self.files.get(&change.path), change.before.as_ref(), "{}", change.path);
            assert_ne!(change.before, change.after, "{}", change.path);
            match &change.after {
                Some(bytes) => {
                    self.files.insert(change.path.clone(), bytes.clone());
                }
                None => drop(self.files.remove(&change.path)),
            }
        }
        self.folders.extend(plan.new_folders.iter().cloned());
        for folder in &plan.old_folders {
            if !self.files.keys().any(|path| path.starts_with(&format!("{folder}/"))) {
                self.folders.remove(folder);
            }
        }
        self.priors.extend(plan.priors.clone());
        self.ledger = plan.ledger.clone();
        // It is kept as a document.
        let all = BTreeMap::from([(".".to_owned(), self.ledger.clone())]);
        let text = Ledger::write_all(&all);
        let read = Ledger::read_all("wiring.json", &text).expect("a ledger");
        assert_eq!(read.get(".").cloned().unwrap_or_default(), self.ledger);
    }

    /// The files and folders, without the bytes that are kept.
    pub(crate) fn state(&self) -> (BTreeMap<String, Vec<u8>>, BTreeSet<String>) {
        (self.files.clone(), self.folders.clone())
    }
}
