//! Converts rows of Relay, the protocol's reference tool, to documents.
//!
//! Relay backs a project up into four files of rows, `projects.ndjson`, `sessions.ndjson`,
//! `packages.ndjson` and `facts.ndjson`, whose members are those of its tables, and an archive of
//! the deliverables of each package. A row has no hash, so it can be rewritten. A member that the
//! protocol does not have is kept under its name with the prefix `x-`.
//!
//! Invariant: a row is recognised by the members that only rows of its table have. A row that is
//! not recognised is refused. It is never read as a document of another kind.

use accord_canon::Digest;
use accord_contract::{Failure, Object, Value, Wire as _};

use crate::limits::MAX_LINE_BYTES;
use crate::package::{KnownPackageType, PROTOCOL_VERSION, PackageType, Status};
use crate::{refuse, text};

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum RowFile {
    Projects,
    Sessions,
    Packages,
    Facts,
}

impl RowFile {
    /// The files, in the best order for an import.
    pub const ALL: [Self; 4] = [Self::Projects, Self::Sessions, Self::Packages, Self::Facts];

    /// The file of a row that is in no file, by its members.
    pub fn of(row: &Object) -> Option<Self> {
        let has = |name: &str| row.get(name).is_some_and(|value| !value.is_null());
        let has_any = |names: &[&str]| names.iter().any(|name| row.contains_key(*name));
        if !has("id") || has_any(&["package_id", "fact_id", "kind"]) {
            return None;
        }
        if !has("project_id") {
            let is_project = has("name")
                && has("created_at")
                && has_any(&["owner_id", "settings", "archived_at"]);
            return is_project.then_some(Self::Projects);
        }
        if has("subject") && has("relation") && has("object") {
            return Some(Self::Facts);
        }
        if has("manifest") || (has("title") && has("package_type") && has("created_by_id")) {
            return Some(Self::Packages);
        }
        // The row of a package has the id of its session, too.
        let is_session = has("started_at") && has_any(&["actor", "actor_id"]);
        (is_session && !has_any(&["session_id"])).then_some(Self::Sessions)
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Projects => "projects.ndjson",
            Self::Sessions => "sessions.ndjson",
            Self::Packages => "packages.ndjson",
            Self::Facts => "facts.ndjson",
        }
    }
}

/// The archive of a package's deliverables, stored as a blob.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RowArchive {
    pub digest: Digest,
    pub size: u64,
}

/// The line for a row. [`read_line`](super::read_line) validates its document. `archive` gets the
/// project and the path of the archive of a package; the package then names its digest.
pub fn row_line(
    file: RowFile,
    row: &[u8],
    archive: impl FnOnce(&str, &str) -> Option<RowArchive>,
) -> Result<String, Failure> {
    let members = text::object(row, MAX_LINE_BYTES)?;
    // Files of these names can also contain documents of the protocol, whose id members have other
    // names.
    if !members.contains_key("id") {
        let line =
            std::str::from_utf8(row).map_err(|_| refuse::schema("", "the row is not UTF-8"))?;
        return Ok(text::compact(line));
    }
    let mut document = document(file, members);
    if file == RowFile::Packages
        && let (Some(project), Some(path)) =
            (text_of(&document, "project_id"), text_of(&document, ARCHIVE_PATH))
        && let Some(archive) = archive(&project, &path)
    {
        let named = Object::from_iter([
            ("path".into(), path.into()),
            ("hash".into(), format!("sha256:{}", archive.digest.hex()).into()),
            ("size_bytes".into(), archive.size.into()),
        ]);
        document.insert("x-archive".into(), named.into());
    }
    Ok(Value::Object(document).to_string())
}

pub(super) fn document(file: RowFile, members: Object) -> Object {
    let row = Row(members);
    match file {
        RowFile::Projects => project(row),
        RowFile::Sessions => session(row),
        RowFile::Packages => package(row),
        RowFile::Facts => fact(row),
    }
}

/// The member with the path of an archive, in the backup.
const ARCHIVE_PATH: &str = "storage_path";

/// The members of a row that are not converted yet.
struct Row(Object);

impl Row {
    /// Moves a member to another name, unless it is null or absent, or the name is taken.
    fn pass(&mut self, name: &str, to: &str, document: &mut Object) {
        if let Some(value) = self.take(name)
            && document.get(to).is_none_or(Value::is_null)
        {
            document.insert(to.into(), value);
        }
    }

    fn take(&mut self, name: &str) -> Option<Value> {
        self.0.shift_remove(name).filter(|value| !value.is_null())
    }

    fn actor(&mut self, id: &str, kind: &str) -> Option<Value> {
        let (id, kind) = (self.take(id), self.take(kind));
        let id = id.filter(|id| id != "")?;
        let kind = kind.unwrap_or_else(|| "agent".into());
        Some(Object::from_iter([("id".into(), id), ("type".into(), kind)]).into())
    }

    /// The document, with all remaining members under the prefix `x-`.
    fn rest_into(self, mut document: Object) -> Object {
        for (name, value) in self.0 {
            if value.is_null() || is_empty(&value) {
                continue;
            }
            let name = if name.starts_with("x-") { name } else { format!("x-{name}") };
            document.entry(name).or_insert(value);
        }
        document
    }
}

fn project(mut row: Row) -> Object {
    let mut document = Object::new();
    row.pass("id", "project_id", &mut document);
    for name in ["name", "description", "created_at", "archived_at"] {
        row.pass(name, name, &mut document);
    }
    row.rest_into(document)
}

fn session(mut row: Row) -> Object {
    let mut document = Object::new();
    row.pass("id", "session_id", &mut document);
    if let Some(Value::Object(actor)) = row.take("actor") {
        let mut actor = Row(actor);
        actor.pass("id", "actor_id", &mut document);
        actor.pass("type", "actor_type", &mut document);
    }
    for name in [
        "project_id",
        "actor_id",
        "actor_type",
        "callsign",
        "started_at",
        "ended_at",
        "packages_deposited",
    ] {
        row.pass(name, name, &mut document);
    }
    row.rest_into(document)
}

fn fact(mut row: Row) -> Object {
    let mut document = Object::new();
    for (name, to) in [
        ("id", "fact_id"),
        ("project_id", "project_id"),
        ("subject", "subject"),
        // The tool's own names are before those of the protocol, because the first value is kept.
        ("relation", "predicate"),
        ("predicate", "predicate"),
        ("object", "value"),
        ("value", "value"),
        ("valid_from", "valid_from"),
        ("ended_at", "valid_to"),
        ("valid_to", "valid_to"),
        ("source_package_id", "source_package_id"),
        ("asserted_by", "asserted_by"),
        ("confidence", "confidence"),
        ("tags", "tags"),
        ("created_at", "created_at"),
    ] {
        row.pass(name, to, &mut document);
    }
    if let Some(author) = row.actor("asserted_by_id", "asserted_by_type") {
        document.entry("asserted_by").or_insert(author);
    }
    row.rest_into(document)
}

/// The row of a package contains the package as `manifest`, and repeats most of its members.
fn package(mut row: Row) -> Object {
    let mut document = match row.take("manifest") {
        Some(Value::Object(manifest)) => manifest,
        _ => Object::new(),
    };
    row.pass("id", "package_id", &mut document);
    row.pass("context_md", "content_md", &mut document);
    let same = [
        ["project_id", "title", "status"],
        ["package_type", "review_type", "created_at"],
        ["description", "tags", "decisions_made"],
        ["open_questions", "handoff_note", "estimated_next_actor"],
        ["deliverables", "parent_package_id", "significance"],
        ["topic", "artifact_type", ARCHIVE_PATH],
    ];
    for name in same.into_iter().flatten() {
        row.pass(name, name, &mut document);
    }
    let session = row.take("session_id");
    if let Some(mut author) = row.actor("created_by_id", "created_by_type") {
        if let (Some(session), Some(author)) = (session, author.as_object_mut()) {
            author.insert("session_id".into(), session);
        }
        document.entry("created_by").or_insert(author);
    }
    document.entry("relay_version").or_insert_with(|| PROTOCOL_VERSION.into());
    in_protocol_words(&mut document);
    row.rest_into(document)
}

/// Replaces values of a package for which the protocol has another word. The original word is kept
/// if it is more specific.
pub fn in_protocol_words(document: &mut Object) {
    if let Some(status) = text_of(document, "status")
        && Status::parse(&status).is_none()
    {
        let known = match status.as_str() {
            "approved" => Status::Complete,
            "pending_review" => Status::AwaitingReview,
            "rejected" => Status::RevisionRequested,
            // In progress, blocked, or any other unfinished state.
            _ => Status::Draft,
        };
        document.insert("status".into(), known.encode());
        document.insert("x-status".into(), status.into());
    }
    if let Some(kind) = text_of(document, "package_type")
        && PackageType::parse(&kind).is_none()
    {
        let kind = match kind.as_str() {
            "" => KnownPackageType::Standard.as_str().to_owned(),
            other => format!("x-{other}"),
        };
        document.insert("package_type".into(), kind.into());
    }
    // Relay writes `standard` for every package, and what it is beside it.
    if text_of(document, "package_type").as_deref() == Some(KnownPackageType::Standard.as_str())
        && let Some(kind) = text_of(document, "artifact_type")
        && let Some(kind) = KnownPackageType::parse(&kind.replace('-', "_"))
    {
        document.insert("package_type".into(), kind.as_str().into());
    }
    // The tool writes an empty text for no session, and 0 for no significance.
    if let Some(Value::Object(author)) = document.get_mut("created_by")
        && author.get("session_id").is_some_and(|session| session == "")
    {
        author.shift_remove("session_id");
    }
    if let Some(significance) = document.get("significance").and_then(Value::as_f64) {
        match significance.round() {
            // In range, so that nothing is cut off.
            known if (1.0..=10.0).contains(&known) => {
                document.insert("significance".into(), (known as u8).into());
            }
            _ => drop(document.shift_remove("significance")),
        }
    }
}

fn text_of(document: &Object, name: &str) -> Option<String> {
    document.get(name).and_then(Value::as_str).map(str::to_owned)
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    }
}
