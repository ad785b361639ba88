//! Following the inbox: server-sent events that say that it changed.
//!
//! A commit rings a bell. A follower then reads the beginning of its list, and sends an event if
//! that is another one than before.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use accord_api::Call;
use accord_api::operations::inbox::{FollowInbox, InboxChange, NewInboxItem};
use accord_base::{Caller, ProjectId};
use accord_contract::{Failure, Object, Time, Wire as _};
use accord_serving::Reply;
use accord_serving::keys::CHECK_INTERVAL;
use accord_serving::operation::Exchange;
use accord_serving::streams::StreamPermit;
use accord_store::{Advance, InboxQuery, Listener, LiveAdvance};
use axum::body::Body;
use axum::response::IntoResponse as _;
use bytes::Bytes;
use futures_util::stream;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName};
use tokio::sync::watch;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval, sleep, sleep_until};

use super::{COUNTED, counts, scope};
use crate::http::Host;

/// How often a comment is sent when nothing happens. What time alone changes is seen then, too.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// How long changes are collected.
const PAUSE: Duration = Duration::from_millis(150);
/// How many items of the beginning of a list are compared.
const COMPARED: usize = 100;
/// How much later than its source an item may be made, in seconds.
const RECENT: i64 = 10;

/// Rings when something may have changed in the inbox.
#[derive(Debug)]
pub(crate) struct Bell {
    rings: watch::Sender<u64>,
    is_scheduled: AtomicBool,
}

impl Bell {
    pub(crate) fn new() -> Self {
        Self { rings: watch::Sender::new(0), is_scheduled: AtomicBool::new(false) }
    }

    /// Hears every ring from now on.
    pub(crate) fn subscribe(&self) -> watch::Receiver<u64> {
        self.rings.subscribe()
    }

    pub(crate) fn ring(&self) {
        self.rings.send_modify(|count| *count += 1);
    }

    /// Says that the scheduler makes the items of tasks from now on.
    pub(crate) fn schedule(&self) {
        self.is_scheduled.store(true, Ordering::Release);
    }

    pub(crate) fn is_scheduled(&self) -> bool {
        self.is_scheduled.load(Ordering::Acquire)
    }
}

impl Listener for Bell {
    fn committed(&self, _: &[Advance]) {
        self.ring();
    }

    fn live_committed(&self, _: &[LiveAdvance]) {
        self.ring();
    }
}

/// What a list begins with, to notice that it is another one.
#[derive(Debug, Eq, PartialEq)]
struct Seen {
    lines: Vec<String>,
    counts: [u64; 5],
    items: BTreeMap<String, NewItem>,
}

/// An item, and since when it is shown.
#[derive(Clone, Debug, Eq, PartialEq)]
struct NewItem {
    item: NewInboxItem,
    shown: Time,
}

impl Seen {
    /// The items that were not there before. Where the list goes on, one that comes nearer is known
    /// by its age.
    fn new_since(&self, before: &Self, read_at: Time) -> Vec<NewInboxItem> {
        let is_cut = before.items.len() >= COMPARED;
        let is_new = |(id, new): &(&String, &NewItem)| {
            let is_recent = new.shown >= read_at.add_seconds(-RECENT);
            !before.items.contains_key(*id) && (!is_cut || is_recent)
        };
        let mut new: Vec<_> =
            self.items.iter().filter(is_new).map(|(_, it)| it.item.clone()).collect();
        new.sort_by_key(|item| item.urgency);
        new
    }
}

struct Channel {
    host: Host,
    caller: Caller,
    projects: Option<BTreeSet<ProjectId>>,
    permit: StreamPermit,
    rings: watch::Receiver<u64>,
    checks: Interval,
    seen: Option<Seen>,
    /// When `seen` was read.
    read_at: Time,
    ended: bool,
}

pub(crate) async fn follow(exchange: Exchange<Host>, call: Call<FollowInbox>) -> Reply {
    let accord_serving::Context { host, caller, .. } = exchange.context;
    let projects = scope(&caller, call.query.project.as_ref())?;
    let mut checks = interval(CHECK_INTERVAL);
    checks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let channel = Channel {
        rings: host.bell().subscribe(),
        permit: host.streams().take()?,
        host,
        caller,
        projects,
        checks,
        seen: None,
        read_at: Time::from_unix_millis(0),
        ended: false,
    };
    let headers = [
        (CONTENT_TYPE, "text/event-stream"),
        (CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    let body = Body::from_stream(stream::unfold(channel, Channel::step));
    Ok((headers, body).into_response())
}

impl Channel {
    /// The next bytes to send; `None` at the end.
    async fn step(mut self) -> Option<(Result<Bytes, Infallible>, Self)> {
        if self.ended {
            return None;
        }
        let text = match self.next().await {
            Ok(text) => text?,
            Err(failure) => {
                self.ended = true;
                tracing::warn!(code = %failure.code, "a stream ended: {}", failure.message);
                format!(": {}\n\n", failure.code)
            }
        };
        Some((Ok(text.into()), self))
    }

    async fn next(&mut self) -> Result<Option<String>, Failure> {
        let mut silence_ends = Instant::now();
        loop {
            let is_first = self.seen.is_none();
            let mut keep_alive = false;
            if !is_first {
                silence_ends = silence_ends.max(Instant::now() + KEEP_ALIVE);
                tokio::select! {
                    () = self.permit.closing() => return Ok(None),
                    _ = self.rings.changed() => sleep(PAUSE).await,
                    () = sleep_until(silence_ends) => keep_alive = true,
                    _ = self.checks.tick() => {
                        if !self.host.keys().accepts(&self.caller).await? {
                            self.ended = true;
                            return Ok(Some(": the key is no longer valid\n\n".to_owned()));
                        }
                        continue;
                    }
                }
            }
            self.rings.mark_unchanged();
            let now = self.host.now();
            let found = self.read(now).await?;
            let read_at = std::mem::replace(&mut self.read_at, now);
            if self.seen.as_ref() != Some(&found) {
                let new = self.seen.as_ref().map(|before| found.new_since(before, read_at));
                let new = new.filter(|new| !new.is_empty());
                let counts = counts(found.counts);
                let change = InboxChange { counts, new, extra: Object::new() };
                self.seen = Some(found);
                return Ok(Some(format!("event: inbox\ndata: {}\n\n", change.encode())));
            }
            if keep_alive {
                return Ok(Some(": keep-alive\n\n".to_owned()));
            }
        }
    }

    async fn read(&self, now: Time) -> Result<Seen, Failure> {
        let projects = self.projects.clone();
        self.host.refresh_tasks(projects.as_ref()).await;
        let units = self.host.units();
        let read = units.read(move |unit| {
            let query = InboxQuery {
                now,
                projects: projects.as_ref(),
                kind: None,
                only_for: None,
                awake_for: None,
                after: None,
                limit: COMPARED,
            };
            let (mut lines, mut items) = (Vec::new(), BTreeMap::new());
            for row in unit.inbox(&query)? {
                let marks = unit.inbox_marks(&row.project_id, &row.id())?;
                let (waiting, urgency) = (&row.waiting, row.waiting.urgency_at(now));
                lines.push(format!("{row:?} {urgency:?} {marks:?}"));
                let item = NewInboxItem {
                    id: row.id(),
                    kind: waiting.kind.to_string(),
                    urgency: u64::from(urgency.number()),
                    project_id: row.project_id.clone(),
                    extra: Object::new(),
                };
                let shown =
                    waiting.shown_from.map_or(waiting.since, |from| from.max(waiting.since));
                items.insert(row.id(), NewItem { item, shown });
            }
            Ok(Seen { lines, counts: unit.inbox_counts(&query, COUNTED + 1)?, items })
        });
        read.await
    }
}
