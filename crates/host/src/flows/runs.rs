//! The decisions of an accepted turn and a passed gate become packages. A rejected result takes
//! back what its worker left.
//!
//! The source is the record in the governed repository: a line of its history, an event of a gate.
//! Whoever has the record and reaches the memory deposits the packages.

use accord_base::excerpt::one_line;
use accord_canon::sha256;
use accord_contract::{Object, Value};
use accord_memory_core::package::flow::{RESULT_OF, TAKES_BACK};
use serde_json::json;

use super::{APPROVED_BY, SOURCE, has, without_credentials};
use crate::settings::Settings;

/// What passes a gate that no person had to approve.
const POLICY: &str = "approval_policy";

/// What stands for a reason that nobody gave.
const NO_REASON: &str = "no reason was given";
/// The longest title of a rejection, in characters, before the list of what was taken back.
const REASON: usize = 80;

/// A package that follows from a record.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RunFlow {
    pub package_id: String,
    pub created_at: String,
    /// Whether it says that a result was rejected. The memory keeps it only if that takes something
    /// back.
    pub is_rejection: bool,
    /// The package, a JSON text.
    pub text: String,
}

/// Whether the governed runs of a project leave packages.
pub fn keeps_runs(settings: &Settings, project: &str) -> bool {
    !has(&settings.flows.runs_off, project)
}

/// What follows from a line of the history, which is that of an accepted turn; `None` if the turn
/// decided nothing.
pub fn of_turn(project: &str, line: &Object) -> Option<RunFlow> {
    let text = |name: &str| line.get(name).and_then(Value::as_str);
    let (run, turn, at) = (text("run_id")?, text("turn_id")?, text("accepted_at")?);
    let (role, phase) = (text("role").unwrap_or("?"), text("phase").unwrap_or("?"));
    let statement = |decision: &Value| {
        let text = |name: &str| decision.get(name)?.as_str().filter(|it| !it.trim().is_empty());
        let statement = text("statement")?;
        Some(without_credentials(&match text("rationale") {
            Some(why) => format!("{statement} ({why})"),
            None => statement.to_owned(),
        }))
    };
    let said = line.get("decisions").and_then(Value::as_array);
    let decisions: Vec<String> = said.into_iter().flatten().filter_map(statement).collect();
    let more = match decisions.len() {
        0 => return None,
        1 => String::new(),
        count => format!(" (+{} more)", count - 1),
    };
    let title = format!("{role} decided ({phase}): {}{more}", decisions[0]);
    let summary = text("summary").unwrap_or_default();
    let about = format!("{role} decided it in the turn {turn} of {run}, phase {phase}.");
    let source = json!({
        "protocol": "runs", "kind": "run.turn", "run_id": run, "turn_id": turn, "role": role,
        "phase": phase,
    });
    let id = package_id(&["run.turn", run, turn, at]);
    let mut package = decision(project, (&id, at), &title, &decisions);
    package["description"] = without_credentials(&format!("{about}\n\n{summary}")).into();
    package[SOURCE] = source;
    package[RESULT_OF] = json!({"work": turn});
    Some(flow(id, at, &package))
}

/// What follows from the event of a gate that was passed.
pub fn of_gate(project: &str, line: &Object) -> Option<RunFlow> {
    let member = |name: &str| line.get(name).and_then(Value::as_str);
    let (event, run, at) = (member("event_id")?, member("run_id")?, member("timestamp")?);
    let payload = line.get("payload")?;
    let text = |name: &str| payload.get(name).and_then(Value::as_str);
    let gate = text("gate_id").or(text("gate")).unwrap_or("completion");
    let by = text("actor").or(text("approved_by")).filter(|by| *by != POLICY);
    let to = text("to").map(|to| format!(" to {to}")).unwrap_or_default();
    let who = by.map_or("no person had to approve it".to_owned(), |by| format!("{by} approved it"));
    let note = text("note").map(|note| format!(": {note}")).unwrap_or_default();
    let decided = without_credentials(&format!("the gate {gate} of {run} is passed; {who}{note}"));
    let id = package_id(&["run.gate", run, event]);
    let title = format!("Passed the gate {gate}{to} ({run})");
    let mut package = decision(project, (&id, at), &title, &[decided]);
    if note.is_empty() {
        // A gate without a condition is no rule for those who work later.
        package["significance"] = 3.into();
    }
    package[SOURCE] =
        json!({"protocol": "runs", "kind": "run.gate", "run_id": run, "event": event});
    if let Some(by) = by {
        package[APPROVED_BY] = by.into();
    }
    Some(flow(id, at, &package))
}

/// What follows from the event of a turn whose result was rejected. The memory keeps it if the
/// worker of that attempt left something.
pub fn of_rejected(project: &str, line: &Object) -> Option<RunFlow> {
    let member = |name: &str| line.get(name).and_then(Value::as_str);
    let turn = line.get("turn")?;
    let (turn, role) = (turn.get("turn_id")?.as_str()?, turn.get("role_id")?.as_str()?);
    let payload = line.get("payload")?;
    let attempt = payload.get("attempt")?.as_u64()?.to_string();
    let why = payload.get("reason").and_then(Value::as_str).unwrap_or(NO_REASON);
    let (event, run, at) = (member("event_id")?, member("run_id")?, member("timestamp")?);
    let title = format!("Rejected {turn}, attempt {attempt}: {why}");
    let about = format!("The result of {role} in the turn {turn} of {run} was rejected: {why}");
    let id = package_id(&["run.rejected", run, turn, event]);
    let mut package = rejection(project, (&id, at), &title, &about);
    package[TAKES_BACK] = json!({"work": turn, "attempt": attempt});
    package[SOURCE] = json!({
        "protocol": "runs", "kind": "run.rejected", "run_id": run, "turn_id": turn, "role": role,
        "attempt": attempt,
    });
    Some(flow(id, at, &package))
}

/// What follows from the event of a gate whose request a person sent back, that a turn made. The
/// memory keeps it if the worker of the turn left something.
pub fn of_sent_back(project: &str, line: &Object) -> Option<RunFlow> {
    let member = |name: &str| line.get(name).and_then(Value::as_str);
    let (event, run, at) = (member("event_id")?, member("run_id")?, member("timestamp")?);
    let record = line.get("payload")?.get("sent_back")?;
    let text = |name: &str| record.get(name).and_then(Value::as_str);
    let (turn, by) = (text("requested_by_turn")?, text("sent_back_by")?);
    let why = text("reason").unwrap_or(NO_REASON);
    let title = format!("Sent back {turn}: {why}");
    let about = format!("{by} sent back what the turn {turn} of {run} requested: {why}");
    let id = package_id(&["run.sent_back", run, turn, event]);
    let mut package = rejection(project, (&id, at), &title, &about);
    package[APPROVED_BY] = by.into();
    package[TAKES_BACK] = json!({"work": turn});
    package[SOURCE] = json!({
        "protocol": "runs", "kind": "run.sent_back", "run_id": run, "turn_id": turn,
        "event": event,
    });
    Some(flow(id, at, &package))
}

fn rejection(project: &str, (id, at): (&str, &str), title: &str, about: &str) -> Value {
    let title = one_line(title, REASON);
    let mut package = super::package(id, project, &super::title(&title), at);
    // The next attempt must read it.
    package["significance"] = 6.into();
    package["description"] = without_credentials(about).into();
    package["tags"] = json!(["run"]);
    package
}

fn decision(project: &str, (id, at): (&str, &str), title: &str, decisions: &[String]) -> Value {
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut package = super::package(id, project, &super::title(&title), at);
    package["package_type"] = "decision".into();
    package["decisions_made"] = decisions.into();
    package["tags"] = json!(["run"]);
    package
}

fn flow(package_id: String, at: &str, package: &Value) -> RunFlow {
    let is_rejection = package.get(TAKES_BACK).is_some();
    RunFlow { package_id, created_at: at.to_owned(), is_rejection, text: package.to_string() }
}

fn package_id(parts: &[&str]) -> String {
    format!("pkg_{}", &sha256(Value::from(parts).to_string().as_bytes()).hex()[..32])
}
