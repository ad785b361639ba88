//! The decisions of a hub, through the services that carry out those that are taken here.

use accord_api::Operation as _;
use accord_api::operations::edge_decisions::{EdgeDecidable, EdgeDecision, EdgeVerb};
use accord_base::evidence::{EvidenceDigest, ExpectedDigest};
use accord_base::{Author, By, Caller, DecidedOnHub, Presence};
use accord_contract::{Code, Failure};
use accord_runs::Runs;
use accord_runs::operations::{ApplyTo, PendingApproval};
use accord_runs_core::run::SendBack;
use accord_runs_core::{Consent, Person, TurnId};
use accord_tasks::Tree;
use accord_tasks::decisions::decisions_after;
use accord_tasks_core::operations::{
    ApproveRequest, ApproveTask, CancelRequest, CancelTask, ResurrectRequest, ResurrectTask,
    SendBackRequest, SendBackTask,
};

use super::{Of, Source};
use crate::{Applies, Result};

impl Source {
    /// Whether the record of the work tree has a decision of the hub.
    pub(crate) fn has_applied(&self, decided: &EdgeDecision, with: &dyn Applies) -> Result<bool> {
        match &self.of {
            Of::Runs(_) => with.runs(&self.root)?.has_carried_out(&decided.decision_id),
            Of::Tasks(tree) => {
                let records = decisions_after(tree, None)?.records;
                Ok(records.iter().any(|record| record.decision_id == decided.decision_id))
            }
        }
    }

    /// Carries out a decision of the hub, at the evidence with this digest.
    pub(crate) fn apply(
        &self,
        decided: &EdgeDecision,
        digest: &str,
        on_hub: DecidedOnHub,
        with: &dyn Applies,
    ) -> Result<()> {
        let kind = EdgeDecidable::parse(&decided.type_name).ok_or_else(|| unknown(decided))?;
        match &self.of {
            Of::Runs(_) => run(&with.runs(&self.root)?, (kind, decided), digest, on_hub),
            Of::Tasks(tree) => task(tree, (kind, decided), digest, with.caller()?.applying(on_hub)),
        }
    }
}

fn run(
    runs: &Runs,
    (kind, decided): (EdgeDecidable, &EdgeDecision),
    digest: &str,
    on_hub: DecidedOnHub,
) -> Result<()> {
    let expect = EvidenceDigest::parse(digest).as_ref().map(ExpectedDigest::exactly);
    let expect = Some(expect.ok_or_else(|| unknown(decided))?);
    let note = decided.note.clone();
    let presence = Presence { hub: Some(Box::new(on_hub)), ..Presence::default() };
    let person = Person::new(decided.actor.as_str(), decided.door);
    let consent = Consent { person: Person { note: note.clone(), presence, ..person }, expect };
    match (kind, decided.verb) {
        (EdgeDecidable::RunGate, EdgeVerb::Approve) => {
            runs.approve(PendingApproval::Transition, &consent).map(drop)
        }
        (EdgeDecidable::RunCompletion, EdgeVerb::Approve) => {
            runs.approve(PendingApproval::Completion, &consent).map(drop)
        }
        (EdgeDecidable::RunGate | EdgeDecidable::RunCompletion, EdgeVerb::SendBack) => {
            let reason = note.ok_or_else(|| unknown(decided))?;
            runs.send_back(&SendBack { reason, role: None }, &consent).map(drop)
        }
        (EdgeDecidable::RunBlock, EdgeVerb::Resolve) => runs.resolve(&consent).map(drop),
        (EdgeDecidable::RunProposal, EdgeVerb::Approve) => {
            let turn = proposing(decided)?;
            runs.apply_proposal(&turn, &consent, ApplyTo::WorkingTree).map(drop)
        }
        (EdgeDecidable::RunProposal, EdgeVerb::Cancel) => {
            runs.drop_proposal(&proposing(decided)?, note.as_deref(), &consent).map(drop)
        }
        (EdgeDecidable::RunStop, EdgeVerb::Stop) => {
            runs.stop(&note.ok_or_else(|| unknown(decided))?, &consent).map(drop)
        }
        _ => Err(unknown(decided)),
    }
}

/// The turn that proposes what is decided: the end of the id of the request.
fn proposing(decided: &EdgeDecision) -> Result<TurnId> {
    let turn = decided.item.rsplit('/').next().and_then(TurnId::parse);
    turn.ok_or_else(|| unknown(decided))
}

fn task(
    tree: &Tree,
    (kind, decided): (EdgeDecidable, &EdgeDecision),
    digest: &str,
    caller: Caller,
) -> Result<()> {
    let id = decided.item.split('/').next().unwrap_or_default();
    let (note, expect, despite_leftovers) = (decided.note.clone(), Some(digest.to_owned()), None);
    let by = |need| {
        let actor = By::parse(&decided.actor, decided.door)?.actor;
        let by = caller.attribute(need, Author::proven(Some(actor), "/actor"))?;
        by.by(decided.door).ok_or_else(|| unknown(decided))
    };
    match (kind, decided.verb) {
        (EdgeDecidable::TaskReview, EdgeVerb::Approve) => {
            let request = ApproveRequest { note, expect, despite_leftovers };
            tree.approve(id, &request, &by(ApproveTask::NEED)?).map(drop)
        }
        (EdgeDecidable::TaskReview, EdgeVerb::SendBack) => {
            let reason = note.ok_or_else(|| unknown(decided))?;
            let request = SendBackRequest { reason, expect, despite_leftovers };
            tree.send_back(id, &request, &by(SendBackTask::NEED)?).map(drop)
        }
        (EdgeDecidable::TaskDeadletter, EdgeVerb::Resurrect) => {
            let request = ResurrectRequest { reason: note, expect, despite_leftovers };
            tree.resurrect(id, &request, &by(ResurrectTask::NEED)?).map(drop)
        }
        (EdgeDecidable::TaskDeadletter, EdgeVerb::Cancel) => {
            let request = CancelRequest { reason: note, expect, despite_leftovers };
            tree.cancel(id, &request, &by(CancelTask::NEED)?).map(drop)
        }
        _ => Err(unknown(decided)),
    }
}

fn unknown(decided: &EdgeDecision) -> Failure {
    let message = format!("{} cannot be applied to a {}", decided.verb, decided.type_name);
    Failure::new(Code::EdgeNotDecidable, message)
}
