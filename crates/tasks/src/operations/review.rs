//! A person ends a review: approve, send back, close.

use accord_base::By;
use accord_tasks_core::operations::{ApproveRequest, CloseRequest, SendBackRequest, TaskAnswer};
use accord_tasks_core::yaml::Change;
use accord_tasks_core::{evidence, verbs};

use crate::view::Evidence;
use crate::{Result, Tree};

impl Tree {
    /// Ends a review: the task is done.
    pub fn approve(&self, task: &str, request: &ApproveRequest, by: &By) -> Result<TaskAnswer> {
        let request = request.clone();
        self.by_decision(task, &request.clone(), by, move |work, file, subject| {
            let evidence = work.evidence(file)?;
            let about = (&evidence.digest, request.expect.as_deref());
            let mut routed = verbs::approve(subject, request.note.as_deref(), about)?;
            routed.changes.push(outputs_of(&evidence));
            Ok(routed)
        })
    }

    /// Ends a review: the task is ready again, and the next agent reads why.
    pub fn send_back(&self, task: &str, request: &SendBackRequest, by: &By) -> Result<TaskAnswer> {
        let request = request.clone();
        self.by_decision(task, &request.clone(), by, move |work, file, subject| {
            let evidence = work.evidence(file)?.digest;
            let about = (&evidence, request.expect.as_deref());
            verbs::send_back(subject, file, &request.reason, about)
        })
    }

    /// Ends a task as done, whatever its status is.
    pub fn close(&self, task: &str, request: &CloseRequest, by: &By) -> Result<TaskAnswer> {
        let request = request.clone();
        self.by_decision(task, &request.clone(), by, move |work, file, subject| {
            let evidence = work.evidence(file)?;
            let about = (&evidence.digest, request.expect.as_deref());
            let mut routed = verbs::close(subject, request.note.as_deref(), about)?;
            routed.changes.push(outputs_of(&evidence));
            Ok(routed)
        })
    }
}

/// Adds to an approval which outputs it is about.
fn outputs_of(evidence: &Evidence) -> Change {
    let place = &["metadata", "approval", evidence::OUTPUTS];
    Change::set(place, evidence.outputs_digest.as_str())
}
