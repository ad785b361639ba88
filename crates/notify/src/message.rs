//! A message: the items that a receiver is told at once.

use accord_base::ProjectId;
use accord_base::excerpt::one_line;
use accord_base::inbox::{Urgency, Waiting, handle, kind};
use accord_canon::sha256;
use accord_contract::text::percent_encoded;
use accord_contract::{Object, Time, Timestamp, message};

/// The most items that a document names.
const NAMED: usize = 50;
/// The most characters of a title, of an actor, of a reason.
const TITLE: usize = 200;

/// An item, as it is told.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Told {
    /// Its project.
    pub project: ProjectId,
    /// What waits.
    pub waiting: Waiting,
}

/// What a receiver is told at once.
#[derive(Clone, Debug)]
pub struct Message {
    /// Its id: the same again when it is sent again.
    pub id: String,
    /// The name of the receiver.
    pub receiver: String,
    /// When it was made.
    pub at: Time,
    /// The address of the host for people, if it is known.
    pub url: Option<String>,
    /// The items, the most urgent first.
    told: Vec<Told>,
}

message! {
    /// What a receiver is told about the inbox.
    pub struct Notification("Notification", open) {
        /// The id of the message: the same again when it is sent again.
        required id: String = "id", "notification-id";
        /// The name of the receiver.
        required receiver: String = "receiver", "receiver-name";
        /// When the message was made.
        required at: Timestamp = "at", "time:iso-8601";
        /// What it is about, made of facts.
        required title: String = "title", "text-for-people";
        /// How many items it is about.
        required count: u64 = "count", "count";
        /// How urgent the most urgent of them is, from 1 to 4.
        required urgency: u64 = "urgency", "urgency";
        /// The items, the most urgent first, at most 50.
        required items: Vec<NotificationItem> = "items", "notification-items";
        /// The page of the item, if it is the only one and has one. It needs a login.
        optional link: String = "link", "url";
    }

    /// Something that waits for a person.
    pub struct NotificationItem("NotificationItem", open) {
        /// Its id in the inbox.
        required id: String = "id", "inbox-id";
        /// Its short name, for `accord inbox show`.
        required handle: String = "handle", "inbox-handle";
        /// What kind of item it is.
        required kind: String = "kind", "inbox-kind";
        /// The project.
        required project_id: ProjectId = "project_id", "project-id";
        /// What it is, made of facts.
        required title: String = "title", "text-for-people";
        /// Who asks.
        optional asked_by: String = "asked_by", "actor";
        /// Since when it waits.
        required since: Timestamp = "since", "time:iso-8601";
        /// When it is too late.
        optional deadline: Timestamp = "deadline", "time:iso-8601";
        /// How urgent it is, from 1 to 4.
        required urgency: u64 = "urgency", "urgency";
        /// Why it is so urgent.
        required reason: String = "reason", "text-for-people";
        /// How much waits for it.
        required behind: u64 = "behind", "count";
        /// The page of the item, if it has one. It needs a login.
        optional link: String = "link", "url";
    }
}

accord_contract::contract_messages! {
    Response;
    Notification = "notification",
}

impl Told {
    fn urgency(&self, now: Time) -> Urgency {
        self.waiting.urgency_at(now)
    }

    /// Its title, on one line and with every character visible.
    pub fn title(&self) -> String {
        one_line(&self.waiting.title, TITLE)
    }

    /// The name of its project, in the same way.
    pub(crate) fn place(&self) -> String {
        one_line(self.project.as_str(), TITLE)
    }

    pub(crate) fn asked_by(&self) -> Option<String> {
        self.waiting.asked_by.as_deref().map(|actor| one_line(actor, TITLE))
    }

    pub(crate) fn handle(&self) -> String {
        handle(&self.waiting.id(&self.project))
    }
}

impl Message {
    /// A message about items, at least one of them.
    pub fn new(
        id: &str,
        receiver: &str,
        at: Time,
        url: Option<&str>,
        mut told: Vec<Told>,
    ) -> Option<Self> {
        told.sort_by_cached_key(|told| {
            let waiting = &told.waiting;
            let deadline = waiting.deadline.map_or(i64::MAX, Time::unix_millis);
            (told.urgency(at), deadline, waiting.since, waiting.id(&told.project))
        });
        let url = url.map(|url| url.trim_end_matches('/').to_owned());
        let (id, receiver) = (id.to_owned(), receiver.to_owned());
        (!told.is_empty()).then_some(Self { id, receiver, at, url, told })
    }

    /// The id of a new message: of its receiver, its items and the time.
    pub fn id_of<'i>(receiver: &str, items: impl Iterator<Item = &'i str>, at: Time) -> String {
        let mut text = format!("{receiver}\n{}\n", at.unix_millis());
        for item in items {
            text.push_str(item);
            text.push('\n');
        }
        format!("ntf_{}", &sha256(text.as_bytes()).hex()[..24])
    }

    /// The items, the most urgent first.
    pub fn told(&self) -> &[Told] {
        &self.told
    }

    /// How urgent the most urgent item is.
    pub fn urgency(&self) -> Urgency {
        self.told.first().map_or(Urgency::Should, |told| told.urgency(self.at))
    }

    /// What it is about, on one line.
    pub fn title(&self) -> String {
        match &self.told[..] {
            [only] => format!("[{}] {}", only.place(), only.title()),
            all => {
                let first = &all[0].project;
                let place = match all.iter().all(|told| told.project == *first) {
                    true => format!("[{}] ", all[0].place()),
                    false => String::new(),
                };
                let urgent = all.iter().filter(|it| it.urgency(self.at) <= Urgency::Chain).count();
                let urgent = if urgent > 0 { format!(", {urgent} urgent") } else { String::new() };
                format!("{place}{} wait for people{urgent}", all.len())
            }
        }
    }

    /// The page of the one item of the message, if it has one.
    pub fn link(&self) -> Option<String> {
        match &self.told[..] {
            [only] => self.link_of(only),
            _ => None,
        }
    }

    /// The page of an item. Only questions of live sessions have one.
    pub(crate) fn link_of(&self, told: &Told) -> Option<String> {
        let waiting = &told.waiting;
        let url = self.url.as_deref().filter(|_| waiting.kind == kind::LIVE_ASK)?;
        Some(format!("{url}/live/{}", percent_encoded(&waiting.subject)))
    }

    /// The message as a document.
    pub fn document(&self) -> Notification {
        Notification {
            id: self.id.clone(),
            receiver: self.receiver.clone(),
            at: Timestamp::emit(self.at),
            title: self.title(),
            count: self.told.len() as u64,
            urgency: u64::from(self.urgency().number()),
            items: self.told.iter().take(NAMED).map(|told| self.item(told)).collect(),
            link: self.link(),
            extra: Object::new(),
        }
    }

    fn item(&self, told: &Told) -> NotificationItem {
        let item = told.waiting.item(&told.project, self.at);
        NotificationItem {
            title: told.title(),
            asked_by: told.asked_by(),
            link: self.link_of(told),
            id: item.id,
            handle: item.handle,
            kind: item.kind,
            project_id: item.project_id,
            since: item.since,
            deadline: item.deadline,
            urgency: item.urgency,
            reason: item.reason,
            behind: item.behind,
            extra: Object::new(),
        }
    }
}
