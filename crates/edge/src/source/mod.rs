//! What a work tree has for the outbox.

mod apply;
mod outputs;
mod runs;
mod tasks;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use accord_api::operations::edge_decisions::EdgeDecidable;
use accord_api::operations::edges::{EdgeEntry, EdgeEntryKind, EdgeSend};
use accord_contract::{Object, Timestamp, Value};
use accord_outbox::evidence::{self, ChangedFile};
use accord_outbox::{Found, Hidden, Outbox, Waiting, decision, redact};
use accord_runs::Runs;
use accord_tasks::Tree;
use serde_json::json;

use crate::{JoinFile, Result};

pub use accord_api::operations::edges::EdgeSource as SourceKind;

/// The longest document of an entry. Of a longer one only the length is sent.
const LONGEST_BODY: usize = 1024 * 1024;

/// A governed repository or a task tree.
pub struct Source {
    root: PathBuf,
    of: Of,
}

enum Of {
    Runs(Box<Runs>),
    Tasks(Tree),
}

/// The sources of a folder: the governed repository and the task tree that it is, or is in.
pub fn sources_in(folder: &Path) -> Result<Vec<Source>> {
    let mut found = Vec::new();
    found.extend(Source::governed(folder)?);
    found.extend(tasks::open(folder)?.map(|(root, tree)| Source { root, of: Of::Tasks(tree) }));
    Ok(found)
}

impl Source {
    /// The governed repository of a folder, if it is one, or is in one.
    pub(crate) fn governed(folder: &Path) -> Result<Option<Self>> {
        Ok(runs::open(folder)?.map(|runs| Self {
            root: runs.repository().root().to_owned(),
            of: Of::Runs(Box::new(runs)),
        }))
    }

    pub(crate) fn runs(&self) -> Option<&Runs> {
        match &self.of {
            Of::Runs(runs) => Some(runs),
            Of::Tasks(_) => None,
        }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn kind(&self) -> SourceKind {
        match self.of {
            Of::Runs(_) => SourceKind::Runs,
            Of::Tasks(_) => SourceKind::Tasks,
        }
    }

    /// Changes with the files that say what happened: their sizes and times.
    pub fn stamp(&self) -> String {
        let folders: &[&str] = match self.of {
            Of::Runs(_) => &[".agentxchain"],
            Of::Tasks(_) => &["events", "state/accord"],
        };
        let mut lines = Vec::new();
        for folder in folders {
            let entries = std::fs::read_dir(self.root.join(folder)).into_iter().flatten();
            lines.extend(entries.flatten().filter_map(|entry| {
                let about = entry.metadata().ok().filter(std::fs::Metadata::is_file)?;
                let (name, changed) = (entry.file_name(), about.modified().ok()?);
                Some(format!("{name:?} {} {changed:?}", about.len()))
            }));
        }
        lines.sort();
        lines.join("\n")
    }

    /// The same for what is sent: also with what agents print, if that is.
    pub fn stamp_of(&self, send: EdgeSend) -> String {
        let outputs = match &self.of {
            Of::Runs(runs) if send == EdgeSend::Output => outputs::stamp(runs),
            _ => String::new(),
        };
        self.stamp() + &outputs
    }

    /// What happened until now, which is not sent: ids only.
    pub(crate) fn before_join(&self) -> Result<Found> {
        let found = match &self.of {
            Of::Runs(runs) => runs::happened(runs, &Scan::ids())?,
            Of::Tasks(tree) => tasks::happened(tree, &Scan::ids())?,
        };
        Ok(Found { happened: found, waiting: None })
    }

    /// What an outbox does not have.
    pub(crate) fn scan(&self, join: &JoinFile, outbox: &Outbox) -> Result<Found> {
        let scan = Scan { choice: Some(join), outbox: Some(outbox) };
        let mut happened = match &self.of {
            Of::Runs(runs) => runs::happened(runs, &scan)?,
            Of::Tasks(tree) => tasks::happened(tree, &scan)?,
        };
        let hidden = scan.hidden();
        happened.iter_mut().for_each(|entry| clean(&mut entry.body, &hidden));
        Ok(Found { happened, waiting: Some(self.waiting(join, Some(outbox))?) })
    }

    /// Pieces of what agents print now that an outbox does not have, and the ids of all outputs.
    /// `None` if they are not sent.
    pub(crate) fn outputs(
        &self,
        join: &JoinFile,
        outbox: &Outbox,
    ) -> Result<Option<(Vec<EdgeEntry>, BTreeSet<String>)>> {
        let Of::Runs(runs) = &self.of else { return Ok(None) };
        if join.send != EdgeSend::Output {
            return Ok(None);
        }
        let (mut pieces, ids) = outputs::pieces(runs, outbox)?;
        let hidden = Scan { choice: Some(join), outbox: None }.hidden();
        pieces.iter_mut().for_each(|piece| clean(&mut piece.body, &hidden));
        Ok(Some((pieces, ids)))
    }

    /// What waits for a person: without an outbox, all that can be said about it.
    pub(crate) fn waiting(&self, join: &JoinFile, outbox: Option<&Outbox>) -> Result<Vec<Waiting>> {
        let scan = Scan { choice: Some(join), outbox };
        let mut waiting = match &self.of {
            Of::Runs(runs) => runs::waiting(runs, &scan)?,
            Of::Tasks(tree) => tasks::waiting(tree, &scan)?,
        };
        let hidden = scan.hidden();
        waiting.iter_mut().for_each(|waiting| {
            clean(&mut waiting.body, &hidden);
            seal(waiting);
        });
        Ok(waiting)
    }
}

/// What is looked for.
struct Scan<'a> {
    /// What a person chose to send; `None` for ids only.
    choice: Option<&'a JoinFile>,
    outbox: Option<&'a Outbox>,
}

impl Scan<'_> {
    fn ids() -> Self {
        Self { choice: None, outbox: None }
    }

    /// The names that no text has.
    fn hidden(&self) -> Hidden {
        let home = std::env::home_dir();
        let home = home.as_deref().and_then(Path::to_str);
        let root = self.choice.map_or("", |join| join.root.as_str());
        Hidden::new(root, home, &self.exclude())
    }

    fn knows(&self, kind: EdgeEntryKind, id: &str) -> bool {
        self.outbox.is_some_and(|outbox| outbox.knows(kind, id))
    }

    fn send(&self) -> EdgeSend {
        self.choice.map_or(EdgeSend::Events, |join| join.send)
    }

    fn exclude(&self) -> accord_outbox::Patterns {
        accord_outbox::Patterns::new(self.choice.map_or_else(Vec::new, |it| it.exclude.clone()))
    }

    /// What the hub may decide about a request of a type: nothing that it does not see.
    fn verbs(&self, type_name: &str) -> Vec<Value> {
        let is_shown = evidence::sends_summary(self.send());
        let may = self.choice.is_some_and(|join| is_shown && join.lets_decide(type_name));
        let kind = EdgeDecidable::parse(type_name).filter(|_| may);
        let verbs = kind.map(decision::verbs_of).unwrap_or_default();
        verbs.iter().map(|verb| verb.as_str().into()).collect()
    }

    /// A digest of files, also of those that are not named. Only this edge can compute it.
    fn digest_of_files(&self, files: &[(String, String)]) -> String {
        let salt = self.choice.and_then(|join| join.salt.as_deref()).unwrap_or_default();
        accord_canon::sha256(json!([salt, files]).to_string().as_bytes()).hex()
    }

    /// The document about changed files.
    fn files(&self, files: &[ChangedFile]) -> Object {
        evidence::files(files, self.send(), &self.exclude())
    }
}

/// Adds the digest of the evidence to a request that the hub may decide. Its version is that then,
/// so that the hub has what it decides about.
fn seal(waiting: &mut Waiting) {
    if decision::offered(&waiting.body).is_empty() {
        return;
    }
    if let Some(digest) = evidence::digest(&waiting.body) {
        waiting.body.insert(evidence::EVIDENCE.into(), digest.as_str().into());
        waiting.version = digest;
    }
}

/// Takes credentials and hidden names out, and says what was too long.
fn clean(body: &mut Object, hidden: &Hidden) {
    let document = hidden.taken_from(redact(Value::Object(std::mem::take(body))));
    let length = document.to_string().len();
    *body = match document {
        Value::Object(members) if length <= LONGEST_BODY => members,
        Value::Object(mut members) => {
            members.retain(|name, _| ["title", "run_id", "digest"].contains(&name.as_str()));
            members.insert("cut".into(), format!("{length} bytes are too long").into());
            members
        }
        _ => Object::new(),
    };
}

/// The time of a source, or now for one that cannot be read.
fn time_of(text: Option<&str>) -> Timestamp {
    let time = text.and_then(accord_contract::Time::parse_iso);
    Timestamp::emit(time.unwrap_or_else(accord_system::now))
}
