//! Packages: what was done, decided and left open.

use accord_api::Call as OperationCall;
use accord_contract::{Code, Failure, Object, Timestamp, Value, Wire as _};
use accord_memory_core::PackageId;
use accord_memory_core::operations::{
    Deposit, DepositParams, PullPackages, PullParams, ReadPackage,
};
use accord_memory_core::package::{ANSWERS, SUPERSEDES, Status, answer_item};
use accord_memory_core::query::PullMode;
use accord_system::random;
use serde_json::json;

use super::{
    ACTOR, IN_SESSION, PACKAGE_RECEIPT, PROJECT, id, in_project, number, of_package, reading,
    receipt, text, tokens, written,
};
use accord_mcp::budget::{PAGE_BUDGET, Shortening, budget, shortened, whole};
use accord_mcp::{Argument, Call, Effect, HostRequest, Tool, ToolResult, raw};

pub(super) const DEPOSIT: Tool = Tool {
    name: "memory_deposit",
    title: "Deposit a package",
    description: "Records a piece of work for others and for later: what was done, decided and \
        left open. Call it when something is finished or decided, and before you stop. Write for a \
        reader who was not present. A package cannot be changed once complete; the answer is a \
        receipt with its id. Do not repeat a call that succeeded.",
    arguments: &[
        PROJECT,
        Argument::text("title", "What it is about, in 1 to 200 characters.")
            .required()
            .example("Login works with passkeys"),
        Argument::text("description", "What was done and why, in a few sentences."),
        Argument::texts("decisions_made", "Decisions, each with its reason.")
            .example("Use SQLite: one file, no server to run"),
        Argument::texts("open_questions", "What is not settled yet, each as one question.")
            .example("Who renews the certificate?"),
        Argument::texts(
            "answers",
            "Open questions that this settles, each with its text as memory_orient or \
             memory_questions shows it, or as package_id#index. They end when this package is \
             complete.",
        )
        .example("Who renews the certificate?"),
        Argument::texts(
            "supersedes",
            "Ids of packages that this one replaces. They stay readable and are marked as \
             superseded. A package of a person needs the review of a person: then deposit with \
             status awaiting_review.",
        )
        .example("pkg_1a2b3c4d5e6f7a8b9c0d1e2f3a4b5c6d"),
        Argument::text("handoff_note", "What the next actor must know, and the next step."),
        Argument::text("content_md", "A longer body in Markdown."),
        Argument::objects("deliverables", deliverable, "Files that the work made or changed."),
        Argument::texts("tags", "Labels to find it by."),
        Argument::text("topic", "The subject area.").example("auth"),
        Argument::integer(
            "significance",
            1,
            10,
            "How much it matters: 3 for routine, 5 as a rule, 8 and more for what everybody must \
             know.",
        ),
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
            "What kind of package it is.",
        )
        .default_word("standard"),
        Argument::word(
            "status",
            &["complete", "draft", "awaiting_review"],
            "complete: final. draft: to be continued; finish it with memory_review. \
             awaiting_review: a reviewer must approve it.",
        )
        .default_word("complete"),
        Argument::word(
            "review_type",
            &["none", "human", "agent"],
            "Who reviews it. Default: none, or human where status is awaiting_review.",
        ),
        Argument::text("parent_package_id", "The package that this one continues or corrects."),
        Argument::word("estimated_next_actor", &["human", "agent"], "Who should go on."),
        ACTOR,
        IN_SESSION,
        Argument::text(
            "package_id",
            "An id of your own. Default: a new one, which is nearly always right.",
        ),
        Argument::text("created_at", "When it was made, in UTC. Default: now.")
            .example("2026-04-18T20:00:00Z"),
        Argument::members(
            "extra",
            "Members of your own, kept as they are; every name begins with x-.",
        ),
    ],
    effect: Effect::Adds,
    output: Some(PACKAGE_RECEIPT),
    ask: deposit,
    answer: |_, answer| receipt(answer, PACKAGE_RECEIPT),
    null_on: None,
};

pub(super) const PULL: Tool = Tool {
    name: "memory_pull",
    title: "Read packages",
    description: "Reads packages. With query: those that are about it, best first; use plain \
        words. With package_id: that one, or null if it is not there. With neither: the newest. \
        status awaiting_review lists what waits for a review. x-superseded names packages of the \
        list that others replace.",
    arguments: &[
        PROJECT,
        Argument::text("query", "What to look for, in plain words.")
            .example("passkey login decision"),
        Argument::text("package_id", "The one package to read."),
        Argument::word(
            "status",
            &["draft", "complete", "awaiting_review", "revision_requested"],
            "Only packages of this status.",
        ),
        Argument::text("session_id", "Only packages of this session."),
        Argument::integer("limit", 1, 200, "The most packages.").default_number(5),
        Argument::text("cursor", "next_cursor of the page before; not with query."),
        PAGE_BUDGET,
    ],
    effect: Effect::Reads,
    output: None,
    ask: pull,
    answer: |call, answer| {
        if call.text("package_id").is_some() {
            let result = ToolResult::document(whole(answer.text(), budget(call))?);
            return Ok(match answer.superseded_by() {
                Some(by) => result.noting(format!("This package is superseded by {by}.")),
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

/// What a query found has no pages.
pub(in super::super) const LIST: Shortening = Shortening {
    lists: &["packages"],
    extras: &["next_cursor", "scores"],
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
    Ok(HostRequest::operation(&OperationCall::<Deposit>::new(path, query, written(body))))
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
            "path": {"type": "string", "description": "A path within the project, or a URL."},
            "type": {
                "type": "string",
                "description": "What kind of content it is.",
                "examples": ["rs"]
            },
            "hash": {"type": "string", "description": "Its hash, such as sha256:…"},
            "size_bytes": {"type": "integer", "minimum": 0}
        },
        "required": ["path", "type"]
    })
}

fn invalid(place: &str, why: &dyn std::fmt::Display) -> Failure {
    Failure::new(Code::McpArgumentInvalid, why.to_string()).at(place)
}
