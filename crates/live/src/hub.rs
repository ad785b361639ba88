//! Tails: the frames of sessions that have subscribers, in the order of their commits.
//!
//! A unit stages its frames under the version that its write gets ([`Stage`]). The store notifies
//! the hub of commits in their order, and the hub then moves the staged frames of a version into
//! the tail of the session, serialised once. So the order is that of the commits, in whatever order
//! they are answered.
//!
//! A subscriber attaches first and reads its snapshot afterwards. Every version after the snapshot
//! is then in the tail, or will be: replay and live can neither overlap nor leave a hole.
//!
//! A commit of another host has no staged frames here. The tail has a mark for it, and a subscriber
//! reads the kept frames up to the mark from the store. What is not kept stays with the host that
//! made it.
//!
//! Invariant: a tail is bounded. A subscriber that is behind its beginning is too slow and ends.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use accord_contract::{Time, rule};
use accord_live_core::{SessionId, frame::ServerFrame, version::PROTOCOL_VERSION};
use accord_store::{Advance, Listener, LiveAdvance};
use parking_lot::Mutex;
use tokio::sync::watch;

/// Bytes of the frames of a tail.
const TAIL_BYTES: usize = 16 * 1024 * 1024;

pub(crate) struct Hub {
    state: Mutex<State>,
    /// Commits with frames that a tail has at most.
    most: usize,
    subscribers: AtomicUsize,
}

#[derive(Default)]
struct State {
    /// Frames of units that are not committed yet, by session and version.
    staged: HashMap<SessionId, BTreeMap<u64, Staged>>,
    tails: HashMap<SessionId, Arc<Tail>>,
    /// The versions of sessions that advertise another one.
    advertised: HashMap<SessionId, String>,
}

#[derive(Debug)]
pub(crate) struct Staged {
    /// The version of the session row that the unit writes.
    pub(crate) version: u64,
    /// The number of the last frame of the stream, before it and after it.
    pub(crate) stream_before: u64,
    pub(crate) stream: u64,
    pub(crate) frames: Vec<ServerFrame>,
}

/// The last frames of a session.
#[derive(Default)]
struct Tail {
    ring: Mutex<Ring>,
    newest: watch::Sender<u64>,
    /// The newest committed version with something for subscribers. Most actions have nothing, and
    /// then the other sockets of the session sleep on.
    framed: watch::Sender<u64>,
    consumers: AtomicUsize,
}

#[derive(Default)]
struct Ring {
    entries: VecDeque<Entry>,
    bytes: usize,
    /// The last version that is gone from the ring.
    dropped: u64,
    /// When the session began, as far as it is known: an id that is used again is another session.
    began: Option<(Time, u64)>,
    is_ended: bool,
}

#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) version: u64,
    pub(crate) stream_before: u64,
    pub(crate) stream: u64,
    pub(crate) frames: Vec<Arc<str>>,
}

/// What a subscriber finds in a tail.
pub(crate) enum Taken {
    /// Commits after its position, in order; none if there are none yet.
    Entries(Vec<Entry>),
    Slow,
    Ended,
}

impl Hub {
    pub(crate) fn new(most: usize) -> Self {
        Self { state: Mutex::default(), most: most.max(1), subscribers: AtomicUsize::new(0) }
    }

    pub(crate) fn subscribers(&self) -> usize {
        self.subscribers.load(Ordering::Relaxed)
    }

    pub(crate) fn followed(&self) -> usize {
        self.state.lock().tails.len()
    }

    /// Follows a session. Every commit from now on is noticed.
    pub(crate) fn attach(self: &Arc<Self>, session: &SessionId, purpose: Purpose) -> Attached {
        let mut state = self.state.lock();
        let tail = Arc::clone(state.tails.entry(session.clone()).or_default());
        if let Some(counter) = self.counter(&tail, purpose) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
        let (newest, framed) = (Some(tail.newest.subscribe()), tail.framed.subscribe());
        Attached { hub: Arc::clone(self), session: session.clone(), tail, newest, framed, purpose }
    }

    fn counter<'c>(&'c self, tail: &'c Tail, purpose: Purpose) -> Option<&'c AtomicUsize> {
        match purpose {
            Purpose::Subscriber => Some(&self.subscribers),
            Purpose::Consumer => Some(&tail.consumers),
            Purpose::Reader => None,
        }
    }

    pub(crate) fn has_consumer(&self, session: &SessionId) -> bool {
        let state = self.state.lock();
        let tail = state.tails.get(session);
        tail.is_some_and(|tail| tail.consumers.load(Ordering::Relaxed) > 0)
    }

    pub(crate) fn version_of(&self, session: &SessionId) -> String {
        self.state.lock().version_of(session).to_owned()
    }

    pub(crate) fn advertise(&self, session: &SessionId, version: Option<String>) {
        let mut state = self.state.lock();
        match version {
            Some(version) => state.advertised.insert(session.clone(), version),
            None => state.advertised.remove(session),
        };
    }

    fn publish(&self, advance: &LiveAdvance) {
        let mut state = self.state.lock();
        let staged = state.take_staged(advance);
        let version = state.version_of(&advance.session_id).to_owned();
        let Some(tail) = state.tails.get(&advance.session_id).map(Arc::clone) else { return };
        let is_framed = {
            let mut ring = tail.ring.lock();
            // A subscriber of an earlier session of the id ends.
            let mut is_framed = ring.began.replace(advance.began) != Some(advance.began);
            let mut last = 0;
            for entry in staged.into_iter().filter(|entry| !entry.frames.is_empty()) {
                let encode = |frame: &ServerFrame| frame.encode(&version, None).to_string().into();
                let frames = entry.frames.iter().map(encode).collect();
                let Staged { version, stream_before, stream, .. } = entry;
                last = stream;
                is_framed = true;
                ring.push(Entry { version, stream_before, stream, frames }, self.most);
            }
            // Frames of another host, which are read from the store.
            if advance.stream > last {
                let (version, stream) = (advance.version, advance.stream);
                let mark = Entry { version, stream_before: stream, stream, frames: Vec::new() };
                is_framed = true;
                ring.mark(mark, self.most);
            }
            if rule!(advance.is_ended; EndUnnoticed => false) {
                ring.is_ended = true;
                state.tails.remove(&advance.session_id);
            }
            is_framed || advance.is_ended
        };
        tail.newest.send_replace(advance.version);
        if is_framed {
            tail.framed.send_replace(advance.version);
        }
    }
}

impl State {
    fn version_of(&self, session: &SessionId) -> &str {
        self.advertised.get(session).map_or(PROTOCOL_VERSION, String::as_str)
    }

    /// The frames of the committed versions of a session.
    fn take_staged(&mut self, advance: &LiveAdvance) -> Vec<Staged> {
        let Some(staged) = self.staged.get_mut(&advance.session_id) else { return Vec::new() };
        let later = staged.split_off(&(advance.version + 1));
        let committed = std::mem::replace(staged, later);
        if staged.is_empty() {
            self.staged.remove(&advance.session_id);
        }
        committed.into_values().collect()
    }
}

impl Listener for Hub {
    fn committed(&self, _: &[Advance]) {}

    fn live_committed(&self, advances: &[LiveAdvance]) {
        for advance in advances {
            self.publish(advance);
        }
    }
}

impl Ring {
    fn push(&mut self, entry: Entry, most: usize) {
        self.bytes += entry.size();
        self.entries.push_back(entry);
        while self.entries.len() > most || self.bytes > TAIL_BYTES {
            let Some(first) = self.entries.pop_front() else { break };
            self.bytes -= first.size();
            self.dropped = first.version;
        }
    }

    /// Adds a mark, unless the ring already reaches as far.
    fn mark(&mut self, mark: Entry, most: usize) {
        let reached = self.entries.back().map_or(0, |entry| entry.stream);
        if mark.stream > reached {
            self.push(mark, most);
        }
    }
}

impl Entry {
    fn size(&self) -> usize {
        self.frames.iter().map(|frame| frame.len()).sum()
    }
}

/// The frames that a unit has staged. A unit that is run again, or fails, withdraws them.
pub(crate) struct Stage {
    hub: Arc<Hub>,
    placed: Mutex<Vec<(SessionId, u64)>>,
}

impl Stage {
    pub(crate) fn new(hub: &Arc<Hub>) -> Self {
        Self { hub: Arc::clone(hub), placed: Mutex::default() }
    }

    pub(crate) fn put(&self, session: &SessionId, staged: Staged) {
        self.placed.lock().push((session.clone(), staged.version));
        let mut state = self.hub.state.lock();
        state.staged.entry(session.clone()).or_default().insert(staged.version, staged);
    }

    pub(crate) fn withdraw(&self) {
        for (session, version) in std::mem::take(&mut *self.placed.lock()) {
            let mut state = self.hub.state.lock();
            if let Some(staged) = state.staged.get_mut(&session) {
                staged.remove(&version);
                if staged.is_empty() {
                    state.staged.remove(&session);
                }
            }
        }
    }
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Purpose {
    Subscriber,
    /// An agent waits for events of its pipe.
    Consumer,
    /// A page or a person waits for events of its ledger.
    Reader,
}

/// The place of one who follows a session, in a tail.
pub(crate) struct Attached {
    hub: Arc<Hub>,
    session: SessionId,
    tail: Arc<Tail>,
    newest: Option<watch::Receiver<u64>>,
    framed: watch::Receiver<u64>,
    purpose: Purpose,
}

impl Attached {
    /// At most `most` commits after a version. `began` is when the session of the subscriber began.
    pub(crate) fn take(&self, after: u64, began: (Time, u64), most: usize) -> Taken {
        let ring = self.tail.ring.lock();
        if after < ring.dropped {
            return Taken::Slow;
        }
        let from = ring.entries.partition_point(|entry| entry.version <= after);
        let entries: Vec<Entry> = ring.entries.iter().skip(from).take(most).cloned().collect();
        let is_other = ring.began.is_some_and(|other| other != began);
        if is_other || (entries.is_empty() && ring.is_ended) {
            return Taken::Ended;
        }
        Taken::Entries(entries)
    }

    /// The newest version that the tail has noticed; 0 if it has noticed none.
    pub(crate) fn newest(&self) -> u64 {
        *self.tail.newest.borrow()
    }

    /// The newest version with something for subscribers, as far as the tail has noticed.
    pub(crate) fn newest_framed(&self) -> u64 {
        *self.framed.borrow()
    }

    /// Waits until a version after this one may have something for subscribers.
    pub(crate) async fn framed_after(&mut self, version: u64) {
        // The sender lives as long as its tail.
        drop(self.framed.wait_for(|newest| *newest > version).await);
    }

    /// Waits until a version after this one may have been committed.
    pub(crate) async fn changed_after(&mut self, version: u64) {
        let newest = self.newest.as_mut().expect("the receiver is dropped only in drop");
        // The sender lives as long as its tail.
        drop(newest.wait_for(|newest| *newest > version).await);
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        if let Some(counter) = self.hub.counter(&self.tail, self.purpose) {
            counter.fetch_sub(1, Ordering::Relaxed);
        }
        // The count below must not include this one.
        self.newest = None;
        let mut state = self.hub.state.lock();
        // Under the lock, so that nothing attaches between the check and the removal.
        let own = state.tails.get(&self.session).filter(|tail| Arc::ptr_eq(tail, &self.tail));
        if own.is_some_and(|tail| tail.newest.receiver_count() == 0) {
            state.tails.remove(&self.session);
        }
    }
}
