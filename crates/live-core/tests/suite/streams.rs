//! The stream: what an agent sends, and what is kept of it.

use accord_contract::Code;
use accord_live_core::contract::{CompiledContract, Mode};
use accord_live_core::limits::RING;
use accord_live_core::session::{Emitter, NewFrame, emit};
use serde_json::{Value, json};

use crate::support::{World, at, contract, project};

pub(crate) fn spec() -> Value {
    let line = json!({"type": "string"});
    json!({
        "streamSpec": {
            "log": {"schema": line, "replay": "all"},
            "state": {"schema": line, "replay": "latest", "mode": "replace"},
            "tick": {"schema": line, "complete": true},
        },
    })
}

fn world() -> (CompiledContract, World) {
    let contract = contract(spec());
    let world = World::rendered(&contract, json!({}), json!({}));
    (contract, world)
}

#[test]
fn every_frame_uses_a_number_whatever_is_kept() {
    let (contract, mut world) = world();
    let first = world.session.head.stream;
    let kept = world.kept.len();
    for (index, channel) in (1..).zip(["tick", "state", "log", "state", "tick"]) {
        let row = world.emit(&contract, Emitter::Agent, channel, json!("x")).unwrap();
        assert_eq!(row.seq, first + index);
        let mode = if channel == "state" { Mode::Replace } else { Mode::Append };
        assert_eq!(row.mode, mode);
    }
    // One slot for the channel that keeps its latest frame.
    let channels: Vec<_> = world.kept[kept..].iter().map(|(_, row)| row.channel.as_str()).collect();
    assert_eq!(channels, ["log", "state"]);
    assert_eq!(world.kept.last().unwrap().1.seq, first + 4);
}

#[test]
fn the_ring_drops_the_oldest_frame_of_all_channels_that_keep_all() {
    let (contract, mut world) = world();
    let state = world.emit(&contract, Emitter::Agent, "state", json!("kept")).unwrap();
    // The render has left a frame of the lifecycle channel, which shares the ring.
    let oldest = world.oldest().unwrap();
    while world.session.head.ring < RING {
        world.emit(&contract, Emitter::Agent, "log", json!("x")).unwrap();
    }
    assert_eq!(world.session.head.evicted, 0);
    world.emit(&contract, Emitter::Agent, "log", json!("x")).unwrap();
    assert_eq!(world.session.head.evicted, oldest);
    let second = world.oldest().unwrap();
    assert!(second > oldest);
    world.emit(&contract, Emitter::Agent, "log", json!("x")).unwrap();
    assert_eq!(world.session.head.evicted, second);
    // A frame outside the ring is not dropped.
    assert!(world.kept_rows().contains(&state));
}

#[test]
fn what_an_agent_may_not_emit() {
    let (contract, world) = world();
    let project = project();
    let try_emit = |channel: &str, payload: Value, complete: bool, by: Emitter| {
        let frame = NewFrame { channel: channel.into(), payload, complete };
        emit(&world.session, &contract, frame, by, None, at(&project, world.now))
    };
    for (channel, payload, complete, field) in [
        ("nope", json!("x"), false, "channel"),
        ("log", json!(7), false, "log.payload"),
        ("log", json!("x"), true, "complete"),
        ("_ggui:preveiw", json!({}), false, "_ggui:preveiw.payload"),
        ("_ggui:lifecycle", json!({"kind": "consume_polling"}), false, "_ggui:lifecycle.payload"),
    ] {
        let failure = try_emit(channel, payload, complete, Emitter::Agent).unwrap_err();
        assert_eq!(failure.code, Code::GguiToolContractViolation, "{channel}");
        let details = Value::Object(*failure.details.unwrap());
        assert_eq!(details["violations"][0]["field"], json!(field), "{details}");
        assert_eq!(details["tool"], json!("ggui_emit"));
    }
    let text = |bytes: usize| json!("x".repeat(bytes - 2));
    assert!(try_emit("log", text(262_144), false, Emitter::Agent).is_ok());
    assert!(try_emit("log", text(262_145), false, Emitter::Agent).is_err());
    assert!(try_emit("tick", json!("last"), true, Emitter::Agent).unwrap().row.complete);
    let polling = json!({"kind": "consume_polling", "sessionId": "s1", "state": "open"});
    assert!(try_emit("_ggui:lifecycle", polling, false, Emitter::Platform).is_ok());
    for (channel, payload) in [
        ("_ggui:lifecycle", json!({"kind": "other"})),
        ("_ggui:props", json!({})),
        ("_ggui:preveiw", json!({})),
    ] {
        assert!(try_emit(channel, payload, false, Emitter::Platform).is_err(), "{channel}");
    }
}

#[test]
fn an_expired_session_streams_nothing() {
    let (contract, mut world) = world();
    world.now = world.session.head.expires_at;
    let failure = world.emit(&contract, Emitter::Agent, "log", json!("x")).unwrap_err();
    assert_eq!(failure.code.as_str(), "session_not_found");
}
