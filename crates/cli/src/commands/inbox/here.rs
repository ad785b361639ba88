//! What waits in the governed repository of the current folder. No host knows it, so the command
//! reads the run itself and puts its items into the list.

use accord_base::ProjectId;
use accord_base::Verb;
use accord_base::inbox::{InboxFact, InboxItem, InboxVerb, is_handle};
use accord_contract::{Object, Timestamp};
use accord_runs::operations::Overview;
use accord_runs_core::Status;
use accord_runs_core::inbox::{duty, waiting};
use accord_runs_core::operations::answers::NextAnswer;

use crate::commands::run;

/// The commands that decide about the evidence that a person saw.
const DECISIONS: [&str; 4] = ["approve-transition", "approve-completion", "resolve", "send-back"];

/// A governed run that waits, and the repository.
pub(super) struct RunItem(pub(super) InboxItem);

/// The items of the run in the current folder: the decision that it waits for, and what a person
/// must do. A repository that cannot be read has none: `accord run status` says why.
pub(super) fn items() -> Vec<RunItem> {
    let Some((overview, steps)) = run::overview_here() else { return Vec::new() };
    let mut found: Vec<RunItem> = decision(&overview, &steps).into_iter().collect();
    found.extend(duties(&overview, &steps));
    found
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
    let name = words.get(2)?.clone();
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
        if DECISIONS.contains(&verb.name.as_str())
            && let Some(digest) = evidence
        {
            verb.command.extend(["--expect".to_owned(), digest.to_owned()]);
        }
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
