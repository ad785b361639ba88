//! Which edits of a task file count.
//!
//! Anyone can edit a file: a person, another tool, and the agent whose work is judged. So what
//! decides about a task is held to what Accord committed last:
//! - while Accord's lease on a task lasts, every member that decides is held;
//! - a task that another tool leased follows its file;
//! - for any other task an edit counts, unless it ends a review, makes the task done, turns the
//!   review off, names another reviewer, or changes what Accord observed or a person decided;
//! - a move that [sets something going](is_guarded) and that no event explains waits for a person.
//!
//! Clauses: AOF-AUTH-SENDER.

use accord_contract::{Object, Value};
use serde_json::json;

use crate::yaml::Change;
use crate::{Status, rule};

/// The members of a front matter that belong to the agent, like the body.
const FREE: &[&str] = &["title", "updatedAt", "contentHash", "metadata"];

/// The members that decide, also where Accord wrote none of them.
const DECIDES: &[&str] =
    &["lease", "routing", "dependsOn", "parentId", "priority", "sla", "resource", "gate"];

/// The members of the metadata that decide, also where Accord wrote none of them.
const METADATA: &[&str] = &[
    "reviewRequired",
    "reviewBy",
    "delegationDepth",
    "retryCount",
    "rateLimitCount",
    "failedBy",
    "forcedReady",
    "blockReason",
    "blockedBy",
    "checks",
    "observed",
    "reworks",
    "approval",
    "sentBack",
    "cancellation",
    "resurrection",
    "reopening",
    "adoption",
];

/// The members of the metadata that say what a person decided.
pub const DECISIONS: [&str; 6] =
    ["approval", "sentBack", "cancellation", "resurrection", "reopening", "adoption"];

/// What Accord committed about a task.
#[derive(Clone, Copy, Debug)]
pub enum Known<'a> {
    /// Accord gave out its lease, with this front matter.
    Leased(&'a Object),
    Open {
        status: Status,
        /// `metadata.reviewRequired`.
        review_required: Option<&'a Value>,
        /// `metadata.reviewBy`.
        review_by: Option<&'a Value>,
        /// `metadata.observed`.
        observed: Option<&'a Value>,
        /// The members of [`DECISIONS`]; `None` if an earlier version committed the task.
        decisions: Option<&'a Object>,
        /// The front matter of a task in review, whose checks are held.
        reviewed: Option<&'a Object>,
    },
    /// Another tool gave out its lease.
    Free,
    New,
}

/// What files say about a lease, if what Accord committed about the tree is gone or never existed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LeaseTraces {
    /// Whether an artifact of the run has an id, which only Accord gives to a run.
    pub has_run_id: bool,
    /// Whether an event of Accord says that it gave out a lease, or that a person adopted one.
    pub has_event: bool,
    /// Whether the numbers of Accord's events have no gap. A gap can be the event of this lease.
    pub is_log_whole: bool,
}

impl LeaseTraces {
    /// Whether another tool gave out the lease, so that the task follows its file. Any trace of
    /// Accord leaves the decision to a person.
    /// Clauses: AOF-FILE-FOLLOWED.
    pub fn is_of_another_tool(self) -> bool {
        let is_accords = self.has_run_id || self.has_event || !self.is_log_whole;
        rule!(!is_accords; ForeignLeaseHeld => false)
    }
}

/// A member that Accord and a file have different values of.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    path: Vec<String>,
    pub accord: Option<Value>,
    pub file: Option<Value>,
}

impl Difference {
    pub fn new(path: &[&str], accord: Option<&Value>, file: Option<&Value>) -> Self {
        let path = path.iter().map(|&name| name.to_owned()).collect();
        Self { path, accord: accord.cloned(), file: file.cloned() }
    }

    /// The name of the member, with a dot before the name of an inner one.
    pub fn member(&self) -> String {
        self.path.join(".")
    }

    /// The change that gives a file the value that Accord has.
    pub fn undo(&self) -> Change {
        let path: Vec<&str> = self.path.iter().map(String::as_str).collect();
        match &self.accord {
            Some(value) => Change::set(&path, value.clone()),
            None => Change::remove(&path),
        }
    }

    /// Both values, for an event.
    pub fn values(&self) -> Value {
        json!({"accord": self.accord, "file": self.file})
    }
}

/// What of an edit does not count. `file` is the front matter after the edit, `status` the status
/// that the edit asks for by the front matter or by the folder of the file.
pub fn refused(known: Known<'_>, file: &Object, status: Status) -> Vec<Difference> {
    match known {
        Known::Leased(held) => differences(held, file, status),
        Known::Free => Vec::new(),
        // Nothing decides about a review once the task is over.
        Known::Open { status: before, .. } if before.is_final() && status == before => Vec::new(),
        Known::Open {
            status: before,
            review_required,
            review_by,
            observed,
            decisions,
            reviewed,
        } => {
            let mut found = review_members(review_required, review_by, file);
            if !before.is_final() {
                found.extend(differs(&["metadata", "observed"], observed, said_observed(file)));
                let metadata = file.get("metadata");
                found.extend(decisions.into_iter().flat_map(|held| {
                    let said = move |name: &str| metadata.and_then(|metadata| metadata.get(name));
                    let differs =
                        move |name| differs(&["metadata", name], held.get(name), said(name));
                    DECISIONS.into_iter().filter_map(differs)
                }));
            }
            if let Some(held) = reviewed {
                found.extend(differs(
                    &["metadata", "checks"],
                    said_checks(held),
                    said_checks(file),
                ));
            }
            let ends_review = before == Status::Review;
            if status != before && (ends_review || status == Status::Done) {
                let (before, after) = (before.as_str().into(), status.as_str().into());
                found.push(Difference::new(&["status"], Some(&before), Some(&after)));
            }
            found
        }
        Known::New => {
            let mut found = review_members(None, None, file);
            found.extend(differs(&["metadata", "observed"], None, said_observed(file)));
            found
        }
    }
}

/// Whether a move sets something going: an agent gets the task, or what waits for it goes on. Such
/// a move counts only with an event, or once a person adopts it.
pub fn is_guarded(from: Status, to: Status) -> bool {
    use Status::{Cancelled, Done, InProgress, Ready};
    from != to && matches!(to, Ready | InProgress | Done | Cancelled)
}

/// Whether a member of the metadata decides about a task.
pub fn decides(name: &str) -> bool {
    METADATA.contains(&name)
}

pub fn differences(held: &Object, file: &Object, status: Status) -> Vec<Difference> {
    let status = Value::from(status.as_str());
    let own = held.keys().map(String::as_str).filter(|name| !FREE.contains(name));
    let more = DECIDES.iter().copied().filter(|name| !held.contains_key(*name));
    let member = |name: &str| {
        let said = if name == "status" { Some(&status) } else { file.get(name) };
        differs(&[name], held.get(name), said)
    };
    let mut found: Vec<Difference> = own.chain(more).filter_map(member).collect();
    let inner = |of: &Object| of.get("metadata").and_then(Value::as_object).cloned();
    let (held, file) = (inner(held).unwrap_or_default(), inner(file).unwrap_or_default());
    let more = METADATA.iter().copied().filter(|name| !held.contains_key(*name));
    let names = held.keys().map(String::as_str).chain(more);
    let member = |name: &str| differs(&["metadata", name], held.get(name), file.get(name));
    found.extend(names.filter_map(member));
    found
}

fn said_checks(file: &Object) -> Option<&Value> {
    file.get("metadata")?.get("checks")
}

fn said_observed(file: &Object) -> Option<&Value> {
    file.get("metadata")?.get("observed")
}

fn differs(path: &[&str], held: Option<&Value>, said: Option<&Value>) -> Option<Difference> {
    // A member that is absent and one that is null mean the same.
    let value = |value: Option<&Value>| value.filter(|value| !value.is_null()).cloned();
    (value(held) != value(said)).then(|| Difference::new(path, held, said))
}

/// An edit that turns the review off, or that names a reviewer.
fn review_members(required: Option<&Value>, by: Option<&Value>, file: &Object) -> Vec<Difference> {
    let said = |name: &str| file.get("metadata").and_then(|metadata| metadata.get(name));
    let mut found = Vec::new();
    let off = said("reviewRequired");
    if off == Some(&Value::Bool(false)) && required != off {
        found.push(Difference::new(&["metadata", "reviewRequired"], required, off));
    }
    let named = said("reviewBy").filter(|named| !named.is_null());
    if named.is_some() && by != named {
        found.push(Difference::new(&["metadata", "reviewBy"], by, named));
    }
    found
}
