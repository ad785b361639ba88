//! A governed repository in memory, for tests. Real files are compared with this model.

use std::collections::BTreeMap;

use accord_contract::{Code, Failure, Object, Value};

use crate::accept::{Commit, Record, Write};
use crate::repo_decisions::RepoDecisions;
use crate::{Approval, Config, Consent, EvidenceDigest, HOME, Person, Result, RunIndex, State};
use accord_base::Door;

/// The decision of a person, before the evidence is known.
pub fn consent() -> Consent {
    Consent::of(Person::new("human:reviewer", Door::Api))
}

/// The decision of a person about some evidence.
pub fn approval() -> Approval {
    let evidence = EvidenceDigest::parse(&"ab".repeat(32)).expect("64 digits");
    Approval { person: consent().person, evidence, decision: None }
}

#[derive(Clone, Debug)]
pub struct MemoryRepository {
    pub config: Config,
    pub state: State,
    pub history: Vec<Object>,
    pub ledger: Vec<Object>,
    pub files: BTreeMap<String, String>,
}

impl MemoryRepository {
    /// A repository without records or other files.
    pub fn new(config: Config, state: State) -> Self {
        Self { config, state, history: Vec::new(), ledger: Vec::new(), files: BTreeMap::new() }
    }

    pub fn index(&self) -> RunIndex {
        let mut index = RunIndex::new(self.state.run_id());
        for line in &self.history {
            index.add_history(line, None);
        }
        for line in &self.ledger {
            index.add_ledger(line);
        }
        index
    }

    /// The repository decisions. Fails with `record_invalid` when a line is damaged.
    pub fn repo_decisions(&self) -> Result<RepoDecisions> {
        let text = self.files.get(&RepoDecisions::path());
        let lines = text.into_iter().flat_map(|text| text.lines());
        let read = |line: &str| match accord_canon::read(line.as_bytes())? {
            Value::Object(line) => Ok(line),
            _ => Err(Failure::new(
                Code::XchainRecordInvalid,
                "a decision of the repository is no object",
            )),
        };
        let lines: Result<Vec<Object>> = lines.map(read).collect();
        Ok(RepoDecisions::new(lines?))
    }

    /// Applies a commit. A second time changes nothing. Fails when the commit contains an invalid
    /// state.
    pub fn apply(&mut self, commit: &Commit) -> Result<()> {
        self.apply_writes(&commit.writes)
    }

    /// Applies writes. Writes that were applied before change nothing. Fails like
    /// [`MemoryRepository::apply`].
    pub fn apply_writes(&mut self, writes: &[Write]) -> Result<()> {
        for write in writes {
            match write {
                Write::Append { record, line } => self.append(*record, line),
                Write::Section { path, text } => {
                    let document = self.files.entry(path.clone()).or_default();
                    if !document.contains(text.as_str()) {
                        document.push_str(text);
                    }
                }
                Write::Replace { path, text } if *path == format!("{HOME}/state.json") => {
                    self.state = State::read(accord_canon::read(text.as_bytes())?)?;
                }
                Write::Replace { path, text } => {
                    self.files.insert(path.clone(), text.clone());
                }
                Write::Remove { path } => {
                    let below = format!("{path}/");
                    self.files.retain(|name, _| name != path && !name.starts_with(&below));
                }
            }
        }
        Ok(())
    }

    fn append(&mut self, record: Record, line: &Object) {
        let lines = match record {
            Record::History => &mut self.history,
            Record::Ledger => &mut self.ledger,
            _ => {
                let text = self.files.entry(record.path()).or_default();
                let known = text.lines().any(|known| {
                    let known = serde_json::from_str::<Object>(known);
                    known.is_ok_and(|known| record.same(&known, line))
                });
                if !known {
                    text.push_str(&Value::Object(line.clone()).to_string());
                    text.push('\n');
                }
                return;
            }
        };
        if !lines.iter().any(|known| record.same(known, line)) {
            lines.push(line.clone());
        }
    }
}
