//! The flow of governed runs: the decisions of an accepted turn and a passed gate become packages
//! in the memory of the folder.
//!
//! The source is the record in the repository: a line of the history, an event of a gate. Each
//! package is a function of it. What a command that was killed left behind is kept by the next one
//! that changes the run, because it looks back to the last package that the memory has.

use std::path::Path;

use accord_api::{Call, NoParams, Verbatim};
use accord_canon::sha256;
use accord_contract::{Code, Failure, Object, Value};
use accord_memory_core::operations::{
    Deposit, DepositParams, OfPackage, Orient, OrientParams, PackageWithin, ReadPackage,
};
use accord_memory_core::query::{MAX_TOKENS, MIN_BRIEFING_TOKENS, OrientFormat};
use accord_runs::operations::{Query, RunChoice};
use accord_runs::{Environment, Runs};
use accord_runs_core::event;
use accord_runs_core::history::{is_accepted, run_id};
use accord_runs_core::views::HistoryView;
use serde_json::json;

use super::RepoArgs;
use crate::host::{
    Connection, DataFolder, IfMissing, ProjectArg, Target, TargetArgs, attempt_socket, holds_store,
    id_of, in_project, project_id, settings_of,
};
use crate::render::clean;
use crate::{CliError, Result, print_note};

/// How many of the newest lines of a record are looked at.
const LAST: usize = 1_000;
/// The longest title of a package, in characters.
const TITLE: usize = 200;
/// The type of the events of passed gates.
const GATE_APPROVED: &str = "gate_approved";
/// The name of the setting that stands for all projects.
const ALL: &str = "*";

impl RepoArgs {
    /// Keeps what was decided, in the memory of this folder or of the server that the folder names.
    /// The run does not depend on it.
    pub(super) fn keep(&self) {
        keep_in(&self.folder());
    }
}

/// The same for the governed repository of a folder.
pub(super) fn keep_in(folder: &Path) {
    if let Err(error) = keep(folder) {
        print_note(clean(&format!("the memory does not keep what was decided: {error}")));
    }
}

/// What the memory says to the worker of a turn. The work does not depend on it.
pub(super) fn briefing() -> Option<String> {
    let most = settings_of(&DataFolder::of(None).ok()?.path).ok()?.flows.turn_tokens;
    let most = (most > 0).then(|| most.clamp(MIN_BRIEFING_TOKENS, MAX_TOKENS))?;
    let target = memory().ok()??;
    let host = target.connect(IfMissing::Fail).ok()?;
    let project = ProjectArg::default().required(&target, &host).ok()?;
    let asked = OrientParams {
        format: Some(OrientFormat::Briefing),
        max_tokens: Some(most),
        ..OrientParams::default()
    };
    let text = host.ask::<Orient>(in_project(&project).ok()?, asked).ok()?.text;
    Some(text).filter(|text| !text.trim().is_empty())
}

/// The memory that a command here uses, if there is one.
fn memory() -> Result<Option<TargetArgs>> {
    let target = TargetArgs::default();
    if attempt_socket().is_some() {
        return Ok(None);
    }
    match target.target() {
        Err(error) if error.code() == Some(Code::StoreMissing) => Ok(None),
        Ok(Target::Folder(folder)) if !holds_store(&folder) => Ok(None),
        reached => reached.map(|_| Some(target)),
    }
}

fn keep(folder: &Path) -> Result<()> {
    let Some(target) = memory()? else { return Ok(()) };
    let runs = super::take(Runs::open(folder, Environment::system()))?;
    let sources = sources(&runs)?;
    if sources.is_empty() {
        return Ok(());
    }
    let host = target.connect(IfMissing::Fail)?;
    let project = ProjectArg::default().required(&target, &host)?;
    let settings = settings_of(&DataFolder::of(None)?.path)?;
    if settings.flows.runs_off.iter().any(|name| name == ALL || *name == project) {
        return Ok(());
    }
    let mut missing = Vec::new();
    for source in sources.iter().rev() {
        if is_kept(&host, &project, &source.id)? {
            break;
        }
        missing.push(source);
    }
    for source in missing.into_iter().rev() {
        let body = Verbatim::json(source.package(&project).to_string());
        let call = Call::<Deposit>::new(in_project(&project)?, DepositParams::default(), body);
        host.write_to(&call, &NoParams)?;
    }
    Ok(())
}

/// Whether the memory has a package.
fn is_kept(host: &Connection, project: &str, id: &str) -> Result<bool> {
    let path = OfPackage { package: id_of("package_id", id)? };
    let within = PackageWithin { project: Some(project_id(project)?) };
    let missing = [Code::AgenticPackageNotFound, Code::AgenticProjectNotFound];
    match host.ask::<ReadPackage>(path, within) {
        Ok(_) => Ok(true),
        Err(error) if error.code().is_some_and(|code| missing.contains(&code)) => Ok(false),
        Err(error) => Err(error),
    }
}

/// What a package follows from.
#[derive(Debug)]
struct Kept {
    id: String,
    at: String,
    title: String,
    text: String,
    decisions: Vec<String>,
    source: Value,
    approved_by: Option<String>,
}

/// What was decided in all runs, oldest first.
fn sources(runs: &Runs) -> Result<Vec<Kept>> {
    let query = Query { run: RunChoice::All, last: Some(LAST) };
    let failed = |failure: Failure| CliError::from(failure);
    let turns = runs.history(&query).map_err(failed)?;
    let gates = runs.events(&query, Some(GATE_APPROVED)).map_err(failed)?;
    let turns = turns.iter().filter_map(of_turn);
    let mut found: Vec<Kept> = turns.chain(gates.iter().filter_map(of_gate)).collect();
    found.sort_by(|one, other| (&one.at, &one.id).cmp(&(&other.at, &other.id)));
    Ok(found)
}

fn package_id(parts: &[&str]) -> String {
    format!("pkg_{}", &sha256(Value::from(parts).to_string().as_bytes()).hex()[..32])
}

/// What an accepted turn decided; `None` if that is nothing.
fn of_turn(line: &Object) -> Option<Kept> {
    let HistoryView { turn_id, role, phase, summary, accepted_at, .. } = HistoryView::of(line);
    let (run, turn) = (run_id(line)?, turn_id?);
    let at = accepted_at.filter(|_| is_accepted(line))?;
    let role = role.unwrap_or_else(|| "?".to_owned());
    let phase = phase.unwrap_or_else(|| "?".to_owned());
    let statement = |decision: &Value| {
        let text = |name: &str| decision.get(name)?.as_str().filter(|it| !it.trim().is_empty());
        let statement = text("statement")?;
        Some(match text("rationale") {
            Some(why) => format!("{statement} ({why})"),
            None => statement.to_owned(),
        })
    };
    let said = line.get("decisions").and_then(Value::as_array);
    let decisions: Vec<String> = said.into_iter().flatten().filter_map(statement).collect();
    let first = decisions.first()?.clone();
    let more = match decisions.len() {
        1 => String::new(),
        count => format!(" (+{} more)", count - 1),
    };
    Some(Kept {
        id: package_id(&["run.turn", run, &turn, &at]),
        at,
        title: format!("{role} decided ({phase}): {}{more}", first.trim()),
        text: format!(
            "{role} decided it in the turn {turn} of {run}, phase {phase}.\n\n{}",
            summary.unwrap_or_default()
        ),
        decisions,
        source: json!({
            "protocol": "runs", "kind": "run.turn", "run_id": run, "turn_id": turn, "role": role,
            "phase": phase,
        }),
        approved_by: None,
    })
}

/// A gate that was passed.
fn of_gate(line: &Object) -> Option<Kept> {
    let id = line.get("event_id")?.as_str()?;
    let (run, at) = (event::run_id(line)?, event::timestamp(line)?.to_string());
    let payload = line.get("payload")?.as_object()?;
    let text = |name: &str| payload.get(name).and_then(Value::as_str);
    let gate = text("gate").or(text("gate_id")).unwrap_or("completion");
    let by = text("actor").or(text("approved_by"));
    let to = text("to").map(|to| format!(" to {to}")).unwrap_or_default();
    let who = match by {
        Some("approval_policy") | None => "no person had to approve it".to_owned(),
        Some(by) => format!("{by} approved it"),
    };
    let note = text("note").map(|note| format!(": {note}")).unwrap_or_default();
    Some(Kept {
        id: package_id(&["run.gate", run, id]),
        at,
        title: format!("Passed the gate {gate}{to} ({run})"),
        text: format!("The run {run} passed the gate {gate}{to}; {who}{note}."),
        decisions: vec![format!("the gate {gate} of {run} is passed; {who}{note}")],
        source: json!({"protocol": "runs", "kind": "run.gate", "run_id": run, "event": id}),
        approved_by: by.filter(|by| by.contains(':')).map(str::to_owned),
    })
}

impl Kept {
    fn package(&self, project: &str) -> Value {
        let title: String = match self.title.char_indices().nth(TITLE) {
            None => self.title.clone(),
            Some(_) => self.title.chars().take(TITLE - 1).chain(['…']).collect(),
        };
        let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut package = json!({
            "package_id": self.id,
            "project_id": project,
            "relay_version": "0.1",
            "title": title,
            "status": "complete",
            "package_type": "decision",
            "review_type": "none",
            "created_at": self.at,
            "created_by": {"id": "accord", "type": "script"},
            "description": self.text,
            "decisions_made": self.decisions,
            "tags": ["run"],
            "x-source": self.source,
        });
        if let Some(by) = &self.approved_by {
            package["x-approved_by"] = by.as_str().into();
        }
        package
    }
}
