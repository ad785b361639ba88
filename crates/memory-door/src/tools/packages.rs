//! Packages: what was done, decided and left open.

use accord_api::Call as OperationCall;
use accord_contract::{Code, Failure, Object, Timestamp, Value, Wire as _};
use accord_memory_core::PackageId;
use accord_memory_core::lifecycle::Revision;
use accord_memory_core::operations::{
    Deposit, DepositParams, PullPackages, PullParams, ReadPackage,
};
use accord_memory_core::package::{ANSWERS, SUPERSEDES, Status, answer_item};
use accord_memory_core::query::PullMode;
use accord_system::random;
use serde_json::json;

use super::{
    ACTOR, ALLOW_CREDENTIALS, CURSOR, EXTRA, IN_SESSION, PACKAGE_RECEIPT, PROJECT, credentials, id,
    in_project, number, of_package, reading, receipt, text, tokens, written,
};
use accord_mcp::budget::{BUDGET, Shortening, budget, shortened, whole};
use accord_mcp::{Argument, Call, Effect, HostRequest, Tool, ToolResult, raw};

pub(super) const DEPOSIT: Tool = Tool {
    name: "memory_deposit",
    description: "Records finished work, a decision, or where you stop, for readers who were not \
        there. Do not repeat a call that succeeded.",
    arguments: &[
        PROJECT,
        Argument::text("title", "").required(),
        Argument::text("description", "What and why."),
        Argument::texts("decisions_made", "Each with its reason."),
        Argument::texts("open_questions", ""),
        Argument::texts("answers", "Open questions that this settles: text or package_id#index."),
        Argument::texts(
            "supersedes",
            "Package ids. For a person's package: status awaiting_review.",
        ),
        Argument::text("handoff_note", "For the next actor."),
        Argument::text("content_md", ""),
        Argument::objects("deliverables", deliverable, ""),
        Argument::texts("tags", ""),
        Argument::text("topic", ""),
        Argument::integer("significance", 1, 10, "8: everybody must know."),
        Argument::word(
            "package_type",
            &[
                "standard",
                "milestone",
                "decision",
                "handoff",
                "analysis",
                "question",
                "auto_deposit",
                "orchestrator_report",
            ],
            "",
        )
        .default_word("standard"),
        Argument::word("status", &["complete", "draft", "awaiting_review"], "")
            .default_word("complete"),
        Argument::word("review_type", &["none", "human", "agent"], ""),
        Argument::text("parent_package_id", "Continued or corrected."),
        Argument::word("estimated_next_actor", &["human", "agent"], ""),
        ACTOR,
        IN_SESSION,
        Argument::text("package_id", "Leave out."),
        Argument::text("created_at", ""),
        EXTRA,
        ALLOW_CREDENTIALS,
    ],
    effect: Effect::Adds,
    ask: deposit,
    answer: |_, answer| receipt(answer, PACKAGE_RECEIPT),
    null_on: None,
};

pub(super) const PULL: Tool = Tool {
    name: "memory_pull",
    description: "Reads packages: those about query, best first; or the one of package_id, null \
        if not there; or the newest. x-superseded names those that others replace, x-reviews \
        has notes of reviewers.",
    arguments: &[
        PROJECT,
        Argument::text("query", "Plain words."),
        Argument::text("package_id", ""),
        Argument::word(
            "status",
            &["draft", "complete", "awaiting_review", "revision_requested"],
            "",
        ),
        Argument::text("session_id", ""),
        Argument::integer("limit", 1, 200, ""),
        CURSOR,
        BUDGET,
    ],
    effect: Effect::Reads,
    ask: pull,
    answer: |call, answer| {
        if call.text("package_id").is_some() {
            let result = ToolResult::document(whole(answer.text(), budget(call))?);
            let result = match answer.superseded_by() {
                Some(by) => result.noting(format!("This package is superseded by {by}.")),
                None => result,
            };
            return Ok(match answer.review().and_then(review_note) {
                Some(note) => result.noting(note),
                None => result,
            });
        }
        let text = match call.text("query") {
            Some(_) => shortened(answer.text(), budget(call), &LIST)?,
            None => whole(answer.text(), budget(call))?,
        };
        let marks = raw::members(answer.text()).unwrap_or_default().into_iter();
        let marks = marks.filter(|(name, _)| *name == "x-superseded");
        let marks = marks.flat_map(|(_, marks)| raw::members(marks).unwrap_or_default());
        let marks = marks.map(|(id, by)| {
            let by: Vec<String> = serde_json::from_str(by).unwrap_or_default();
            format!("{id} is superseded by {}.", by.join(", "))
        });
        let (result, marks) = (ToolResult::document(text), marks.collect::<Vec<_>>());
        Ok(if marks.is_empty() { result } else { result.noting(marks.join(" ")) })
    },
    null_on: Some(Code::AgenticPackageNotFound),
};

/// What a reviewer wrote about a package, for a model.
fn review_note(review: &str) -> Option<String> {
    let review = Revision::from_document(serde_json::from_str(review).ok()?).ok()?;
    let by = review.actor.as_ref().map(|by| format!("{}:{}", by.kind, by.id));
    let by = by.unwrap_or_else(|| "a reviewer".to_owned());
    let (status, note) = (review.status, review.note.as_ref()?);
    Some(format!("Review by {by} at {} (then {status}): {note}", review.at))
}

/// What a query found has no pages.
pub(in super::super) const LIST: Shortening = Shortening {
    lists: &["packages"],
    extras: &["next_cursor", "scores", "x-reviews"],
    bare: None,
    named_by: Some("package_id"),
};

fn deposit(call: &Call<'_>) -> Result<HostRequest, Failure> {
    let project = call.project()?;
    let author = call.author(project)?;
    let package_id = match call.text("package_id") {
        Some(own) => PackageId::new(own).map_err(|error| invalid("/package_id", &error))?,
        None => PackageId::mint(random()),
    };
    let now = || Timestamp::emit(call.now()).as_str().to_owned();
    let created_at = call.text("created_at").map_or_else(now, str::to_owned);
    let status = call.text("status").unwrap_or("complete");
    let review_type = if status == "awaiting_review" { "human" } else { "none" };
    let review_type = call.text("review_type").unwrap_or(review_type);
    let mut body = Object::new();
    for (name, value) in [
        ("package_id", package_id.as_str()),
        ("project_id", project),
        ("relay_version", "0.1"),
        ("title", call.required("title")?),
        ("status", status),
        ("package_type", call.text("package_type").unwrap_or("standard")),
        ("review_type", review_type),
        ("created_at", &created_at),
    ] {
        body.insert(name.into(), value.into());
    }
    body.insert("created_by".into(), author.encode());
    body.extend(call.members(&[
        "description",
        "tags",
        "decisions_made",
        "open_questions",
        "handoff_note",
        "estimated_next_actor",
        "deliverables",
        "parent_package_id",
        "significance",
        "content_md",
        "topic",
    ]));
    if let Some(Value::Array(answers)) = call.value("answers") {
        let texts = answers.iter().filter_map(Value::as_str);
        body.insert(ANSWERS.into(), texts.map(answer_item).collect());
    }
    if let Some(supersedes) = call.value("supersedes") {
        body.insert(SUPERSEDES.into(), supersedes.clone());
    }
    Ok(deposited(call, body)?
        .about("package_id", package_id.as_str())
        .about("created_at", created_at))
}

pub(in super::super) fn deposited(call: &Call<'_>, body: Object) -> Result<HostRequest, Failure> {
    let (path, query) = (in_project(call)?, DepositParams::default());
    let request =
        HostRequest::operation(&OperationCall::<Deposit>::new(path, query, written(body)));
    Ok(request.with_headers(&credentials(call)))
}

fn pull(call: &Call<'_>) -> Result<HostRequest, Failure> {
    if call.text("package_id").is_some() {
        for other in ["query", "status", "session_id", "cursor"] {
            if call.value(other).is_some() {
                let message = format!("package_id names one package, so {other} has no meaning");
                return Err(invalid(&format!("/{other}"), &message));
            }
        }
        let (path, within) = of_package(call)?;
        return Ok(reading::<ReadPackage>(path, within));
    }
    let query = call.text("query");
    if query.is_some() && call.value("cursor").is_some() {
        let message = "what a query finds has no further pages; raise limit instead";
        return Err(invalid("/cursor", &message));
    }
    let session = call.text("session_id");
    let asked = PullParams {
        mode: query.map(|_| PullMode::Relevant),
        query: query.map(str::to_owned),
        status: call.text("status").and_then(Status::parse),
        session_id: session.map(|text| id("session_id", text)).transpose()?,
        limit: number(call, "limit"),
        cursor: text(call, "cursor"),
        max_tokens: tokens(budget(call)).filter(|_| query.is_none()),
        ..PullParams::default()
    };
    Ok(reading::<PullPackages>(in_project(call)?, asked).recently(&["max_tokens"]))
}

fn deliverable() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "type": {"type": "string", "description": "Such as rs."},
            "hash": {"type": "string"},
            "size_bytes": {"type": "integer"}
        },
        "required": ["path", "type"]
    })
}

fn invalid(place: &str, why: &dyn std::fmt::Display) -> Failure {
    Failure::new(Code::McpArgumentInvalid, why.to_string()).at(place)
}
