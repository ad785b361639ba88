//! The members of a package.

use accord_contract::{Limits, Timestamp, Value, message};

use super::links::{answers_shape, supersedes_shape};
use super::{NextActor, PackageType, ReviewType, Significance, Status, Title, Version};
use crate::limits::{MAX_EXACT, MAX_ITEMS, PROSE, TEXT};
use crate::{Actor, ContentHash, PackageId, ProjectId};

message! {
    // Clauses: AGENTIC-R-001, AGENTIC-R-015, AGENTIC-R-016, AGENTIC-R-023.
    /// An immutable record of work done and decisions made.
    pub struct PackageFields("Package", open) {
        /// The package's id, unique in its project.
        required package_id: PackageId = "package_id", "package-id";
        /// The project that owns the package.
        required project_id: ProjectId = "project_id", "project-id";
        /// The version of the protocol, 0.1.
        required relay_version: Version = "relay_version", "protocol-version";
        /// What the package is about, in 1 to 200 characters.
        required title: Title = "title", "text-for-people";
        /// The status of the package.
        required status: Status = "status", "package-status";
        /// What kind of package it is; extensions begin with x-.
        required package_type: PackageType = "package_type", "package-type";
        /// Who reviews the package.
        required review_type: ReviewType = "review_type", "review-type";
        /// When the package was created, in UTC.
        required created_at: Timestamp = "created_at", "time:rfc-3339-utc";
        /// Who created the package.
        required created_by: Actor = "created_by", "actor";
        /// What the package is about, at length.
        nullable description: String = "description", "text-for-people", Limits::text(PROSE);
        /// Labels.
        nullable tags: Vec<String> = "tags", "labels", Limits::texts(MAX_ITEMS, TEXT);
        /// The decisions that the package records.
        nullable decisions_made: Vec<String> = "decisions_made", "decisions",
            Limits::texts(MAX_ITEMS, TEXT);
        /// The questions that the package leaves open.
        nullable open_questions: Vec<String> = "open_questions", "questions",
            Limits::texts(MAX_ITEMS, TEXT);
        /// What the next actor should know.
        nullable handoff_note: String = "handoff_note", "text-for-people", Limits::text(PROSE);
        /// Who should continue; a hint.
        nullable estimated_next_actor: NextActor = "estimated_next_actor", "next-actor";
        /// What the work produced.
        nullable deliverables: Vec<Deliverable> = "deliverables", "deliverables",
            Limits::items(MAX_ITEMS);
        /// The package that this one extends or supersedes.
        nullable parent_package_id: String = "parent_package_id", "package-id", Limits::text(TEXT);
        /// How much the package matters, from 1 to 10; 5 if absent.
        nullable significance: Significance = "significance", "significance";
        /// A body in Markdown.
        nullable content_md: String = "content_md", "markdown", Limits::text(PROSE);
        /// The subject area.
        nullable topic: String = "topic", "label", Limits::text(TEXT);
        /// A narrower kind.
        nullable artifact_type: String = "artifact_type", "label", Limits::text(TEXT);
        /// Where an implementation keeps uploaded deliverables.
        nullable storage_path: String = "storage_path", "path", Limits::text(TEXT);
    }
    adds {
        /// The hash of the package. A client that sends it must send the right one.
        "content_hash": ContentHash;
        /// Warnings about a deposit or a review: a list of Warning. If the package has a member of
        /// this name, it is served as it was deposited, and the header X-Accord-Warnings has the
        /// warnings.
        "warnings": Value;
    }
    extensions {
        /// The questions that the package answers. Only a complete package answers any.
        "x-answers": answers_shape();
        /// The ids of packages that this one supersedes. Only a complete package supersedes any.
        "x-supersedes": supersedes_shape();
    }

    // Clauses: AGENTIC-R-018.
    /// Something that the work produced.
    pub struct Deliverable("Deliverable", open) {
        /// A path within the project, or a URL.
        required path: String = "path", "path";
        /// What kind of content it is, such as md or json.
        required kind: String = "type", "content-type";
        /// The hash of the content, as algorithm, colon and hexadecimal digits.
        nullable hash: String = "hash", "content-hash";
        /// The size of the content.
        nullable size_bytes: u64 = "size_bytes", "bytes", Limits::whole(0, MAX_EXACT);
    }
}

impl PackageFields {
    /// How much the package matters.
    /// Clauses: AGENTIC-R-017.
    pub fn significance(&self) -> Significance {
        self.significance.value().copied().unwrap_or(Significance::DEFAULT)
    }

    pub fn open_questions(&self) -> &[String] {
        self.open_questions.value().map_or(&[], Vec::as_slice)
    }

    pub fn decisions_made(&self) -> &[String] {
        self.decisions_made.value().map_or(&[], Vec::as_slice)
    }

    pub fn tags(&self) -> &[String] {
        self.tags.value().map_or(&[], Vec::as_slice)
    }

    pub fn deliverables(&self) -> &[Deliverable] {
        self.deliverables.value().map_or(&[], Vec::as_slice)
    }

    /// What the next actor should know; empty if absent.
    pub fn handoff_note(&self) -> &str {
        self.handoff_note.value().map_or("", String::as_str)
    }

    /// What the package is about, at length; empty if absent.
    pub fn description(&self) -> &str {
        self.description.value().map_or("", String::as_str)
    }

    /// The body in Markdown; empty if absent.
    pub fn content_md(&self) -> &str {
        self.content_md.value().map_or("", String::as_str)
    }

    pub fn topic(&self) -> Option<&str> {
        self.topic.value().map(String::as_str)
    }

    /// The package that this one extends or supersedes. A text that is not an id, such as the empty
    /// one, counts as absent.
    pub fn parent(&self) -> Option<PackageId> {
        PackageId::new(self.parent_package_id.value()?.as_str()).ok()
    }
}
