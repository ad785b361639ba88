//! The outbox of an edge.
//!
//! It is a log of lines: a base, then entries. Reading the lines gives the state again. A log that
//! has become long is written anew with another base.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use accord_api::operations::edge_decisions::{EdgeDecision, EdgeDecisionState};
use accord_api::operations::edges::{EdgeEntry, EdgeEntryKind, MOST_ENTRIES, MOST_REQUESTS};
use accord_canon::{Profile, canonicalize, sha256};
use accord_contract::{Code, Failure, Object, Time, Timestamp, Value, Wire};
use serde_json::json;

use crate::output::{self, OutputPlace};

/// The name of the member that makes a line the base.
const BASE: &str = "base";

/// What a person does about an outbox that cannot go on.
const NEW: &str = "join the work tree as a new edge: accord join --new";

/// Something that the source has: that waits for a person, or that is so now.
#[derive(Clone, Debug, PartialEq)]
pub struct Waiting {
    /// A request or a state.
    pub kind: EdgeEntryKind,
    pub id: String,
    /// Changes with what a person would decide about.
    pub version: String,
    pub type_name: String,
    pub at: Timestamp,
    pub body: Object,
}

/// What the source has: events and results with their ids, and everything that waits now.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// Events and results, in order. Those that are known are left out.
    pub happened: Vec<EdgeEntry>,
    /// All requests and states; `None` if they could not be read.
    pub waiting: Option<Vec<Waiting>>,
}

/// What is sent next.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    pub entries: Vec<EdgeEntry>,
    /// The entries up to this number are not kept any more.
    pub lost_through: Option<u64>,
}

/// The outbox of an edge.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outbox {
    /// Entries that are kept, in order.
    entries: VecDeque<EdgeEntry>,
    /// The number of the last entry.
    last: u64,
    /// The digest of the entry before the first that is kept, if it is known.
    before: Option<String>,
    /// The ids of events and results that are not new.
    known: BTreeSet<String>,
    /// What waits as the entries say, with versions.
    open: BTreeMap<String, String>,
    /// The decisions of the hub that were taken and did not end, by id.
    taken: BTreeMap<String, EdgeDecision>,
    /// How far the outputs of agents are sent, by id.
    outputs: BTreeMap<String, OutputPlace>,
}

impl Outbox {
    /// The outbox of a source that joins: what it has happened before the join. What waits is new.
    pub fn joining(found: &Found) -> Self {
        let known = found.happened.iter().map(key).collect();
        Self { known, ..Self::default() }
    }

    /// Reads a log. A last line that is not complete was not synced, and is left out. Returns
    /// the number of bytes that are whole, too.
    pub fn read(log: &[u8]) -> Result<(Self, usize), Failure> {
        let mut outbox = Self::default();
        let mut whole = 0;
        for line in log.split_inclusive(|byte| *byte == b'\n') {
            if !line.ends_with(b"\n") {
                break;
            }
            let document: Value = serde_json::from_slice(line).map_err(|error| {
                let message = format!("the outbox is damaged after {whole} bytes: {error}");
                Failure::new(Code::EdgeDamaged, message).suggesting(NEW)
            })?;
            outbox.replay(document)?;
            whole += line.len();
        }
        Ok((outbox, whole))
    }

    fn replay(&mut self, document: Value) -> Result<(), Failure> {
        if let Some(base) = document.get(BASE) {
            let texts = |name: &str| {
                let list = base.get(name).and_then(Value::as_array).into_iter().flatten();
                list.filter_map(|it| it.as_str().map(str::to_owned)).collect()
            };
            let open = base.get("open").and_then(Value::as_object).into_iter().flatten();
            let open = open.filter_map(|(id, it)| Some((id.clone(), it.as_str()?.to_owned())));
            self.last = base.get("last").and_then(Value::as_u64).unwrap_or(0);
            self.before = base.get("digest").and_then(Value::as_str).map(str::to_owned);
            self.known = texts("known");
            let taken = base.get("taken").and_then(Value::as_array).into_iter().flatten();
            let taken = taken.filter_map(|it| EdgeDecision::from_document(it.clone()).ok());
            self.taken = taken.map(|it| (it.decision_id.to_string(), it)).collect();
            self.open = open.collect();
            let outputs = base.get("outputs").and_then(Value::as_object).into_iter().flatten();
            let place = |it: &Value| {
                let at = Timestamp::emit(Time::parse_iso(it.get("at")?.as_str()?)?);
                output::place_after(it.as_object()?, &at)
            };
            self.outputs = outputs.filter_map(|(id, it)| Some((id.clone(), place(it)?))).collect();
            return Ok(());
        }
        self.note(EdgeEntry::from_document(document)?);
        Ok(())
    }

    fn note(&mut self, entry: EdgeEntry) {
        match entry.kind {
            EdgeEntryKind::Decision => match decision_of(&entry) {
                Some(taken) if entry.type_name == EdgeDecisionState::Taken.as_str() => {
                    self.taken.insert(entry.id.clone(), taken);
                }
                _ => {
                    self.taken.remove(&entry.id);
                    self.known.insert(key(&entry));
                }
            },
            EdgeEntryKind::Event | EdgeEntryKind::Result => {
                self.known.insert(key(&entry));
            }
            EdgeEntryKind::Request | EdgeEntryKind::State => {
                let version = entry.body.get("version").and_then(Value::as_str);
                self.open.insert(entry.id.clone(), version.unwrap_or_default().to_owned());
            }
            EdgeEntryKind::RequestEnded => {
                self.open.remove(&entry.id);
            }
            EdgeEntryKind::Output => {
                let place = output::place_after(&entry.body, &entry.at);
                self.outputs.extend(place.map(|place| (entry.id.clone(), place)));
            }
        }
        self.last = entry.seq;
        self.entries.push_back(entry);
    }

    /// The lines of a new log with the same state.
    pub fn lines(&self) -> String {
        let first = self.entries.front().map_or(self.last + 1, |entry| entry.seq);
        // The entries after the base repeat what they add to it, which changes nothing.
        let base = json!({BASE: {
            "last": first - 1, "digest": self.before, "known": self.known, "open": self.open,
            "taken": self.taken.values().map(Wire::encode).collect::<Vec<_>>(),
            "outputs": self.outputs.iter().map(|(id, place)| (id.clone(), json!({
                "worker": place.worker, "to": place.to, "sent": place.sent,
                "at": place.at.as_str(), "over": place.is_over,
            }))).collect::<Object>(),
        }});
        let entries = self.entries.iter().map(|entry| entry.encode().to_string());
        let lines = std::iter::once(base.to_string()).chain(entries);
        lines.map(|line| line + "\n").collect()
    }

    /// Adds what is new. Returns the entries, whose lines are synced before they are sent.
    pub fn add(&mut self, found: Found, now: &Timestamp) -> Vec<EdgeEntry> {
        let before = self.entries.len();
        for entry in found.happened {
            if !self.known.contains(&key(&entry)) {
                self.push(entry);
            }
        }
        let Some(waiting) = found.waiting else { return self.since(before) };
        let gone: Vec<String> = {
            let ids: BTreeSet<&String> = waiting.iter().map(|waiting| &waiting.id).collect();
            self.open.keys().filter(|id| !ids.contains(id)).cloned().collect()
        };
        for id in gone {
            self.push(entry(EdgeEntryKind::RequestEnded, id, "ended", now.clone(), Object::new()));
        }
        for Waiting { kind, id, version, type_name, at, mut body } in waiting {
            if self.open.get(&id) == Some(&version) {
                continue;
            }
            let is_changed = self.open.contains_key(&id);
            let is_request = kind == EdgeEntryKind::Request;
            if is_request && !is_changed && self.open.len() >= MOST_REQUESTS {
                // It is sent when another one has ended.
                continue;
            }
            body.insert("version".into(), version.into());
            body.insert("changed".into(), is_changed.into());
            self.push(entry(kind, id, &type_name, at, body));
        }
        self.since(before)
    }

    /// Adds that a decision of the hub was taken, or how it ended.
    pub fn report(
        &mut self,
        decision: &EdgeDecision,
        state: EdgeDecisionState,
        reason: Option<&str>,
        now: &Timestamp,
    ) -> EdgeEntry {
        let mut body = Object::from_iter([("decision".to_owned(), decision.encode())]);
        body.extend(reason.map(|reason| ("reason".to_owned(), reason.into())));
        let id = decision.decision_id.to_string();
        let entry = entry(EdgeEntryKind::Decision, id, state.as_str(), now.clone(), body);
        let entry = EdgeEntry { seq: self.last + 1, ..entry };
        self.note(entry.clone());
        entry
    }

    /// How far an output is sent.
    pub fn output(&self, id: &str) -> Option<&OutputPlace> {
        self.outputs.get(id)
    }

    /// Adds pieces of outputs. Those that `is_known` does not name are forgotten.
    pub fn add_outputs(
        &mut self,
        pieces: Vec<EdgeEntry>,
        is_known: impl Fn(&str) -> bool,
    ) -> Vec<EdgeEntry> {
        self.outputs.retain(|id, _| is_known(id));
        let before = self.entries.len();
        pieces.into_iter().for_each(|piece| self.push(piece));
        self.since(before)
    }

    /// The decisions that were taken and did not end, the oldest first.
    pub fn taken(&self) -> Vec<EdgeDecision> {
        let mut taken: Vec<EdgeDecision> = self.taken.values().cloned().collect();
        taken.sort_by_key(|it| it.decided_at.time());
        taken
    }

    /// Whether a decision was taken, or ended.
    pub fn has_taken(&self, decision: &EdgeDecision) -> bool {
        let id = decision.decision_id.as_str();
        self.taken.contains_key(id) || self.knows(EdgeEntryKind::Decision, id)
    }

    fn since(&self, before: usize) -> Vec<EdgeEntry> {
        self.entries.iter().skip(before).cloned().collect()
    }

    fn push(&mut self, entry: EdgeEntry) {
        let seq = self.last + 1;
        self.note(EdgeEntry { seq, ..entry });
    }

    /// Whether an event or a result is in the outbox, or is older than the join.
    pub fn knows(&self, kind: EdgeEntryKind, id: &str) -> bool {
        self.known.contains(&format!("{}/{id}", kind.as_str()))
    }

    /// The last id of a kind, in the order of texts.
    pub fn last_id(&self, kind: EdgeEntryKind) -> Option<&str> {
        let start = format!("{}/", kind.as_str());
        // A zero follows a slash.
        let end = format!("{}0", kind.as_str());
        self.known.range(start.clone()..end).next_back()?.strip_prefix(&start)
    }

    /// Whether a request with this version is in the outbox and waits.
    pub fn is_open(&self, id: &str, version: &str) -> bool {
        self.open.get(id).is_some_and(|known| known == version)
    }

    /// The number of the last entry.
    pub fn last(&self) -> u64 {
        self.last
    }

    /// The number of entries after a position.
    pub fn waiting_after(&self, position: u64) -> u64 {
        self.last.saturating_sub(position)
    }

    /// Refuses a hub that has more than this outbox ever had, or another entry at its position.
    pub fn check_position(&self, position: u64, digest: Option<&str>) -> Result<(), Failure> {
        let refuse = |code, message: String| {
            let refused = Failure::new(code, message).with("hub_position", position);
            Err(refused.with("outbox_position", self.last).suggesting(NEW))
        };
        if position > self.last {
            let message = format!(
                "the hub has {position} entries of this edge, and its outbox only {}",
                self.last
            );
            return refuse(Code::EdgeBehind, message);
        }
        match (digest, self.digest_at(position)) {
            (Some(theirs), Some(own)) if theirs != own => {
                let message = format!(
                    "the hub has another entry {position} of this edge than its outbox: one of \
                     them was changed, or another outbox was sent for this edge"
                );
                refuse(Code::EdgeDamaged, message)
            }
            _ => Ok(()),
        }
    }

    /// The digest of the entry with a number, if that is still known.
    fn digest_at(&self, number: u64) -> Option<String> {
        let first = self.entries.front().map_or(self.last + 1, |entry| entry.seq);
        if number + 1 == first {
            return self.before.clone();
        }
        let place = usize::try_from(number.checked_sub(first)?).ok()?;
        digest(self.entries.get(place)?)
    }

    /// The entries after a position, up to a number of bytes, and at least one.
    pub fn batch(&self, position: u64, most_bytes: usize) -> Batch {
        let mut bytes = 0;
        let after = self.entries.iter().filter(|entry| entry.seq > position);
        let entries: Vec<EdgeEntry> = after
            .take(MOST_ENTRIES)
            .take_while(|entry| {
                let is_first = bytes == 0;
                bytes += entry.encode().to_string().len();
                is_first || bytes <= most_bytes
            })
            .cloned()
            .collect();
        let first = entries.first().map_or(position + 1, |entry| entry.seq);
        Batch { entries, lost_through: (first > position + 1).then_some(first - 1) }
    }

    /// Forgets the oldest entries up to a position that a hub confirmed, so that at most this many
    /// confirmed ones are kept, and of these at most so many bytes. They would be lost to a hub
    /// that is restored to before them. What was open among them is sent again then, see
    /// [`Self::forget_open`]. Returns their number.
    pub fn trim(&mut self, confirmed: u64, kept: usize, most_bytes: usize) -> usize {
        let sent = self.entries.iter().take_while(|entry| entry.seq <= confirmed).count();
        let mut bytes = 0;
        let newest = self.entries.iter().take(sent).rev().take(kept).take_while(|entry| {
            bytes += entry.encode().to_string().len();
            bytes <= most_bytes
        });
        let gone = sent - newest.count();
        if let Some(last) = self.entries.drain(..gone).next_back() {
            self.before = digest(&last);
        }
        gone
    }

    /// Makes everything that waits new again, for a hub that lost entries.
    pub fn forget_open(&mut self) {
        self.open.clear();
    }
}

/// The SHA-256 of the canonical JSON of an entry. `None` if it has no such form.
pub fn digest(entry: &EdgeEntry) -> Option<String> {
    let canonical = canonicalize(Profile::Jcs, entry.encode().to_string().as_bytes()).ok()?;
    Some(sha256(&canonical).hex())
}

/// The decision that an entry is about.
fn decision_of(entry: &EdgeEntry) -> Option<EdgeDecision> {
    EdgeDecision::from_document(entry.body.get("decision")?.clone()).ok()
}

/// Events and results of a source may have the same id.
fn key(entry: &EdgeEntry) -> String {
    format!("{}/{}", entry.kind.as_str(), entry.id)
}

fn entry(
    kind: EdgeEntryKind,
    id: String,
    type_name: &str,
    at: Timestamp,
    body: Object,
) -> EdgeEntry {
    let type_name = type_name.to_owned();
    EdgeEntry { seq: 0, kind, id, type_name, at, body, extra: Object::new() }
}
