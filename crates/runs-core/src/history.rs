//! `history.jsonl`: the accepted turns of all runs, and an index of the current run.
//!
//! Invariants:
//! - a [`RunIndex`] does not depend on whether its lines were added at once or one by one;
//! - lines of other runs and of withdrawn turns change only the length of the history;
//! - an index that was stored and read again is equal, and can be extended.

use std::collections::{BTreeMap, BTreeSet};

use accord_contract::{Code, Failure, Object, Value};
use serde_json::{from_value, json};

use crate::ledger::DecisionIds;
use crate::members::{self, count, text};
use crate::names::Names;
use crate::patterns::is_decision_id;
use crate::{RepoPath, Result, RunId, TurnId, doc};

/// The status of the line of a withdrawn turn, which does not count as accepted.
pub(crate) const REISSUED: &str = "reissued";

pub fn run_id(line: &Object) -> Option<&str> {
    doc::History::RUN_ID.get(line)
}

pub fn warnings(line: &Object) -> Vec<String> {
    doc::History::WARNINGS.get(line)
}

pub fn file_markers(line: &Object) -> Option<&Object> {
    doc::ObservedArtifact::FILE_MARKERS.get(doc::History::OBSERVED_ARTIFACT.get(line)?)
}

pub fn is_accepted(line: &Object) -> bool {
    doc::History::STATUS.get(line) != Some(REISSUED)
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunIndex {
    run_id: Option<String>,
    lines: u64,
    turns: Names,
    touched: BTreeMap<String, Touch>,
    by_phase: BTreeMap<String, u64>,
    roles_by_phase: BTreeMap<String, BTreeSet<String>>,
    streak: Option<(String, u64)>,
    /// Whether an accepted turn of the run changed product files.
    pub(crate) built: bool,
    decisions: DecisionIds,
    /// The last accepted turns of the run, newest last.
    pub(crate) last_turns: Vec<Object>,
    /// The last decisions of the run, newest last.
    pub(crate) last_decisions: Vec<Object>,
}

/// The number of last turns, and of last decisions, in an index.
const LAST_TURNS: usize = 3;
const LAST_DECISIONS: usize = 5;
const LAST_CHARS: usize = 500;

/// The last accepted turn that changed a file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Touch {
    pub turn_id: String,
    pub role: String,
    /// The run's clock at the acceptance.
    pub accepted_sequence: u64,
    /// Where the history has the turn's line, if the line has a marker of the file.
    pub marked_at: Option<u64>,
}

impl RunIndex {
    pub fn new(run_id: Option<&RunId>) -> Self {
        Self { run_id: run_id.map(ToString::to_string), ..Self::default() }
    }

    /// Adds the next line of the history. `position` is where the host can read it again.
    pub fn add_history(&mut self, line: &Object, position: Option<u64>) {
        self.lines += 1;
        let run = doc::History::RUN_ID.get(line).or(self.run_id.as_deref());
        if self.run_id.is_none() || run != self.run_id.as_deref() || !is_accepted(line) {
            return;
        }
        let turn = doc::History::TURN_ID.get(line).unwrap_or_default();
        // A crash of the reference runner can leave the line of a turn twice.
        if !self.turns.insert(turn) {
            return;
        }
        let role = doc::History::ROLE.get(line).unwrap_or_default();
        let phase = doc::History::PHASE.get(line).unwrap_or_default();
        *self.by_phase.entry(phase.to_owned()).or_default() += 1;
        self.roles_by_phase.entry(phase.to_owned()).or_default().insert(role.to_owned());
        let streak = self.streak.take().filter(|(last, _)| last == role);
        self.streak = Some((role.to_owned(), streak.map_or(0, |(_, turns)| turns) + 1));
        // Old lines have no sequence. Their line number replaces it.
        let accepted_sequence = doc::History::ACCEPTED_SEQUENCE.get(line).unwrap_or(self.lines);
        let files = changed_files(line);
        self.built |= phase == "implementation"
            && doc::History::STATUS.get(line) == Some("completed")
            && files.iter().any(RepoPath::is_product);
        let marks = file_markers(line);
        for file in files {
            let is_marked = marks.is_some_and(|marks| marks.contains_key(file.as_str()));
            let touch = Touch {
                turn_id: turn.to_owned(),
                role: role.to_owned(),
                accepted_sequence,
                marked_at: position.filter(|_| is_marked),
            };
            self.touched.insert(file.as_str().to_owned(), touch);
        }
        let shortened = |item: &Object, name: &str| -> Value {
            let text = text(item, name).map(|text| text.chars().take(LAST_CHARS));
            text.map(String::from_iter).into()
        };
        for decision in doc::History::DECISIONS.objects(line) {
            if let Some(id) = doc::Decision::ID.get(decision) {
                self.decisions.add(id);
                let last = members::build([
                    ("id", id.into()),
                    ("statement", shortened(decision, "statement")),
                    ("decided_by", role.into()),
                    ("phase", phase.into()),
                ]);
                push_bounded(&mut self.last_decisions, last, LAST_DECISIONS);
            }
        }
        let last = members::build([
            ("turn_id", turn.into()),
            ("role", role.into()),
            ("phase", phase.into()),
            ("summary", shortened(line, "summary")),
        ]);
        push_bounded(&mut self.last_turns, last, LAST_TURNS);
    }

    /// Adds a line of the ledger, if it or its turn belongs to the run.
    pub fn add_ledger(&mut self, line: &Object) {
        let Some(id) = doc::Ledger::ID.get(line).filter(|id| is_decision_id(id)) else { return };
        // The reference runner writes no run into decision lines. Their turn identifies it.
        let own = match doc::Ledger::RUN_ID.get(line) {
            Some(run) => Some(run) == self.run_id.as_deref(),
            None => doc::Ledger::TURN_ID.get(line).is_some_and(|turn| self.turns.contains(turn)),
        };
        if own {
            self.decisions.add(id);
        }
    }

    pub fn document(&self) -> Object {
        let touched = self.touched.iter().map(|(path, touch)| {
            let Touch { turn_id, role, accepted_sequence, marked_at } = touch;
            let mut parts: Vec<Value> =
                vec![turn_id.as_str().into(), role.as_str().into(), (*accepted_sequence).into()];
            parts.extend(marked_at.map(Value::from));
            (path.clone(), Value::Array(parts))
        });
        let touched: Object = touched.collect();
        members::build([
            ("run_id", self.run_id.as_deref().into()),
            ("lines", self.lines.into()),
            ("turns", self.turns.document().into()),
            ("touched", touched.into()),
            ("by_phase", json!(self.by_phase)),
            ("roles_by_phase", json!(self.roles_by_phase)),
            ("streak", json!(self.streak)),
            ("built", self.built.into()),
            ("decisions", self.decisions.document().into()),
            ("last_turns", self.last_turns.iter().cloned().collect()),
            ("last_decisions", self.last_decisions.iter().cloned().collect()),
        ])
    }

    /// Reads the output of [`RunIndex::document`]; `None` when it is anything else.
    pub fn read(document: &Object) -> Option<Self> {
        let part = |name: &str| document.get(name).cloned();
        let touched = members::object(document, "touched")?.iter().map(|(path, touch)| {
            let (turn_id, role, sequence, marked_at) = match touch.as_array()?.as_slice() {
                [turn_id, role, sequence] => (turn_id, role, sequence, None),
                [turn_id, role, sequence, at] => (turn_id, role, sequence, Some(at.as_u64()?)),
                _ => return None,
            };
            let touch = Touch {
                turn_id: turn_id.as_str()?.to_owned(),
                role: role.as_str()?.to_owned(),
                accepted_sequence: sequence.as_u64()?,
                marked_at,
            };
            Some((path.clone(), touch))
        });
        Some(Self {
            run_id: from_value(part("run_id")?).ok()?,
            lines: count(document, "lines")?,
            turns: Names::read(members::object(document, "turns")?)?,
            touched: touched.collect::<Option<_>>()?,
            by_phase: from_value(part("by_phase")?).ok()?,
            roles_by_phase: from_value(part("roles_by_phase")?).ok()?,
            streak: from_value(part("streak")?).ok()?,
            built: document.get("built")?.as_bool()?,
            decisions: DecisionIds::read(members::object(document, "decisions")?)?,
            last_turns: from_value(part("last_turns")?).ok()?,
            last_decisions: from_value(part("last_decisions")?).ok()?,
        })
    }

    pub fn run_id(&self) -> Option<&str> {
        self.run_id.as_deref()
    }

    /// The number of lines of the history, of all runs.
    pub fn length(&self) -> u64 {
        self.lines
    }

    pub fn total_turns(&self) -> u64 {
        self.turns.len() as u64
    }

    pub fn contains(&self, turn_id: &str) -> bool {
        self.turns.contains(turn_id)
    }

    /// Refuses a turn that is already in the history. Fails with `turn_already_accepted`.
    ///
    /// Clauses: AX-HS-ONCE.
    pub fn check_not_accepted(&self, turn: &TurnId) -> Result<()> {
        if !self.contains(turn.as_str()) {
            return Ok(());
        }
        let message = format!("{turn} is already in the history");
        let failure = Failure::new(Code::XchainTurnAlreadyAccepted, message);
        Err(failure.with("history_length", self.length()))
    }

    pub(crate) fn turns_of_phase(&self, phase: &str) -> u64 {
        self.by_phase.get(phase).copied().unwrap_or(0)
    }

    /// The number of latest consecutive turns of the role.
    pub(crate) fn streak(&self, role: &str) -> u64 {
        let own = self.streak.as_ref().filter(|(last, _)| last == role);
        own.map_or(0, |(_, turns)| *turns)
    }

    pub(crate) fn participated(&self, phase: &str, role: &str) -> bool {
        self.roles_by_phase.get(phase).is_some_and(|roles| roles.contains(role))
    }

    pub fn touch(&self, path: &RepoPath) -> Option<&Touch> {
        self.touched.get(path.as_str())
    }

    pub fn decisions(&self) -> &DecisionIds {
        &self.decisions
    }
}

/// Appends to a list and drops its oldest items.
fn push_bounded(list: &mut Vec<Object>, item: Object, most: usize) {
    list.push(item);
    if list.len() > most {
        list.remove(0);
    }
}

/// The files that an accepted turn changed: the observed ones, or else the declared ones.
fn changed_files(line: &Object) -> Vec<RepoPath> {
    let observed = doc::History::OBSERVED_ARTIFACT.get(line);
    let observed = observed.map(|observed| doc::ObservedArtifact::FILES_CHANGED.get(observed));
    let observed = observed.filter(|files| !files.is_empty());
    // What was observed is stronger than what the worker declared.
    let files = observed.unwrap_or_else(|| doc::History::FILES_CHANGED.get(line));
    files.iter().filter_map(|file| RepoPath::parse(file).ok()).collect()
}

/// The cost of a turn in dollars.
pub(crate) fn cost_usd(result: &Object) -> f64 {
    doc::Result::COST.get(result).and_then(|cost| doc::Cost::USD.get(cost)).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_survives_being_written() {
        let mut index = RunIndex::new(RunId::parse("run_1").as_ref());
        let read_again = |index: &RunIndex| RunIndex::read(&index.document());
        assert_eq!(read_again(&index).as_ref(), Some(&index));
        let turns = [("turn_1", "pm"), ("turn_2", "dev"), ("turn_3", "dev")];
        for (position, (turn, role)) in turns.into_iter().enumerate() {
            let line = json!({"run_id": "run_1", "turn_id": turn, "role": role,
                "status": "completed", "phase": "implementation",
                "files_changed": ["src/a.rs", turn], "accepted_sequence": 4,
                "decisions": [{"id": format!("DEC-00{}", &turn[5..])}],
                "observed_artifact": {"files_changed": ["src/a.rs", turn],
                    "file_markers": {"src/a.rs": "sha256:00"}}});
            index.add_history(line.as_object().unwrap(), Some(position as u64 * 100));
            let again = read_again(&index).unwrap();
            assert_eq!(again, index);
            // The document must distinguish the two indexes.
            assert_ne!(Some(&again), read_again(&RunIndex::new(None)).as_ref());
        }
        let before = index.clone();
        let taken_back = json!({"run_id": "run_1", "turn_id": "turn_4", "role": "qa",
            "status": "reissued", "phase": "qa", "files_changed": []});
        index.add_history(taken_back.as_object().unwrap(), Some(300));
        let at = |path: &str| index.touch(&RepoPath::parse(path).unwrap()).unwrap().marked_at;
        // Only a line that marks the file is worth reading again.
        assert_eq!((at("src/a.rs"), at("turn_3")), (Some(200), None));
        assert!(!index.contains("turn_4") && !index.participated("qa", "qa"));
        assert_eq!((index.total_turns(), index.streak("dev")), (3, 2));
        assert_eq!(index.length(), before.length() + 1);
        let mut document = index.document();
        document.insert("turns".into(), json!([1]));
        assert_eq!(RunIndex::read(&document), None);
    }
}
