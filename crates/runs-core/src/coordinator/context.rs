//! `COORDINATOR_CONTEXT`: what a turn needs to know about other repositories.

use std::fmt::Write as _;

use accord_contract::{Object, Time, Value};

use super::Choice;
use super::history::{self, LineType};
use super::projection::Initiative;
use super::send_back::{self, SentBackGate};
use crate::doc::{self, Member, Text};
use crate::{Ids, array, build};

/// The context of one turn: two documents and a history line.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnContext {
    /// The reference of the context, which is also the name of its folder.
    pub reference: String,
    /// `COORDINATOR_CONTEXT.json`.
    pub document: Object,
    /// `COORDINATOR_CONTEXT.md`.
    pub markdown: String,
    pub line: Object,
}

/// The context of a turn that is dispatched: the accepted turns of its workstream and of those that
/// it depends on, and the decisions that it must make.
pub fn turn_context(
    initiative: &Initiative<'_>,
    choice: &Choice,
    ids: &mut Ids,
    now: Time,
) -> TurnContext {
    let reference = format!("ctx_{}_{}_{}", choice.workstream, choice.repo, ids.hex(4));
    let stream = initiative.config.workstream(&choice.workstream);
    let depends_on = stream.map_or(&[][..], |stream| &stream.depends_on);
    let is_upstream = |line: &&Object| {
        let of = doc::MultiHistory::WORKSTREAM_ID.get(line).unwrap_or_default();
        history::is(line, LineType::AcceptanceProjection)
            && (of == choice.workstream || depends_on.iter().any(|other| other == of))
    };
    let upstream: Vec<&Object> = initiative.history.iter().filter(is_upstream).collect();
    let required = stream.map_or_else(Vec::new, |stream| stream.decisions_of(&choice.repo));
    let barrier = |id: &String| {
        let status = initiative.barriers.of_workstream(id)?.status();
        Some((id.clone(), status.as_str().into()))
    };
    let streams = depends_on.iter().chain([&choice.workstream]);
    let barriers: Object = streams.filter_map(barrier).collect();
    let sent_back = SentBackGate::of(initiative.history);
    let sent_back = sent_back.and_then(|sent_back| sent_back.about(&choice.repo));
    let accepted: Value = upstream.iter().map(|line| Value::Object((*line).clone())).collect();
    let phase = initiative.state.phase();
    let mut document = build([
        ("schema_version", super::COORDINATOR_VERSION.into()),
        ("context_ref", reference.as_str().into()),
        ("super_run_id", initiative.state.super_run_id().into()),
        ("phase", phase.into()),
        ("workstream_id", choice.workstream.as_str().into()),
        ("repo_id", choice.repo.as_str().into()),
        ("role", choice.role.as_str().into()),
        ("barriers", barriers.into()),
        ("required_decision_ids", array(&required)),
        ("upstream_acceptances", accepted),
        ("generated_at", now.to_string().into()),
    ]);
    if let Some(sent_back) = &sent_back {
        document.insert("sent_back".to_owned(), sent_back.clone().into());
    }
    let members = [
        doc::MultiHistory::CONTEXT_REF.to(reference.as_str()),
        doc::MultiHistory::WORKSTREAM_ID.to(choice.workstream.as_str()),
        doc::MultiHistory::REPO_ID.to(choice.repo.as_str()),
    ];
    let line = history::line(LineType::ContextGenerated, initiative.state, now, members);
    let markdown = markdown(choice, phase, sent_back.as_ref(), &required, &upstream);
    TurnContext { markdown, reference, document, line }
}

fn markdown(
    choice: &Choice,
    phase: &str,
    sent_back: Option<&Object>,
    required: &[String],
    upstream: &[&Object],
) -> String {
    let mut text = format!(
        "# {} in {}\n\n- Phase: {phase}\n- Role: {}\n",
        choice.workstream, choice.repo, choice.role
    );
    if let Some(record) = sent_back {
        send_back::section(record, &mut text);
    }
    if !required.is_empty() {
        let _ = write!(text, "\n## Decisions that you owe\n\n{}\n", required.join(", "));
    }
    text.push_str("\n## What the other repositories have accepted\n");
    if upstream.is_empty() {
        text.push_str("\nNothing yet.\n");
    }
    for line in upstream {
        let member = |member: Member<Text>| member.get(line).unwrap_or("?");
        let repo = member(doc::MultiHistory::REPO_ID);
        let (stream, summary) =
            (member(doc::MultiHistory::WORKSTREAM_ID), member(doc::MultiHistory::SUMMARY));
        let _ = write!(text, "\n### {repo} ({stream})\n\n{summary}\n");
        for file in doc::MultiHistory::FILES_CHANGED.get(line) {
            let _ = writeln!(text, "- `{file}`");
        }
        for decision in doc::MultiHistory::DECISIONS.get(line) {
            let id = decision.as_str().or_else(|| doc::Decision::ID.get(decision));
            let statement = doc::Decision::STATEMENT.get(decision);
            let _ = writeln!(text, "- {}: {}", id.unwrap_or("?"), statement.unwrap_or_default());
        }
    }
    text
}
