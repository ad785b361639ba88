//! The stream of a session: frames from the agent to the person, numbered without gaps.
//!
//! The policy of a channel is applied when a frame is recorded: a frame of a channel without
//! replay uses a number and is not kept.

use accord_contract::{Code, Failure, Object, Value, rule};

use super::{At, Delta, Session, StreamChange, change::Change};
use crate::contract::{CompiledContract, Emission, Mode, Replay};
use crate::json::{members, put, text_len};
use crate::limits::{EMIT_BYTES, RING};
use crate::refuse;
use crate::reserved::{Channel, is_reserved};
use crate::violation::{Source, Violation, ViolationDetails};

#[derive(Clone, Debug, PartialEq)]
pub struct StreamRow {
    /// Its number, from 1, shared by all channels.
    pub seq: u64,
    pub channel: String,
    /// What it does to the frames before it.
    pub mode: Mode,
    pub payload: Value,
    /// Whether it is the last one of its channel.
    pub complete: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct NewFrame {
    pub channel: String,
    pub payload: Value,
    pub complete: bool,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Emitter {
    /// An agent, which may use the channels of its contract.
    Agent,
    /// The platform, which may use the reserved channels too.
    Platform,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Emitted {
    /// The frame. It is sent after the delta is committed.
    pub row: StreamRow,
    pub delta: Delta,
}

impl StreamRow {
    /// The members of the envelope, without session and version.
    pub(crate) fn envelope(&self) -> Object {
        let mut envelope = members([
            ("channel", self.channel.as_str().into()),
            ("mode", self.mode.as_str().into()),
            ("payload", self.payload.clone()),
        ]);
        put(&mut envelope, "complete", self.complete.then_some(true));
        envelope.insert("seq".into(), self.seq.into());
        envelope
    }
}

/// Records a frame. `oldest` is the number of the oldest kept frame of a channel with the policy
/// `all`; it is needed when the ring is full. Fails with `session_not_found` when the session has
/// expired; `contract_violation` for an undeclared channel, a payload that does not match or is too
/// large, or an end that the channel does not have.
///
/// Clauses: GGUI-STREAM-EMIT, GGUI-STREAM-POLICY.
pub fn emit(
    session: &Session,
    contract: &CompiledContract,
    frame: NewFrame,
    by: Emitter,
    oldest: Option<u64>,
    at: At<'_>,
) -> Result<Emitted, Failure> {
    if !session.is_active(at.now) {
        return Err(refuse::tool_session_not_found("there is no such session"));
    }
    let is_foreign = by == Emitter::Agent && is_reserved(&frame.channel);
    if rule!(is_foreign; AgentsUseReserved => false) {
        let message = "channels that begin with _ggui: belong to the platform";
        return Err(violated(vec![Violation::new(format!("{}.payload", frame.channel), message)]));
    }
    if text_len(&frame.payload) > EMIT_BYTES {
        let message = format!("a payload has at most {EMIT_BYTES} bytes");
        return Err(violated(vec![Violation::new(format!("{}.payload", frame.channel), message)]));
    }
    let emission =
        contract.check_stream(&frame.channel, &frame.payload, frame.complete).map_err(violated)?;
    let mut change = Change::begin(session, at);
    let row = record(&mut change, emission, frame, oldest);
    Ok(Emitted { row, delta: change.finish() })
}

fn violated(violations: Vec<Violation>) -> Failure {
    ViolationDetails::new(Source::Emit, violations).into_failure(Code::GguiToolContractViolation)
}

/// Gives a checked frame its number, and keeps it as its channel says.
///
/// Clauses: GGUI-SEQ-STREAM, GGUI-STREAM-RING.
pub(super) fn record(
    change: &mut Change<'_>,
    emission: Emission,
    frame: NewFrame,
    oldest: Option<u64>,
) -> StreamRow {
    let Emission { mode, replay } = emission;
    let head = &mut change.session.head;
    head.stream += rule!(1; StreamSkips => 2);
    let NewFrame { channel, payload, complete } = frame;
    let row = StreamRow { seq: head.stream, channel, mode, payload, complete };
    let kept = &mut change.delta.stream;
    let replay = rule!(replay; EverythingKept => Replay::All);
    match replay {
        Replay::None => {}
        Replay::Latest => kept.push(StreamChange::Keep(replay, row.clone())),
        Replay::All => {
            kept.push(StreamChange::Keep(replay, row.clone()));
            let is_full = rule!(head.ring >= RING; RingUnbounded => false);
            match oldest.filter(|_| is_full) {
                Some(oldest) => {
                    head.evicted = head.evicted.max(oldest);
                    kept.push(StreamChange::Evict(oldest));
                }
                None => head.ring += 1,
            }
        }
    }
    row
}

/// Clauses: GGUI-RESERVED-BUFFERED.
pub(super) fn record_lifecycle(
    change: &mut Change<'_>,
    payload: Object,
    oldest: Option<u64>,
) -> StreamRow {
    let channel = Channel::Lifecycle.as_str().to_owned();
    let frame = NewFrame { channel, payload: Value::Object(payload), complete: false };
    let replay = rule!(Replay::All; LifecycleNotKept => Replay::None);
    record(change, Emission { mode: Mode::Append, replay }, frame, oldest)
}

/// Whether a frame is replayed to a subscriber that names no position.
pub(super) fn is_always_replayed(row: &StreamRow) -> bool {
    Channel::parse(&row.channel).is_some()
}
