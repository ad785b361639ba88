//! Generates rows from few ids, few instants and few words, so that they collide often.

use accord_base::decision::{DecisionId, DecisionProtocol};
use accord_base::{ActorId, ActorKey, ActorType, ProjectId, SessionId};
use accord_canon::{Digest, sha256};
use accord_contract::{Time, Timestamp, Value};
use accord_memory_core::bundle::Outline;
use accord_memory_core::damage::{note_name, note_text};
use accord_memory_core::operations::Suspect;
use accord_memory_core::package::{
    AnswerLink, Links, PackageType, QuestionKey, ReviewType, Significance, Status,
};
use accord_memory_core::{ContentHash, FactId, PackageId};

use super::Random;
use crate::{
    DecisionRow, EdgeDecisionRow, EdgeItemRow, EdgeRow, EventEntry, FactRow, KeyRow, PackageIndex,
    PackageRow, PackageState, PersonRow, ProjectRow, Quarantine, RevisionRow, SessionRow,
};

const PROJECTS: [&str; 3] = ["proj_a", "Ä/b %", "z"];
const ACTORS: [&str; 3] = ["ann", "bot-7", "日本"];
const WORDS: [&str; 18] = [
    "index",
    "indexes",
    "Café",
    "cafe",
    "queue",
    "the",
    "the",
    "the",
    "日本語",
    "OR",
    "NEAR(",
    "\"*\"",
    "x:y",
    "writer",
    "openFile",
    "open_file",
    "v2.4.1",
    "1a2b3c4d5e",
];
/// What is between the words of a query: also words that only queries have, misspelt or written in
/// another way.
const BETWEEN: [&str; 9] =
    [" ", " ", " ", "_", ".", " wriiter ", " openfile ", " 2.4.1 ", " 1a2b3c4 "];
/// Some are the same question, written differently, and some are none.
const QUESTIONS: [&str; 9] = [
    "Why?",
    "Who decides?",
    "Ship it?",
    "When",
    "Why?",
    "WHY?",
    " why? ",
    " ",
    "日本 or the queue?",
];
/// Some are the same instant, written differently.
const TIMES: [&str; 9] = [
    "2026-04-18T20:00:00Z",
    "2026-04-18T20:00:00.000Z",
    "2026-04-18T20:00:00.5Z",
    "2026-04-18T20:59:59.999999999Z",
    "2026-04-18T21:00:00+00:00",
    "2026-04-19T00:00:00Z",
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59.999Z",
    "2026-04-18T19:59:59.999Z",
];

/// Subjects and predicates, among others.
pub(super) const NAMES: [&str; 3] = ["a", "b/c?", "🦀"];

/// Makes rows.
#[derive(Clone, Debug)]
pub struct Generator {
    /// The random numbers.
    pub random: Random,
}

impl Generator {
    /// The generator of a seed.
    pub fn new(seed: u64) -> Self {
        Self { random: Random::new(seed) }
    }

    /// All projects that it names.
    pub(super) fn projects() -> impl Iterator<Item = ProjectId> {
        PROJECTS.into_iter().map(|id| ProjectId::new(id).expect("an id"))
    }

    /// One of few projects, which may not exist.
    pub fn project(&mut self) -> ProjectId {
        ProjectId::new(self.random.pick(&PROJECTS)).expect("an id")
    }

    /// One of few packages.
    pub fn package(&mut self) -> PackageId {
        PackageId::new(format!("pkg {}", self.random.below(14))).expect("an id")
    }

    /// One of few facts.
    pub fn fact(&mut self) -> FactId {
        FactId::new(format!("fact_{}", self.random.below(16))).expect("an id")
    }

    /// One of few sessions.
    pub fn session(&mut self) -> SessionId {
        SessionId::new(format!("s{}", self.random.below(4))).expect("an id")
    }

    /// One of few actors.
    pub fn actor(&mut self) -> ActorKey {
        ActorKey {
            id: ActorId::new(self.random.pick(&ACTORS)).expect("an id"),
            kind: self.random.pick(&[ActorType::Human, ActorType::Agent]),
        }
    }

    /// All actors that it names.
    pub(super) fn actors() -> impl Iterator<Item = ActorKey> {
        let kinds = [ActorType::Human, ActorType::Agent];
        let named =
            move |id| kinds.map(|kind| ActorKey { id: ActorId::new(id).expect("an id"), kind });
        ACTORS.into_iter().flat_map(named)
    }

    /// One of few times.
    pub fn time(&mut self) -> Timestamp {
        Timestamp::parse(self.random.pick(&TIMES)).expect("a time")
    }

    /// One of few instants, or none.
    pub fn since(&mut self) -> Option<Time> {
        let some = !self.random.one_in(3);
        some.then(|| self.time().time())
    }

    /// Some words.
    pub fn words(&mut self, most: usize) -> String {
        let count = self.random.below(most + 1);
        let words: Vec<&str> = (0..count).map(|_| self.random.pick(&WORDS)).collect();
        words.join(" ")
    }

    /// A query: words, some of them joined to phrases.
    pub fn query(&mut self, most: usize) -> String {
        let words = self.words(most);
        let words = words.split(' ');
        let joined = words.flat_map(|word| [word, self.random.pick(&BETWEEN)]);
        joined.collect()
    }

    /// A digest out of few.
    pub fn digest(&mut self) -> Digest {
        sha256(&[self.random.below(6) as u8])
    }

    /// A subject or predicate.
    pub fn name(&mut self) -> String {
        self.random.pick(&NAMES).to_owned()
    }

    /// The name of a setting. Some note damage.
    pub fn setting_name(&mut self) -> String {
        let name = self.name();
        if self.random.one_in(2) { note_name(self.random.pick(Suspect::ALL), &name) } else { name }
    }

    /// The value of a setting. Some note damage.
    pub fn setting(&mut self) -> String {
        let words = self.words(2);
        if self.random.one_in(3) { words } else { note_text(self.time().time(), &words) }
    }

    /// A status, mostly not a draft.
    pub fn status(&mut self) -> Status {
        self.random.pick(Status::ALL)
    }

    /// A project.
    pub fn project_row(&mut self) -> ProjectRow {
        let archived = self.random.one_in(4);
        ProjectRow {
            project_id: self.project(),
            created_at: self.time(),
            archived_at: archived.then(|| self.time()),
            conformance: self.random.one_in(3),
            text: self.words(3),
        }
    }

    /// A package with its search index and its log.
    pub fn package_row(&mut self) -> (PackageRow, PackageIndex, Vec<RevisionRow>) {
        let types = ["standard", "decision", "x-own", "auto_deposit", "handoff"];
        let revisions = if self.random.one_in(5) { 2 } else { 1 };
        let state = self.state(revisions);
        let in_session = self.random.one_in(2);
        let quarantined = self.random.one_in(12);
        let has_parent = self.random.one_in(3);
        let package_type = self.random.pick(&types);
        // An automatic deposit may be of low significance, and then has no rank.
        let ranks = if package_type == "auto_deposit" { 1 } else { 4 };
        let row = PackageRow {
            project_id: self.project(),
            package_id: self.package(),
            seq: 0,
            created_at: self.time(),
            actor: self.actor(),
            session_id: in_session.then(|| self.session()),
            package_type: PackageType::parse(package_type).expect("a type"),
            significance: Significance::new(self.random.below(10) as u64 + 1).expect("one of ten"),
            outline: Outline {
                rank: self.random.below(ranks) as u8,
                hands_over: self.random.one_in(3),
                parent: has_parent.then(|| self.package()),
            },
            deposited_at: self.time(),
            deposited_hash: self.hash(),
            quarantine: quarantined.then(|| self.quarantine()),
            state,
        };
        let log = (1..=revisions).map(|seq| self.revision(seq)).collect();
        (row, self.index(), log)
    }

    /// The state of a package.
    pub fn state(&mut self, revision: u64) -> PackageState {
        PackageState {
            revision,
            status: self.status(),
            review_type: self.random.pick(ReviewType::ALL),
            has_note: self.random.one_in(3),
            content_hash: self.hash(),
            text: self.words(6),
        }
    }

    /// An entry of a log; some are damaged.
    pub fn revision(&mut self, seq: u64) -> RevisionRow {
        let text = if self.random.one_in(8) {
            self.words(2)
        } else {
            let (status, at) = (self.status(), self.time());
            let actor = self.random.pick(&["null", r#"{"type":"human"}"#, r#"{"type":"agent"}"#]);
            format!(r#"{{"status":"{status}","at":"{at}","actor":{actor}}}"#)
        };
        RevisionRow { seq, text }
    }

    /// The search index of a package.
    pub fn index(&mut self) -> PackageIndex {
        let count = self.random.below(4);
        let questions: Vec<String> =
            (0..count).map(|_| self.random.pick(&QUESTIONS).to_owned()).collect();
        let [title, decisions, handoff] = [3, 4, 4].map(|most| self.words(most));
        let (asked, body) = (questions.join("\n"), self.words(8));
        PackageIndex::of_parts([&title, &decisions, &asked, &handoff, &body], &questions)
            .linked(self.links())
    }

    /// What a package answers and supersedes; most often nothing.
    pub fn links(&mut self) -> Links {
        let [answers, supersedes] = [3, 4].map(|one_in| {
            let any = self.random.one_in(one_in);
            if any { 1 + self.random.below(3) } else { 0 }
        });
        let answers = (0..answers).map(|_| {
            if self.random.one_in(2) {
                AnswerLink::Question(QuestionKey::of(self.random.pick(&QUESTIONS)))
            } else {
                let index = self.random.below(4) as u32;
                AnswerLink::Asked { package_id: self.package(), index }
            }
        });
        let answers = answers.collect();
        let mut targets: Vec<PackageId> = (0..supersedes).map(|_| self.package()).collect();
        targets.sort();
        targets.dedup();
        Links { answers, supersedes: targets }
    }

    /// A model and a dimension out of few.
    pub fn space(&mut self) -> (String, usize) {
        (self.random.pick(&["mini", "large"]).to_owned(), self.random.pick(&[2, 3]))
    }

    /// The values of some vectors.
    pub fn values(&mut self, dimension: usize) -> Vec<f32> {
        let count = self.random.below(3) * dimension;
        (0..count).map(|_| self.random.below(9) as f32 / 4.0 - 1.0).collect()
    }

    /// A quarantine.
    pub fn quarantine(&mut self) -> Quarantine {
        let (at, words) = (self.time(), self.words(2));
        match self.random.one_in(4) {
            true => Quarantine::rejected(at, &words),
            false => Quarantine { at, reason: words },
        }
    }

    /// A fact.
    pub fn fact_row(&mut self) -> FactRow {
        let ended = !self.random.one_in(3);
        FactRow {
            project_id: self.project(),
            fact_id: self.fact(),
            seq: 0,
            subject: self.name(),
            predicate: self.name(),
            value: self.words(1),
            valid_from: self.time(),
            valid_to: ended.then(|| self.time()),
            created_at: self.time(),
            text: self.words(3),
        }
    }

    /// A session.
    pub fn session_row(&mut self) -> SessionRow {
        let callsign = self.random.one_in(2);
        SessionRow {
            project_id: self.project(),
            session_id: self.session(),
            seq: 0,
            actor: self.actor(),
            callsign: callsign.then(|| self.name()),
            started_at: self.time(),
            ended_at: None,
            text: self.words(2),
        }
    }

    /// A decision.
    pub fn decision_row(&mut self) -> DecisionRow {
        let id = format!("dec_{}", self.random.below(8));
        let actor = self.actor();
        DecisionRow {
            project_id: self.project(),
            decision_id: DecisionId::new(id).expect("an id"),
            seq: 0,
            protocol: self.random.pick(DecisionProtocol::ALL),
            kind: self.name(),
            subject: self.subject(),
            actor: format!("{}:{}", actor.kind, actor.id),
            decided_at: self.time(),
            text: self.words(3),
        }
    }

    /// An edge.
    pub fn edge_row(&mut self) -> EdgeRow {
        EdgeRow {
            project_id: self.project(),
            edge_id: self.name(),
            position: self.random.below(99) as u64,
            text: match self.random.one_in(3) {
                true => self.words(3),
                false => edge_record(&self.name(), &self.time()),
            },
        }
    }

    /// An item of an edge, which may not exist.
    pub fn edge_item_row(&mut self) -> EdgeItemRow {
        EdgeItemRow {
            project_id: self.project(),
            edge_id: self.name(),
            item_id: self.name(),
            kind: self.random.pick(&["request", "request", "result", "🦀"]).to_owned(),
            received_at: self.time(),
            text: match self.random.one_in(3) {
                true => self.words(3),
                false => {
                    let kind = self.random.pick(&["run.gate", "task.review", "new.kind"]);
                    edge_entry(kind, &self.words(3), &self.time())
                }
            },
        }
    }

    /// A decision about an edge, which may not exist.
    pub fn edge_decision_row(&mut self) -> EdgeDecisionRow {
        let (item_id, decided_at) = (self.name(), self.time());
        // An engine stores any text; the inbox shows what is a decision.
        let text = match self.random.one_in(2) {
            true => self.words(3),
            false => {
                let state = self.random.pick(&["waiting", "taken", "applied", "withdrawn"]);
                edge_decision(&item_id, state, &decided_at)
            }
        };
        let (project_id, edge_id, decision_id) = (self.project(), self.name(), self.name());
        EdgeDecisionRow { project_id, edge_id, decision_id, item_id, decided_at, text }
    }

    /// What a decision is about: one thing, a part of it, or another that begins like it.
    pub fn subject(&mut self) -> String {
        self.random.pick(&["a", "a/b", "a0", "a/b/c", "ab", "🦀", "🦀/b"]).to_owned()
    }

    /// An event.
    pub fn event(&mut self) -> EventEntry {
        let hidden = self.random.one_in(4);
        EventEntry {
            at: self.time(),
            kind: self.name(),
            only_for: hidden.then(|| self.actor()),
            text: self.words(3),
        }
    }

    /// A key.
    pub fn key_row(&mut self) -> KeyRow {
        let has_actor = self.random.one_in(2);
        KeyRow {
            key_id: self.name(),
            secret_hash: self.digest(),
            actor: has_actor.then(|| self.actor()),
            created_at: self.time(),
            revoked_at: None,
            text: self.words(2),
        }
    }

    /// A person.
    pub fn person_row(&mut self) -> PersonRow {
        PersonRow { name: self.name(), added_at: self.time(), text: self.words(2) }
    }

    fn hash(&mut self) -> ContentHash {
        self.digest().into()
    }
}

/// What a hub stores about an edge.
fn edge_record(name: &str, at: &Timestamp) -> String {
    let (name, at) = (Value::from(name), at.as_str());
    format!(
        r#"{{"name":{name},"source":"runs","send":"summary","key_id":null,"actor":"human:lead",
        "joined_at":"{at}","last_contact_at":"{at}","left_at":null,"lost":0}}"#
    )
}

/// A decision about something that waits at an edge, as the hub has it.
fn edge_decision(item: &str, state: &str, at: &Timestamp) -> String {
    let (item, at, evidence) = (Value::from(item), at.as_str(), "0".repeat(64));
    format!(
        r#"{{"decision_id":"dec_00000000000000000000000000000000","item":{item},"type":"run.gate",
        "verb":"approve","state":"{state}","state_at":"{at}","evidence":"{evidence}",
        "actor":"human:lead","known_by":"key","door":"http","hub":"inc_1","decided_at":"{at}",
        "expires_at":"{at}"}}"#
    )
}

/// What an edge sends about something that waits.
fn edge_entry(kind: &str, title: &str, at: &Timestamp) -> String {
    let (title, at) = (Value::from(title), at.as_str());
    format!(
        r#"{{"seq":1,"kind":"request","id":"a","type":"{kind}","at":"{at}",
        "body":{{"title":{title},"digest":"d"}}}}"#
    )
}
