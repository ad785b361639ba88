//! Facts: what is true now, and what was true before.
//!
//! The facts of one subject and predicate in one project are a chain. Invariants:
//! - at most one fact of a chain is current (has no end);
//! - no two facts of a chain hold at the same time; a fact that never held (its end is its start)
//!   does not count;
//! - a gap between two facts exists only where an invalidation made it;
//! - filling in an earlier fact never lengthens one that was invalidated;
//! - unknown members are kept.

mod assert;
mod assertion;
mod chain;
mod import;
mod invalidate;

use accord_contract::wire::Ratio;
use accord_contract::{Code, Failure, Limits, Object, Time, Timestamp, Value, Wire as _, message};

pub use assert::{AssertOptions, AssertState, Asserted, OutOfOrder, assert};
pub use assertion::{Assertion, FactAssertion};
pub use chain::{Placement, Span, check_chain, place};
pub use import::{ImportState, Imported, import};
pub use invalidate::invalidate;

use crate::limits::{KEY, MAX_ITEMS, TEXT, VALUE};
use crate::refuse::check_actor;
use crate::{Actor, FactId, PackageId, ProjectId, refuse};

message! {
    // Clauses: AGENTIC-R-080, AGENTIC-R-082, AGENTIC-R-083, AGENTIC-R-085.
    /// A statement that holds for a while.
    pub struct Fact("Fact", open) {
        /// The fact's id.
        required fact_id: FactId = "fact_id", "fact-id";
        /// The project that owns the fact.
        required project_id: ProjectId = "project_id", "project-id";
        /// What the fact is about.
        required subject: String = "subject", "fact-subject", Limits::text(KEY);
        /// Which property of it.
        required predicate: String = "predicate", "fact-predicate", Limits::text(KEY);
        /// The value. Numbers are texts too.
        required value: String = "value", "fact-value", Limits::text(VALUE);
        /// The start of its validity.
        required valid_from: Timestamp = "valid_from", "time:rfc-3339-utc";
        /// The end of its validity; null while it is current.
        required_or_null valid_to: Timestamp = "valid_to", "time:rfc-3339-utc";
        /// The package that it was asserted with.
        required_or_null source_package_id: PackageId = "source_package_id", "package-id";
        /// The confidence of the actor who asserted it, from 0 to 1.
        required confidence: Ratio = "confidence", "confidence";
        /// Who asserted it.
        required_or_null asserted_by: Actor = "asserted_by", "actor";
        /// When it was recorded.
        required created_at: Timestamp = "created_at", "time:rfc-3339-utc";
        /// Labels.
        required tags: Vec<String> = "tags", "labels", Limits::texts(MAX_ITEMS, TEXT);
    }
    adds {
        /// Warnings about an assertion: a list of Warning. If the fact has a member of this name,
        /// it is served as it was sent, and the header X-Accord-Warnings has the warnings.
        "warnings": Value;
    }
}

impl Fact {
    /// Reads a fact as it is exported or stored: as [`Fact`] writes it, or without the members that
    /// have a default. Fails when the members are not a fact, or it ends before it begins.
    pub fn read(mut members: Object) -> Result<Self, Failure> {
        for (name, default) in [
            ("valid_to", Value::Null),
            ("source_package_id", Value::Null),
            ("confidence", 1.0.into()),
            ("asserted_by", Value::Null),
            ("tags", Value::Array(Vec::new())),
        ] {
            let member = members.entry(name).or_insert(Value::Null);
            if member.is_null() || (name == "source_package_id" && member == "") {
                *member = default;
            }
        }
        let fact = Self::from_document(Value::Object(members)).map_err(refuse::decoded)?;
        if let Some(actor) = &fact.asserted_by {
            check_actor("/asserted_by", actor)?;
        }
        if fact.span().is_backward() {
            return Err(refuse::schema("/valid_to", "a fact cannot end before it begins"));
        }
        Ok(fact)
    }

    pub fn span(&self) -> Span {
        Span { from: self.valid_from.clone(), to: self.valid_to.clone() }
    }

    /// Whether the fact has no end.
    /// Clauses: AGENTIC-R-089.
    pub fn is_current(&self) -> bool {
        self.valid_to.is_none()
    }

    /// Whether the fact holds at an instant.
    /// Clauses: AGENTIC-R-090.
    pub fn holds_at(&self, instant: Time) -> bool {
        self.valid_from.time() <= instant
            && (self.valid_to.as_ref()).is_none_or(|to| instant < to.time())
    }
}

pub fn not_found(fact: &FactId) -> Failure {
    let message = format!("there is no fact {:?}", fact.as_str());
    Failure::new(Code::AgenticFactNotFound, message)
}
