//! Reads lines, bare documents and rows of Relay.
//!
//! Invariant: the kind of a document follows from members that no other kind has. A line that fits
//! none is refused; it is never read as the least specific kind, a project.

use std::borrow::Cow;

use accord_contract::{Code, Failure, Object, Value, Wire as _};

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::rejected::{REJECTED, Rejected};
use super::rows::{self, RowFile};
use crate::lifecycle::{Revision, check_revisions};
use crate::limits::MAX_LINE_BYTES;
use crate::{Fact, Package, Project, Session, refuse, text};

#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ExportLine {
    Project(Box<Project>),
    Session(Box<Session>),
    Package {
        package: Box<Package>,
        /// Its log. For a package without one: a deposit by its author at `created_at`.
        revisions: Vec<Revision>,
        /// Whether its work was rejected.
        rejected: Option<Rejected>,
    },
    Fact(Box<Fact>),
}

/// Reads one line. Fails when the line is not a document of the protocol, or its hash is wrong.
pub fn read_line(line: &[u8]) -> Result<ExportLine, Failure> {
    if Glance::at(line).is_some_and(|seen| seen.is_bare_package()) {
        // Read as strictly as any line, and once.
        return with_log(Package::parse_exported(line)?, Object::new());
    }
    let members = text::object(line, MAX_LINE_BYTES)?;
    let line =
        std::str::from_utf8(line).map_err(|_| refuse::schema("", "the line is not UTF-8"))?;
    // Every bare document says which project it belongs to; an envelope does not.
    match (members.get("kind"), members.get("data")) {
        (Some(Value::String(kind)), Some(Value::Object(_)))
            if !members.contains_key("project_id") =>
        {
            let kind = kind.clone();
            enveloped(&kind, members, line)
        }
        _ => bare(members, line),
    }
}

/// Whether a line may contain a project. False positives are possible, false negatives are not. It
/// is much cheaper than parsing the line.
pub fn may_hold_project(line: &[u8]) -> bool {
    Glance::at(line).is_none_or(|seen| seen.may_be_project())
}

/// The members that tell which kind of document a line contains.
#[derive(Deserialize)]
struct Glance<'l> {
    #[serde(borrow)]
    kind: Option<Cow<'l, str>>,
    project_id: Option<IgnoredAny>,
    package_id: Option<IgnoredAny>,
    fact_id: Option<IgnoredAny>,
    session_id: Option<IgnoredAny>,
}

impl<'l> Glance<'l> {
    /// `None` if the whole line must be parsed to know.
    fn at(line: &'l [u8]) -> Option<Self> {
        serde_json::from_slice(line).ok()
    }

    fn is_bare_package(&self) -> bool {
        self.package_id.is_some() && self.project_id.is_some()
    }

    fn may_be_project(&self) -> bool {
        match &self.kind {
            Some(kind) if self.project_id.is_none() => kind == "project",
            _ => self.package_id.is_none() && self.fact_id.is_none() && self.session_id.is_none(),
        }
    }
}

fn enveloped(kind: &str, mut members: Object, line: &str) -> Result<ExportLine, Failure> {
    let Some(Value::Object(data)) = members.shift_remove("data") else {
        return Err(refuse::schema("/data", "data is missing"));
    };
    let within = |failure: Failure| {
        let place = format!("/data{}", failure.pointer.clone().unwrap_or_default());
        failure.at(place)
    };
    match kind {
        "project" => Project::read(data).map(Box::new).map(ExportLine::Project),
        "session" => session(data),
        "fact" => Fact::read(data).map(Box::new).map(ExportLine::Fact),
        "package" => {
            // Cut out of the line, because the hash belongs to the text as it was submitted.
            let place = text::member(line, "data").map_err(refuse::canon)?;
            let place = place.ok_or_else(|| refuse::schema("/data", "data is missing"))?;
            let package = Package::parse_exported(line[place].as_bytes()).map_err(within)?;
            return with_log(package, members);
        }
        other => {
            let message = format!("expected project, session, package or fact, found {other:?}");
            return Err(refuse::schema("/kind", message));
        }
    }
    .map_err(within)
}

/// A session of another host. One that ended before it began is refused, because every list here
/// would show the mistake.
fn session(members: Object) -> Result<ExportLine, Failure> {
    let session = Session::read(members)?;
    let ended = session.ended_at.as_ref();
    if ended.is_some_and(|ended| ended.time() < session.started_at.time()) {
        let message = "ended_at is before started_at; correct one of them";
        return Err(refuse::schema("/ended_at", message));
    }
    Ok(ExportLine::Session(Box::new(session)))
}

fn with_log(package: Package, mut members: Object) -> Result<ExportLine, Failure> {
    let claimed = members.shift_remove("content_hash").unwrap_or_default();
    if !claimed.is_null() && claimed != package.content_hash().to_string() {
        let message = format!("the content hash is {}", package.content_hash());
        return Err(Failure::new(Code::AgenticHashMismatch, message).at("/content_hash"));
    }
    let within = |failure: Failure| {
        let place = format!("/x-revisions{}", failure.pointer.clone().unwrap_or_default());
        failure.at(place)
    };
    let log = members.shift_remove("x-revisions").unwrap_or_default();
    let revisions = if log.is_null() {
        vec![Revision::imported(&package)]
    } else {
        let log = Vec::<Revision>::from_document(log);
        let log = log.map_err(refuse::decoded).map_err(within)?;
        check_revisions(&package, &log).map_err(within)?;
        log
    };
    let rejected = members.get(REJECTED).filter(|said| !said.is_null());
    let rejected = rejected.map(Rejected::read).transpose()?;
    Ok(ExportLine::Package { package: Box::new(package), revisions, rejected })
}

fn bare(members: Object, line: &str) -> Result<ExportLine, Failure> {
    if members.contains_key("package_id") {
        let package = Package::parse_exported(line.as_bytes())?;
        return with_log(package, Object::new());
    }
    if members.contains_key("fact_id") {
        return Fact::read(members).map(Box::new).map(ExportLine::Fact);
    }
    if let Some(file) = RowFile::of(&members) {
        return row(file, members);
    }
    if members.contains_key("session_id") {
        return session(members);
    }
    if let Some(name) = OF_OTHERS.iter().flatten().find(|name| members.contains_key(**name)) {
        let message = format!(
            "the line has {name:?} and is no project; it has no package_id, fact_id or \
             session_id either, and is no row of a backup of Relay"
        );
        return Err(refuse::schema(format!("/{name}"), message));
    }
    let is_own = |name: &String| OF_PROJECTS.contains(&name.as_str()) || name.starts_with("x-");
    let has_name = members.contains_key("name");
    if members.contains_key("project_id") && (has_name || members.keys().all(is_own)) {
        return Project::read(members).map(Box::new).map(ExportLine::Project);
    }
    let message = "the line is neither a package, a fact, a session nor a project";
    Err(refuse::schema("", message))
}

/// The members of a project. A bare one without a name has no others, so that a row of another
/// tool is not taken for it.
const OF_PROJECTS: [&str; 5] = ["project_id", "name", "description", "created_at", "archived_at"];

/// Members that a project does not have, but facts, packages, sessions and rows of other tools do.
const OF_OTHERS: [[&str; 6]; 3] = [
    ["id", "subject", "predicate", "relation", "object", "value"],
    ["valid_from", "valid_to", "relay_version", "title", "package_type", "review_type"],
    ["manifest", "created_by", "actor", "actor_id", "actor_type", "started_at"],
];

fn row(file: RowFile, members: Object) -> Result<ExportLine, Failure> {
    let document = rows::document(file, members);
    match file {
        RowFile::Projects => Project::read(document).map(Box::new).map(ExportLine::Project),
        RowFile::Sessions => session(document),
        RowFile::Facts => Fact::read(document).map(Box::new).map(ExportLine::Fact),
        RowFile::Packages => {
            let text = Value::Object(document).to_string();
            with_log(Package::parse_exported(text.as_bytes())?, Object::new())
        }
    }
}

/// The project that a line names, before it is validated.
pub fn line_project(line: &Object) -> Option<&str> {
    let named = line.get("project_id").or_else(|| line.get("data")?.get("project_id"));
    let named = match named {
        None if RowFile::of(line) == Some(RowFile::Projects) => line.get("id"),
        named => named,
    };
    named.and_then(Value::as_str).filter(|named| !named.is_empty())
}
