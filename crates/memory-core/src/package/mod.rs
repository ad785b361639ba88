//! Context packages: the submitted text, its parsed members, and its hash.
//!
//! Invariants:
//! - the text of a package is what was submitted, without the transport member `content_hash`; it
//!   is never rewritten from a parsed value;
//! - [`Package::content_hash`] is the hash of [`Package::text`];
//! - validation depends only on what the hash covers: an optional member that is `null` counts as
//!   absent, and `5.0` as `5`.

mod fields;
pub mod flow;
pub use self::flow::is_by_accord;
mod head;
mod kinds;
mod links;
mod mint;
mod question_key;
mod searchable;

use accord_base::credential::{CredentialPlace, find_in, may_be_in};
use accord_contract::{Code, Failure, Wire as _};

pub use fields::{Deliverable, PackageFields};
pub use head::{HeadActor, PackageHead};
pub use kinds::{
    KnownPackageType, NextActor, PackageType, ReviewType, Significance, Status, Title, Version,
};
pub use links::{
    ANSWERS, AnswerLink, AnsweredPlace, AnsweredQuestion, Links, SUPERSEDES, answer_item,
};
pub use mint::with_minted_id;
pub use question_key::QuestionKey;
pub use searchable::SearchTexts;

use crate::limits::MAX_PACKAGE_BYTES;
use crate::{ContentHash, PackageId, ProjectId, refuse, text};

/// Clauses: AGENTIC-R-004, AGENTIC-R-116.
pub const PROTOCOL_VERSION: &str = "0.1";
/// The member of a package in transport that carries its hash.
pub const CONTENT_HASH: &str = "content_hash";

/// Clauses: AGENTIC-R-019, AGENTIC-R-020, AGENTIC-R-021, AGENTIC-R-025, AGENTIC-R-039,
/// AGENTIC-A-08.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Package {
    text: String,
    content_hash: ContentHash,
    fields: PackageFields,
}

impl Package {
    /// Reads a package as it is submitted. A member `content_hash` is removed, and must be the hash
    /// of the rest. Fails when the text is not a package, is too large, or its hash is wrong.
    pub fn parse(submitted: &[u8]) -> Result<Self, Failure> {
        Self::parse_within(submitted, MAX_PACKAGE_BYTES)
    }

    /// Reads a package that was stored elsewhere. Its transitions may have made it
    /// slightly longer than the limit of a submission.
    pub(crate) fn parse_exported(text: &[u8]) -> Result<Self, Failure> {
        Self::parse_within(text, MAX_PACKAGE_BYTES + 64)
    }

    /// Clauses: AGENTIC-R-021, AGENTIC-R-043, AGENTIC-A-06.
    fn parse_within(submitted: &[u8], limit: usize) -> Result<Self, Failure> {
        text::check_size(submitted, limit)?;
        let submitted = std::str::from_utf8(submitted)
            .map_err(|_| refuse::schema("", "the body is not UTF-8"))?
            .trim_matches([' ', '\n', '\r', '\t']);
        let claim = text::member(submitted, CONTENT_HASH).map_err(refuse::canon)?;
        let Some(claim) = claim else { return Self::read(submitted.to_owned()) };
        let claimed = text::document(submitted[claim.clone()].as_bytes())?;
        let package = Self::read(text::without(submitted, &claim))?;
        if claimed.is_null() || claimed == package.content_hash.to_string() {
            return Ok(package);
        }
        let message =
            format!("the content hash is {}; the package says {claimed}", package.content_hash);
        Err(Failure::new(Code::AgenticHashMismatch, message).at("/content_hash"))
    }

    /// Reads a stored text, which must still have its hash. Fails with `integrity_error` when its
    /// hash is another one, or it is not a package.
    pub fn from_stored(stored: String, hash: &ContentHash) -> Result<Self, Failure> {
        verify(&stored, hash)?;
        Self::read(stored).map_err(|failure| broken(&failure.message))
    }

    /// Refuses a package that names another project. Fails with `invalid_schema` at `project_id`.
    /// Clauses: AGENTIC-R-023, AGENTIC-A-05.
    pub fn must_belong_to(&self, project: &ProjectId) -> Result<(), Failure> {
        if self.project_id() == project {
            return Ok(());
        }
        let (own, sent) = (self.project_id().as_str(), project.as_str());
        let message =
            format!("the package says that it belongs to {own:?}, and was sent to {sent:?}");
        Err(refuse::schema("/project_id", message))
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn content_hash(&self) -> &ContentHash {
        &self.content_hash
    }

    pub fn fields(&self) -> &PackageFields {
        &self.fields
    }

    /// The places with credentials.
    pub fn credentials(&self) -> Vec<CredentialPlace> {
        if !may_be_in(&self.text) {
            return Vec::new();
        }
        let document = text::document(self.text.as_bytes()).expect("a package is sound JSON");
        find_in(&document)
    }

    pub fn package_id(&self) -> &PackageId {
        &self.fields.package_id
    }

    pub fn project_id(&self) -> &ProjectId {
        &self.fields.project_id
    }

    pub fn status(&self) -> Status {
        self.fields.status
    }

    pub fn review_type(&self) -> ReviewType {
        self.fields.review_type
    }

    /// The same package in another state; no other byte of its text changes.
    /// Clauses: AGENTIC-R-055, AGENTIC-A-02.
    pub(crate) fn in_state(&self, status: Status, review_type: ReviewType) -> Self {
        let status_text = text::quoted(status.as_str());
        let review_text = text::quoted(review_type.as_str());
        let values = [("status", status_text.as_str()), ("review_type", review_text.as_str())];
        let changed = text::replace(&self.text, &values).expect("a package's text is sound JSON");
        let content_hash =
            ContentHash::of(changed.as_bytes()).expect("two words keep the text canonical");
        let mut fields = self.fields.clone();
        fields.status = status;
        fields.review_type = review_type;
        Self { text: changed, content_hash, fields }
    }

    /// The package in transport: its text with the member `content_hash`.
    pub fn transport_text(&self) -> String {
        transport_text(&self.text, &self.content_hash)
    }

    fn read(package: String) -> Result<Self, Failure> {
        // The hash first: canonicalisation refuses duplicate members and deep nesting, which
        // `document` relies on.
        let content_hash = ContentHash::of(package.as_bytes()).map_err(refuse::canon)?;
        let document = text::document(package.as_bytes())?;
        let fields = PackageFields::from_document(document).map_err(refuse::decoded)?;
        refuse::check_actor("/created_by", &fields.created_by)?;
        Ok(Self { text: package, content_hash, fields })
    }
}

/// Refuses a stored text that no longer has its hash.
pub fn verify(stored: &str, hash: &ContentHash) -> Result<(), Failure> {
    match ContentHash::of(stored.as_bytes()) {
        Ok(found) if found == *hash => Ok(()),
        Ok(found) => Err(broken(&format!("its hash is {found}, and was {hash}"))),
        Err(error) => Err(broken(&error.to_string())),
    }
}

/// A stored package in transport: its text with the member `content_hash`.
/// Clauses: AGENTIC-R-027, AGENTIC-A-06.
pub fn transport_text(stored: &str, hash: &ContentHash) -> String {
    text::append(stored, CONTENT_HASH, &text::quoted(&hash.to_string()))
}

/// Clauses: AGENTIC-R-057, AGENTIC-R-073.
pub fn not_found(package: &PackageId) -> Failure {
    let message = format!("there is no package {:?}", package.as_str());
    Failure::new(Code::AgenticPackageNotFound, message)
}

fn broken(detail: &str) -> Failure {
    let message = format!("a stored package is damaged: {detail}");
    Failure::new(Code::AgenticIntegrityError, message)
}
