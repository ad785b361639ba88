//! Telling people what waits for them.
//!
//! One task follows the inbox. It looks at items that are new or became more urgent, writes for
//! each receiver which of them it is told, and sends what is due. Each message is delivered by a
//! task of its own, at most one for a receiver at a time.
//!
//! Invariants:
//! - that an item has to be looked at lasts since the transaction that made the item, and what a
//!   receiver is told lasts until a message about it was delivered: after a kill it is sent, with
//!   the id that the message had;
//! - what ended, or what somebody claimed, is not sent;
//! - a person is told what the person may read: what the key covers with which the rules were set,
//!   as long as it is valid;
//! - a receiver that hangs or fails delays no other receiver.

mod deliver;
mod letter;
mod outbox;
mod receiver;
mod rules;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use accord_contract::Failure;
use accord_notify::pace::pause;
use accord_process::Cancel;
use accord_system::{durable_step, spawn_blocking};
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep};

use self::deliver::deliver;
pub(crate) use self::letter::not_sent;
use self::receiver::{Receiver, operators};
pub(crate) use self::rules::PersonRules;
use crate::http::Host;

/// How long changes are collected before one look.
const PAUSE: Duration = Duration::from_millis(150);
/// How often it is looked what time alone has changed.
const TICK: Duration = Duration::from_secs(1);
/// How many messages are on their way before those to people wait.
const MOST_AT_ONCE: usize = 64;
/// How often old rows are deleted.
const FORGET: Duration = Duration::from_secs(3_600);

/// Tells people until the host closes.
pub(crate) async fn tell_people(host: Host) {
    let work = host.streams().begin_work();
    let cancel = Cancel::new();
    Teller::new(host, cancel.clone()).run().await;
    cancel.cancel();
    drop(work);
}

/// How it stands with a receiver.
#[derive(Default)]
struct Line {
    is_busy: bool,
    failures: u32,
    /// Not before then; `None` for at once.
    next: Option<Instant>,
}

/// The end of a delivery: the receiver, the message, and what failed.
type Delivered = (String, String, Result<(), String>);

struct Teller {
    host: Host,
    cancel: Cancel,
    lines: BTreeMap<String, Line>,
    sending: JoinSet<Delivered>,
    forgotten: Option<Instant>,
    is_failing: bool,
}

impl Teller {
    fn new(host: Host, cancel: Cancel) -> Self {
        let (lines, sending) = (BTreeMap::new(), JoinSet::new());
        Self { host, cancel, lines, sending, forgotten: None, is_failing: false }
    }

    async fn run(mut self) {
        let closed = self.host.streams().closed();
        tokio::pin!(closed);
        let mut rings = self.host.bell().subscribe();
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                () = &mut closed => break,
                Some(delivered) = self.sending.join_next() => {
                    if let Ok(delivered) = delivered {
                        self.note(delivered).await;
                    }
                }
                _ = rings.changed() => sleep(PAUSE).await,
                _ = ticks.tick() => {}
            }
            rings.mark_unchanged();
            let told = self.tell().await;
            self.say_failure(told);
        }
        self.cancel.cancel();
        // A program that runs is ended. A message whose answer did not come is sent again.
        while self.sending.join_next().await.is_some() {}
    }

    /// Looks at the inbox, and sends what is due.
    async fn tell(&mut self) -> Result<(), Failure> {
        let receivers = self.receivers().await?;
        if receivers.is_empty() {
            return Ok(());
        }
        if self.forgotten.is_none_or(|last| last.elapsed() >= FORGET) {
            let names = receivers.iter().map(|receiver| receiver.name.clone()).collect();
            self.host.forget_notices(names).await?;
            self.forgotten = Some(Instant::now());
        }
        self.host.look_at_inbox(&receivers).await?;
        for receiver in receivers {
            let line = self.lines.entry(receiver.name.clone()).or_default();
            // People cannot keep the operator's receivers from being told.
            if receiver.person.is_some() && self.sending.len() >= MOST_AT_ONCE {
                continue;
            }
            if line.is_busy || line.next.is_some_and(|next| next > Instant::now()) {
                continue;
            }
            let Some(message) = self.host.next_message(&receiver).await? else { continue };
            line.is_busy = true;
            let cancel = self.cancel.clone();
            self.sending.spawn(async move {
                let (name, id) = (receiver.name.clone(), message.id.clone());
                let sent = spawn_blocking(move || deliver(&receiver, &message, &cancel)).await;
                (name, id, sent.unwrap_or_else(|error| Err(error.to_string())))
            });
        }
        Ok(())
    }

    async fn receivers(&self) -> Result<Vec<Arc<Receiver>>, Failure> {
        let mut all = operators(self.host.settings());
        all.extend(self.host.people_told().await?);
        Ok(all)
    }

    /// Notes the end of a delivery.
    async fn note(&mut self, (receiver, message, sent): Delivered) {
        let line = self.lines.entry(receiver.clone()).or_default();
        line.is_busy = false;
        let mut failed = match &sent {
            Err(error) if !self.cancel.is_cancelled() => Some(error.clone()),
            _ => None,
        };
        if sent.is_ok() {
            durable_step("notify.sent");
            if let Err(failure) = self.host.note_told(&receiver, &message).await {
                failed = Some(failure.message);
            } else {
                durable_step("notify.told");
            }
        }
        match &failed {
            None => {
                if line.failures > 0 {
                    tracing::info!(receiver, "notifications arrive again");
                }
                *line = Line::default();
            }
            Some(error) => {
                if line.failures == 0 {
                    // Once for an outage. The metric has every failure.
                    tracing::warn!(receiver, "notifications do not arrive: {error}");
                }
                line.failures = line.failures.saturating_add(1);
                line.next = Some(Instant::now() + pause(line.failures));
            }
        }
        if sent.is_ok() || failed.is_some() {
            self.host.metrics().told(failed.is_none());
        }
        let down = self.lines.values().filter(|line| line.failures > 0).count();
        self.host.metrics().receivers_down(down);
    }

    /// Says once that the inbox cannot be read.
    fn say_failure(&mut self, told: Result<(), Failure>) {
        match told {
            Ok(()) => self.is_failing = false,
            Err(failure) if !std::mem::replace(&mut self.is_failing, true) => {
                tracing::warn!(code = %failure.code, "no notifications: {}", failure.message);
            }
            Err(_) => {}
        }
    }
}
