//! What waits for a person, in one form for every protocol.
//!
//! A core says what waits in its own state ([`Waiting`]). The store keeps these as rows, which can
//! be deleted and made again from their sources. A door shows them ([`InboxItem`]).
//!
//! Invariants:
//! - an item exists as long as its source waits. The id of one that waits again is another;
//! - a title has facts alone. What an agent wrote is in `words`, and is a claim;
//! - urgency that grows with time is a time: nothing is written when it grows.

use accord_canon::sha256;
use accord_contract::{Limits, Object, TextForm, Time, Timestamp, Value, Wire as _, message};

use crate::{EventKind, NewEvent, ProjectId, Verb};

/// The kinds of items. Later versions add kinds.
pub mod kind {
    /// A person should review a package.
    pub const PACKAGE_REVIEW: &str = "package.review";
    /// An agent should have reviewed a package, and did not.
    pub const PACKAGE_AGENT_REVIEW: &str = "package.agent_review";
    /// A package was sent back, and nothing happened since.
    pub const PACKAGE_REVISION: &str = "package.revision";
    /// A package asks a question that no other answers.
    pub const PACKAGE_QUESTION: &str = "package.question";
    /// A live session asks a person.
    pub const LIVE_ASK: &str = "live.ask";
    /// A finished task waits for its review.
    pub const TASK_REVIEW: &str = "task.review";
    /// A task is blocked.
    pub const TASK_BLOCKED: &str = "task.blocked";
    /// A task has failed for good.
    pub const TASK_FAILED: &str = "task.failed";
    /// Nobody can take a task.
    pub const TASK_UNROUTED: &str = "task.unrouted";
    /// A task is in progress for too long.
    pub const TASK_OVERDUE: &str = "task.overdue";
    /// The file of a task says a move that a person must take over.
    pub const TASK_UNADOPTED: &str = "task.unadopted";
    /// A governed run waits for the approval of a gate.
    pub const RUN_GATE: &str = "run.gate";
    /// A governed run waits for the approval of its end.
    pub const RUN_COMPLETION: &str = "run.completion";
    /// A governed run is blocked.
    pub const RUN_BLOCKED: &str = "run.blocked";
    /// The files of two turns conflict.
    pub const RUN_MERGE: &str = "run.merge";
    /// A turn proposes changes.
    pub const RUN_PROPOSAL: &str = "run.proposal";
    /// A person does the work of a turn.
    pub const RUN_TURN: &str = "run.turn";
    /// The result of a turn was refused.
    pub const RUN_REFUSED: &str = "run.refused";
    /// A governed run goes on when its operator has done something.
    pub const RUN_DUTY: &str = "run.duty";
    /// A task is handed to a person.
    pub const TASK_HANDOFF: &str = "task.handoff";
    /// An initiative of several repositories waits for the approval of a gate.
    pub const COORDINATOR_GATE: &str = "coordinator.gate";
    /// An initiative of several repositories differs from them.
    pub const COORDINATOR_DIVERGED: &str = "coordinator.diverged";
    /// A row of the store is damaged.
    pub const STORE_DAMAGE: &str = "store.damage";
    /// An edge waits for something of another kind.
    pub const EDGE_REQUEST: &str = "edge.request";
}

/// The digits of a short name.
pub const HANDLE_DIGITS: usize = 10;
/// The fewest digits that find an item.
pub const SHORTEST_HANDLE: usize = 4;
/// The longest claim on an item, in seconds.
pub const CLAIM_SECONDS: i64 = 600;
/// How long an item of the highest urgency can be put off, in seconds.
pub const URGENT_SNOOZE_SECONDS: i64 = 15 * 60;

/// The most characters of `words`.
const WORDS: usize = 240;
const NAME: TextForm = TextForm::ANY.chars(1, 1024).without_nul();

/// How urgent an item is.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Urgency {
    /// Something is lost, or an agent waits and its deadline is near.
    Loss = 1,
    /// A whole run, or a chain of work, stands still.
    Chain = 2,
    /// One piece of work waits.
    Piece = 3,
    /// It should be answered at some time.
    Should = 4,
    /// A notice.
    Notice = 5,
}

/// What waits in the state of a protocol.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Waiting {
    pub kind: String,
    /// The id of what waits, in its protocol.
    pub subject: String,
    /// What tells this time of waiting from earlier ones of the same subject.
    pub opening: u64,
    /// A title, made of facts.
    pub title: String,
    /// What an agent or a person wrote, shortened.
    pub words: Option<String>,
    /// Who asks, such as `agent:planner`.
    pub asked_by: Option<String>,
    /// Whom it is for, as a hint.
    pub to: Option<String>,
    pub since: Time,
    /// From when on it is shown.
    pub shown_from: Option<Time>,
    /// When it is too late.
    pub deadline: Option<Time>,
    /// From when on it does not wait any more, whether or not that was recorded.
    pub gone_at: Option<Time>,
    pub urgency: Urgency,
    /// When it becomes more urgent, and how urgent.
    pub rises: Option<(Time, Urgency)>,
    /// How much waits for it.
    pub behind: u64,
    /// What a decision can expect: a digest or a revision.
    pub version: Option<String>,
}

message! {
    /// What waits for a person.
    pub struct InboxItem("InboxItem", open) {
        /// Its id: kind, project, subject and what tells this time of waiting from earlier ones.
        required id: String = "id", "inbox-id", Limits::text(NAME);
        /// A short name for people, made of the id. Its first digits are enough where they are
        /// unique.
        required handle: String = "handle", "inbox-handle";
        /// What kind of item it is, such as `package.review`. Later versions add kinds.
        required kind: String = "kind", "inbox-kind";
        /// The project.
        required project_id: ProjectId = "project_id", "project-id";
        /// What waits: the id in its protocol.
        required subject: String = "subject", "subject-id";
        /// What it is, made of facts.
        required title: String = "title", "text-for-people";
        /// What an agent or a person wrote about it, shortened. It is a claim.
        optional words: String = "words", "text-for-people";
        /// Who asks, such as `agent:planner`.
        optional asked_by: String = "asked_by", "actor";
        /// Whom it is for, as a hint.
        optional to: String = "to", "actor";
        /// Since when it waits.
        required since: Timestamp = "since", "time:iso-8601";
        /// When it is too late.
        optional deadline: Timestamp = "deadline", "time:iso-8601";
        /// How urgent it is now: 1, something is lost or an agent waits and its deadline is near;
        /// 2, a run or a chain of work stands still; 3, one piece of work waits; 4, it should be
        /// answered; 5, a notice.
        required urgency: u64 = "urgency", "urgency";
        /// Why it is so urgent.
        required reason: String = "reason", "text-for-people";
        /// How much waits for it.
        required behind: u64 = "behind", "count";
        /// What was shown, for a decision that must not be about anything else.
        optional version: String = "version", "evidence-version";
        /// Who looks at it now. Others can still decide.
        optional claim: InboxMark = "claim", "inbox-mark";
        /// Whom it is assigned to.
        optional assigned: InboxMark = "assigned", "inbox-mark";
        /// Until when the caller does not want to see it.
        optional snoozed: InboxMark = "snoozed", "inbox-mark";
        /// What a person can do about it.
        required verbs: Vec<InboxVerb> = "verbs", "inbox-verbs";
        /// What Accord knows about it. Only in the answer about one item.
        optional evidence: Vec<InboxFact> = "evidence", "inbox-facts";
    }

    /// A mark of a person on an item. It ends no item.
    pub struct InboxMark("InboxMark", open) {
        /// Whose it is, such as `human:lead`.
        required actor: String = "actor", "actor";
        /// Since when.
        required at: Timestamp = "at", "time:iso-8601";
        /// Until when; absent where it does not end by itself.
        optional until: Timestamp = "until", "time:iso-8601";
    }

    /// What a person can do about an item.
    pub struct InboxVerb("InboxVerb", open) {
        /// Its name, for `accord inbox do`.
        required name: String = "name", "inbox-verb";
        /// What it does.
        required about: String = "about", "text-for-people";
        /// What a key must have.
        required scope: Verb = "scope", "verb";
        /// Whether a note must be given.
        required needs_note: bool = "needs_note", "flag";
        /// Whether it can be taken back.
        required can_be_undone: bool = "can_be_undone", "flag";
        /// The command, one argument after another.
        required command: Vec<String> = "command", "argv";
        /// The request, as method and path.
        optional request: String = "request", "http-request";
    }

    /// Something that Accord knows about an item.
    pub struct InboxFact("InboxFact", open) {
        /// What it is.
        required name: String = "name", "text-for-people";
        /// Its value.
        required value: String = "value", "text-for-people";
        /// Whether somebody wrote it, and Accord did not check it.
        required is_claim: bool = "is_claim", "flag";
    }
}

/// An item was assigned.
pub const INBOX_ASSIGNED: EventKind = EventKind::declared("inbox.assigned");
/// A person looks at an item.
pub const INBOX_CLAIMED: EventKind = EventKind::declared("inbox.claimed");
/// A claim or an assignment was taken back.
pub const INBOX_RELEASED: EventKind = EventKind::declared("inbox.released");

impl Urgency {
    /// All of them, the most urgent first.
    pub const ALL: [Self; 5] = [Self::Loss, Self::Chain, Self::Piece, Self::Should, Self::Notice];

    pub fn number(self) -> u8 {
        self as u8
    }

    pub fn of(number: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|it| i64::from(it.number()) == number)
    }

    /// Why something has it.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Loss => "something is lost, or an agent waits and its deadline is near",
            Self::Chain => "other work waits for it",
            Self::Piece => "one piece of work waits",
            Self::Should => "it should be answered",
            Self::Notice => "a notice",
        }
    }
}

impl Waiting {
    /// Something that waits since a time, with a title of facts.
    pub fn new(kind: &str, subject: &str, opening: u64, title: String, since: Time) -> Self {
        Self {
            kind: kind.to_owned(),
            subject: subject.to_owned(),
            opening,
            title,
            words: None,
            asked_by: None,
            to: None,
            since,
            shown_from: None,
            deadline: None,
            gone_at: None,
            urgency: Urgency::Piece,
            rises: None,
            behind: 0,
            version: None,
        }
    }

    /// Its id in the inbox.
    pub fn id(&self, project: &ProjectId) -> String {
        format!("{}:{project}:{}:{}", self.kind, self.subject, self.opening)
    }

    /// How urgent it is at a time.
    pub fn urgency_at(&self, now: Time) -> Urgency {
        match self.rises {
            Some((at, urgency)) if at <= now => urgency,
            _ => self.urgency,
        }
    }

    /// Whether it is shown at a time.
    pub fn is_shown_at(&self, now: Time) -> bool {
        self.shown_from.is_none_or(|from| from <= now) && self.gone_at.is_none_or(|end| end > now)
    }

    /// Shortens every time to milliseconds, as stores keep them.
    #[must_use]
    pub fn in_millis(self) -> Self {
        let millis = |time: Time| Time::from_unix_millis(time.unix_millis());
        Self {
            since: millis(self.since),
            shown_from: self.shown_from.map(millis),
            deadline: self.deadline.map(millis),
            gone_at: self.gone_at.map(millis),
            rises: self.rises.map(|(at, urgency)| (millis(at), urgency)),
            ..self
        }
    }

    /// The texts of the item as one JSON text, for a row.
    pub fn texts(&self) -> String {
        let texts = [
            ("title", Some(&self.title)),
            ("words", self.words.as_ref()),
            ("asked_by", self.asked_by.as_ref()),
            ("to", self.to.as_ref()),
            ("version", self.version.as_ref()),
        ];
        let texts = texts.into_iter().filter_map(|(name, text)| Some((name, text?)));
        let members = texts.map(|(name, text)| (name.to_owned(), text.as_str().into()));
        Value::Object(members.collect()).to_string()
    }

    /// Sets the texts that [`Self::texts`] wrote; `None` if it is another text.
    pub fn with_texts(self, text: &str) -> Option<Self> {
        let Ok(Value::Object(mut members)) = serde_json::from_str(text) else { return None };
        let mut take = |name: &str| match members.shift_remove(name) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        };
        let title = take("title")?;
        let [words, asked_by, to, version] = ["words", "asked_by", "to", "version"].map(take);
        Some(Self { title, words, asked_by, to, version, ..self })
    }

    /// The item, without marks, verbs and evidence.
    pub fn item(&self, project: &ProjectId, now: Time) -> InboxItem {
        let (id, urgency) = (self.id(project), self.urgency_at(now));
        let late = self.deadline.is_some_and(|deadline| deadline <= now);
        let reason = match (&self.kind[..], urgency) {
            (kind::LIVE_ASK, Urgency::Loss) => "an agent waits, and the time to answer ends",
            (kind::TASK_FAILED, _) => "the task is given up unless somebody decides",
            (kind::STORE_DAMAGE, Urgency::Loss) => "what was stored is lost unless it is restored",
            (kind::TASK_BLOCKED, Urgency::Chain) => "other tasks wait for it",
            (_, _) if late => "its deadline is over",
            (_, urgency) => urgency.reason(),
        };
        InboxItem {
            handle: handle(&id),
            id,
            kind: self.kind.clone(),
            project_id: project.clone(),
            subject: self.subject.clone(),
            title: self.title.clone(),
            words: self.words.clone(),
            asked_by: self.asked_by.clone(),
            to: self.to.clone(),
            since: Timestamp::emit(self.since),
            deadline: self.deadline.map(Timestamp::emit),
            urgency: u64::from(urgency.number()),
            reason: reason.to_owned(),
            behind: self.behind,
            version: self.version.clone(),
            claim: None,
            assigned: None,
            snoozed: None,
            verbs: Vec::new(),
            evidence: None,
            extra: Object::new(),
        }
    }
}

/// The short name of an id.
pub fn handle(id: &str) -> String {
    sha256(id.as_bytes()).hex()[..HANDLE_DIGITS].to_owned()
}

/// Whether a text can be a short name, or the beginning of one.
pub fn is_handle(text: &str) -> bool {
    (SHORTEST_HANDLE..=HANDLE_DIGITS).contains(&text.len())
        && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// A text on one line, shortened, as `words` has it. `None` for an empty one.
pub fn words(text: &str) -> Option<String> {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > 8 * WORDS {
            break;
        }
    }
    if line.chars().count() > WORDS {
        line = line.chars().take(WORDS - 1).chain(['…']).collect();
    }
    (!line.is_empty()).then_some(line)
}

/// The event about a mark on an item.
pub fn event(kind: EventKind, project: &ProjectId, id: &str, mark: &InboxMark) -> NewEvent {
    let members = [("item".to_owned(), id.into()), ("mark".to_owned(), mark.encode())];
    NewEvent::new(kind, project, Object::from_iter(members), mark.at.time())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting() -> Waiting {
        let since = Time::from_unix_millis(1_000);
        let title = "Review of a package".to_owned();
        Waiting::new(kind::PACKAGE_REVIEW, "pkg_1", 2, title, since)
    }

    #[test]
    fn an_id_names_its_source_and_the_time_of_waiting() {
        let project = ProjectId::new("shop").expect("an id");
        let id = waiting().id(&project);
        assert_eq!(id, "package.review:shop:pkg_1:2");
        let again = Waiting { opening: 3, ..waiting() }.id(&project);
        assert_ne!(handle(&again), handle(&id));
        assert!(is_handle(&handle(&id)) && is_handle(&handle(&id)[..4]));
        assert!(!is_handle(&id) && !is_handle("abc") && !is_handle("ABCDE"));
    }

    #[test]
    fn urgency_grows_at_its_time_and_items_are_shown_between_two() {
        let at = Time::from_unix_millis;
        let rises = Some((at(50), Urgency::Loss));
        let item = Waiting { rises, shown_from: Some(at(10)), gone_at: Some(at(90)), ..waiting() };
        assert_eq!(item.urgency_at(at(49)), Urgency::Piece);
        assert_eq!(item.urgency_at(at(50)), Urgency::Loss);
        let shown = [9, 10, 89, 90].map(|now| item.is_shown_at(at(now)));
        assert_eq!(shown, [false, true, true, false]);
    }

    #[test]
    fn the_texts_of_a_row_are_read_back() {
        let (words, to) = (words("a\n b\tc"), Some("human:lead".to_owned()));
        let item = Waiting { words, to, version: Some("v".to_owned()), ..waiting() };
        assert_eq!(item.words.as_deref(), Some("a b c"));
        let bare = Waiting { title: String::new(), ..waiting() };
        assert_eq!(bare.with_texts(&item.texts()), Some(item));
        assert_eq!(waiting().with_texts("[]"), None);
    }

    #[test]
    fn long_words_are_cut() {
        let cut = words(&"ü ".repeat(500)).expect("words");
        assert_eq!(cut.chars().count(), WORDS);
        assert!(cut.ends_with('…'));
        assert_eq!(words(" \n"), None);
    }
}
