//! What waits in the governed repository, or the workspace of a coordinator, of the current folder.
//! No host knows it, so the command reads the run itself and puts its items into the list.

use accord_base::ProjectId;
use accord_base::Verb;
use accord_base::inbox::{InboxFact, InboxItem, InboxVerb, Waiting, is_handle, kind};
use accord_contract::{Object, Timestamp};
use accord_runs::coordinator::CoordinatorOverview;
use accord_runs::operations::Overview;
use accord_runs_core::Status;
use accord_runs_core::coordinator::BarrierStatus;
use accord_runs_core::inbox::{duty, initiative, waiting};
use accord_runs_core::operations::answers::NextAnswer;

use crate::commands::run;

/// The commands that decide about the evidence that a person saw.
const DECISIONS: [&str; 5] =
    ["approve-transition", "approve-completion", "resolve", "send-back", "approve-gate"];

/// A governed run or an initiative that waits, and the repository.
pub(super) struct RunItem(pub(super) InboxItem);

/// The items of the run in the current folder, and those of its initiative: the decisions that they
/// wait for, and what a person must do. What cannot be read has none: `accord run status` and
/// `accord run coordinator status` say why.
pub(super) fn items() -> Vec<RunItem> {
    let mut found = Vec::new();
    if let Some((overview, steps)) = run::overview_here() {
        found.extend(decision(&overview, &steps));
        found.extend(duties(&overview, &steps));
    }
    if let Some((overview, steps)) = run::initiative_here() {
        found.extend(of_initiative(&overview, &steps));
    }
    found
}

/// The gate of an initiative, and what it differs in from its repositories.
fn of_initiative(overview: &CoordinatorOverview, steps: &[NextAnswer]) -> Vec<RunItem> {
    let (Some(state), Ok(project)) = (&overview.state, ProjectId::new(overview.project.clone()))
    else {
        return Vec::new();
    };
    let digest = overview.waiting.as_ref().and_then(|waiting| waiting.evidence.as_ref().ok());
    let (digest, now) = (digest.map(|digest| digest.as_str()), accord_system::now());
    let found = initiative(state, &overview.divergence, digest, now);
    let one = |waiting: Waiting| {
        let is_gate = waiting.kind == kind::COORDINATOR_GATE;
        let mut item = waiting.item(&project, now);
        let scope = if is_gate { Verb::Approve } else { Verb::Write };
        let fits = |verb: &InboxVerb| is_gate == DECISIONS.contains(&verb.name.as_str());
        item.verbs = steps.iter().filter_map(|step| verb(step, scope)).filter(fits).collect();
        if is_gate {
            item.verbs.iter_mut().for_each(|verb| expect(verb, digest));
        } else {
            item.verbs = resyncs(overview, std::mem::take(&mut item.verbs));
        }
        item.evidence = Some(initiative_facts(overview, is_gate));
        RunItem(item)
    };
    found.into_iter().map(one).collect()
}

/// The verbs about a difference: to look at what a resynchronization would do, and to do it.
fn resyncs(overview: &CoordinatorOverview, found: Vec<InboxVerb>) -> Vec<InboxVerb> {
    let workspace = overview.root.display().to_string();
    let resync = |name: &str, about: &str, more: &[&str]| InboxVerb {
        name: name.to_owned(),
        about: about.to_owned(),
        scope: Verb::Write,
        needs_note: false,
        can_be_undone: !more.is_empty(),
        command: ["accord", "run", "coordinator", "resync", "--workspace", &workspace]
            .iter()
            .chain(more)
            .map(|word| (*word).to_owned())
            .collect(),
        request: None,
        extra: Object::new(),
    };
    let compare = resync("compare", "Show what differs; changes nothing", &["--dry-run"]);
    let known = found.into_iter().find(|verb| verb.name == "resync");
    let about = known.map_or_else(|| "Bring it up to date".to_owned(), |verb| verb.about);
    vec![compare, resync("resync", &about, &[])]
}

fn initiative_facts(overview: &CoordinatorOverview, is_gate: bool) -> Vec<InboxFact> {
    let mut facts = Facts::default();
    facts.add("workspace", overview.root.display().to_string(), false);
    for repo in &overview.repos {
        let state = repo.overview.as_ref().ok().and_then(|own| own.state.as_ref().ok());
        let text = match (state, &repo.overview) {
            (Some(state), _) => format!("{}: {} in {}", repo.id, state.status(), state.phase()),
            (None, Err(problem)) => format!("{}: {problem}", repo.id),
            (None, Ok(_)) => format!("{}: its run cannot be read", repo.id),
        };
        facts.add("repository", text, false);
        let Some(seen) = repo.facts.as_ref().filter(|_| is_gate) else { continue };
        let mut list = |name: &str, items: &[String]| {
            if !items.is_empty() {
                facts.add(&format!("{} in {}", name, repo.id), items.join(", "), false);
            }
        };
        list("turns", &seen.turns);
        list("files", &seen.files);
        list("missing", &seen.missing);
        list("warnings", &seen.warnings);
        for check in &seen.checks {
            let ended =
                check.exit_code.map_or("did not end".to_owned(), |code| format!("exit {code}"));
            let text = format!("{}: {ended}", check.command);
            facts.add(&format!("check in {}", repo.id), text, !check.run_again);
        }
        facts.add(&format!("cost in {}", repo.id), seen.cost.clone(), false);
    }
    for barrier in overview.barriers.iter() {
        let satisfied = barrier.satisfied_repos();
        let mut missing = barrier.required_repos();
        missing.retain(|repo| !satisfied.contains(repo));
        let (stream, status) = (barrier.workstream(), barrier.status());
        let missing = match missing.is_empty() || status == BarrierStatus::Satisfied {
            true => String::new(),
            false => format!("; missing: {}", missing.join(", ")),
        };
        facts.add("barrier", format!("{stream}: {} {status}{missing}", barrier.kind()), false);
    }
    for differs in &overview.divergence {
        let turn = differs.turn.as_ref().map(|turn| format!(" ({turn})")).unwrap_or_default();
        facts.add("differs", format!("{}: {}{turn}", differs.repo, differs.kind), false);
    }
    if let Some(reason) = overview.state.as_ref().and_then(|state| state.blocked_reason()) {
        facts.add("blocked because", reason.to_owned(), true);
    }
    facts.0
}

fn project_of(overview: &Overview) -> Option<ProjectId> {
    ProjectId::new(overview.config.as_ref().ok()?.project_id()).ok()
}

/// What a person must do, and what is no decision.
fn duties(overview: &Overview, steps: &[NextAnswer]) -> Vec<RunItem> {
    let (Some(project), Ok(state)) = (project_of(overview), &overview.state) else {
        return Vec::new();
    };
    let run = state.run_id().map_or("none", |run| run.as_str());
    let now = accord_system::now();
    let one = |(step, answer): (_, &NextAnswer)| {
        let duty = duty(step, &overview.turns)?;
        let mut item = duty.waiting(run, now).item(&project, now);
        item.verbs = verb(answer, Verb::Write).into_iter().collect();
        let mut facts = Facts::default();
        facts.add("repository", overview.root.display().to_string(), false);
        facts.add("next", answer.why.clone(), true);
        if let Some(words) = &duty.words {
            facts.add("about", words.clone(), true);
        }
        item.evidence = Some(facts.0);
        Some(RunItem(item))
    };
    overview.next.iter().zip(steps).filter_map(one).collect()
}

/// A command of `accord run` as a verb.
fn verb(step: &NextAnswer, scope: Verb) -> Option<InboxVerb> {
    let command = step.command.as_deref().filter(|command| is_of_runs(command))?;
    let mut words = shell_words::split(command).ok()?;
    let name = words.iter().skip(2).find(|word| *word != "coordinator")?.clone();
    let needs_note = place_note(&mut words);
    Some(InboxVerb {
        name,
        about: step.why.clone(),
        scope,
        needs_note,
        can_be_undone: false,
        command: words,
        request: None,
        extra: Object::new(),
    })
}

/// Binds a decision to the evidence that was shown.
fn expect(verb: &mut InboxVerb, evidence: Option<&str>) {
    if DECISIONS.contains(&verb.name.as_str())
        && let Some(digest) = evidence
    {
        verb.command.extend(["--expect".to_owned(), digest.to_owned()]);
    }
}

fn is_of_runs(command: &str) -> bool {
    let mut words = command.split_whitespace();
    words.next() == Some("accord") && words.next() == Some("run")
}

/// The item of the decision that the run waits for.
fn decision(overview: &Overview, steps: &[NextAnswer]) -> Option<RunItem> {
    let state = overview.state.as_ref().ok()?;
    let found = overview.waiting.as_ref()?;
    let project = project_of(overview)?;
    let evidence = found.evidence.as_ref().ok().map(|digest| digest.as_str());
    let (pending, now) = (state.pending(), accord_system::now());
    let pending = pending.as_ref().filter(|_| state.status() == Status::Paused);
    let item = waiting(state, pending, found.since, evidence, now)?;
    let mut item = item.item(&project, now);
    let decides = |step: &NextAnswer| {
        let mut verb = verb(step, Verb::Approve)?;
        expect(&mut verb, evidence);
        Some(verb)
    };
    item.verbs = steps.iter().filter_map(decides).collect();
    item.evidence = Some(facts(overview));
    Some(RunItem(item))
}

/// Puts the note of a verb into the place of the text that a step shows, such as "...".
fn place_note(words: &mut [String]) -> bool {
    let is_text = |word: &String| ["--reason", "--summary"].contains(&word.as_str());
    let Some(reason) = words.iter().position(is_text) else { return false };
    match words.get_mut(reason + 1) {
        Some(value) => {
            "{note}".clone_into(value);
            true
        }
        None => false,
    }
}

#[derive(Default)]
struct Facts(Vec<InboxFact>);

impl Facts {
    fn add(&mut self, name: &str, value: String, is_claim: bool) {
        self.0.push(InboxFact { name: name.to_owned(), value, is_claim, extra: Object::new() });
    }
}

fn facts(overview: &Overview) -> Vec<InboxFact> {
    let mut facts = Facts::default();
    let mut add = |name: &str, value: String, is_claim: bool| facts.add(name, value, is_claim);
    add("repository", overview.root.display().to_string(), false);
    add("accepted turns", overview.accepted_turns.to_string(), false);
    if let Some(since) = overview.waiting.as_ref().and_then(|waiting| waiting.since) {
        add("waits since", Timestamp::emit(since).as_str().to_owned(), false);
    }
    for warning in &overview.last_warnings {
        add("warning", warning.clone(), false);
    }
    for (path, turn) in &overview.changed {
        add("changed after its turn", format!("{path} ({turn})"), false);
    }
    if let Ok(state) = &overview.state
        && let Some(detail) = state.blocked_detail()
    {
        add("blocked because", detail.to_owned(), true);
    }
    facts.0
}

impl RunItem {
    /// Whether a name given by a person is that of the item.
    pub(super) fn is_named(&self, name: &str) -> bool {
        let Self(item) = self;
        item.id == name || (is_handle(name) && item.handle.starts_with(name))
    }

    /// Puts the item into a list in its order, if the list may have it.
    pub(super) fn into_list(self, items: &mut Vec<InboxItem>) {
        let Self(item) = self;
        let rank = |item: &InboxItem| {
            let deadline = item.deadline.as_ref().map_or(i64::MAX, |at| at.time().unix_millis());
            let behind = std::cmp::Reverse(item.behind);
            (item.urgency, deadline, behind, item.since.time().unix_millis())
        };
        let place = items.partition_point(|other| rank(other) <= rank(&item));
        items.insert(place, item);
    }
}
