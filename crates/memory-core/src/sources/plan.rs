//! What an import will do, given what earlier imports stored.

use std::collections::{HashMap, HashSet};

use accord_contract::{Failure, Object, Value, Wire as _, wire_enum};

use super::{Entry, SOURCE, Skipped, SourceFormat, SourcePlace};
use crate::package::{ANSWERS, AnsweredQuestion, PROTOCOL_VERSION, PackageFields, SUPERSEDES};
use crate::{Actor, Package, PackageId, ProjectId};

wire_enum! {
    /// What an import does with a note or record.
    pub enum Action("ImportAction", closed) {
        /// It is new.
        Add = "add",
        /// It changed: its package supersedes that of an earlier import.
        Supersede = "supersede",
        /// It was imported before.
        Unchanged = "unchanged",
    }
}

/// A package of an earlier import.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct KnownSource {
    pub package_id: PackageId,
    pub place: SourcePlace,
    pub digest: String,
    pub open_questions: Vec<String>,
}

/// What an import does with one entry.
#[derive(Clone, Debug)]
pub struct PlannedPackage {
    pub action: Action,
    pub package_id: PackageId,
    pub entry: Entry,
    /// The package of the earlier import.
    pub earlier: Option<PackageId>,
    /// The document to import, as JSON text; `None` if nothing changed.
    pub document: Option<String>,
}

#[derive(Clone, Debug, Default)]
pub struct Plan {
    pub packages: Vec<PlannedPackage>,
    pub skipped: Vec<Skipped>,
    /// The places of earlier imports from the same files that are gone. Their packages stay.
    pub gone: Vec<SourcePlace>,
}

impl PlannedPackage {
    /// The package of the earlier import, if it is superseded.
    pub fn superseded(&self) -> Option<&PackageId> {
        self.earlier.as_ref().filter(|_| self.action == Action::Supersede)
    }
}

impl KnownSource {
    /// What a stored package says about its source, if it is of this format.
    pub fn of(package: &PackageFields, format: SourceFormat) -> Option<Self> {
        let source = package.extra.get(SOURCE)?;
        let text = |name: &str| source.get(name).and_then(Value::as_str).map(str::to_owned);
        if text("format")? != format.as_str() {
            return None;
        }
        let place = SourcePlace { path: text("path")?, part: text("part") };
        let questions = package.open_questions().to_vec();
        Some(Self {
            package_id: package.package_id.clone(),
            place,
            digest: text("digest")?,
            open_questions: questions,
        })
    }
}

/// Plans the import of entries. `known` has the packages of earlier imports that are not
/// superseded, newest first. Fails when an entry does not fit into a package.
pub fn plan(
    format: SourceFormat,
    project: &ProjectId,
    author: &Actor,
    entries: Vec<Entry>,
    known: &[KnownSource],
) -> Result<Plan, Failure> {
    let mut newest: HashMap<&SourcePlace, &KnownSource> = HashMap::new();
    for known in known {
        newest.entry(&known.place).or_insert(known);
    }
    // The ids first: entries name each other.
    let mut ids: HashMap<SourcePlace, PackageId> = HashMap::new();
    for entry in &entries {
        let earlier = newest.get(&entry.place);
        let id = match earlier.filter(|earlier| earlier.digest == entry.digest) {
            Some(same) => same.package_id.clone(),
            None => new_id(format, project, entry, earlier.map(|known| &known.package_id)),
        };
        ids.insert(entry.place.clone(), id);
    }
    let mut plan = Plan::default();
    let paths: HashSet<&str> = entries.iter().map(|entry| entry.place.path.as_str()).collect();
    let gone = newest
        .keys()
        .filter(|place| paths.contains(place.path.as_str()) && !ids.contains_key(**place));
    plan.gone = gone.map(|place| (*place).clone()).collect();
    plan.gone.sort();
    for entry in entries {
        let earlier = newest.get(&entry.place).copied();
        let package_id = ids[&entry.place].clone();
        let action = match earlier {
            Some(known) if known.package_id == package_id => Action::Unchanged,
            Some(_) => Action::Supersede,
            None => Action::Add,
        };
        let document = match action {
            Action::Unchanged => None,
            _ => Some(document(format, project, author, &entry, &package_id, earlier, &ids)?),
        };
        let earlier = earlier.map(|known| known.package_id.clone());
        plan.packages.push(PlannedPackage { action, package_id, entry, earlier, document });
    }
    Ok(plan)
}

/// The id follows from the source, so that an import that is repeated adds nothing. It also follows
/// from the package before it, so that a text that returns is a package again.
fn new_id(
    format: SourceFormat,
    project: &ProjectId,
    entry: &Entry,
    earlier: Option<&PackageId>,
) -> PackageId {
    let part = entry.place.part.as_deref().unwrap_or_default();
    let seed = [
        "accord-import-1",
        project.as_str(),
        format.as_str(),
        &entry.place.path,
        part,
        &entry.digest,
        earlier.map_or("", PackageId::as_str),
    ];
    let digest = accord_canon::sha256(seed.join("\0").as_bytes());
    let mut random = [0; 16];
    random.copy_from_slice(&digest.as_bytes()[..16]);
    PackageId::mint(random)
}

fn document(
    format: SourceFormat,
    project: &ProjectId,
    author: &Actor,
    entry: &Entry,
    package_id: &PackageId,
    earlier: Option<&KnownSource>,
    ids: &HashMap<SourcePlace, PackageId>,
) -> Result<String, Failure> {
    let mut package = Object::new();
    let mut put = |name: &str, value: Value| package.insert(name.to_owned(), value);
    put("package_id", package_id.as_str().into());
    put("project_id", project.as_str().into());
    put("relay_version", PROTOCOL_VERSION.into());
    put("title", entry.title.as_str().into());
    put("status", "complete".into());
    put("package_type", "standard".into());
    put("review_type", "none".into());
    put("created_at", entry.created_at.as_str().into());
    put("created_by", author.encode());
    package.extend(entry.members.clone());
    let mut supersedes: Vec<PackageId> =
        earlier.map(|it| it.package_id.clone()).into_iter().collect();
    supersedes.extend(entry.supersedes.iter().filter_map(|place| ids.get(place).cloned()));
    supersedes.retain(|id| id != package_id);
    supersedes.dedup();
    if !supersedes.is_empty() {
        package.insert(SUPERSEDES.to_owned(), supersedes.encode());
    }
    if let Some(parent) = entry.parent.as_ref().and_then(|place| ids.get(place)) {
        package.insert("parent_package_id".to_owned(), parent.as_str().into());
    }
    // What was open and no longer is, is answered.
    let still = entry.members.get("open_questions").and_then(Value::as_array);
    let is_open = |text: &String| {
        still.is_some_and(|list| list.iter().any(|it| it.as_str() == Some(text.as_str())))
    };
    let asked = earlier.map(|known| known.open_questions.as_slice()).unwrap_or_default();
    let ended = asked.iter().filter(|question| !is_open(question)).map(|question| {
        AnsweredQuestion { question: question.clone(), extra: Object::new() }.encode()
    });
    let ended: Vec<Value> = ended.collect();
    if !ended.is_empty() {
        package.insert(ANSWERS.to_owned(), Value::Array(ended));
    }
    package.insert(SOURCE.to_owned(), Value::Object(source(format, entry)));
    let text = Value::Object(package).to_string();
    // Its limits are checked before anything is imported.
    Package::parse(text.as_bytes()).map_err(|failure| {
        let place = failure.pointer.clone().unwrap_or_default();
        let why = format!("{} {}", place.trim_start_matches('/'), failure.message);
        super::refused(&entry.place.path, entry.line, why.trim())
    })?;
    Ok(text)
}

fn source(format: SourceFormat, entry: &Entry) -> Object {
    let mut source = Object::new();
    source.insert("format".to_owned(), format.as_str().into());
    source.insert("path".to_owned(), entry.place.path.as_str().into());
    if let Some(part) = &entry.place.part {
        source.insert("part".to_owned(), part.as_str().into());
    }
    source.insert("line".to_owned(), (entry.line as u64).into());
    source.insert("digest".to_owned(), entry.digest.as_str().into());
    source.extend(entry.origin.clone());
    source
}
