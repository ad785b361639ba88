//! What Accord observed about the turns that a person decides about, beside what agents say.

use std::collections::BTreeSet;
use std::fmt;

use accord_base::client_output::ClientCost;
use accord_base::worker::sandbox_line;
use accord_contract::wire::integer_of;
use accord_contract::{Object, Value};

use crate::operations::answers::{RunCheck, RunFacts, RunSentBack};
use crate::proposal::Proposal;
use crate::{LedgerDecision, RepoPath, State, Turn, build, doc, history};

/// The turns that a decision is about.
#[derive(Clone, Debug)]
pub enum Scope<'a> {
    /// The accepted turns of the present phase, and active turns.
    Phase,
    /// Accepted turns, by id.
    Turns(Vec<String>),
    /// An active turn, and the result that it staged.
    Active(&'a Turn, Option<Object>),
}

impl Scope<'_> {
    pub fn has_active(&self, turn: &Turn) -> bool {
        match self {
            Self::Phase => true,
            Self::Turns(_) => false,
            Self::Active(own, _) => own.id() == turn.id(),
        }
    }
}

/// The facts of the records, and what the host adds to them.
#[derive(Clone, Debug)]
pub struct Gathered {
    pub facts: RunFacts,
    /// The commit before the first of the turns.
    pub base: Option<String>,
    /// Files that results declare, and that were not seen to be deleted.
    pub declared: Vec<RepoPath>,
}

/// Gathers the facts about turns, from lines of the records in order.
pub fn gather(state: &State, scope: &Scope<'_>, lines: &[Object], ledger: &[Object]) -> Gathered {
    let is_own = |line: &&Object| match scope {
        Scope::Phase => {
            doc::History::PHASE.get(line) == Some(state.phase()) && state.owns_line(line)
        }
        Scope::Turns(ids) => {
            let id = doc::History::TURN_ID.get(line);
            ids.iter().any(|own| Some(own.as_str()) == id)
        }
        Scope::Active(..) => false,
    };
    let claimed = match scope {
        Scope::Active(turn, staged) => Some(active_line(turn, staged.as_ref())),
        _ => None,
    };
    let lines: Vec<&Object> = lines.iter().filter(is_own).chain(&claimed).collect();
    let mut cost = Cost::default();
    lines.iter().for_each(|line| cost.add(line));
    if let Scope::Phase = scope {
        state.turns().for_each(|turn| cost.add(&active_line(turn, None)));
    }
    // Turns that were taken back have cost, and nothing else of them is left.
    let is_left = |line: &&Object| history::is_accepted(line) || claimed.is_some();
    let lines: Vec<&Object> = lines.into_iter().filter(is_left).collect();
    let observed = |line: &Object| doc::History::OBSERVED_ARTIFACT.get(line).cloned();
    let base = lines.first().and_then(|line| observed(line)?.get("baseline_ref").cloned());
    let base = base.as_ref().and_then(Value::as_str).and_then(|base| base.strip_prefix("git:"));
    let (mut files, mut declared) = (BTreeSet::new(), BTreeSet::new());
    for line in &lines {
        let seen = observed(line).unwrap_or_default();
        files.extend(doc::ObservedArtifact::FILES_CHANGED.get(&seen));
        let marks = doc::ObservedArtifact::FILE_MARKERS.get(&seen);
        let deleted = |path: &RepoPath| {
            let mark = marks.and_then(|marks| marks.get(path.as_str())).and_then(Value::as_str);
            mark == Some("deleted")
        };
        // A proposal names files that a person applies later.
        let proposed = Proposal::of_history(line).map(|it| it.files).unwrap_or_default();
        let waits = |path: &RepoPath| proposed.iter().any(|file| file.path == path.as_str());
        declared.extend(declared_files(line).filter(|path| !deleted(path) && !waits(path)));
    }
    let texts = |line: &Object| doc::History::TURN_ID.get(line).map(str::to_owned);
    let facts = RunFacts {
        turns: lines.iter().filter_map(|line| texts(line)).collect(),
        files: files.into_iter().collect(),
        diff_command: None,
        commits: Vec::new(),
        missing: Vec::new(),
        checks: lines.iter().flat_map(|line| checks(line)).collect(),
        cost: cost.to_string(),
        sandbox: sandboxes(&lines),
        send_backs: ledger.iter().filter_map(|line| sent_back(state, line)).collect(),
        warnings: lines.iter().flat_map(|line| history::warnings(line)).collect(),
    };
    let declared = declared.into_iter().collect();
    Gathered { facts, base: base.map(str::to_owned), declared }
}

/// What the history would have about an active turn.
fn active_line(turn: &Turn, staged: Option<&Object>) -> Object {
    let staged = staged.cloned().unwrap_or_default();
    let cost = turn.observed_cost().map(ClientCost::document);
    // Of the result only what it claims: Accord says what was observed.
    build([
        doc::History::TURN_ID.to(turn.id().as_str()),
        doc::History::WORKER_SANDBOX.to(turn.worker_sandbox()),
        doc::History::OBSERVED_COST.to(cost.map_or(Value::Null, Value::Object)),
        doc::History::FILES_CHANGED.of(&staged),
        doc::History::ARTIFACTS_CREATED.of(&staged),
        doc::History::VERIFICATION.of(&staged),
        doc::History::COST.of(&staged),
    ])
}

fn declared_files(line: &Object) -> impl Iterator<Item = RepoPath> {
    let created = doc::History::ARTIFACTS_CREATED.get(line).iter();
    let created = created.filter_map(|item| item.as_str().or_else(|| item.get("path")?.as_str()));
    let changed = doc::History::FILES_CHANGED.get(line);
    let names: Vec<String> = changed.into_iter().chain(created.map(str::to_owned)).collect();
    names.into_iter().filter_map(|name| RepoPath::parse(&name).ok())
}

/// The checks of a turn: those that Accord ran again, else those that the result claims.
fn checks(line: &Object) -> Vec<RunCheck> {
    let verification = doc::History::VERIFICATION.get(line);
    let claimed = verification.map_or(&[][..], |it| doc::Verification::MACHINE_EVIDENCE.get(it));
    let replay = doc::History::VERIFICATION_REPLAY.get(line);
    let codes = replay.and_then(|replay| replay.get("exit_codes")?.as_array());
    let check = |(place, item): (usize, &Value)| {
        let seen = codes.and_then(|codes| codes.get(place));
        let code = seen.or_else(|| doc::Evidence::EXIT_CODE.raw(item.as_object()?));
        Some(RunCheck {
            command: doc::Evidence::COMMAND.get(item)?.to_owned(),
            exit_code: code.and_then(integer_of),
            run_again: seen.is_some(),
        })
    };
    claimed.iter().enumerate().filter_map(check).collect()
}

/// The sandboxes of the workers, each once.
fn sandboxes(lines: &[&Object]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for line in lines {
        add_sandbox(&mut found, doc::History::WORKER_SANDBOX.get(line));
    }
    found
}

/// Adds the sandbox of a worker, as it is shown beside a decision.
pub fn add_sandbox(found: &mut Vec<String>, recorded: Option<&str>) {
    let none = || "none: Accord started no worker".to_owned();
    let text = recorded.map_or_else(none, sandbox_line);
    if !found.contains(&text) {
        found.push(text);
    }
}

/// What turns cost, and who says so.
#[derive(Debug, Default)]
struct Cost {
    measured: ClientCost,
    claimed: f64,
}

impl Cost {
    fn add(&mut self, line: &Object) {
        let cost = doc::History::OBSERVED_COST.get(line).map(ClientCost::read).unwrap_or_default();
        // A result that claims more than its client is counted by its own word.
        self.claimed += (history::cost_usd(line) - cost.usd.unwrap_or(0.0)).max(0.0);
        self.measured = self.measured.plus(cost);
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { measured, claimed } = self;
        let measured = measured.to_string();
        match (measured.is_empty(), *claimed > 0.0) {
            (false, false) => formatter.write_str(&measured),
            (false, true) => write!(formatter, "{measured}, {claimed:.2} USD as the agents say"),
            (true, _) => write!(formatter, "{claimed:.2} USD as the agents say"),
        }
    }
}

fn sent_back(state: &State, line: &Object) -> Option<RunSentBack> {
    let is_one = doc::Ledger::DECISION.get(line) == Some(LedgerDecision::GateSentBack.as_str());
    let is_own = doc::Ledger::PHASE.get(line) == Some(state.phase()) && state.owns_line(line);
    let record = doc::GateFailure::SENT_BACK.get(line).filter(|_| is_one && is_own)?;
    let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
    Some(RunSentBack {
        at: text(doc::SentBack::SENT_BACK_AT.text(record)),
        by: text(doc::SentBack::SENT_BACK_BY.get(record)),
        reason: text(doc::SentBack::REASON.get(record)),
    })
}
