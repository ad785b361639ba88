//! Packages: `relay_pull_context` and `relay_deposit`.

use accord_contract::{Code, Failure, Object, Timestamp, Value, Wire as _};
use accord_memory_core::PackageId;
use accord_memory_core::export::in_protocol_words;
use accord_memory_core::operations::{PullPackages, PullParams, ReadPackage};
use accord_memory_core::package::KnownPackageType;
use accord_memory_core::query::PullMode;
use accord_system::random;

use super::{ACTOR, PROJECT};
use crate::tools::{
    ALLOW_CREDENTIALS, IN_SESSION, PACKAGE_RECEIPT, PACKAGES, deposited, in_project, of_package,
    reading, receipt,
};
use accord_mcp::budget::{budget, shortened, whole};
use accord_mcp::{Argument, Call, Effect, HostRequest, Tool, ToolResult};

pub(super) const PULL: Tool = Tool {
    name: "relay_pull_context",
    description: "Reads packages: the latest 5, the next 20, those relevant to a query, or one \
        specific package, which is null if it is not there.",
    arguments: &[
        PROJECT,
        Argument::text("package_id", "The package, for mode specific."),
        Argument::word(
            "mode",
            &["latest", "next", "relevant", "specific"],
            "latest: the newest 5. next: the newest 20. relevant: those about query. specific: \
             package_id. Default: specific with package_id, relevant with query, else latest.",
        ),
        Argument::text("query", "What to look for, in plain words, for mode relevant."),
    ],
    effect: Effect::Reads,
    ask: pull,
    answer: |call, answer| {
        let text = match mode(call) {
            "specific" => whole(answer.text(), budget(call))?,
            _ => shortened(answer.text(), budget(call), &PACKAGES)?,
        };
        Ok(ToolResult::document(text))
    },
    null_on: Some(Code::AgenticPackageNotFound),
};

pub(super) const DEPOSIT: Tool = Tool {
    name: "relay_deposit",
    description: "Deposits a package at a moment that matters: a decision, a milestone, a change \
        of direction, an open question, the end of your work. Returns its id.",
    arguments: &[
        Argument::text("title", "What it is about, in 1 to 200 characters.").required(),
        Argument::text("description", "What was done and why."),
        PROJECT,
        Argument::texts("decisions", "Decisions, each with its reason."),
        Argument::texts("open_questions", "What is not settled yet."),
        Argument::text("handoff_note", "What the next actor must know."),
        Argument::word(
            "status",
            &[
                "complete",
                "draft",
                "awaiting_review",
                "in_progress",
                "pending_review",
                "approved",
                "rejected",
                "blocked",
            ],
            "Its status. Words of Relay are stored as the protocol's: pending_review is \
             awaiting_review, approved is complete, rejected is revision_requested, in_progress \
             and blocked are draft.",
        )
        .default_word("complete"),
        Argument::word("review_type", &["none", "human", "agent"], "Who reviews it."),
        Argument::flag("auto", "The package was made automatically, for example by a hook."),
        Argument::text("topic", "The subject area."),
        Argument::text(
            "artifact_type",
            "What kind of package it is: decision, analysis, handoff, question, milestone, \
             auto-deposit, or a word of your own.",
        ),
        ACTOR,
        IN_SESSION,
        ALLOW_CREDENTIALS,
    ],
    effect: Effect::Adds,
    ask: deposit,
    answer: |_, answer| receipt(answer, PACKAGE_RECEIPT),
    null_on: None,
};

/// The mode of a call, which its arguments imply if it names none.
fn mode<'a>(call: &Call<'a>) -> &'a str {
    let implied = match (call.text("package_id"), call.text("query")) {
        (Some(_), _) => "specific",
        (None, Some(_)) => "relevant",
        (None, None) => "latest",
    };
    call.text("mode").unwrap_or(implied)
}

fn pull(call: &Call<'_>) -> Result<HostRequest, Failure> {
    let mut asked = PullParams::default();
    match mode(call) {
        "specific" => {
            let (path, within) = of_package(call)?;
            return Ok(reading::<ReadPackage>(path, within));
        }
        "relevant" => {
            asked.mode = Some(PullMode::Relevant);
            asked.query = Some(call.required("query")?.to_owned());
        }
        "next" => asked.limit = Some(20),
        _ => asked.limit = Some(5),
    }
    Ok(reading::<PullPackages>(in_project(call)?, asked))
}

fn deposit(call: &Call<'_>) -> Result<HostRequest, Failure> {
    let project = call.project()?;
    let author = call.author(project)?;
    let package_id = PackageId::mint(random());
    let created_at = Timestamp::emit(call.now()).as_str().to_owned();
    let mut body = Object::new();
    for (name, value) in [
        ("package_id", package_id.as_str()),
        ("project_id", project),
        ("relay_version", "0.1"),
        ("title", call.required("title")?),
        ("status", call.text("status").unwrap_or("complete")),
        ("package_type", "standard"),
        ("created_at", &created_at),
    ] {
        body.insert(name.into(), value.into());
    }
    body.insert("created_by".into(), author.encode());
    body.extend(call.members(&["description", "open_questions", "handoff_note", "topic"]));
    if let Some(decisions) = call.value("decisions") {
        body.insert("decisions_made".into(), decisions.clone());
    }
    in_protocol_words(&mut body);
    let awaits_review = body.get("status").and_then(Value::as_str) == Some("awaiting_review");
    let review_type = if awaits_review { "human" } else { "none" };
    let review_type = call.text("review_type").unwrap_or(review_type);
    body.insert("review_type".into(), review_type.into());
    match call.text("artifact_type") {
        None if call.flag("auto").is_some() => {
            body.insert("package_type".into(), "auto_deposit".into());
        }
        None => {}
        Some(named) => match KnownPackageType::parse(&named.replace('-', "_")) {
            Some(known) => drop(body.insert("package_type".into(), known.encode())),
            None => drop(body.insert("x-artifact_type".into(), named.into())),
        },
    }
    Ok(deposited(call, body)?
        .about("package_id", package_id.as_str())
        .about("created_at", created_at))
}
