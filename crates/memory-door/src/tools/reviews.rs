//! Reviews: requests, results and notes.

use accord_api::{Call as OperationCall, Maybe, Operation};
use accord_base::Door;
use accord_contract::{Failure, Object, Wire as _};
use accord_memory_core::operations::{
    CompletePackage, FlagPackage, ListRevisions, OfPackage, PackageWithin, ResubmitPackage,
    ReviewPackage, ReviewWithin,
};
use accord_memory_core::package::Status;

use super::{ACTOR, IN_SESSION, OF_PROJECT, of_package, pick, reading, written};
use accord_mcp::budget::{BUDGET, Shortening, budget, shortened};
use accord_mcp::{Answer, Argument, Call, Effect, HostRequest, Output, Tool, ToolResult};

const PACKAGE: Argument = Argument::text("package_id", "The package.").required();

const RECEIPT: &[Output] = &[
    Output::text("package_id"),
    Output::text("project_id"),
    Output::text("status"),
    Output::text("review_type"),
    Output::text("content_hash"),
    Output::list("warnings").optional(),
];

const REVISION: Argument = Argument::integer(
    "revision",
    1,
    i64::MAX,
    "The seq of the revision that you judged, from memory_revisions. Refused if the package has \
     moved since.",
);

pub(super) const FLAG: Tool = Tool {
    name: "memory_flag",
    title: "Ask for a review",
    description: "Asks a person or an agent to review a package that is not complete: it then \
        waits for memory_review.",
    arguments: &[
        PACKAGE,
        Argument::word("review_type", &["human", "agent"], "Who is to review it.").required(),
        Argument::text("note", "What to look at."),
        ACTOR,
        IN_SESSION,
        OF_PROJECT,
    ],
    effect: Effect::AddsOnce,
    output: Some(RECEIPT),
    ask: |call| {
        let body = moved(call, call.members(&["review_type", "note"]))?;
        change::<FlagPackage>(call, written(body))
    },
    answer: receipt,
    null_on: None,
};

pub(super) const REVIEW: Tool = Tool {
    name: "memory_review",
    title: "Review or finish a package",
    description: "Changes the status of a package. As its reviewer: approve, or request_changes \
        with a note. As its author: resubmit after changes were requested, or complete a draft \
        that needs no review. A complete package never changes again. Leave a review whose \
        review_type is human to a person, unless they asked you to end it; a key without the verb \
        review cannot.",
    arguments: &[
        PACKAGE,
        Argument::word(
            "action",
            &["approve", "request_changes", "resubmit", "complete"],
            "approve and request_changes: from awaiting_review. resubmit: from revision_requested. \
             complete: from draft or revision_requested.",
        )
        .required(),
        Argument::text("note", "What you found, or what you changed."),
        REVISION,
        ACTOR,
        IN_SESSION,
        OF_PROJECT,
    ],
    effect: Effect::AddsOnce,
    output: Some(RECEIPT),
    ask: |call| {
        let mut body = call.members(&["note"]);
        if let Some(revision) = call.value("revision") {
            body.insert("x-revision".into(), revision.clone());
        }
        let outcome = match call.required("action")? {
            "approve" => Status::Complete,
            "request_changes" => Status::RevisionRequested,
            "resubmit" => {
                return change::<ResubmitPackage>(call, Maybe(Some(written(moved(call, body)?))));
            }
            _ => return change::<CompletePackage>(call, Maybe(Some(written(moved(call, body)?)))),
        };
        body.insert("outcome".into(), outcome.as_str().into());
        let (path, PackageWithin { project }) = of_package(call)?;
        let query = ReviewWithin { project, door: Some(Door::Mcp) };
        let body = written(moved(call, body)?);
        Ok(HostRequest::operation(&OperationCall::<ReviewPackage>::new(path, query, body)))
    },
    answer: receipt,
    null_on: None,
};

pub(super) const REVISIONS: Tool = Tool {
    name: "memory_revisions",
    title: "Read what reviewers said",
    description: "The states that a package went through, with who moved it, when, and their \
        notes. Read it when a package of yours is in revision_requested.",
    arguments: &[PACKAGE, OF_PROJECT, BUDGET],
    effect: Effect::Reads,
    output: None,
    ask: |call| {
        let (path, within) = of_package(call)?;
        Ok(reading::<ListRevisions>(path, within))
    },
    answer: |call, answer| {
        let how = Shortening {
            lists: &["revisions"],
            extras: &["next_cursor"],
            bare: None,
            named_by: None,
        };
        shortened(answer.text(), budget(call), &how).map(ToolResult::document)
    },
    null_on: None,
};

/// The body of a change, with its author.
fn moved(call: &Call<'_>, mut body: Object) -> Result<Object, Failure> {
    // Without a project in the call, the project of the session is used.
    let author = call.author(call.known_project().unwrap_or_default())?;
    body.insert("actor".into(), author.encode());
    Ok(body)
}

fn change<O>(call: &Call<'_>, body: O::Body) -> Result<HostRequest, Failure>
where
    O: Operation<Path = OfPackage, Query = PackageWithin>,
{
    let (path, within) = of_package(call)?;
    Ok(HostRequest::operation(&OperationCall::<O>::new(path, within, body)))
}

fn receipt(_: &Call<'_>, answer: &Answer) -> Result<ToolResult, Failure> {
    let names = ["package_id", "project_id", "status", "review_type", "content_hash", "warnings"];
    Ok(ToolResult::receipt(pick(answer.object()?, &names)))
}
