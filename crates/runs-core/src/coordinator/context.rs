//! `COORDINATOR_CONTEXT`: what a turn needs to know about other repositories.

use std::fmt::Write as _;

use accord_contract::{Object, Time, Value};

use super::history::{self, LineType};
use super::projection::Initiative;
use super::send_back::{self, SentBackGate};
use super::{BarrierStatus, Choice, Workstream};
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
    let upstream: Vec<&Object> = initiative
        .history
        .iter()
        .filter(|line| history::is(line, LineType::AcceptanceProjection))
        .filter(|line| {
            let of = doc::MultiHistory::WORKSTREAM_ID.get(line).unwrap_or_default();
            of == choice.workstream || depends_on.iter().any(|other| other == of)
        })
        .collect();
    let required = required_decisions(stream, &choice.repo);
    let barriers: Object = depends_on
        .iter()
        .chain([&choice.workstream])
        .filter_map(|id| {
            let status = initiative.barriers.of_workstream(id)?.status();
            Some((id.clone(), BarrierStatus::as_str(status).into()))
        })
        .collect();
    let sent_back = SentBackGate::of(initiative.history);
    let sent_back = sent_back.and_then(|sent_back| sent_back.about(&choice.repo));
    let mut document = build([
        ("schema_version", super::COORDINATOR_VERSION.into()),
        ("context_ref", reference.as_str().into()),
        ("super_run_id", initiative.state.super_run_id().into()),
        ("phase", initiative.state.phase().into()),
        ("workstream_id", choice.workstream.as_str().into()),
        ("repo_id", choice.repo.as_str().into()),
        ("role", choice.role.as_str().into()),
        ("barriers", barriers.into()),
        ("required_decision_ids", array(&required)),
        (
            "upstream_acceptances",
            upstream.iter().map(|line| Value::Object((*line).clone())).collect(),
        ),
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
    TurnContext {
        markdown: markdown(
            choice,
            initiative.state.phase(),
            sent_back.as_ref(),
            &required,
            &upstream,
        ),
        reference,
        document,
        line,
    }
}

fn required_decisions(stream: Option<&Workstream>, repo: &str) -> Vec<String> {
    let found = stream.and_then(|stream| stream.decision_ids.iter().find(|(name, _)| name == repo));
    found.map_or_else(Vec::new, |(_, ids)| ids.clone())
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
        let _ = write!(
            text,
            "\n### {} ({})\n\n{}\n",
            member(doc::MultiHistory::REPO_ID),
            member(doc::MultiHistory::WORKSTREAM_ID),
            member(doc::MultiHistory::SUMMARY)
        );
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
