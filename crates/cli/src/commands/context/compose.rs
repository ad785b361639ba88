//! Building a package, from flags or from a partial document.
//!
//! Invariant: the text of a document is sent byte for byte, because its hash covers it. Missing
//! members are inserted before the others.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use accord_contract::codes::Code;
use accord_contract::time::Timestamp;
use accord_contract::wire::{Object, Value};
use accord_memory_core::PackageId;
use accord_memory_core::package::{
    ANSWERS, PROTOCOL_VERSION, PackageType, ReviewType, SUPERSEDES, Status, answer_item,
};
use clap::builder::PossibleValuesParser;
use sha2::{Digest as _, Sha256};

use crate::commands::{members, texts};
use crate::error::CliError;
use crate::host::{Connection, WriteArgs, no_actor};

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
    created_at: Option<String>,
}

/// A package without the members that have defaults.
pub(super) struct Draft {
    text: String,
    members: Object,
}

/// A complete package.
pub(super) struct Composed {
    /// The project that it goes to.
    pub(super) project: String,
    /// The document.
    pub(super) text: String,
}

impl ComposeArgs {
    /// The package that the flags describe.
    pub(super) fn draft(&self) -> Result<Draft, CliError> {
        let text = |text: &Option<String>| text.clone().into();
        let status = match (&self.status, &self.review) {
            (None, Some(_)) => Some(Status::AwaitingReview.as_str().to_owned()),
            (status, _) => status.clone(),
        };
        let files = self.deliverables.iter().map(|path| deliverable(path));
        let files: Vec<Value> = files.collect::<Result<_, _>>()?;
        let answers: Vec<Value> = self.answers.iter().map(|text| answer_item(text)).collect();
        Ok(Draft::of(members([
            ("package_id", text(&self.id)),
            ("title", text(&self.title)),
            ("status", text(&status)),
            ("package_type", text(&self.package_type)),
            ("review_type", text(&self.review)),
            ("created_at", text(&self.created_at)),
            ("description", text(&self.description)),
            ("tags", texts(&self.tags)),
            ("decisions_made", texts(&self.decisions)),
            ("open_questions", texts(&self.questions)),
            ("handoff_note", text(&self.handoff)),
            ("parent_package_id", text(&self.parent)),
            ("significance", self.significance.into()),
            ("topic", text(&self.topic)),
            (ANSWERS, (!answers.is_empty()).then_some(answers).into()),
            (SUPERSEDES, texts(&self.supersedes)),
            ("deliverables", (!files.is_empty()).then_some(files).into()),
        ])))
    }

    /// Completes package ids that are given by their beginning. Returns whether there are any ids.
    pub(super) fn complete_ids(
        &mut self,
        host: &Connection,
        project: &str,
    ) -> Result<bool, CliError> {
        let mut any = false;
        let mut complete = |id: &str| {
            any = true;
            host.package_id(id, Some(project))
        };
        for id in self.supersedes.iter_mut().chain(&mut self.parent) {
            *id = complete(id)?;
        }
        for answer in &mut self.answers {
            let item = answer_item(answer);
            if let (Some(id), Some(index)) = (item["package_id"].as_str(), item["index"].as_u64()) {
                *answer = format!("{}#{index}", complete(id)?);
            }
        }
        Ok(any)
    }
}

impl Draft {
    /// A draft with these members.
    pub(super) fn of(members: Object) -> Self {
        Self { text: Value::Object(members.clone()).to_string(), members }
    }

    /// Reads a document.
    pub(super) fn document(bytes: &[u8]) -> Result<Self, CliError> {
        let text = std::str::from_utf8(bytes)
            .map_err(|_| CliError::new(Code::CanonInvalidUtf8, "the package is not UTF-8"))?;
        // The canonicalizer reports the position of an error; serde_json does not.
        accord_canon::canonicalize(accord_canon::Profile::Agentic, bytes)
            .map_err(|error| CliError::from_canon(&error, bytes))?;
        let Ok(Value::Object(members)) = serde_json::from_str(text) else {
            let message = "a package must be a JSON object";
            return Err(CliError::new(Code::AgenticInvalidSchema, message).at(""));
        };
        Ok(Self { text: text.trim().to_owned(), members })
    }

    /// Fills in missing members: from flags, from the environment, or with defaults.
    pub(super) fn complete(self, to: &WriteArgs, host: &Connection) -> Result<Composed, CliError> {
        // `null` counts as absent, as in the hash of a package, which drops such members.
        let said = |name: &str| self.members.get(name).filter(|value| !value.is_null());
        let project = match (&to.project.project, said("project_id").and_then(Value::as_str)) {
            (None, Some(named)) => named.to_owned(),
            _ => to.project(host)?,
        };
        let mut missing = Object::new();
        let mut fill = |name: &str, value: Value| {
            // A member that is `null` is not filled in: a second one of the same name would be
            // refused.
            if !self.members.contains_key(name) {
                missing.insert(name.to_owned(), value);
            }
        };
        fill("package_id", PackageId::mint(accord_system::random()).as_str().into());
        fill("project_id", project.as_str().into());
        fill("relay_version", PROTOCOL_VERSION.into());
        fill("status", Status::Complete.as_str().into());
        fill("package_type", "standard".into());
        fill("review_type", ReviewType::None.as_str().into());
        fill("created_at", accord_system::now().to_string().into());
        match self.members.get("created_by") {
            // The host refuses it and names the member. An author from elsewhere would not be sent.
            Some(Value::Null) => {}
            None => {
                fill("created_by", to.author(host)?.ok_or_else(no_actor)?);
            }
            Some(_) if to.actor.actor.is_some() || to.session.session.is_some() => {
                let message =
                    "the document has an author, which conflicts with --actor or --session";
                return Err(CliError::new(Code::Usage, message).at("/created_by"));
            }
            Some(_) => {}
        }
        Ok(Composed { project, text: joined(&missing, &self.text) })
    }
}

/// Inserts members at the start of the text of an object.
fn joined(members: &Object, text: &str) -> String {
    let added = Value::Object(members.clone()).to_string();
    // The text is that of an object and is trimmed, so it begins with a brace.
    let rest = text.strip_prefix('{').unwrap_or(text);
    let comma = match (members.is_empty(), rest.trim_start().starts_with('}')) {
        (false, false) => ",",
        _ => "",
    };
    format!("{}{comma}{rest}", &added[..added.len() - 1])
}

/// A deliverable: a URL, or a file with its hash and size.
fn deliverable(path: &Path) -> Result<Value, CliError> {
    let name = path.to_string_lossy();
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    let kind = extension.unwrap_or_else(|| "file".to_owned());
    if name.starts_with("http://") || name.starts_with("https://") {
        return Ok(serde_json::json!({"path": name, "type": kind}));
    }
    let unreadable = |error: std::io::Error| {
        CliError::new(Code::InputUnreadable, format!("cannot read the deliverable {name}: {error}"))
    };
    let mut file = File::open(path).map_err(unreadable)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 64 * 1024];
    let mut size = 0_u64;
    loop {
        let read = file.read(&mut buffer).map_err(unreadable)?;
        if read == 0 {
            break;
        }
        hasher.update(&buffer[..read]);
        size += read as u64;
    }
    let digest = accord_canon::Digest::from(<[u8; 32]>::from(hasher.finalize()));
    let hash = format!("sha256:{}", digest.hex());
    let name = name.strip_prefix("./").unwrap_or(&name);
    Ok(serde_json::json!({"path": name, "type": kind, "hash": hash, "size_bytes": size}))
}

fn package_type(text: &str) -> Result<String, String> {
    match PackageType::parse(text) {
        Some(kind) => Ok(kind.as_str().to_owned()),
        None => Err("custom types begin with x-".to_owned()),
    }
}

fn timestamp(text: &str) -> Result<String, String> {
    match Timestamp::parse(text) {
        Ok(time) => Ok(time.as_str().to_owned()),
        Err(_) => Err("expected a time in UTC, for example 2026-04-18T20:00:00Z".to_owned()),
    }
}
