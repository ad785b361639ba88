//! A session in memory, to which deltas are applied as an engine would apply them. It checks what
//! every engine relies on.

use std::collections::BTreeMap;

use accord_base::{EventKind, NewEvent, ProjectId};
use accord_contract::{Failure, Object, Time, Value};
use accord_live_core::contract::{CompiledContract, Replay};
use accord_live_core::frame::{Action, ActionAck, ClientBody, ClientFrame, Rejected, parse};
use accord_live_core::limits::{Limits, RING, SESSION_TTL_SECONDS};
use accord_live_core::session::{
    ActFacts, Acted, Ask, AskChange, At, Content, ContentChange, DedupKey, Delta, Emitted, Emitter,
    LedgerRow, NewFrame, Rendering, Sender, Session, StreamChange, StreamRow, act, emit, render,
};
use accord_live_core::{AppId, SessionId};
use serde_json::json;

/// The time at which tests begin.
pub(crate) const START: i64 = 1_790_000_000_000;

pub(crate) fn time(after_seconds: i64) -> Time {
    Time::from_unix_millis(START).add_seconds(after_seconds)
}

pub(crate) fn project() -> ProjectId {
    ProjectId::new("shop").unwrap()
}

pub(crate) fn app(name: &str) -> AppId {
    AppId::new(name).unwrap()
}

pub(crate) fn session_id(name: &str) -> SessionId {
    SessionId::new(name).unwrap()
}

pub(crate) fn contract(document: Value) -> CompiledContract {
    CompiledContract::read(&document).expect("a valid contract")
}

pub(crate) fn object(value: Value) -> Object {
    match value {
        Value::Object(members) => members,
        other => panic!("{other} is no object"),
    }
}

/// Where and when.
pub(crate) fn at(project: &ProjectId, now: Time) -> At<'_> {
    At { project, now, ttl_seconds: SESSION_TTL_SECONDS }
}

/// Reads a frame on a subscribed socket.
pub(crate) fn frame(document: Value) -> Result<ClientFrame, Rejected> {
    parse(document.to_string().as_bytes(), true, &Limits::default())
}

/// The action of a frame with this payload.
pub(crate) fn action(payload: Value) -> Action {
    match frame(json!({"type": "action", "payload": payload})).unwrap().body {
        ClientBody::Action(action) => action,
        other => panic!("{other:?}"),
    }
}

/// A session in memory.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) session: Session,
    pub(crate) content: Content,
    pub(crate) props: BTreeMap<u64, Object>,
    pub(crate) ledger: Vec<LedgerRow>,
    pub(crate) kept: Vec<(Replay, StreamRow)>,
    pub(crate) ask: Option<Ask>,
    /// The events that were given back, by their numbers.
    pub(crate) returned: Vec<u64>,
    /// The epoch whose ask was closed, and the event that closed it.
    pub(crate) closed: Option<(u64, u64)>,
    /// Who acts.
    pub(crate) sender: Sender,
    pub(crate) events: Vec<NewEvent>,
    pub(crate) now: Time,
}

impl World {
    /// A session that an agent rendered.
    pub(crate) fn rendered(contract: &CompiledContract, ui: Value, props: Value) -> Self {
        Self::rendered_again(contract, ui, props, None)
    }

    pub(crate) fn rendered_again(
        contract: &CompiledContract,
        ui: Value,
        props: Value,
        earlier: Option<&Session>,
    ) -> Self {
        let (project, now) = (project(), time(0));
        let (id, app_id) = (session_id("s1"), app("shop"));
        let rendering = Rendering {
            session_id: &id,
            app_id: &app_id,
            earlier,
            ui: object(ui),
            props: object(props),
            contract,
            asked_by: None,
        };
        let (session, content, delta) = render(rendering, at(&project, now));
        let mut world = Self::empty(session.clone(), now);
        world.session.head = earlier
            .map_or(accord_live_core::session::Head::new(now, SESSION_TTL_SECONDS), |earlier| {
                earlier.head
            });
        world.apply(delta);
        assert_eq!((&world.session, &world.content), (&session, &content));
        world
    }

    /// A stored session without rows.
    pub(crate) fn empty(session: Session, now: Time) -> Self {
        Self {
            session,
            content: Content::default(),
            props: BTreeMap::new(),
            ledger: Vec::new(),
            kept: Vec::new(),
            returned: Vec::new(),
            closed: None,
            sender: Sender::default(),
            ask: None,
            events: Vec::new(),
            now,
        }
    }

    /// Applies a delta as an engine does, and checks it.
    pub(crate) fn apply(&mut self, delta: Delta) {
        let before = self.session.head;
        for row in &delta.ledger {
            let last = self.ledger.last().map_or(before.ledger, |row| row.seq);
            assert_eq!(row.seq, last + 1, "the ledger has a gap");
            let is_used = |other: &LedgerRow| {
                let same_id = row.event_id.is_some() && row.event_id == other.event_id;
                same_id || (row.key.is_some() && row.key == other.key)
            };
            assert!(!self.ledger.iter().any(is_used), "{row:?} is stored twice");
            self.ledger.push(row.clone());
        }
        if let Some(session) = delta.session {
            self.session = session;
        }
        let head = self.session.head;
        assert!(head.ledger >= before.ledger && head.stream >= before.stream);
        assert_eq!(head.ledger, self.ledger.last().map_or(head.ledger, |row| row.seq));
        for change in delta.content {
            match change {
                ContentChange::Clear => {
                    (self.content, self.ask) = (Content::default(), None);
                    self.kept.clear();
                    self.props.clear();
                }
                ContentChange::Ui(ui) => self.content.ui = ui,
                ContentChange::Props(epoch, props) => {
                    assert_eq!(epoch, head.epoch);
                    self.content.props = Some(props.clone());
                    self.props.insert(epoch, props);
                }
                ContentChange::HostContext(context) => self.content.host_context = Some(context),
                ContentChange::Context(context) => self.content.context = Some(context),
                ContentChange::Returned(numbers) => self.returned = numbers,
                ContentChange::Closed { epoch, sequence } => {
                    (self.content.closed, self.closed) = (Some(epoch), Some((epoch, sequence)));
                }
            }
        }
        for change in delta.stream {
            match change {
                StreamChange::Keep(replay, row) => {
                    self.kept.retain(|(_, other)| {
                        replay != Replay::Latest || other.channel != row.channel
                    });
                    self.kept.push((replay, row));
                }
                StreamChange::Evict(seq) => self.kept.retain(|(_, row)| row.seq != seq),
            }
        }
        let ring = self.kept.iter().filter(|(replay, _)| *replay == Replay::All).count();
        assert_eq!(ring, head.ring as usize);
        assert!(head.ring <= RING);
        match delta.ask {
            Some(AskChange::Begin(ask)) => self.ask = Some(ask),
            Some(AskChange::End) => self.ask = None,
            None => {}
        }
        assert_eq!(head.is_asking, self.ask.is_some());
        let published: Vec<u64> = delta.events.iter().filter_map(sequence).collect();
        let appended: Vec<u64> = delta.ledger.iter().map(|row| row.seq).collect();
        assert_eq!(published, appended, "a ledger row has not exactly one event");
        self.events.extend(delta.events);
    }

    /// The contract of the stored UI.
    pub(crate) fn compiled(&self) -> CompiledContract {
        let specs = ["propsSpec", "actionSpec", "streamSpec", "contextSpec", "agentCapabilities"];
        let members = specs
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), self.content.ui.get(*name)?.clone())));
        contract(Value::Object(members.collect()))
    }

    pub(crate) fn oldest(&self) -> Option<u64> {
        let all = self.kept.iter().filter(|(replay, _)| *replay == Replay::All);
        all.map(|(_, row)| row.seq).min()
    }

    pub(crate) fn kept_rows(&self) -> Vec<StreamRow> {
        self.kept.iter().map(|(_, row)| row.clone()).collect()
    }

    /// Sends an action, and stores it.
    pub(crate) fn act(
        &mut self,
        contract: &CompiledContract,
        client_id: Option<&str>,
        payload: Value,
    ) -> Result<ActionAck, Failure> {
        let acted = self.decide(contract, client_id, payload)?;
        let ack = acted.ack;
        self.apply(acted.delta);
        Ok(ack)
    }

    /// Sends an action, and stores nothing.
    pub(crate) fn decide(
        &self,
        contract: &CompiledContract,
        client_id: Option<&str>,
        payload: Value,
    ) -> Result<Acted, Failure> {
        let action = action(payload);
        let key: Option<DedupKey> = action.key(client_id);
        let earlier =
            key.and_then(|key| self.ledger.iter().find(|row| row.key.as_ref() == Some(&key)));
        let project = project();
        let at = at(&project, self.now);
        let (session, sender) = (&self.session, &self.sender);
        let closed = self.closed.filter(|(epoch, _)| *epoch == session.head.epoch);
        let closed_by = closed.and_then(|(_, seq)| self.ledger.iter().find(|row| row.seq == seq));
        let ask = self.ask.as_ref();
        let content = Some(&self.content);
        let facts =
            ActFacts { session, contract, client_id, sender, earlier, ask, content, closed_by, at };
        act(action, facts)
    }

    /// Emits a frame, and stores it.
    pub(crate) fn emit(
        &mut self,
        contract: &CompiledContract,
        by: Emitter,
        channel: &str,
        payload: Value,
    ) -> Result<StreamRow, Failure> {
        let frame = NewFrame { channel: channel.into(), payload, complete: false };
        let project = project();
        let at = at(&project, self.now);
        let Emitted { row, delta } = emit(&self.session, contract, frame, by, self.oldest(), at)?;
        self.apply(delta);
        Ok(row)
    }
}

/// The number in the ledger that an event names.
fn sequence(event: &NewEvent) -> Option<u64> {
    assert!(EventKind::parse(event.kind.as_str()).is_ok());
    event.data.get("sequence").and_then(Value::as_u64)
}

/// The payload of a `data:submit`.
pub(crate) fn submit(name: &str, data: Value) -> Value {
    json!({"sessionId": "s1", "type": "data:submit", "payload": {"action": name, "data": data}})
}

/// Whether `subset` accepts only what `superset` accepts.
pub(crate) fn is_subset(superset: &Value, subset: &Value) -> bool {
    accord_live_core::subset::failures(superset, subset).is_empty()
}
