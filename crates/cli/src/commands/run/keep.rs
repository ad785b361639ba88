//! The flow of governed runs: the decisions of an accepted turn and a passed gate become packages
//! in the memory of the folder, and what the worker of a rejected result left leaves it.
//!
//! The source is the record in the repository: a line of the history, an event of a gate. Each
//! package is a function of it. What a command that was killed left behind is kept by the next one
//! that changes the run, because it looks back to the last package that the memory has.

use std::path::Path;

use accord_api::operations::edges::EdgeSource;
use accord_api::{Call, NoParams, Verbatim};
use accord_contract::{Code, Failure};
use accord_edge::Edges;
use accord_host::flows::runs::{RunFlow, keeps_runs, of_gate, of_rejected, of_sent_back, of_turn};
use accord_memory_core::operations::{
    Deposit, DepositParams, OfPackage, Orient, OrientParams, PackageWithin, ReadPackage,
};
use accord_memory_core::query::{MAX_TOKENS, MIN_BRIEFING_TOKENS, OrientFormat};
use accord_runs::operations::{Query, RunChoice};
use accord_runs::{Environment, Runs};
use accord_runs_core::history::is_accepted;

use super::RepoArgs;
use super::told::Told;
use crate::host::{
    Connection, DataFolder, IfMissing, ProjectArg, Target, TargetArgs, attempt_socket, holds_store,
    id_of, in_project, project_id, settings_of,
};
use crate::render::clean;
use crate::{Result, print_note};

/// How many of the newest lines of a record are looked at.
const LAST: usize = 1_000;
/// The type of the events of passed gates.
const GATE_APPROVED: &str = "gate_approved";
/// The type of the events of gates that were not passed.
const GATE_FAILED: &str = "gate_failed";
/// The type of the events of results that were rejected.
const TURN_REJECTED: &str = "turn_rejected";
/// How many of the newest rejections are looked at: one that takes nothing back leaves no package.
const REJECTIONS: usize = 20;

impl RepoArgs {
    /// Keeps what was decided, in the memory of this folder or of the server that the folder names.
    /// The run does not depend on it.
    pub(super) fn keep(&self) {
        keep_in(&self.folder());
    }
}

/// The same for the governed repository of a folder.
pub(crate) fn keep_in(folder: &Path) {
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
    let host = target.connect(IfMissing::Fail)?;
    let project = ProjectArg::default().required(&target, &host)?;
    let keeps = keeps_runs(&settings_of(&DataFolder::of(None)?.path)?, &project)
        && !is_joined_to(&target, &project, &runs)?;
    let told = Told::of(runs.repository().root(), &target, &project);
    let known = told.as_ref().map(Told::read).unwrap_or_default();
    let mut missing = Vec::new();
    for flow in super::take(flows(&runs, &project, keeps))?.into_iter().rev() {
        if known.contains(&flow.package_id) {
            continue;
        }
        if is_kept(&host, &project, &flow.package_id)? {
            break;
        }
        missing.push(flow);
    }
    for flow in missing.into_iter().rev() {
        let (id, is_rejection) = (flow.package_id, flow.is_rejection);
        let body = Verbatim::json(flow.text);
        let call = Call::<Deposit>::new(
            in_project(&project)?,
            DepositParams { flow: true, ..DepositParams::default() },
            body,
        );
        host.write_to(&call, &NoParams)?;
        // One that takes nothing back leaves no package that says that the memory knows it.
        if let Some(told) = told.as_ref().filter(|_| is_rejection)
            && !is_kept(&host, &project, &id)?
        {
            told.add(&id);
        }
    }
    Ok(())
}

/// Whether the memory is that of the hub that the repository is joined to. The hub makes these
/// packages of what the edge sends.
fn is_joined_to(target: &TargetArgs, project: &str, runs: &Runs) -> Result<bool> {
    let Target::Server { url, .. } = target.target()? else { return Ok(false) };
    let joined = Edges::of_user()?.find(runs.repository().root(), EdgeSource::Runs)?;
    let bare = |url: &str| url.trim_end_matches('/').to_owned();
    Ok(joined
        .is_some_and(|it| it.join.project.as_str() == project && bare(&it.join.url) == bare(&url)))
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

/// What was decided in all runs, if that is kept, and what was rejected, oldest first.
fn flows(runs: &Runs, project: &str, keeps: bool) -> Result<Vec<RunFlow>, Failure> {
    let query = Query { run: RunChoice::All, last: Some(LAST) };
    let rejected = runs.events(&query, Some(TURN_REJECTED))?;
    let sent_back = runs.events(&query, Some(GATE_FAILED))?;
    let rejected = rejected.iter().filter_map(|line| of_rejected(project, line));
    let sent_back = sent_back.iter().filter_map(|line| of_sent_back(project, line));
    let mut found: Vec<RunFlow> = rejected.chain(sent_back).collect();
    found.sort_by(|one, other| one.created_at.cmp(&other.created_at));
    found.drain(..found.len().saturating_sub(REJECTIONS));
    if keeps {
        found.extend(decided(runs, project, &query)?);
        found.sort_by(|one, other| one.created_at.cmp(&other.created_at));
    }
    Ok(found)
}

/// What was decided in all runs.
fn decided(runs: &Runs, project: &str, query: &Query) -> Result<Vec<RunFlow>, Failure> {
    let (turns, gates) = (runs.history(query)?, runs.events(query, Some(GATE_APPROVED))?);
    let turns = turns.iter().filter(|line| is_accepted(line));
    let turns = turns.filter_map(|line| of_turn(project, line));
    let gates = gates.iter().filter_map(|line| of_gate(project, line));
    Ok(turns.chain(gates).collect())
}
