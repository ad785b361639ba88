//! Reviews: requests, results and notes.

use accord_api::{Call as OperationCall, Maybe, Operation};
use accord_base::Door;
use accord_contract::{Failure, Object, Wire as _};
use accord_memory_core::operations::{
    CompletePackage, FlagPackage, ListRevisions, OfPackage, PackageWithin, ResubmitPackage,
    ReviewPackage, ReviewWithin,
};
use accord_memory_core::package::Status;

use super::{ACTOR, IN_SESSION, PROJECT, of_package, reading, written};
use accord_mcp::budget::{BUDGET, Shortening, budget, shortened};
use accord_mcp::{Answer, Argument, Call, Effect, HostRequest, Tool, ToolResult};

const PACKAGE: Argument = Argument::text("package_id", "").required();

const RECEIPT: &[&str] =
    &["package_id", "project_id", "status", "review_type", "content_hash", "warnings"];

const REVISION: Argument = Argument::integer("revision", 1, i64::MAX, "seq that you judged.");

pub(super) const FLAG: Tool = Tool {
    name: "memory_flag",
    description: "Asks for a review of a package that is not complete.",
    arguments: &[
        PACKAGE,
        Argument::word("review_type", &["human", "agent"], "").required(),
        Argument::text("note", ""),
        ACTOR,
        IN_SESSION,
        PROJECT,
    ],
    effect: Effect::Adds,
    ask: |call| {
        let body = moved(call, call.members(&["review_type", "note"]))?;
        change::<FlagPackage>(call, written(body))
    },
    answer: receipt,
    null_on: None,
};

pub(super) const REVIEW: Tool = Tool {
    name: "memory_review",
    description: "As reviewer: approve, or request_changes with a note. As author: resubmit, or \
        complete a draft. A human review is a person's, unless they told you the result.",
    arguments: &[
        PACKAGE,
        Argument::word("action", &["approve", "request_changes", "resubmit", "complete"], "")
            .required(),
        Argument::text("note", ""),
        REVISION,
        ACTOR,
        IN_SESSION,
        PROJECT,
    ],
    effect: Effect::Adds,
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
    description: "The states of a package, and what its reviewers said.",
    arguments: &[PACKAGE, PROJECT, BUDGET],
    effect: Effect::Reads,
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
    Ok(ToolResult::receipt(answer.picked(RECEIPT)?))
}
