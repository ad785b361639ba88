//! A package in the making: from flags, or from a document that leaves things out.
//!
//! Invariant: what a document says is sent as it stands. Members that it leaves out are put before
//! the others, so that no token of it is written again.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use accord_contract::codes::Code;
use accord_contract::time::Timestamp;
use accord_contract::wire::{Object, Value};
use accord_memory_core::PackageId;
use accord_memory_core::package::{PROTOCOL_VERSION, PackageType, ReviewType, Status};
use clap::builder::PossibleValuesParser;
use sha2::{Digest as _, Sha256};

use crate::error::CliError;
use crate::host::{ActorArg, ProjectArg, SessionArg};

/// What a package is made of.
#[derive(Debug, clap::Args)]
#[group(id = "compose", multiple = true)]
#[command(next_help_heading = "The package")]
pub(super) struct ComposeArgs {
    /// What the package is about, in 1 to 200 characters
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,

    /// What it is about, at length
    #[arg(long, value_name = "TEXT", requires = "title")]
    description: Option<String>,

    /// A decision that was made; may be repeated
    #[arg(long = "decision", value_name = "TEXT", requires = "title")]
    decisions: Vec<String>,

    /// A question that is open; may be repeated
    #[arg(long = "question", value_name = "TEXT", requires = "title")]
    questions: Vec<String>,

    /// What whoever goes on should know
    #[arg(long, value_name = "TEXT", requires = "title")]
    handoff: Option<String>,

    /// What kind of package it is: standard, milestone, decision, handoff, auto_deposit, analysis,
    /// question, orchestrator_report, or one of your own that begins with x-; standard when absent
    #[arg(long = "type", value_name = "TYPE", requires = "title", value_parser = package_type)]
    package_type: Option<String>,

    /// Where it stands; complete when absent, awaiting_review with --review
    #[arg(long, value_name = "STATUS", requires = "title",
          value_parser = PossibleValuesParser::new(Status::ALL.iter().map(|status| status.as_str())))]
    status: Option<String>,

    /// Who is to review it
    #[arg(long, value_name = "WHO", requires = "title", value_parser = ["human", "agent"])]
    review: Option<String>,

    /// A label; may be repeated
    #[arg(long = "tag", value_name = "TEXT", requires = "title")]
    tags: Vec<String>,

    /// How much it matters, from 1 to 10
    #[arg(long, value_name = "N", requires = "title", value_parser = clap::value_parser!(u8).range(1..=10))]
    significance: Option<u8>,

    /// The package that it corrects or continues
    #[arg(long, value_name = "ID", requires = "title")]
    parent: Option<String>,

    /// The subject area
    #[arg(long, value_name = "TEXT", requires = "title")]
    topic: Option<String>,

    /// A file that came out of the work, which gets its hash and size, or a URL; may be repeated
    #[arg(long = "deliverable", value_name = "PATH", requires = "title")]
    deliverables: Vec<PathBuf>,

    /// An id of your own; with --created-at, the same command twice deposits once. A new one when absent
    #[arg(long, value_name = "ID", requires = "title")]
    id: Option<String>,

    /// When it was made, in UTC; now when absent
    #[arg(long, value_name = "TIME", requires = "title", value_parser = timestamp)]
    created_at: Option<String>,
}

/// A package that may lack what can be filled in.
pub(super) struct Draft {
    text: String,
    members: Object,
}

/// A package that is ready to be sent.
pub(super) struct Composed {
    /// The project that it goes to.
    pub(super) project: String,
    /// The document.
    pub(super) text: String,
}

impl ComposeArgs {
    /// The package that the flags make.
    pub(super) fn draft(&self) -> Result<Draft, CliError> {
        let mut members = Object::new();
        let mut put = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                members.insert(name.to_owned(), value);
            }
        };
        let text = |text: &Option<String>| text.clone().map(Value::from);
        let texts = |texts: &[String]| (!texts.is_empty()).then(|| Value::from(texts));
        let status = match (&self.status, &self.review) {
            (None, Some(_)) => Some(Status::AwaitingReview.as_str().to_owned()),
            (status, _) => status.clone(),
        };
        put("package_id", text(&self.id));
        put("title", text(&self.title));
        put("status", text(&status));
        put("package_type", text(&self.package_type));
        put("review_type", text(&self.review));
        put("created_at", text(&self.created_at));
        put("description", text(&self.description));
        put("tags", texts(&self.tags));
        put("decisions_made", texts(&self.decisions));
        put("open_questions", texts(&self.questions));
        put("handoff_note", text(&self.handoff));
        put("parent_package_id", text(&self.parent));
        put("significance", self.significance.map(Value::from));
        put("topic", text(&self.topic));
        let files = self.deliverables.iter().map(|path| deliverable(path));
        let files: Vec<Value> = files.collect::<Result<_, _>>()?;
        put("deliverables", (!files.is_empty()).then(|| files.into()));
        Ok(Draft {
            text: Value::Object(members.clone()).to_string(),
            members,
        })
    }
}

impl Draft {
    /// A document as somebody wrote it.
    pub(super) fn document(bytes: &[u8]) -> Result<Self, CliError> {
        let text = std::str::from_utf8(bytes)
            .map_err(|_| CliError::new(Code::CanonInvalidUtf8, "the package is not UTF-8"))?;
        // The strict reader knows the place of what is wrong, and shows it.
        accord_canon::canonicalize(accord_canon::Profile::Agentic, bytes)
            .map_err(|error| CliError::from_canon(&error, bytes))?;
        let Ok(Value::Object(members)) = serde_json::from_str(text) else {
            let message = "a package is a JSON object";
            return Err(CliError::new(Code::AgenticInvalidSchema, message).at(""));
        };
        Ok(Self {
            text: text.trim().to_owned(),
            members,
        })
    }

    /// The package with what it leaves out: by flags, by the environment, or as usual.
    pub(super) fn complete(
        self,
        project: &ProjectArg,
        actor: &ActorArg,
        session: &SessionArg,
    ) -> Result<Composed, CliError> {
        let said = |name: &str| self.members.get(name).filter(|value| !value.is_null());
        let project = match (&project.project, said("project_id").and_then(Value::as_str)) {
            (None, Some(named)) => named.to_owned(),
            _ => project.required()?,
        };
        let mut missing = Object::new();
        let mut fill = |name: &str, value: Value| {
            if !self.members.contains_key(name) {
                missing.insert(name.to_owned(), value);
            }
        };
        fill(
            "package_id",
            PackageId::mint(accord_system::random()).as_str().into(),
        );
        fill("project_id", project.as_str().into());
        fill("relay_version", PROTOCOL_VERSION.into());
        fill("status", Status::Complete.as_str().into());
        fill("package_type", "standard".into());
        fill("review_type", ReviewType::None.as_str().into());
        fill("created_at", accord_system::now().to_string().into());
        match said("created_by") {
            None => {
                let session = session.get();
                let author = actor.required()?.document(session.as_deref());
                fill("created_by", author);
            }
            Some(_) if actor.actor.is_some() || session.session.is_some() => {
                let message = "the document says who made it, and so do --actor or --session";
                return Err(CliError::new(Code::Usage, message).at("/created_by"));
            }
            Some(_) => {}
        }
        Ok(Composed {
            project,
            text: joined(&missing, &self.text),
        })
    }
}

/// The members, and behind them those of an object's text.
fn joined(members: &Object, text: &str) -> String {
    let added = Value::Object(members.clone()).to_string();
    let rest = text.strip_prefix('{').unwrap_or(text);
    let comma = match (members.is_empty(), rest.trim_start().starts_with('}')) {
        (false, false) => ",",
        _ => "",
    };
    format!("{}{comma}{rest}", &added[..added.len() - 1])
}

/// What came out of the work.
fn deliverable(path: &Path) -> Result<Value, CliError> {
    let name = path.to_string_lossy();
    let extension = path
        .extension()
        .map(|extension| extension.to_string_lossy().to_lowercase());
    let kind = extension.unwrap_or_else(|| "file".to_owned());
    if name.starts_with("http://") || name.starts_with("https://") {
        return Ok(serde_json::json!({"path": name, "type": kind}));
    }
    let unreadable = |error: std::io::Error| {
        CliError::new(
            Code::InputUnreadable,
            format!("cannot read the deliverable {name}: {error}"),
        )
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
        None => Err("types of your own begin with x-".to_owned()),
    }
}

fn timestamp(text: &str) -> Result<String, String> {
    match Timestamp::parse(text) {
        Ok(time) => Ok(time.as_str().to_owned()),
        Err(_) => Err("a time is UTC, as in 2026-04-18T20:00:00Z".to_owned()),
    }
}
