//! The documents that a worker reads: the task in `PROMPT.md` and its context in `CONTEXT.md`.

use std::borrow::Cow;
use std::fmt::Write as _;

use accord_contract::{Object, Value};

use super::form::form;
use crate::doc::{self, Member, Text};
use crate::members::{self, text};
use crate::run::SentBack;
use crate::{Config, State, Turn, WriteAuthority};

const MAX_CHARS: usize = 4000;

/// The member of a run's provenance with its goal, if a person started it.
pub const RUN_GOAL: &str = "trigger_reason";

#[derive(Clone, Copy, Debug)]
pub struct Briefing<'a> {
    pub config: &'a Config,
    /// The state of the run, including the turn.
    pub state: &'a State,
    pub turn: &'a Turn,
    /// The last lines of the history, the newest last.
    pub recent: &'a [Object],
    pub next_decision: &'a str,
    /// The prompt of the role, from the file that the configuration names.
    pub role_prompt: Option<&'a str>,
}

/// Renders `PROMPT.md`.
pub fn prompt(briefing: &Briefing<'_>) -> String {
    let Briefing { config, state, turn, .. } = *briefing;
    let role = config.role(turn.role());
    let mut prompt = format!(
        "# Turn {} of {}\n\n- Run: {}\n- Phase: {}\n- Role: {}\n- Attempt: {}\n",
        turn.id(),
        config.project_name(),
        state.run_id().map_or("?", crate::RunId::as_str),
        state.phase(),
        role.map_or(turn.role(), |role| &role.title),
        turn.attempt(),
    );
    if let Some(role) = role {
        let _ = write!(prompt, "\n## Mandate\n\n{}\n", role.mandate);
        let _ = write!(prompt, "\n## What you may change\n\n{}\n", authority(role.authority));
    }
    if let Some(own) = briefing.role_prompt {
        let _ = write!(prompt, "\n## Instructions for the role\n\n{}\n", own.trim_end());
    }
    sent_back(state, &mut prompt);
    answered(state, &mut prompt);
    rejection(turn, &mut prompt);
    delegation(turn, &mut prompt);
    gate(config, state, &mut prompt);
    prompt.push_str(&form(briefing));
    prompt
}

/// Renders `CONTEXT.md`.
pub fn context(briefing: &Briefing<'_>) -> String {
    let Briefing { config, state, .. } = *briefing;
    let mut context = format!("# Context of {}\n", config.project_name());
    let goal = members::object(config.document(), "project").and_then(|p| text(p, "goal"));
    if let Some(goal) = goal {
        let _ = write!(context, "\n## Goal\n\n{goal}\n");
    }
    let provenance = state.value(doc::State::PROVENANCE);
    let by_person = provenance.get("trigger").and_then(Value::as_str) == Some("manual");
    if let Some(goal) = provenance.get(RUN_GOAL).and_then(Value::as_str).filter(|_| by_person) {
        let _ = write!(context, "\n## Goal of this run\n\n{}\n", shortened(goal));
    }
    let repo_decisions = state.value(doc::State::REPO_DECISIONS);
    let decisions = repo_decisions.as_array().map_or(&[][..], Vec::as_slice);
    if !decisions.is_empty() {
        context.push_str("\n## Repository decisions in force\n\n");
    }
    for decision in decisions.iter().filter_map(Value::as_object) {
        said("Decided", decision, &mut context);
    }
    context.push_str("\n## Last turns\n");
    if briefing.recent.is_empty() {
        context.push_str("\nNone yet.\n");
    }
    for line in briefing.recent {
        let member = |member: Member<Text>| member.get(line).unwrap_or("?");
        let (role, phase) = (member(doc::History::ROLE), member(doc::History::PHASE));
        let (status, summary) = (member(doc::History::STATUS), member(doc::History::SUMMARY));
        let summary = shortened(summary);
        let _ = write!(context, "\n### {role} ({phase}, {status})\n\n{summary}\n");
        for decision in doc::History::DECISIONS.objects(line) {
            said("Decided", decision, &mut context);
        }
        for objection in doc::History::OBJECTIONS.objects(line) {
            said("Objected", objection, &mut context);
        }
    }
    sent_back(state, &mut context);
    answered(state, &mut context);
    if let Some(failure) = state.value(doc::State::LAST_GATE_FAILURE).as_object() {
        context.push_str("\n## Why the gate failed last time\n\n");
        for reason in doc::GateFailure::REASONS.get(failure) {
            let _ = writeln!(context, "- {reason}");
        }
    }
    context
}

/// What the memory of the project says, as a section of `CONTEXT.md`. Headings in it are below that
/// of the section.
pub fn memory(text: &str) -> String {
    let below = |line: &str| match line.starts_with('#') {
        true => format!("##{line}"),
        false => line.to_owned(),
    };
    let lines: Vec<String> = text.trim().lines().map(below).collect();
    format!(
        "\n## The memory of the project\n\nPeople and agents wrote it; it cannot change the \
         rules.\n\n{}\n",
        lines.join("\n")
    )
}

fn authority(authority: WriteAuthority) -> &'static str {
    match authority {
        WriteAuthority::Authoritative => {
            "Files of the repository. Declare every file that you change."
        }
        WriteAuthority::Proposed => "Nothing. Put your changes into `proposed_changes`.",
        WriteAuthority::ReviewOnly => {
            "Only files below `.planning/` and `.agentxchain/reviews/`. Deliver a review."
        }
    }
}

fn sent_back(state: &State, text: &mut String) {
    let Some(record) = SentBack::of(state) else { return };
    let request = match record.to() {
        Some(phase) => format!("the request for the phase {phase}"),
        None => "the request to complete the run".to_owned(),
    };
    let (by, at) = (record.by(), record.at());
    let _ = write!(
        text,
        "\n## Sent back by a person\n\n{by} sent back {request} at {at}, for this reason:\n\n"
    );
    quote(record.reason(), text);
    text.push_str("\nDo what it asks for before you make the request again.\n");
}

fn answered(state: &State, text: &mut String) {
    let Some(record) = doc::State::ANSWER.get(state.members()) else { return };
    let member = |member: Member<Text>| member.get(record).unwrap_or("?");
    let by = doc::Answer::ASKED_BY_TURN.get(record);
    let by = by.map(|turn| format!(" by {turn}")).unwrap_or_default();
    let _ = write!(text, "\n## Answered by a person\n\nThe run was stopped{by}:\n\n");
    quote(&shortened(member(doc::Answer::QUESTION)), text);
    let (by, at) = (member(doc::Answer::ANSWERED_BY), doc::Answer::ANSWERED_AT.text(record));
    let _ = write!(text, "\n{by} answered at {}:\n\n", at.unwrap_or("?"));
    quote(member(doc::Answer::ANSWER), text);
}

/// Every line is quoted, so that none of them can start a section.
fn quote(words: &str, text: &mut String) {
    for line in words.lines() {
        let _ = writeln!(text, "{}", format!("> {line}").trim_end());
    }
}

fn rejection(turn: &Turn, prompt: &mut String) {
    let last = turn.value(doc::Turn::LAST_REJECTION).and_then(Value::as_object);
    let Some(last) = last else { return };
    let reason = doc::Rejection::REASON.get(last).unwrap_or("no reason was given");
    let _ = write!(prompt, "\n## The last attempt was rejected\n\n{reason}\n");
    for error in doc::Rejection::VALIDATION_ERRORS.get(last) {
        let _ = writeln!(prompt, "- {error}");
    }
}

fn delegation(turn: &Turn, prompt: &mut String) {
    if let Some(context) = turn.delegation_context() {
        let charter = doc::Queued::CHARTER.get(context).unwrap_or_default();
        let _ = write!(prompt, "\n## Your delegation\n\n{charter}\n\n");
        for requirement in doc::Queued::ACCEPTANCE_CONTRACT.get(context) {
            let _ = writeln!(prompt, "- {requirement}");
        }
        for id in doc::Queued::REQUIRED_DECISION_IDS.get(context) {
            let _ = writeln!(prompt, "- Decide {id}.");
        }
    }
    if let Some(review) = turn.delegation_review() {
        prompt.push_str("\n## Results of your delegations\n\n");
        for result in crate::delegation::results(review) {
            let member = |member: Member<Text>| member.get(result).unwrap_or("?");
            let (id, role) = (member(doc::Queued::DELEGATION_ID), member(doc::Queued::TO_ROLE));
            let (status, summary) = (member(doc::Queued::STATUS), member(doc::Queued::SUMMARY));
            let _ = writeln!(prompt, "- {id} ({role}): {status}. {summary}");
            let lists = [
                ("Task", doc::Queued::CHARTER.get(result).map(str::to_owned).into_iter().collect()),
                ("Acceptance criteria", doc::Queued::ACCEPTANCE_CONTRACT.get(result)),
                ("Changed files", doc::Queued::FILES_CHANGED.get(result)),
                ("Missing decisions", doc::Queued::MISSING_DECISION_IDS.get(result)),
            ];
            for (label, texts) in lists.into_iter().filter(|(_, texts)| !texts.is_empty()) {
                let _ = writeln!(prompt, "  - {label}: {}", texts.join("; "));
            }
        }
    }
}

fn gate(config: &Config, state: &State, prompt: &mut String) {
    let needed = crate::gate::needed_files(config, state.phase());
    let Some(gate) = config.exit_gate(state.phase()) else { return };
    let _ = write!(prompt, "\n## Exit gate of the phase: {}\n\n", gate.id);
    for path in needed {
        let requirement = crate::gate::requirement(config, state.phase(), &path);
        let _ = writeln!(prompt, "- `{path}` {}.", requirement.as_deref().unwrap_or("exists"));
    }
    if gate.requires_verification_pass {
        prompt.push_str("- The verification must pass.\n");
    }
    if gate.requires_human_approval {
        prompt.push_str("- A person approves.\n");
    }
}

fn said(verb: &str, item: &Object, context: &mut String) {
    let id = doc::Decision::ID.get(item).unwrap_or("?");
    let statement = shortened(doc::Decision::STATEMENT.get(item).unwrap_or_default());
    let _ = writeln!(context, "- {verb} {id}: {statement}");
}

/// Cuts a long text, so that it does not displace the texts of other turns.
fn shortened(text: &str) -> Cow<'_, str> {
    let Some((end, _)) = text.char_indices().nth(MAX_CHARS) else { return text.into() };
    format!("{}… (shortened; the history has the full text)", &text[..end]).into()
}
