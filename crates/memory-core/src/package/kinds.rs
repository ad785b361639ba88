//! The small values of packages.

use accord_contract::wire::{DecodeError, EnumShape, Form, Pointer, Shape};
use accord_contract::{Extensible, TextForm, Value, Wire, wire_enum};

use super::PROTOCOL_VERSION;
use crate::limits::TITLE;

wire_enum! {
    // Clauses: AGENTIC-R-006.
    /// The status of a package.
    pub enum Status("PackageStatus", closed) {
        /// Work in progress.
        Draft = "draft",
        /// Final.
        Complete = "complete",
        /// Blocked on a reviewer.
        AwaitingReview = "awaiting_review",
        /// A reviewer asked for changes.
        RevisionRequested = "revision_requested",
    }

    // Clauses: AGENTIC-R-007.
    /// Who reviews a package.
    pub enum ReviewType("ReviewType", closed) {
        /// No review.
        None = "none",
        /// A person.
        Human = "human",
        /// An agent.
        Agent = "agent",
    }

    /// Who should pick the work up.
    pub enum NextActor("NextActor", closed) {
        /// A person.
        Human = "human",
        /// An agent.
        Agent = "agent",
    }

    // Clauses: AGENTIC-R-011.
    /// The kinds of package that the protocol names.
    pub enum KnownPackageType("PackageType", closed) {
        /// A package of no special kind.
        Standard = "standard",
        /// Something significant was finished or happened.
        Milestone = "milestone",
        /// A decision with its reasons.
        Decision = "decision",
        /// Work passes from one actor to another.
        Handoff = "handoff",
        /// Deposited automatically by a tool.
        AutoDeposit = "auto_deposit",
        /// The outcome of an analysis.
        Analysis = "analysis",
        /// A question that blocks the work.
        Question = "question",
        /// A synthesis of many packages.
        OrchestratorReport = "orchestrator_report",
    }
}

/// What kind of package it is: one that the protocol names, or an extension, which counts as
/// [`KnownPackageType::Standard`].
/// Clauses: AGENTIC-R-012, AGENTIC-R-013.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct PackageType(Extensible<KnownPackageType>);

/// A title of 1 to 200 characters.
/// Clauses: AGENTIC-R-005, AGENTIC-A-37.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Title(String);

/// How much a package matters, from 1 to 10.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Significance(u8);

/// Clauses: AGENTIC-R-004.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Version;

/// The types of packages, for JSON Schema.
const PACKAGE_TYPE: &str = concat!(
    "^(standard|milestone|decision|handoff|auto_deposit|analysis|question|orchestrator_report",
    r"|x-[\s\S]+)$",
);

impl PackageType {
    /// Reads a type: one of the protocol's, or `x-` and a name.
    pub fn parse(text: &str) -> Option<Self> {
        match Extensible::from_text(text) {
            Extensible::Unknown(other) if !is_extension(&other) => None,
            kind => Some(Self(kind)),
        }
    }

    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Clauses: AGENTIC-R-014.
    pub fn meaning(&self) -> KnownPackageType {
        self.0.known().unwrap_or(KnownPackageType::Standard)
    }
}

impl Wire for PackageType {
    fn shape() -> Shape {
        Shape::Form(TextForm::ANY.pattern(PACKAGE_TYPE).example("standard"))
    }

    fn decode(value: Value, at: &Pointer<'_>) -> Result<Self, DecodeError> {
        let text = String::decode(value, at)?;
        Self::parse(&text).ok_or_else(|| {
            let mut refused = DecodeError::wrong_value(at, &Shape::Text, &text.into());
            let names: Vec<_> = KnownPackageType::ALL.iter().map(|kind| kind.as_str()).collect();
            refused.expected = format!("one of {}, or x- and a name", names.join(", "));
            refused
        })
    }

    fn write(&self, _: Form) -> Value {
        self.as_str().into()
    }
}

impl Title {
    pub fn parse(text: impl Into<String>) -> Option<Self> {
        let text = text.into();
        TITLE.check(&text).ok().map(|()| Self(text))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Wire for Title {
    fn shape() -> Shape {
        Shape::Form(TITLE)
    }

    fn decode(value: Value, at: &Pointer<'_>) -> Result<Self, DecodeError> {
        let text = String::decode(value, at)?;
        Self::parse(text.as_str())
            .ok_or_else(|| DecodeError::wrong_value(at, &Self::shape(), &text.into()))
    }

    fn write(&self, _: Form) -> Value {
        self.0.as_str().into()
    }
}

impl Significance {
    /// The significance of a package that names none.
    pub const DEFAULT: Self = Self(5);

    const LEAST: i64 = 1;
    const MOST: i64 = 10;

    pub fn new(number: u64) -> Option<Self> {
        let number = u8::try_from(number).ok()?;
        (Self::LEAST..=Self::MOST).contains(&number.into()).then_some(Self(number))
    }

    pub fn number(self) -> u8 {
        self.0
    }
}

impl Wire for Significance {
    fn shape() -> Shape {
        Shape::Integer { minimum: Some(Self::LEAST), maximum: Some(Self::MOST) }
    }

    fn decode(value: Value, at: &Pointer<'_>) -> Result<Self, DecodeError> {
        let number = i64::decode(value, at)?;
        let found = u64::try_from(number).ok().and_then(Self::new);
        found.ok_or_else(|| DecodeError::wrong_value(at, &Self::shape(), &number.into()))
    }

    fn write(&self, _: Form) -> Value {
        self.0.into()
    }
}

impl Wire for Version {
    fn shape() -> Shape {
        let members = vec![PROTOCOL_VERSION];
        Shape::Enum(EnumShape { name: "ProtocolVersion", open: false, members })
    }

    fn decode(value: Value, at: &Pointer<'_>) -> Result<Self, DecodeError> {
        let text = String::decode(value, at)?;
        if text == PROTOCOL_VERSION {
            return Ok(Self);
        }
        Err(DecodeError::wrong_value(at, &Self::shape(), &text.into()))
    }

    fn write(&self, _: Form) -> Value {
        PROTOCOL_VERSION.into()
    }
}

fn is_extension(text: &str) -> bool {
    text.strip_prefix("x-").is_some_and(|name| !name.is_empty())
}
