//! `handoff.request`, `handoff.accepted` and `handoff.rejected`.

use std::fmt::Write as _;

use accord_contract::{Code, Failure, Wire as _};

use super::{Artifact, Call, Facts, Refused, Routed, walk};
use crate::event::kind;
use crate::message::{HandoffAnswer, HandoffRequest};
use crate::task::{TaskFile, delegation_depth};
use crate::yaml::Change;
use crate::{Status, TaskId, rule};

/// How deep delegation may go: a delegated task is not delegated again.
const MAX_DEPTH: f64 = 1.0;

impl Call<'_> {
    pub(super) fn mismatch(&self, named: TaskId) -> Refused {
        let message = format!("the envelope names {}, the payload {named}", self.id);
        self.refused(Failure::new(Code::AofTaskidMismatch, message))
    }

    /// A delegation that is refused: an event of its own, beside that of the message.
    fn delegation_refused(&self, failure: Failure) -> Refused {
        let reason = failure.code.as_str();
        let mut refused = self.refused(failure);
        let event = self.event(kind::DELEGATION_REJECTED).with("reason", reason);
        if rule!(true; RefusedDelegationUnlogged => false) {
            refused.events.push(event);
        }
        refused
    }
}

/// Clauses: AOF-HO-REQUEST, AOF-HO-MISMATCH, AOF-HO-PARENT, AOF-HO-DEPTH, AOF-HO-ARTIFACTS,
/// AOF-HO-DEPTH-SET, AOF-HO-RESENT.
pub(super) fn request(
    call: &Call<'_>,
    child: &TaskFile,
    facts: &Facts<'_>,
    request: &HandoffRequest,
) -> Result<Routed, Refused> {
    if rule!(request.task_id != call.id; MismatchAccepted => false) {
        return Err(call.mismatch(request.task_id));
    }
    let Some(parent) = facts.parent else {
        let message = format!("there is no task {}", request.parent_task_id);
        return Err(call.delegation_refused(Failure::new(Code::AofParentNotFound, message)));
    };
    // The parent's work is delegated, so the parent's agent asks.
    call.check_sender(parent.task(), facts.parent_run)?;
    let depth = delegation_depth(parent.task()) + 1.0;
    if rule!(depth > MAX_DEPTH; NestedDelegation => false) {
        let message = format!("{} was delegated itself", request.parent_task_id);
        return Err(call.delegation_refused(Failure::new(Code::AofNestedDelegation, message)));
    }
    for (member, paths) in
        [("contextRefs", &request.context_refs), ("expectedOutputs", &request.expected_outputs)]
    {
        let paths = paths.as_deref().unwrap_or_default();
        call.check_paths(member, paths.iter().map(String::as_str))?;
    }
    let task = child.task();
    let mut routed = Routed::default();
    let routed_to = task.routing.as_ref().and_then(|routing| routing.agent.as_deref());
    if delegation_depth(task) != depth || routed_to != Some(request.to_agent.as_str()) {
        routed.changes = vec![
            Change::set(&["metadata", "delegationDepth"], 1),
            Change::set(&["routing", "agent"], request.to_agent.as_str()),
            Change::set(&["updatedAt"], call.now.to_string()),
        ];
    }
    let mut document = request.clone();
    document.acceptance_criteria.get_or_insert_default();
    if rule!(true; DefaultOutputsOmitted => false) {
        document.expected_outputs.get_or_insert_default();
    }
    document.context_refs.get_or_insert_default();
    document.constraints.get_or_insert_default();
    routed.artifacts.push(Artifact::HandoffDocument(document.encode()));
    routed.artifacts.push(Artifact::HandoffText(text(&document)));
    let event =
        call.event(kind::REQUESTED).with("parentTaskId", request.parent_task_id.to_string());
    routed.events.push(event.with("toAgent", request.to_agent.as_str()));
    Ok(routed)
}

/// Clauses: AOF-HO-ACCEPTED.
pub(super) fn accepted(
    call: &Call<'_>,
    file: &TaskFile,
    facts: &Facts<'_>,
) -> Result<Routed, Refused> {
    check_answer(call, file, facts)?;
    let events = vec![call.event(rule!(kind::ACCEPTED; AcceptanceIsARequest => kind::REQUESTED))];
    Ok(Routed { events, ..Routed::default() })
}

/// Clauses: AOF-HO-REJECTED.
pub(super) fn rejected(
    call: &Call<'_>,
    file: &TaskFile,
    facts: &Facts<'_>,
    answer: &HandoffAnswer,
) -> Result<Routed, Refused> {
    check_answer(call, file, facts)?;
    let reason = answer.reason.as_deref().unwrap_or("handoff_rejected");
    let mut routed = Routed::default();
    let path: &[Status] = rule!(&[Status::Blocked]; RejectedChildStays => &[]);
    walk(&mut routed, file.task(), path, (call.sender, Some(reason)), call.now);
    if routed.moved_to.is_none() {
        routed.not_applied = Some("no_transition");
    }
    routed.events.push(call.event(kind::DELEGATION_REJECTED).with("reason", reason));
    Ok(routed)
}

fn check_answer(call: &Call<'_>, file: &TaskFile, facts: &Facts<'_>) -> Result<(), Refused> {
    let named = match &call.message.payload {
        crate::message::Payload::HandoffAccepted(answer)
        | crate::message::Payload::HandoffRejected(answer) => answer.task_id,
        _ => call.id,
    };
    if named != call.id {
        return Err(call.mismatch(named));
    }
    call.check_sender(file.task(), facts.run)
}

/// The request for people.
/// Clauses: AOF-HO-ARTIFACTS, AOF-HO-TEXT.
fn text(request: &HandoffRequest) -> String {
    let mut text = format!(
        "# Handoff Request\n\n**From:** {}\n**To:** {}\n**Due By:** {}\n",
        line(&request.from_agent),
        line(&request.to_agent),
        request.due_by,
    );
    for (heading, items) in [
        ("Acceptance Criteria", &request.acceptance_criteria),
        ("Expected Outputs", &request.expected_outputs),
        ("Context References", &request.context_refs),
        ("Constraints", &request.constraints),
    ] {
        let _ = write!(text, "\n## {heading}\n\n");
        match items.as_deref().unwrap_or_default() {
            [] => text.push_str("None\n"),
            items => items.iter().for_each(|item| {
                let _ = writeln!(text, "- {}", line(item));
            }),
        }
    }
    text
}

/// A text on one line, so that it cannot add a heading.
fn line(text: &str) -> String {
    text.split(['\n', '\r']).map(str::trim).collect::<Vec<_>>().join(" ")
}
