//! Properties of sequencing, over random orders of what agents, people and connections do.

use accord_live_core::contract::CompiledContract;
use accord_live_core::frame::ActionAck;
use accord_live_core::session::{
    Emitter, LiveCursor, StreamRow, check_since_sequence, drain, replay_stream,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{World, at, contract, project, submit, time};

#[derive(Clone, Debug)]
enum Step {
    /// An action of a page, with a number of its own.
    Act { page: u8, number: u8, is_valid: bool },
    /// A frame on a channel.
    Emit(u8),
    /// An agent takes everything out.
    Drain,
    /// A subscriber goes away and comes back with its position.
    Reconnect,
    /// Time passes.
    Wait(u16),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..3_u8, 0..6_u8, any::<bool>())
            .prop_map(|(page, number, is_valid)| Step::Act { page, number, is_valid }),
        4 => (0..4_u8).prop_map(Step::Emit),
        1 => Just(Step::Drain),
        1 => Just(Step::Reconnect),
        1 => (0..900_u16).prop_map(Step::Wait),
    ]
}

fn spec() -> Value {
    let text = json!({"type": "string"});
    json!({
        "actionSpec": {"say": {"label": "Say", "schema": {"type": "string"}}},
        "streamSpec": {
            "log": {"schema": text, "replay": "all"},
            "state": {"schema": text, "replay": "latest"},
            "tick": {"schema": text},
        },
    })
}

const CHANNELS: [&str; 4] = ["log", "state", "tick", "nope"];

/// A subscriber that asks for everything that it missed.
struct Subscriber {
    cursor: LiveCursor,
    got: Vec<StreamRow>,
}

impl Subscriber {
    fn live(&mut self, row: &StreamRow) {
        if self.cursor.admit(row.seq) {
            self.got.push(row.clone());
        }
    }

    /// Comes back. Frames that were sent meanwhile and are kept are replayed, and a frame of the
    /// snapshot may come live again.
    fn reconnect(&mut self, world: &World, contract: &CompiledContract) {
        let head = world.session.head;
        let from = self.cursor.position();
        let replay = replay_stream(&head, contract, Some(from), world.kept_rows());
        assert_eq!(replay.is_truncated, from < head.evicted);
        self.cursor = LiveCursor::after(head.stream);
        let last = replay.rows.last().cloned();
        self.got.extend(replay.rows);
        if let Some(last) = last {
            self.live(&last);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn nothing_is_lost_doubled_or_reordered(steps in prop::collection::vec(step(), 1..120)) {
        let contract = contract(spec());
        let project = project();
        let mut world = World::rendered(&contract, json!({"prompt": "speak"}), json!({}));
        let mut subscriber = Subscriber { cursor: LiveCursor::after(0), got: Vec::new() };
        let mut is_connected = true;
        let (mut emitted, mut drained, mut acks) = (Vec::new(), Vec::new(), Vec::new());
        for step in steps {
            let before = (world.session.clone(), world.ledger.len(), world.events.len());
            match step {
                Step::Act { page, number, is_valid } => {
                    let (page, text) = (format!("page-{page}"), format!("text {number}"));
                    let data = if is_valid { json!(text) } else { json!(7) };
                    let mut payload = submit("say", data);
                    payload["clientSeq"] = json!(number);
                    let key = (page.clone(), number);
                    let known = acks.iter().find(|(known, _)| *known == key);
                    let known = known.map(|(_, ack): &(_, ActionAck)| ack.clone());
                    match (world.act(&contract, Some(&page), payload), known) {
                        // The first answer again, and nothing is appended.
                        (Ok(ack), Some(first)) => {
                            prop_assert_eq!(ack, first);
                            prop_assert_eq!(world.ledger.len(), before.1);
                        }
                        (Ok(ack), None) => {
                            prop_assert!(is_valid);
                            prop_assert_eq!(ack.sequence, before.0.head.ledger + 1);
                            acks.push((key, ack));
                        }
                        (Err(_), _) => {
                            prop_assert!(!is_valid);
                            let sizes = (world.ledger.len(), world.events.len());
                            prop_assert_eq!(&world.session, &before.0);
                            prop_assert_eq!(sizes, (before.1, before.2));
                        }
                    }
                }
                Step::Emit(channel) => {
                    let channel = CHANNELS[usize::from(channel)];
                    match world.emit(&contract, Emitter::Agent, channel, json!("x")) {
                        Ok(row) => {
                            prop_assert_eq!(row.seq, before.0.head.stream + 1);
                            if is_connected {
                                subscriber.live(&row);
                            }
                            emitted.push(row);
                        }
                        Err(_) => {
                            prop_assert_eq!(channel, "nope");
                            prop_assert_eq!(&world.session, &before.0);
                        }
                    }
                }
                Step::Drain => {
                    let drained_to = world.session.head.drained;
                    let pending: Vec<_> = (world.ledger.iter())
                        .filter(|row| row.seq > drained_to && row.event_id.is_some())
                        .cloned()
                        .collect();
                    let now = at(&project, world.now);
                    let taken = drain(&world.session, &[], &pending, None, now).unwrap();
                    prop_assert_eq!(taken.events.len(), taken.acks.len());
                    drained.extend(taken.events);
                    world.apply(taken.delta);
                }
                Step::Reconnect => {
                    if is_connected {
                        is_connected = false;
                    } else {
                        subscriber.reconnect(&world, &contract);
                        is_connected = true;
                    }
                }
                Step::Wait(seconds) => world.now = world.now.add_seconds(i64::from(seconds) / 100),
            }
        }
        if !is_connected {
            subscriber.reconnect(&world, &contract);
        }

        // The ledger: every acknowledged action once, in order.
        let numbers: Vec<u64> = world.ledger.iter().map(|row| row.seq).collect();
        prop_assert_eq!(numbers, (1..=world.session.head.ledger).collect::<Vec<_>>());
        let actions = world.ledger.iter().filter(|row| row.key.is_some());
        let stored: Vec<u64> = actions.map(|row| row.seq).collect();
        prop_assert_eq!(stored, acks.iter().map(|(_, ack)| ack.sequence).collect::<Vec<_>>());

        // The pipe: what was taken out is a beginning of it, each event once.
        let ids: Vec<_> = world.ledger.iter().filter_map(|row| row.event_id.clone()).collect();
        let taken: Vec<_> = drained.iter().map(|event| event.action_id.clone()).collect();
        prop_assert_eq!(&ids[..taken.len()], &taken[..]);

        // The stream: the subscriber got frames once and in order, and every frame that is kept.
        let got: Vec<u64> = subscriber.got.iter().map(|row| row.seq).collect();
        prop_assert!(got.windows(2).all(|pair| pair[0] < pair[1]), "{got:?}");
        for row in emitted.iter().filter(|row| row.channel == "log") {
            prop_assert!(got.contains(&row.seq), "{} is missing in {got:?}", row.seq);
        }
    }

    #[test]
    fn the_counters_of_a_reused_id_go_on(
        lives in prop::collection::vec((0..5_u8, 0..5_u8), 1..6),
    ) {
        let contract = contract(spec());
        let mut earlier: Option<World> = None;
        for (actions, frames) in lives {
            let stored = earlier.as_ref().map(|world| world.session.clone());
            let (ledger, stream) =
                stored.as_ref().map_or((0, 0), |old| (old.head.ledger, old.head.stream));
            let mut world =
                World::rendered_again(&contract, json!({}), json!({}), stored.as_ref());
            let first = world.ledger.first().map(|row| row.seq);
            prop_assert_eq!(first, Some(ledger + 1));
            for _ in 0..actions {
                world.act(&contract, None, submit("say", json!("x"))).unwrap();
            }
            for _ in 0..frames {
                world.emit(&contract, Emitter::Agent, "log", json!("x")).unwrap();
            }
            let head = world.session.head;
            prop_assert_eq!(head.ledger, ledger + 2 + u64::from(actions));
            prop_assert_eq!(head.stream, stream + 1 + u64::from(frames));
            // Nothing of an earlier life can be read.
            prop_assert_eq!(head.horizon, ledger);
            prop_assert!(ledger == 0 || check_since_sequence(&head, &json!(ledger - 1)).is_err());
            prop_assert!(check_since_sequence(&head, &json!(ledger)).is_ok());
            let replay = replay_stream(&head, &contract, Some(0), world.kept_rows());
            prop_assert!(replay.rows.iter().all(|row| row.seq > stream));
            prop_assert_eq!(replay.is_truncated, stream > 0);
            world.now = time(1_000_000);
            earlier = Some(world);
        }
    }
}
