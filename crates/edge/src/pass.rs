//! One look at the source and at the hub.

use std::time::Duration;

use accord_api::operations::edge_decisions::{EdgeDecision, EdgeDecisionState};
use accord_api::operations::edges::{EdgeEntry, EdgeOutboxEnvelope, EdgeOutboxRequest};
use accord_contract::{Code, Failure, Timestamp, Wire as _};
use accord_outbox::Batch;
use accord_system::{durable_step, now};

use crate::decide::{Concluded, conclude};
use crate::folder::OpenOutbox;
use crate::join_file::SentFile;
use crate::{Applies, Joined, Result, Source};

/// The most bytes of the entries of a request, unless one entry has more.
const MOST_BYTES: usize = 512 * 1024;
/// A longer log is written anew.
const LONG_LOG: u64 = 32 * 1024 * 1024;
/// How many entries are kept after the hub confirmed them, for a hub that is restored.
const KEPT: usize = 2_000;
/// How many bytes of them.
const KEPT_BYTES: usize = 16 * 1024 * 1024;

/// The hub of an edge.
pub trait Hub {
    fn send(&self, request: EdgeOutboxRequest) -> Result<EdgeOutboxEnvelope>;
}

/// What a pass did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pass {
    /// Entries that are new in the outbox.
    pub added: u64,
    /// Entries that are new for the hub.
    pub applied: u64,
    /// Entries that wait in the outbox.
    pub waiting: u64,
    /// Decisions of the hub that ended.
    pub decided: Vec<Decided>,
    /// Why a decision of the hub is tried again.
    pub later: Option<Failure>,
}

/// A decision of the hub that ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Decided {
    pub decision: EdgeDecision,
    pub state: EdgeDecisionState,
    pub reason: Option<String>,
}

/// How far the hub is.
#[derive(Clone, Debug)]
pub struct Sent {
    pub position: u64,
    pub incarnation: String,
    /// When the hub answered last.
    pub at: Timestamp,
    pub trouble: Option<String>,
}

impl Joined {
    /// Puts what is new into the outbox, and sends what the hub lacks. `None` if another process
    /// does that now. Fails with the failure of the hub; what is in the outbox waits then.
    pub fn pass(&self, source: &Source, hub: &dyn Hub) -> Result<Option<Pass>> {
        self.pass_with(source, hub, None)
    }

    /// The same, and applies what a person decided on the hub.
    pub fn pass_and_apply(
        &self,
        source: &Source,
        hub: &dyn Hub,
        applies: &dyn Applies,
    ) -> Result<Option<Pass>> {
        self.pass_with(source, hub, Some(applies))
    }

    fn pass_with(
        &self,
        source: &Source,
        hub: &dyn Hub,
        applies: Option<&dyn Applies>,
    ) -> Result<Option<Pass>> {
        let Some(mut open) = self.open()? else { return Ok(None) };
        let mut pass = Pass { added: self.collect(&mut open, source)?, ..Pass::default() };
        let sent = self.send(&mut open, source, hub, &mut pass);
        // The hub answers, so that pieces do not pile up in the outbox.
        let sent = sent.and_then(|told| match self.collect_outputs(&mut open, source)? {
            0 => Ok(told),
            added => {
                pass.added += added;
                self.send(&mut open, source, hub, &mut pass)
            }
        });
        let sent = sent.and_then(|told| match applies {
            Some(applies) => self.decide(&mut open, source, hub, &mut pass, (told, applies)),
            None => Ok(()),
        });
        pass.waiting = open.outbox.waiting_after(self.sent().map_or(0, |sent| sent.position));
        if let Err(failure) = sent {
            self.note_trouble(&failure)?;
            return Err(failure);
        }
        Ok(Some(pass))
    }

    /// Puts what is new into the outbox. `None` if another process does that now.
    pub fn collect_only(&self, source: &Source) -> Result<Option<u64>> {
        let Some(mut open) = self.open()? else { return Ok(None) };
        self.collect(&mut open, source).map(Some)
    }

    /// Whether nothing could be sent the last time, and that was not longer ago.
    pub fn had_trouble_within(&self, time: Duration) -> bool {
        let has_trouble = self.sent().is_some_and(|sent| sent.trouble.is_some());
        has_trouble && self.sent_age().is_some_and(|age| age < time)
    }

    /// How far the hub is, as the last answer said; and how many entries wait.
    pub fn progress(&self) -> Result<(Option<Sent>, Option<u64>)> {
        let sent = self.sent().map(|sent| Sent {
            position: sent.position,
            incarnation: sent.incarnation,
            at: sent.at,
            trouble: sent.trouble,
        });
        let position = sent.as_ref().map_or(0, |sent| sent.position);
        let waiting = self.open()?.map(|open| open.outbox.waiting_after(position));
        Ok((sent, waiting))
    }

    fn collect(&self, open: &mut OpenOutbox, source: &Source) -> Result<u64> {
        let found = source.scan(&self.join, &open.outbox)?;
        let new = open.outbox.add(found, &Timestamp::emit(now()));
        if new.is_empty() {
            return Ok(0);
        }
        let lines = new.iter().map(|entry| entry.encode().to_string() + "\n");
        open.append(&lines.collect::<String>())?;
        Ok(new.len() as u64)
    }

    /// Puts what agents printed since into the outbox.
    fn collect_outputs(&self, open: &mut OpenOutbox, source: &Source) -> Result<u64> {
        let Some((pieces, ids)) = source.outputs(&self.join, &open.outbox)? else { return Ok(0) };
        let new = open.outbox.add_outputs(pieces, |id| ids.contains(id));
        if !new.is_empty() {
            let lines = new.iter().map(|entry| entry.encode().to_string() + "\n");
            open.append(&lines.collect::<String>())?;
        }
        Ok(new.len() as u64)
    }

    /// Takes the decisions of the hub, applies them, and says how they ended. Each step is in the
    /// outbox before the next one begins.
    fn decide(
        &self,
        open: &mut OpenOutbox,
        source: &Source,
        hub: &dyn Hub,
        pass: &mut Pass,
        (mut told, applies): (Vec<EdgeDecision>, &dyn Applies),
    ) -> Result<()> {
        let is_new = |it: &&EdgeDecision| {
            let is_waiting = it.state == EdgeDecisionState::Waiting;
            is_waiting && applies.takes(it) && !open.outbox.has_taken(it)
        };
        let new: Vec<EdgeDecision> = told.iter().filter(is_new).cloned().collect();
        if !new.is_empty() {
            for decision in &new {
                let taken = (EdgeDecisionState::Taken, None);
                report(open, decision, taken)?;
            }
            durable_step("edge.taken");
            // The answer says which of them may be applied: one may be withdrawn by now.
            told = self.send(open, source, hub, pass)?;
        }
        let mut taken = open.outbox.taken();
        taken.retain(|it| applies.takes(it));
        if taken.is_empty() {
            return Ok(());
        }
        for decision in taken {
            let may = |it: &&EdgeDecision| {
                let is_it = it.decision_id == decision.decision_id;
                is_it && it.state == EdgeDecisionState::Taken && it.seconds_left != Some(0)
            };
            let is_open = told.iter().any(|it| may(&it));
            match conclude(self, source, &decision, is_open, applies)? {
                Concluded::Ended(state, reason) => {
                    report(open, &decision, (state, reason.as_deref()))?;
                    durable_step("edge.reported");
                    pass.decided.push(Decided { decision, state, reason });
                }
                Concluded::Later(failure) => pass.later = Some(failure),
            }
        }
        pass.added += self.collect(open, source)?;
        self.send(open, source, hub, pass)?;
        durable_step("edge.told");
        Ok(())
    }

    /// Sends what the hub lacks. Returns what was decided on the hub and did not end.
    fn send(
        &self,
        open: &mut OpenOutbox,
        source: &Source,
        hub: &dyn Hub,
        pass: &mut Pass,
    ) -> Result<Vec<EdgeDecision>> {
        // The first request asks where the hub is: it may have been restored.
        let mut batch = Batch { entries: Vec::new(), lost_through: None };
        let mut known: Option<u64> = None;
        loop {
            let Batch { entries, lost_through } = batch;
            let answer = hub.send(EdgeOutboxRequest { entries, lost_through })?;
            let position = answer.position;
            open.outbox.check_position(position, answer.digest.as_deref())?;
            pass.applied += answer.applied;
            self.note_sent(&SentFile {
                position,
                incarnation: answer.incarnation,
                at: Timestamp::emit(now()),
                trouble: None,
                extra: Default::default(),
            })?;
            if position == open.outbox.last() {
                self.forget(open, position)?;
                return Ok(answer.decisions.unwrap_or_default());
            }
            if known == Some(position) {
                let message = "the hub does not take the next entries of the outbox";
                return Err(Failure::new(Code::HostProtocol, message));
            }
            known = Some(position);
            batch = open.outbox.batch(position, MOST_BYTES);
            if batch.lost_through.is_some() {
                // The hub lost requests, too: those that still wait are made again.
                open.outbox.forget_open();
                self.collect(open, source)?;
            }
        }
    }

    /// Writes a long log anew, with few of the entries that the hub has.
    fn forget(&self, open: &mut OpenOutbox, position: u64) -> Result<()> {
        if open.length() < LONG_LOG || open.outbox.trim(position, KEPT, KEPT_BYTES) == 0 {
            return Ok(());
        }
        open.rewrite()
    }

    fn note_trouble(&self, failure: &Failure) -> Result<()> {
        let Some(sent) = self.sent() else { return Ok(()) };
        let trouble = Some(format!("{}: {}", failure.code, failure.message));
        self.note_sent(&SentFile { trouble, ..sent })
    }
}

/// Puts into the outbox how far a decision is.
fn report(
    open: &mut OpenOutbox,
    decision: &EdgeDecision,
    (state, reason): (EdgeDecisionState, Option<&str>),
) -> Result<()> {
    let entry: EdgeEntry = open.outbox.report(decision, state, reason, &Timestamp::emit(now()));
    open.append(&(entry.encode().to_string() + "\n"))
}
