//! Positions in the lists of a project.

use accord_base::cursor::{decode, encode, invalid};
use accord_contract::{Failure, Time};

use crate::{Cursor, ProjectId};

/// A position among packages, newest first: by `created_at`, then by the store's number.
/// Clauses: AGENTIC-R-078.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PackagePosition {
    pub created_at: Time,
    /// The store's number of it.
    pub seq: u64,
}

/// A position among questions: the newest package that asks one, then its index there.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct QuestionPosition {
    pub package: PackagePosition,
    /// The index of the question in the package, from 0.
    pub index: u32,
}

/// A position among facts: by subject, predicate, start, then by the store's number.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FactPosition {
    pub subject: String,
    pub predicate: String,
    pub valid_from: Time,
    /// The store's number of it.
    pub seq: u64,
}

/// A position among sessions, newest first: by `started_at`, then by the store's number.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SessionPosition {
    pub started_at: Time,
    /// The store's number of it.
    pub seq: u64,
}

/// The position of a cursor, if one is given.
pub(super) fn after<C: Cursor>(
    cursor: Option<String>,
    project: &ProjectId,
) -> Result<Option<C>, Failure> {
    cursor.map(|text| C::decode(&text, project)).transpose()
}

impl Cursor for PackagePosition {
    fn encode(&self, project: &ProjectId) -> String {
        encode("p", project, [], self.created_at, self.seq)
    }

    fn decode(text: &str, project: &ProjectId) -> Result<Self, Failure> {
        let ([], created_at, seq) = decode("p", project, text)?;
        Ok(Self { created_at, seq })
    }
}

impl Cursor for QuestionPosition {
    fn encode(&self, project: &ProjectId) -> String {
        let PackagePosition { created_at, seq } = self.package;
        encode("q", project, [self.index.to_string().as_str()], created_at, seq)
    }

    fn decode(text: &str, project: &ProjectId) -> Result<Self, Failure> {
        let ([index], created_at, seq) = decode("q", project, text)?;
        let index = index.parse().map_err(|_| invalid())?;
        Ok(Self { package: PackagePosition { created_at, seq }, index })
    }
}

impl Cursor for FactPosition {
    fn encode(&self, project: &ProjectId) -> String {
        let texts = [self.subject.as_str(), self.predicate.as_str()];
        encode("f", project, texts, self.valid_from, self.seq)
    }

    fn decode(text: &str, project: &ProjectId) -> Result<Self, Failure> {
        let ([subject, predicate], valid_from, seq) = decode("f", project, text)?;
        Ok(Self { subject, predicate, valid_from, seq })
    }
}

impl Cursor for SessionPosition {
    fn encode(&self, project: &ProjectId) -> String {
        encode("s", project, [], self.started_at, self.seq)
    }

    fn decode(text: &str, project: &ProjectId) -> Result<Self, Failure> {
        let ([], started_at, seq) = decode("s", project, text)?;
        Ok(Self { started_at, seq })
    }
}
