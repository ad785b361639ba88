//! A case: one promise of a protocol as data, with its input and its expected outcome. Five
//! documents describe cases ([`CallCase`], [`FixtureCase`], [`HttpCase`], [`ChannelCase`],
//! [`FolderCase`]). All are read into one [`Case`]; only drivers look at its [`Task`].

mod browse;
mod call;
mod channel;
mod document;
mod exchange;
mod expectation;
mod fixture;
mod folder;

use accord_contract::fixture::Vocabulary;
use accord_contract::wire::{DecodeError, Form, Pointer, Shape};
use accord_contract::{Object, Value, Wire, wire_enum};

pub use browse::{Browse, BrowserFault};
pub use call::{Call, CallCase, CaseInput};
pub use channel::{
    Channel, ChannelCase, FrameCapture, FrameCheck, Move, Opening, ServerClose, SessionField,
    ToolCall, ToolOutcome,
};
pub use exchange::{
    Credential, Exchange, Generator, GeneratorKind, HttpCase, Request, Step, Tally,
};
pub use expectation::{Check, CheckKind, Comparison, Expectation, InsteadOfPass, Order};
pub use fixture::{FixtureCase, FixtureMarks, FixtureNotes, PublishedFixture, PublishedInput};
pub use folder::{
    CheckList, Folder, FolderCase, FolderCheck, FolderStep, LineCheck, LineCount, TextCount,
};

wire_enum! {
    /// How strongly a clause, or a case that proves it, binds an implementation.
    pub enum Strength("Strength", closed) {
        /// Decides the verdict.
        Must = "must",
        /// Reported; does not decide the verdict.
        Should = "should",
        /// Reported; does not decide the verdict.
        May = "may",
        /// Not part of the protocol yet; reported, does not decide the verdict.
        Proposal = "proposal",
    }
}

/// One case of a conformance corpus.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Case {
    /// The path of the file below the corpus, without its ending.
    pub id: String,
    /// The protocol that the case belongs to.
    pub protocol: String,
    /// The level that the case belongs to, in protocols that have levels.
    pub level: Option<String>,
    /// The tier that the case belongs to, in protocols that have tiers.
    pub tier: Option<u64>,
    /// Whether the case decides the verdict.
    pub strength: Strength,
    /// The ids of the clauses that the case proves.
    pub clauses: Vec<String>,
    /// The set of stricter rules that the case belongs to; the case runs only when it is asked for.
    pub profile: Option<String>,
    /// The property under test, in one sentence.
    pub title: String,
    /// What to do, and the expected outcome.
    pub task: Task,
    /// The independent implementation that computed the digests that are expected.
    pub oracle: Option<String>,
}

/// What a case does, and the expected outcome.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Task {
    /// Calls an operation of an adapter.
    Call(Call),
    /// Runs a sequence of exchanges with a server.
    Exchange(Exchange),
    /// Makes a sequence of moves on sockets to a server.
    Channel(Channel),
    /// Works in a folder, which is inspected afterwards.
    Folder(Folder),
}

impl Case {
    /// The level, or the tier's number, as text.
    pub fn level(&self) -> String {
        match (&self.level, self.tier) {
            (Some(level), _) => level.clone(),
            (None, Some(tier)) => tier.to_string(),
            (None, None) => String::new(),
        }
    }

    /// The second segment of the id.
    pub fn area(&self) -> &str {
        self.id.split('/').nth(1).unwrap_or_default()
    }

    /// The operation under test: an adapter's, or the route or tool of the last step.
    pub fn operation(&self) -> &str {
        self.operations().last().unwrap_or_default()
    }

    /// Every operation, route or tool that the case uses.
    pub fn operations(&self) -> impl Iterator<Item = &str> {
        let found: Vec<&str> = match &self.task {
            Task::Call(call) => vec![call.input.operation.as_str()],
            Task::Exchange(exchange) => {
                exchange.steps.iter().map(|step| step.request.route.as_str()).collect()
            }
            Task::Channel(channel) => channel.moves.iter().filter_map(Move::operation).collect(),
            Task::Folder(folder) => {
                folder.steps.iter().filter_map(|step| step.action.as_deref()).collect()
            }
        };
        found.into_iter()
    }

    /// An argument of the operation; null if absent.
    pub fn argument(&self, name: &str) -> &Value {
        let call = match &self.task {
            Task::Call(call) => Some(call),
            Task::Exchange(_) | Task::Channel(_) | Task::Folder(_) => None,
        };
        call.and_then(|call| call.input.args.get(name)).unwrap_or(&Value::Null)
    }

    /// The expectation, in the form that the comparison takes.
    pub fn expectation(&self) -> Value {
        match &self.task {
            Task::Call(call) => Value::Object(call.expected.clone()),
            Task::Exchange(_) | Task::Channel(_) | Task::Folder(_) => Value::Object(Object::new()),
        }
    }
}

impl Case {
    /// The assertions that the expectation may use: for a published fixture, those of its format.
    pub fn vocabulary(&self) -> Vocabulary {
        match &self.task {
            Task::Call(Call { fixture: Some(_), .. }) => Vocabulary::Published,
            Task::Call(_) | Task::Exchange(_) | Task::Channel(_) | Task::Folder(_) => {
                Vocabulary::Kit
            }
        }
    }
}

impl Wire for Case {
    fn shape() -> Shape {
        CallCase::shape()
    }

    /// The documents have `files`, `moves`, `steps` or `fixture_id`, in this order.
    fn decode(value: Value, at: &Pointer<'_>) -> Result<Self, DecodeError> {
        if value.get("files").is_some() {
            FolderCase::decode(value, at).map(Self::from)
        } else if value.get("moves").is_some() {
            ChannelCase::decode(value, at).map(Self::from)
        } else if value.get("steps").is_some() {
            HttpCase::decode(value, at).map(Self::from)
        } else if value.get("fixture_id").is_some() {
            FixtureCase::decode(value, at).map(Self::from)
        } else {
            CallCase::decode(value, at).map(Self::from)
        }
    }

    fn write(&self, form: Form) -> Value {
        match &self.task {
            Task::Call(call) => match &call.fixture {
                None => CallCase::of(self, call).write(form),
                Some(marks) => match &marks.published {
                    // A fixture of another corpus is sent as it was read.
                    Some(document) => document.clone(),
                    None => FixtureCase::of(self, call, marks).write(form),
                },
            },
            Task::Exchange(exchange) => HttpCase::of(self, exchange).write(form),
            Task::Channel(channel) => ChannelCase::of(self, channel).write(form),
            Task::Folder(folder) => FolderCase::of(self, folder).write(form),
        }
    }
}
