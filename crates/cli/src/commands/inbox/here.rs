//! What waits in the governed repository of the current folder. No host knows it, so the command
//! reads the run itself and puts its item into the list.

use accord_base::ProjectId;
use accord_base::Verb;
use accord_base::inbox::{InboxFact, InboxItem, InboxVerb, is_handle};
use accord_contract::{Object, Timestamp};
use accord_runs::operations::Overview;
use accord_runs_core::Status;
use accord_runs_core::inbox::waiting;

use crate::commands::run;

/// The commands that decide about the evidence that a person saw.
const DECISIONS: [&str; 4] = ["approve-transition", "approve-completion", "resolve", "send-back"];

/// A governed run that waits, and the repository.
pub(super) struct RunItem(pub(super) InboxItem);

/// The item of the run in the current folder, if it waits for a person. A repository that cannot be
/// read has none: `accord run status` says why.
pub(super) fn item() -> Option<RunItem> {
    let (overview, steps) = run::overview_here()?;
    let config = overview.config.as_ref().ok()?;
    let state = overview.state.as_ref().ok()?;
    let found = overview.waiting.as_ref()?;
    let project = ProjectId::new(config.project_id()).ok()?;
    let evidence = found.evidence.as_ref().ok().map(|digest| digest.as_str());
    let (pending, now) = (state.pending(), accord_system::now());
    let pending = pending.as_ref().filter(|_| state.status() == Status::Paused);
    let item = waiting(state, pending, found.since, evidence, now)?;
    let mut item = item.item(&project, now);
    let is_decision = |command: &str| {
        let mut words = command.split_whitespace();
        words.next() == Some("accord") && words.next() == Some("run")
    };
    let verb = |step: &accord_runs_core::operations::answers::NextAnswer| {
        let command = step.command.as_deref().filter(|command| is_decision(command))?;
        let mut words = shell_words::split(command).ok()?;
        let name = words.get(2)?.clone();
        let needs_note = place_note(&mut words);
        if DECISIONS.contains(&name.as_str())
            && let Some(digest) = evidence
        {
            words.extend(["--expect".to_owned(), digest.to_owned()]);
        }
        Some(InboxVerb {
            name,
            about: step.why.clone(),
            scope: Verb::Approve,
            needs_note,
            can_be_undone: false,
            command: words,
            request: None,
            extra: Object::new(),
        })
    };
    item.verbs = steps.iter().filter_map(verb).collect();
    item.evidence = Some(facts(&overview));
    Some(RunItem(item))
}

/// Puts the note of a verb into the place of the reason that a step shows, such as "...".
fn place_note(words: &mut [String]) -> bool {
    let Some(reason) = words.iter().position(|word| word == "--reason") else { return false };
    match words.get_mut(reason + 1) {
        Some(value) => {
            "{note}".clone_into(value);
            true
        }
        None => false,
    }
}

fn facts(overview: &Overview) -> Vec<InboxFact> {
    let mut facts = Vec::new();
    let mut add = |name: &str, value: String, is_claim: bool| {
        facts.push(InboxFact { name: name.to_owned(), value, is_claim, extra: Object::new() });
    };
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
    facts
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
