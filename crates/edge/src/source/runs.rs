//! A governed repository: its events and accepted turns, and what waits for a person.

use std::path::Path;

use accord_api::operations::edge_decisions::EdgeDecidable;
use accord_api::operations::edges::{EdgeEntry, EdgeEntryKind, EdgeRunTurn, EdgeSend};
use accord_canon::sha256;
use accord_contract::{Code, Object, Timestamp, Value, Wire as _};
use accord_outbox::evidence::{self, ChangedFile};
use accord_outbox::inbox::OVERDUE;
use accord_outbox::{Waiting, decision};
use accord_runs::answers::{CommandNames, next_answer};
use accord_runs::operations::{PendingApproval, Query, RunChoice};
use accord_runs::{Environment, Runs};
use accord_runs_core::inbox::{self, Duty};
use accord_runs_core::next_step::NextStep;
use accord_runs_core::operations::answers::RunFacts;
use accord_runs_core::proposal::Proposal;
use accord_runs_core::run::check_stoppable;
use accord_runs_core::state::{Pending, State};
use accord_runs_core::{EvidenceDigest, RepoPath, RunId, Subject, TurnId, dispatch};

use super::{Scan, time_of};
use crate::Result;

/// A file that is larger is named with its size alone.
const LARGEST: u64 = 16 * 1024 * 1024;
/// The output of an agent, in the bundle of its turn.
const LOG: &str = "stdout.log";
/// A difference of a larger file is not made.
const LARGEST_TEXT: usize = 1024 * 1024;
const CREDENTIALED: &str = "the gate uses credentials, so it is decided where the repository is";

pub(super) fn open(folder: &Path) -> Result<Option<Runs>> {
    match Runs::open(folder, Environment::system()) {
        Err(failure) if failure.code == Code::XchainNotGoverned => Ok(None),
        opened => opened.map(Some),
    }
}

/// Events and accepted turns that the outbox does not have.
pub(super) fn happened(runs: &Runs, scan: &Scan<'_>) -> Result<Vec<EdgeEntry>> {
    let all = Query { run: RunChoice::All, last: None };
    let mut found = Vec::new();
    for line in runs.events(&all, None)? {
        let text = |name: &str| line.get(name).and_then(Value::as_str);
        let Some(id) = text("event_id").filter(|id| !id.is_empty()) else { continue };
        if scan.knows(EdgeEntryKind::Event, id) {
            continue;
        }
        let type_name = text("event_type").unwrap_or("unknown");
        let mut body = picked(&line, &["run_id", "phase", "status", "turn"]);
        if evidence::sends_summary(scan.send()) {
            body.extend(picked(&line, &["payload", "intent_id"]));
        }
        found.push(entry(EdgeEntryKind::Event, id, type_name, time_of(text("timestamp")), body));
    }
    for line in runs.history(&all)? {
        let text = |name: &str| line.get(name).and_then(Value::as_str);
        let (Some(turn), Some(at)) = (text("turn_id"), text("accepted_at")) else { continue };
        if !scan.knows(EdgeEntryKind::Result, turn) {
            let body = accepted(runs, scan, &line);
            found.push(entry(EdgeEntryKind::Result, turn, "run.turn", time_of(Some(at)), body));
        }
    }
    Ok(found)
}

fn entry(kind: EdgeEntryKind, id: &str, type_name: &str, at: Timestamp, body: Object) -> EdgeEntry {
    let (id, type_name) = (id.to_owned(), type_name.to_owned());
    EdgeEntry { seq: 0, kind, id, type_name, at, body, extra: Object::new() }
}

fn picked(line: &Object, names: &[&str]) -> Object {
    let found =
        names.iter().filter_map(|name| Some(((*name).to_owned(), line.get(*name)?.clone())));
    found.collect()
}

/// An accepted turn. Its files are as they are now.
fn accepted(runs: &Runs, scan: &Scan<'_>, line: &Object) -> Object {
    let mut body = picked(line, &["run_id", "turn_id", "role", "phase", "accepted_at"]);
    if scan.choice.is_none() || !evidence::sends_summary(scan.send()) {
        return body;
    }
    body.extend(picked(line, &["summary", "decisions", "objections", "verification", "cost"]));
    body.extend(picked(line, &["observed_cost", "verification_replay", "worker_sandbox"]));
    let observed = line.get("observed_artifact").and_then(|it| it.get("files_changed"));
    let paths = observed.or_else(|| line.get("files_changed")).and_then(Value::as_array);
    let paths: Vec<String> =
        paths.into_iter().flatten().filter_map(|it| it.as_str().map(str::to_owned)).collect();
    let base = line.get("observed_artifact").and_then(|it| it.get("baseline_ref")?.as_str());
    let base = base.and_then(|base| base.strip_prefix("git:"));
    body.extend(scan.files(&changed(runs, scan, &paths, base)));
    let turn = line.get("turn_id").and_then(Value::as_str).and_then(TurnId::parse);
    if scan.send() == EdgeSend::Output
        && let Some(output) = turn.and_then(|turn| output_of(runs, &turn))
    {
        body.insert("output".into(), evidence::output(&output));
    }
    body
}

/// What waits for a person, as the state says it: not as events say it, which git can take away.
pub(super) fn waiting(runs: &Runs, scan: &Scan<'_>) -> Result<Vec<Waiting>> {
    let overview = runs.status()?;
    let state = overview.state?;
    let mut found = vec![state_of(runs, &state, scan)];
    if let (Some(subject), Some(waits)) = (Subject::of(&state), overview.waiting) {
        let (kind, id, title) = named(&subject, &state);
        let because = state.blocked_detail().map(str::to_owned);
        let because = because.filter(|_| kind == "run.block");
        let since = waits.since.map_or_else(|| time_of(None), Timestamp::emit);
        let about = About { kind, id, title, since, because };
        found.push(request(runs, scan, about, waits.evidence, waits.facts)?);
    }
    for merge in overview.merges {
        let (turn, run) = (&merge.turn, run_of(&state));
        let about = About {
            kind: "run.merge",
            id: format!("{run}/merge/{turn}"),
            title: format!("The files of turn {turn} conflict with those of others"),
            since: time_of(None),
            because: None,
        };
        found.push(request(runs, scan, about, merge.evidence, merge.facts)?);
    }
    for view in overview.proposals.into_iter().filter(|view| view.decided.is_none()) {
        let subject = Subject::Proposal(&view.proposal);
        let (turn, run) = (&view.proposal.turn, run_of(&state));
        let about = About {
            kind: "run.proposal",
            id: format!("{run}/proposal/{turn}"),
            title: format!("Turn {turn} proposes changes"),
            since: time_of(None),
            because: None,
        };
        let evidence = runs.evidence(&subject);
        let mut waits = request(runs, scan, about, evidence, runs.facts(&subject).ok())?;
        if evidence::sends_summary(scan.send()) {
            waits.body.insert("proposed".into(), proposed(&view.proposal, scan));
        }
        found.push(waits);
    }
    for step in &overview.next {
        if let Some(duty) = inbox::duty(step, &overview.turns) {
            found.push(duty_of(&run_of(&state), step, &duty, scan));
        }
    }
    Ok(found)
}

/// Where the run is now, who works on it, and what a person on the hub may do about it.
fn state_of(runs: &Runs, state: &State, scan: &Scan<'_>) -> Waiting {
    let turns = state.turns().map(|turn| {
        let (turn_id, role) = (turn.id().to_string(), Some(turn.role().to_owned()));
        EdgeRunTurn { turn_id, role, extra: Object::new() }.encode()
    });
    let mut body = Object::new();
    body.extend(state.run_id().map(|run| ("run_id".to_owned(), run.as_str().into())));
    body.insert("phase".into(), state.phase().into());
    body.insert("status".into(), state.status().as_str().into());
    body.insert("turns".into(), turns.collect());
    let verbs = match check_stoppable(state) {
        Ok(()) => scan.verbs(EdgeDecidable::RunStop.as_str()),
        Err(_) => Vec::new(),
    };
    if !verbs.is_empty()
        && let Ok(evidence) = runs.evidence(&Subject::Run)
    {
        body.insert("digest".into(), evidence.as_str().into());
        body.insert(decision::VERBS.into(), verbs.into());
    }
    let version = sha256(Value::Object(body.clone()).to_string().as_bytes()).hex();
    let id = format!("state/{}", state.run_id().map_or("none", RunId::as_str));
    let (kind, type_name) = (EdgeEntryKind::State, decision::RUN_STATE.to_owned());
    Waiting { kind, id, version, type_name, at: time_of(None), body }
}

/// What a proposal does to which files. Those that are left out are counted.
fn proposed(proposal: &Proposal, scan: &Scan<'_>) -> Value {
    let exclude = scan.exclude();
    let shown = proposal.files.iter().filter(|file| !exclude.matches(&file.path));
    let files = shown.map(|file| {
        let mut about = Object::new();
        about.insert("path".into(), file.path.as_str().into());
        about.insert("action".into(), file.action.as_str().into());
        about.extend(file.content.as_deref().map(|it| ("sha256".to_owned(), it.into())));
        Value::Object(about)
    });
    let files: Vec<Value> = files.collect();
    let mut about = Object::new();
    about.extend(proposal.summary.as_deref().map(|it| ("summary".to_owned(), it.into())));
    about.insert("hidden".into(), (proposal.files.len() - files.len()).into());
    about.insert("files".into(), files.into());
    Value::Object(about)
}

/// A step that a person takes where the repository is.
fn duty_of(run: &str, step: &NextStep, duty: &Duty, scan: &Scan<'_>) -> Waiting {
    let mut body = Object::new();
    body.insert("title".into(), duty.title.as_str().into());
    if duty.is_overdue {
        body.insert(OVERDUE.into(), true.into());
    }
    if evidence::sends_summary(scan.send()) {
        let next = next_answer(step, &CommandNames::default());
        let members = [("command", next.command), ("why", Some(next.why))];
        let members = members.into_iter().chain([("about", duty.words.clone())]);
        body.extend(members.filter_map(|(name, text)| Some((name.to_owned(), text?.into()))));
    }
    let version = sha256(Value::Object(body.clone()).to_string().as_bytes()).hex();
    let at = time_of(duty.since.map(Timestamp::emit).as_ref().map(Timestamp::as_str));
    let id = format!("{run}/{}", duty.key);
    let (kind, type_name) = (EdgeEntryKind::Request, duty.kind.to_owned());
    Waiting { kind, id, version, type_name, at, body }
}

fn run_of(state: &State) -> String {
    state.run_id().map(ToString::to_string).unwrap_or_default()
}

struct About {
    kind: &'static str,
    id: String,
    title: String,
    since: Timestamp,
    /// Why the run is blocked, in the words of the block.
    because: Option<String>,
}

/// Kind, id and title of what a run waits for. The id has what began it, so that a later request
/// for the same gate is another one.
fn named(subject: &Subject<'_>, state: &State) -> (&'static str, String, String) {
    let (run, phase) = (run_of(state), state.phase());
    let pending = state.pending();
    let by = pending.as_ref().and_then(Pending::requested_by_turn).unwrap_or("-");
    match (subject, &pending) {
        (Subject::Transition, Some(pending)) => {
            let gate = pending.gate().unwrap_or("-");
            let to = pending.to().unwrap_or("-");
            let title = format!("Gate {gate} waits: {phase} to {to}");
            ("run.gate", format!("{run}/gate/{gate}/{by}"), title)
        }
        (Subject::Completion, Some(pending)) => {
            let gate = pending.gate().unwrap_or("completion");
            let title = format!("Gate {gate} waits: the completion of the run");
            ("run.completion", format!("{run}/completion/{gate}/{by}"), title)
        }
        _ => {
            let on = state.blocked_on().unwrap_or("paused");
            let since = state.waiting_since().map(|at| at.to_string()).unwrap_or_default();
            let title = format!("The run is blocked in {phase}: {on}");
            ("run.block", format!("{run}/block/{on}/{since}"), title)
        }
    }
}

fn request(
    runs: &Runs,
    scan: &Scan<'_>,
    about: About,
    evidence: Result<EvidenceDigest>,
    facts: Option<RunFacts>,
) -> Result<Waiting> {
    let About { kind, id, title, since, because } = about;
    let mut body = Object::new();
    body.insert("title".into(), title.into());
    if let Some(because) = because.filter(|_| evidence::sends_summary(scan.send())) {
        body.insert("blocked_because".into(), because.into());
    }
    let version = match evidence {
        Ok(digest) => digest.to_string(),
        Err(failure) => {
            body.insert("evidence_error".into(), failure.code.as_str().into());
            failure.code.as_str().to_owned()
        }
    };
    body.insert("digest".into(), version.as_str().into());
    let verbs = offer(runs, scan, kind, &mut body);
    // The digest of what the hub decides about needs all of it.
    let is_known = !verbs && scan.outbox.is_some_and(|outbox| outbox.is_open(&id, &version));
    if evidence::sends_summary(scan.send())
        && !is_known
        && let Some(facts) = facts
    {
        if verbs {
            let digests = facts.files.iter().map(|path| (path.clone(), digest_of(runs, path)));
            let digest = scan.digest_of_files(&digests.collect::<Vec<_>>());
            body.insert("files_digest".into(), digest.into());
        }
        let base = facts.diff_command.as_deref().and_then(|line| line.split(' ').next_back());
        body.extend(scan.files(&changed(runs, scan, &facts.files, base)));
        // Their names are in the list of files, without those that are excluded.
        let mut facts = facts.encode();
        if let Some(members) = facts.as_object_mut() {
            members.remove("files");
            members.remove("diff_command");
        }
        body.insert("facts".into(), facts);
    }
    let (kind, type_name) = (EdgeEntryKind::Request, kind.to_owned());
    Ok(Waiting { kind, id, version, type_name, at: since, body })
}

/// Says what the hub may decide, and which commands a gate runs then. Returns whether it may decide
/// anything.
fn offer(runs: &Runs, scan: &Scan<'_>, kind: &str, body: &mut Object) -> bool {
    let verbs = scan.verbs(kind);
    if verbs.is_empty() {
        return false;
    }
    let gate = match EdgeDecidable::parse(kind) {
        Some(EdgeDecidable::RunGate) => Some(PendingApproval::Transition),
        Some(EdgeDecidable::RunCompletion) => Some(PendingApproval::Completion),
        _ => None,
    };
    if let Some(gate) = gate {
        let (Ok(plan), Ok(config)) = (runs.plan_approval(gate), runs.config()) else {
            return false;
        };
        let declared = plan.pending.gate().and_then(|name| config.gate(name));
        if declared.is_some_and(|gate| gate.credentialed) {
            body.insert("why_not".into(), CREDENTIALED.into());
            return false;
        }
        let commands: Vec<Value> =
            plan.actions.iter().map(|action| action.run.as_str().into()).collect();
        body.insert(decision::COMMANDS.into(), commands.into());
        let hooks = plan.hooks.iter().flat_map(|batch| &batch.hooks);
        let hooks: Vec<Value> = hooks.map(|hook| hook.name.as_str().into()).collect();
        body.insert("hooks".into(), hooks.into());
    }
    body.insert(decision::VERBS.into(), verbs.into());
    true
}

/// The digest of a file of any size.
fn digest_of(runs: &Runs, path: &str) -> String {
    let digest = RepoPath::parse(path).ok().map(|path| runs.repository().digest(&path));
    digest.and_then(Result::ok).unwrap_or_else(|| "unreadable".to_owned())
}

/// What the agent of a turn printed, if its bundle is still there.
fn output_of(runs: &Runs, turn: &TurnId) -> Option<String> {
    let log = format!("{}/{LOG}", dispatch::bundle_folder(turn));
    let bytes = runs.repository().read(&RepoPath::parse(&log).ok()?, LARGEST).ok()??;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Files as they are now, with their differences if those are sent.
fn changed(runs: &Runs, scan: &Scan<'_>, paths: &[String], base: Option<&str>) -> Vec<ChangedFile> {
    let exclude = scan.exclude();
    let one = |path: &String| {
        let nothing = ChangedFile { path: path.clone(), ..ChangedFile::default() };
        let Ok(parsed) = RepoPath::parse(path) else { return nothing };
        if exclude.matches(path) {
            return nothing;
        }
        let repository = runs.repository();
        let size = repository.stat(&parsed).ok().flatten().map(|stat| stat.length);
        let Ok(Some(bytes)) = repository.read(&parsed, LARGEST) else {
            // It is gone, or too large.
            return ChangedFile { size, ..nothing };
        };
        let is_binary = bytes.contains(&0) || std::str::from_utf8(&bytes).is_err();
        let sha256 = Some(sha256(&bytes).hex());
        let wants = evidence::sends_diff(scan.send()) && !is_binary && bytes.len() <= LARGEST_TEXT;
        let diff = match wants {
            true => runs.difference(base, path).ok(),
            false => None,
        };
        ChangedFile { size: Some(bytes.len() as u64), sha256, diff, is_binary, ..nothing }
    };
    paths.iter().map(one).collect()
}
