//! A case: one promise of a protocol as data, with what to do and what must come of it.
//!
//! Three documents describe cases: a [`CallCase`] asks an adapter for an operation, a
//! [`FixtureCase`] does so in the form of a published fixture, and an [`HttpCase`] asks a server
//! for a row of exchanges. All are read into one [`Case`], so that choosing, running, judging and
//! reporting know one kind of case; only drivers look at its [`Task`].

mod call;
mod exchange;
mod expectation;
mod fixture;

use accord_contract::fixture::Vocabulary;
use accord_contract::wire::{DecodeError, Form, Object, Pointer, Shape, Value, Wire, wire_enum};

pub use call::{Call, CallCase, CaseInput};
pub use exchange::{
    Credential, Exchange, Generator, GeneratorKind, HttpCase, Request, Step, Tally,
};
pub use expectation::{Check, CheckKind, Comparison, Expectation, InsteadOfPass, Order};
pub use fixture::{FixtureCase, FixtureMarks, FixtureNotes, PublishedFixture, PublishedInput};

wire_enum! {
    /// How strongly a clause, or a case that proves it, binds an implementation.
    pub enum Strength("Strength", closed) {
        /// Decides the verdict.
        Must = "must",
        /// Reported, without a say in the verdict.
        Should = "should",
        /// Reported, without a say in the verdict.
        May = "may",
        /// Not part of the protocol yet; reported, without a say in the verdict.
        Proposal = "proposal",
    }
}

/// One case of a conformance corpus.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Case {
    /// The path of the file below the corpus, without its ending.
    pub id: String,
    /// The protocol whose promise this is.
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
    /// What must hold, in one sentence.
    pub title: String,
    /// What to do, and what must come of it.
    pub task: Task,
    /// The independent implementation that computed the digests that are expected.
    pub oracle: Option<String>,
}

/// What a case does, and what must come of it.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Task {
    /// Asks an adapter for an operation.
    Call(Call),
    /// Asks a server for a row of exchanges.
    Exchange(Exchange),
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

    /// The operation that the case is about: an adapter's, or the route of the last step.
    pub fn operation(&self) -> &str {
        self.operations().last().unwrap_or_default()
    }

    /// Every operation or route that the case uses.
    pub fn operations(&self) -> impl Iterator<Item = &str> {
        let (call, steps) = match &self.task {
            Task::Call(call) => (Some(call.input.operation.as_str()), &[][..]),
            Task::Exchange(exchange) => (None, exchange.steps.as_slice()),
        };
        let routes = steps.iter().map(|step| step.request.route.as_str());
        call.into_iter().chain(routes)
    }

    /// An argument of the operation that an adapter is asked for; null where there is none.
    pub fn argument(&self, name: &str) -> &Value {
        let call = match &self.task {
            Task::Call(call) => Some(call),
            Task::Exchange(_) => None,
        };
        call.and_then(|call| call.input.args.get(name))
            .unwrap_or(&Value::Null)
    }

    /// What an adapter's outcome is compared with, as the rules of comparison take it.
    pub fn expectation(&self) -> Value {
        match &self.task {
            Task::Call(call) => Value::Object(call.expected.clone()),
            Task::Exchange(_) => Value::Object(Object::new()),
        }
    }
}

impl Case {
    /// The assertions that the expectation may use: a case in the form of a published fixture means
    /// what that form says.
    pub fn vocabulary(&self) -> Vocabulary {
        match &self.task {
            Task::Call(Call {
                fixture: Some(_), ..
            }) => Vocabulary::Published,
            Task::Call(_) | Task::Exchange(_) => Vocabulary::Kit,
        }
    }
}

impl Wire for Case {
    fn shape() -> Shape {
        CallCase::shape()
    }

    /// The members `steps` and `fixture_id` tell the documents apart, since only one of them has
    /// each.
    fn decode(value: Value, at: &Pointer<'_>) -> Result<Self, DecodeError> {
        if value.get("steps").is_some() {
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
                    Some(document) => document.clone(),
                    None => FixtureCase::of(self, call, marks).write(form),
                },
            },
            Task::Exchange(exchange) => HttpCase::of(self, exchange).write(form),
        }
    }
}
