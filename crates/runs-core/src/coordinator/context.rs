//! `COORDINATOR_CONTEXT`: what a repository's turn must know about the others.

use std::fmt::Write as _;

use accord_contract::time::Time;
use accord_contract::wire::{Object, Value};

use super::projection::Place;
use super::{BarrierStatus, Choice, Workstream};
use crate::Ids;
use crate::members::{array, build, list, text, texts};

/// The context of one turn, as its two documents, and its line in the history.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TurnContext {
    /// Its name, and that of its folder.
    pub reference: String,
    /// `COORDINATOR_CONTEXT.json`.
    pub document: Object,
    /// `COORDINATOR_CONTEXT.md`.
    pub markdown: String,
    /// The line of the coordinator's history.
    pub line: Object,
}

/// Puts together what a turn that is handed out must know: what was accepted in its
/// workstream and in those before it, and the decisions that it owes.
pub fn turn_context(place: &Place<'_>, choice: &Choice, ids: &mut Ids, now: Time) -> TurnContext {
    let reference = format!("ctx_{}_{}_{}", choice.workstream, choice.repo, ids.hex(4));
    let stream = place.config.workstream(&choice.workstream);
    let depends_on = stream.map_or(&[][..], |stream| &stream.depends_on);
    let upstream: Vec<&Object> = place
        .history
        .iter()
        .filter(|line| text(line, "type") == Some("acceptance_projection"))
        .filter(|line| {
            let of = text(line, "workstream_id").unwrap_or_default();
            of == choice.workstream || depends_on.iter().any(|other| other == of)
        })
        .collect();
    let owed = owed_decisions(stream, &choice.repo);
    let barriers: Object = depends_on
        .iter()
        .chain([&choice.workstream])
        .filter_map(|id| {
            let status = place.barriers.of_workstream(id)?.status();
            Some((id.clone(), BarrierStatus::as_str(status).into()))
        })
        .collect();
    let document = build([
        ("schema_version", super::COORDINATOR_VERSION.into()),
        ("context_ref", reference.as_str().into()),
        ("super_run_id", place.state.super_run_id().into()),
        ("phase", place.state.phase().into()),
        ("workstream_id", choice.workstream.as_str().into()),
        ("repo_id", choice.repo.as_str().into()),
        ("role", choice.role.as_str().into()),
        ("barriers", barriers.into()),
        ("required_decision_ids", array(&owed)),
        (
            "upstream_acceptances",
            upstream
                .iter()
                .map(|line| Value::Object((*line).clone()))
                .collect(),
        ),
        ("generated_at", now.to_string().into()),
    ]);
    let line = build([
        ("type", "context_generated".into()),
        ("timestamp", now.to_string().into()),
        ("super_run_id", place.state.super_run_id().into()),
        ("context_ref", reference.as_str().into()),
        ("workstream_id", choice.workstream.as_str().into()),
        ("repo_id", choice.repo.as_str().into()),
    ]);
    TurnContext {
        markdown: markdown(choice, place.state.phase(), &owed, &upstream),
        reference,
        document,
        line,
    }
}

fn owed_decisions(stream: Option<&Workstream>, repo: &str) -> Vec<String> {
    let found = stream.and_then(|stream| stream.decision_ids.iter().find(|(name, _)| name == repo));
    found.map_or_else(Vec::new, |(_, ids)| ids.clone())
}

fn markdown(choice: &Choice, phase: &str, owed: &[String], upstream: &[&Object]) -> String {
    let mut text = format!(
        "# {} in {}\n\n- Phase: {phase}\n- Role: {}\n",
        choice.workstream, choice.repo, choice.role
    );
    if !owed.is_empty() {
        let _ = write!(text, "\n## Decisions that you owe\n\n{}\n", owed.join(", "));
    }
    text.push_str("\n## What the other repositories have accepted\n");
    if upstream.is_empty() {
        text.push_str("\nNothing yet.\n");
    }
    for line in upstream {
        let member = |name: &str| crate::members::text(line, name).unwrap_or("?");
        let _ = write!(
            text,
            "\n### {} ({})\n\n{}\n",
            member("repo_id"),
            member("workstream_id"),
            member("summary")
        );
        for file in texts(line, "files_changed") {
            let _ = writeln!(text, "- `{file}`");
        }
        for decision in list(line, "decisions") {
            let id = decision.as_str().or_else(|| decision.get("id")?.as_str());
            let statement = decision.get("statement").and_then(Value::as_str);
            let _ = writeln!(
                text,
                "- {}: {}",
                id.unwrap_or("?"),
                statement.unwrap_or_default()
            );
        }
    }
    text
}
