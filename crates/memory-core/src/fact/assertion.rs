//! The request that asserts a fact.

use accord_base::credential::{CredentialPlace, find_in};
use accord_contract::wire::Ratio;
use accord_contract::{Failure, Field, Limits, Object, Timestamp, Value, Wire as _, message};

use crate::limits::{KEY, MAX_DOCUMENT_BYTES, MAX_ITEMS, TEXT, VALUE};
use crate::refuse::check_actor;
use crate::{Actor, FactId, PackageId, ProjectId, refuse, text};

message! {
    // Clauses: AGENTIC-R-080, AGENTIC-R-082, AGENTIC-R-083, AGENTIC-R-096.
    /// Asserts that something holds.
    pub struct FactAssertion("FactAssertion", open) {
        /// What the fact is about.
        required subject: String = "subject", "fact-subject", Limits::text(KEY);
        /// Which property of it.
        required predicate: String = "predicate", "fact-predicate", Limits::text(KEY);
        /// The value. Numbers are texts too.
        required value: String = "value", "fact-value", Limits::text(VALUE);
        /// The start of its validity; now if absent.
        nullable valid_from: Timestamp = "valid_from", "time:rfc-3339-utc";
        /// The package that it is asserted with.
        nullable source_package_id: String = "source_package_id", "package-id";
        /// The confidence, from 0 to 1; 1 if absent.
        nullable confidence: Ratio = "confidence", "confidence";
        /// Who asserts it; the author of the source package if absent.
        nullable asserted_by: Actor = "asserted_by", "actor";
        /// Labels.
        nullable tags: Vec<String> = "tags", "labels", Limits::texts(MAX_ITEMS, TEXT);
        /// An id that the client chose: sent twice, the fact is asserted once.
        nullable fact_id: FactId = "fact_id", "fact-id";
        /// The project; it must be the one that the request names.
        nullable project_id: ProjectId = "project_id", "project-id", Limits::read_only();
        /// When it was recorded. The server sets it; a value is ignored.
        nullable created_at: Timestamp = "created_at", "time:rfc-3339-utc", Limits::read_only();
        /// Must be null: an assertion has no end.
        nullable valid_to: Timestamp = "valid_to", "time:rfc-3339-utc", Limits::read_only();
    }
}

#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Assertion {
    /// The places with credentials.
    pub credentials: Vec<CredentialPlace>,
    pub fact_id: Option<FactId>,
    pub subject: String,
    pub predicate: String,
    pub value: String,
    pub valid_from: Option<Timestamp>,
    pub source_package_id: Option<PackageId>,
    pub confidence: Ratio,
    pub asserted_by: Option<Actor>,
    pub tags: Vec<String>,
    pub extra: Object,
}

impl Assertion {
    /// Reads an assertion that was sent to a project. Fails when the body is not an assertion, or
    /// names another project.
    pub fn parse(body: &[u8], project: &ProjectId) -> Result<Self, Failure> {
        let members = Value::Object(text::object(body, MAX_DOCUMENT_BYTES)?);
        let credentials = find_in(&members);
        let sent = FactAssertion::from_document(members).map_err(refuse::decoded)?;
        if sent.project_id.value().is_some_and(|named| named != project) {
            let message = "the fact says that it belongs to another project";
            return Err(refuse::schema("/project_id", message));
        }
        if sent.valid_to.value().is_some() {
            let message = "an assertion has no end; invalidate the fact when it ceases to hold";
            return Err(refuse::schema("/valid_to", message));
        }
        if let Some(actor) = sent.asserted_by.value() {
            check_actor("/asserted_by", actor)?;
        }
        let source = sent.source_package_id.value().filter(|id| !id.is_empty());
        let source = source.map(|id| PackageId::new(id.as_str())).transpose();
        let source =
            source.map_err(|error| refuse::schema("/source_package_id", error.to_string()))?;
        Ok(Self {
            credentials,
            fact_id: take(sent.fact_id),
            subject: sent.subject,
            predicate: sent.predicate,
            value: sent.value,
            valid_from: take(sent.valid_from),
            source_package_id: source,
            confidence: take(sent.confidence).unwrap_or_else(certain),
            asserted_by: take(sent.asserted_by),
            tags: take(sent.tags).unwrap_or_default(),
            extra: sent.extra,
        })
    }
}

fn certain() -> Ratio {
    let one = serde_json::Number::from_f64(1.0).expect("one is finite");
    Ratio::new(one).expect("one is within 0 and 1")
}

fn take<T>(field: Field<T>) -> Option<T> {
    match field {
        Field::Value(value) => Some(value),
        Field::Absent | Field::Null => None,
    }
}
