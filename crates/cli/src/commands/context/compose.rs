//! Building a package, from flags or from a partial document.
//!
//! Invariant: the text of a document is sent byte for byte, because its hash covers it. Missing
//! members are inserted before the others.

use std::path::{Path, PathBuf};

use accord_contract::{Code, Field, Object, Timestamp, Wire};
use accord_memory_core::PackageId;
use accord_memory_core::package::{
    ANSWERS, AnsweredPlace, Deliverable, PROTOCOL_VERSION, PackageType, ReviewType, SUPERSEDES,
    Status, answer_item,
};
use clap::builder::PossibleValuesParser;

use super::relay_backup::digest_of;
use crate::arguments::timestamp;
use crate::host::{Connection, WriteArgs, no_actor};
use crate::{CliError, Result};

/// The members of a package.
#[derive(Debug, clap::Args)]
#[group(id = "compose", multiple = true)]
#[command(next_help_heading = "Package")]
pub(super) struct ComposeArgs {
    /// The title, 1 to 200 characters
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,

    /// A description
    #[arg(long, value_name = "TEXT", requires = "title")]
    description: Option<String>,

    /// A decision that was made; can be repeated
    #[arg(long = "decision", value_name = "TEXT", requires = "title")]
    decisions: Vec<String>,

    /// An open question; can be repeated
    #[arg(long = "question", value_name = "TEXT", requires = "title")]
    questions: Vec<String>,

    /// An open question that the package answers: its text, or ID#INDEX for the question at an
    /// index (from 0) of a package; can be repeated
    #[arg(long, value_name = "QUESTION", requires = "title")]
    answers: Vec<String>,

    /// A package that this one replaces; can be repeated
    #[arg(long, value_name = "ID", requires = "title")]
    supersedes: Vec<String>,

    /// A note for the next actor
    #[arg(long, value_name = "TEXT", requires = "title")]
    handoff: Option<String>,

    /// The type: standard, milestone, decision, handoff, auto_deposit, analysis, question,
    /// orchestrator_report, or a custom type that begins with x- [default: standard]
    #[arg(long = "type", value_name = "TYPE", requires = "title", value_parser = package_type)]
    package_type: Option<String>,

    /// The status [default: complete, or awaiting_review with --review]
    #[arg(long, value_name = "STATUS", requires = "title",
          value_parser = PossibleValuesParser::new(Status::ALL.iter().map(|it| it.as_str())))]
    status: Option<String>,

    /// Request a review by
    #[arg(long, value_name = "WHO", requires = "title", value_parser = ["human", "agent"])]
    review: Option<String>,

    /// A tag; can be repeated
    #[arg(long = "tag", value_name = "TEXT", requires = "title")]
    tags: Vec<String>,

    /// The significance, from 1 to 10
    #[arg(long, value_name = "N", requires = "title",
          value_parser = clap::value_parser!(u8).range(1..=10))]
    significance: Option<u8>,

    /// The package that this one corrects or continues
    #[arg(long, value_name = "ID", requires = "title")]
    parent: Option<String>,

    /// The subject area
    #[arg(long, value_name = "TEXT", requires = "title")]
    topic: Option<String>,

    /// A resulting file, recorded with its hash and size, or a URL; can be repeated
    #[arg(long = "deliverable", value_name = "PATH", requires = "title")]
    deliverables: Vec<PathBuf>,

    /// The package id [default: generated]. With --id and --created-at, repeating the command has
    /// no further effect
    #[arg(long, value_name = "ID", requires = "title")]
    id: Option<String>,

    /// The creation time, in UTC [default: now]
    #[arg(long, value_name = "TIME", requires = "title", value_parser = timestamp)]
    created_at: Option<Timestamp>,
}

/// A package without the members that have defaults.
#[derive(Default)]
pub(super) struct Draft {
    /// The text of a document; a draft from flags has none.
    text: Option<String>,
    members: Object,
}

pub(super) struct Composed {
    /// The project that it goes to.
    pub(super) project: String,
    pub(super) text: String,
}

impl ComposeArgs {
    pub(super) fn draft(&self) -> Result<Draft> {
        let status = match (&self.status, &self.review) {
            (None, Some(_)) => Some(Status::AwaitingReview.as_str().to_owned()),
            (status, _) => status.clone(),
        };
        let files = self.deliverables.iter().map(|path| deliverable(path));
        let files: Vec<Deliverable> = files.collect::<Result<_, _>>()?;
        Ok(Draft::default()
            .with("package_id", self.id.clone())
            .with("title", self.title.clone())
            .with("status", status)
            .with("package_type", self.package_type.clone())
            .with("review_type", self.review.clone())
            .with("created_at", self.created_at.clone())
            .with("description", self.description.clone())
            .with_all("tags", self.tags.clone())
            .with_all("decisions_made", self.decisions.clone())
            .with_all("open_questions", self.questions.clone())
            .with("handoff_note", self.handoff.clone())
            .with("parent_package_id", self.parent.clone())
            .with("significance", self.significance.map(u64::from))
            .with("topic", self.topic.clone())
            .with_all(ANSWERS, self.answers.iter().map(|text| answer_item(text)).collect())
            .with_all(SUPERSEDES, self.supersedes.clone())
            .with_all("deliverables", files))
    }

    /// Completes package ids that are given by their beginning. Returns whether there are any ids.
    pub(super) fn complete_ids(&mut self, host: &Connection, project: &str) -> Result<bool> {
        let mut any = false;
        let mut complete = |id: &str| {
            any = true;
            host.package_id(id, Some(project))
        };
        for id in self.supersedes.iter_mut().chain(&mut self.parent) {
            *id = complete(id)?;
        }
        for answer in &mut self.answers {
            if let Ok(place) = AnsweredPlace::from_document(answer_item(answer)) {
                *answer = format!("{}#{}", complete(place.package_id.as_str())?, place.index);
            }
        }
        Ok(any)
    }
}

impl Draft {
    /// Adds a member, if it has a value.
    pub(super) fn with(mut self, name: &str, value: Option<impl Wire>) -> Self {
        self.members.extend(value.map(|value| (name.to_owned(), value.encode())));
        self
    }

    /// Adds a list, if it has items.
    pub(super) fn with_all(self, name: &str, items: Vec<impl Wire>) -> Self {
        self.with(name, Some(items).filter(|items| !items.is_empty()))
    }

    pub(super) fn document(bytes: &[u8]) -> Result<Self> {
        let text = std::str::from_utf8(bytes)
            .map_err(|_| CliError::new(Code::CanonInvalidUtf8, "the package is not UTF-8"))?;
        // The canonicalizer reports the position of an error; serde_json does not.
        accord_canon::canonicalize(accord_canon::Profile::Agentic, bytes)
            .map_err(|error| CliError::from_canon(&error, bytes))?;
        let Ok(members) = serde_json::from_str(text) else {
            let message = "a package must be a JSON object";
            return Err(CliError::new(Code::AgenticInvalidSchema, message).at(""));
        };
        Ok(Self { text: Some(text.trim().to_owned()), members })
    }

    /// Fills in missing members: from flags, from the environment, or with defaults.
    pub(super) fn complete(self, to: &WriteArgs, host: &Connection) -> Result<Composed> {
        // `null` counts as absent, as in the hash of a package, which drops such members.
        let said = |name: &str| self.members.get(name).filter(|value| !value.is_null());
        let named = said("project_id").and_then(|named| named.as_str());
        let project = match (&to.project.project, named) {
            (None, Some(named)) => named.to_owned(),
            _ => to.project(host)?,
        };
        let author = match self.members.get("created_by") {
            None => Some(to.author(host)?.ok_or_else(no_actor)?),
            // The host refuses it and names the member. An author from elsewhere would not be sent.
            Some(null) if null.is_null() => None,
            Some(_) if to.actor.actor.is_some() || to.session.session.is_some() => {
                let message =
                    "the document has an author, which conflicts with --actor or --session";
                return Err(CliError::usage(message).at("/created_by"));
            }
            Some(_) => None,
        };
        let mut missing = Self::default()
            .with("package_id", Some(PackageId::mint(accord_system::random())))
            .with("project_id", Some(project.clone()))
            .with("relay_version", Some(PROTOCOL_VERSION.to_owned()))
            .with("status", Some(Status::Complete))
            .with("package_type", Some("standard".to_owned()))
            .with("review_type", Some(ReviewType::None))
            .with("created_at", Some(accord_system::now().to_string()))
            .with("created_by", author)
            .members;
        // A member that is `null` is not filled in: a second one of the same name would be refused.
        missing.retain(|name, _| !self.members.contains_key(name));
        let text = self.text.unwrap_or_else(|| self.members.encode().to_string());
        Ok(Composed { project, text: joined(&missing, &text) })
    }
}

/// Inserts members at the start of the text of an object.
fn joined(members: &Object, text: &str) -> String {
    let added = members.encode().to_string();
    // The text is that of an object and is trimmed, so it begins with a brace.
    let rest = text.strip_prefix('{').unwrap_or(text);
    let comma = match (members.is_empty(), rest.trim_start().starts_with('}')) {
        (false, false) => ",",
        _ => "",
    };
    format!("{}{comma}{rest}", &added[..added.len() - 1])
}

/// A deliverable: a URL, or a file with its hash and size.
fn deliverable(path: &Path) -> Result<Deliverable> {
    let name = path.to_string_lossy();
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    let mut found = Deliverable {
        path: name.strip_prefix("./").unwrap_or(&name).to_owned(),
        kind: extension.unwrap_or_else(|| "file".to_owned()),
        hash: Field::Absent,
        size_bytes: Field::Absent,
        extra: Object::new(),
    };
    if name.starts_with("http://") || name.starts_with("https://") {
        return Ok(found);
    }
    let unreadable = |error: std::io::Error| {
        CliError::new(Code::InputUnreadable, format!("cannot read the deliverable {name}: {error}"))
    };
    let (digest, size) = digest_of(path).map_err(unreadable)?;
    found.hash = Field::Value(format!("sha256:{}", digest.hex()));
    found.size_bytes = Field::Value(size);
    Ok(found)
}

fn package_type(text: &str) -> Result<String, String> {
    let kind = PackageType::parse(text).map(|kind| kind.as_str().to_owned());
    kind.ok_or_else(|| "custom types begin with x-".to_owned())
}
