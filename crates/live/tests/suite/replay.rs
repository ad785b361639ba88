//! Replay and live frames, without overlap and without a hole.

use accord_live::{Live, Subscriber};
use accord_live_core::frame::Close;
use accord_live_core::session::EventsQuery;
use proptest::prelude::*;
use serde_json::json;
use tokio::task::JoinSet;

use crate::support::{
    Place, act, app, document, emit, end, model, next, numbers, places, seed, session_id,
    subscribe, until,
};

/// What happens next.
#[derive(Clone, Debug)]
enum Step {
    /// A frame that is kept, by the host of the subscribers or by another one.
    Log {
        by_other: bool,
    },
    /// A frame that is not kept, and an action.
    Tick,
    Act,
    /// A subscriber reads up to the last kept frame.
    Read(usize),
    /// A subscriber connects again after the last frame that it got.
    Reconnect(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => any::<bool>().prop_map(|by_other| Step::Log { by_other }),
        1 => Just(Step::Tick),
        1 => Just(Step::Act),
        3 => (0..3_usize).prop_map(Step::Read),
        2 => (0..3_usize).prop_map(Step::Reconnect),
    ];
    proptest::collection::vec(step, 1..60)
}

/// A subscriber, and the numbers of the frames that it got.
struct Reader {
    subscriber: Subscriber,
    got: Vec<u64>,
}

impl Reader {
    async fn connect(live: &Live, got: Vec<u64>) -> Self {
        let from = got.last().copied().unwrap_or(0);
        let subscribed = subscribe(live, "s1", json!({"fromSeq": from})).await.unwrap();
        Self { subscriber: subscribed.subscriber, got }
    }

    async fn read_until(&mut self, last: u64) {
        while self.got.last().is_none_or(|seq| *seq < last) {
            self.got.extend(numbers(&next(&mut self.subscriber).await));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]
    #[test]
    fn any_order_gives_every_kept_frame_once(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(run(model(), steps));
    }
}

async fn run(place: Place, steps: Vec<Step>) {
    let (live, other) = (place.live(), place.live());
    seed(&live, "s1").await;
    let agent = subscribe(&live, "s1", json!({})).await.unwrap();
    let mut readers = Vec::new();
    for _ in 0..3 {
        readers.push(Reader::connect(&live, Vec::new()).await);
    }
    // The frame that the session began with is kept.
    let mut kept = vec![1];
    let mut gone = Vec::new();
    for step in steps {
        match step {
            Step::Log { by_other } => {
                let by = if by_other { &other } else { &live };
                kept.push(emit(by, "s1", "log", 7).await);
            }
            Step::Tick => gone.push(emit(&live, "s1", "tick", 7).await),
            Step::Act => {
                act(&live, agent.subscriber.binding(), "x").await.unwrap();
            }
            Step::Read(reader) => {
                let last = *kept.last().unwrap();
                readers[reader].read_until(last).await;
            }
            Step::Reconnect(reader) => {
                let got = std::mem::take(&mut readers[reader].got);
                readers[reader] = Reader::connect(&live, got).await;
            }
        }
    }
    let last = emit(&live, "s1", "log", 7).await;
    kept.push(last);
    for reader in &mut readers {
        reader.read_until(last).await;
        assert!(reader.got.is_sorted_by(|one, other| one < other), "twice: {:?}", reader.got);
        for seq in &kept {
            assert!(reader.got.contains(seq), "{seq} is missing in {:?}", reader.got);
        }
        let all = reader.got.iter().all(|seq| kept.contains(seq) || gone.contains(seq));
        assert!(all, "{:?}", reader.got);
    }
}

/// Subscribers that stay connected get frames that are not kept, too.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn subscribers_that_join_under_load_get_everything_after_their_answer() {
    const FRAMES: u64 = 150;
    for place in places() {
        let live = place.live();
        seed(&live, "s1").await;
        let mut readers = JoinSet::new();
        for _ in 0..16 {
            let live = live.clone();
            readers.spawn(async move {
                tokio::task::yield_now().await;
                let mut subscribed = subscribe(&live, "s1", json!({"fromSeq": 0})).await.unwrap();
                let ack = document(&subscribed.ack.text);
                let snapshot = ack["payload"]["streamSeq"].as_u64().unwrap();
                // A reader that joins after the last frame gets no other one.
                let frames = if snapshot <= FRAMES {
                    until(&mut subscribed.subscriber, FRAMES + 1).await
                } else {
                    Vec::new()
                };
                (snapshot, numbers(&frames))
            });
        }
        let mut agents = JoinSet::new();
        for agent in 0..3 {
            let live = live.clone();
            agents.spawn(async move {
                for number in 0..FRAMES / 3 {
                    let channel = if agent == 0 { "log" } else { "tick" };
                    emit(&live, "s1", channel, number).await;
                }
            });
        }
        agents.join_all().await;
        for (snapshot, got) in readers.join_all().await {
            assert!(got.is_sorted_by(|one, other| one < other), "{got:?}");
            let live: Vec<u64> = got.into_iter().filter(|seq| *seq > snapshot).collect();
            assert!(live.iter().copied().eq(snapshot + 1..=FRAMES + 1), "{snapshot}: {live:?}");
        }
    }
}

#[tokio::test]
async fn the_ledger_is_replayed_in_pages_before_the_stream() {
    for place in places() {
        let live = place.live();
        seed(&live, "s1").await;
        let first = subscribe(&live, "s1", json!({})).await.unwrap();
        for number in 0..120 {
            act(&live, first.subscriber.binding(), &number.to_string()).await.unwrap();
        }
        emit(&live, "s1", "log", 7).await;
        let request = json!({"sinceSequence": 5, "fromSeq": 0});
        let mut again = subscribe(&live, "s1", request).await.unwrap();
        let ack = document(&again.ack.text);
        assert_eq!((&ack["requestId"], &ack["payload"]["sequence"]), (&json!("r1"), &json!(122)));
        let mut frames = Vec::new();
        while numbers(&frames).len() < 2 {
            frames.extend(next(&mut again.subscriber).await);
        }
        let kinds = frames.iter().map(|frame| frame["type"].as_str().unwrap());
        let ledger: Vec<u64> = (frames.iter())
            .filter(|frame| frame["type"] == "render_event")
            .map(|frame| frame["payload"]["seq"].as_u64().unwrap())
            .collect();
        assert!(ledger.into_iter().eq(6..=122));
        assert_eq!(kinds.skip(117).collect::<Vec<_>>(), ["data", "data"]);
        // A position that is not there is answered, and the stream is replayed all the same.
        let request = json!({"sinceSequence": 999, "fromSeq": 0});
        let mut ahead = subscribe(&live, "s1", request).await.unwrap();
        let frames = until(&mut ahead.subscriber, 2).await;
        assert_eq!(frames[0]["payload"]["code"], "REPLAY_HORIZON_PASSED");
        assert_eq!(frames[0]["payload"]["details"]["currentSequence"], 122);
        assert_eq!(numbers(&frames), [1, 2]);
    }
}

#[tokio::test]
async fn a_channel_keeps_what_its_policy_says() {
    for place in places() {
        let live = place.live();
        seed(&live, "s1").await;
        for number in 0..300 {
            emit(&live, "s1", "log", number).await;
        }
        emit(&live, "s1", "state", 1).await;
        emit(&live, "s1", "tick", 1).await;
        emit(&live, "s1", "state", 2).await;
        let mut late = subscribe(&live, "s1", json!({"fromSeq": 0})).await.unwrap();
        let ack = document(&late.ack.text);
        assert_eq!(ack["payload"]["replayTruncated"], true);
        // 256 of the channel that keeps all, and the last one of the channel that keeps one.
        let frames = until(&mut late.subscriber, 304).await;
        assert_eq!(frames.len(), 257);
        assert_eq!(numbers(&frames)[..1], [46]);
        assert_eq!(numbers(&frames)[256], 304);
        let mut fresh = subscribe(&live, "s1", json!({})).await.unwrap();
        emit(&live, "s1", "tick", 2).await;
        assert_eq!(numbers(&next(&mut fresh.subscriber).await), [305]);
    }
}

#[tokio::test]
async fn a_replay_whose_frames_are_evicted_meanwhile_ends() {
    for place in places() {
        let live = place.live();
        seed(&live, "s1").await;
        for number in 0..255 {
            emit(&live, "s1", "log", number).await;
        }
        let mut late = subscribe(&live, "s1", json!({"fromSeq": 0})).await.unwrap();
        let first = numbers(&next(&mut late.subscriber).await);
        let seen = *first.last().unwrap();
        assert!(first[0] == 1 && seen < 256, "a page of the replay: {first:?}");
        for number in 0..255 {
            emit(&live, "s1", "log", number).await;
        }
        let ended = end(&mut late.subscriber).await;
        assert_eq!(ended.close, Close::SLOW_SUBSCRIBER);
        let frame = document(&ended.frame.unwrap().text);
        assert_eq!(frame["payload"]["details"]["fromSeq"], seen);
    }
}

#[tokio::test]
async fn pages_are_bounded_by_bytes() {
    for place in places() {
        let live = place.live();
        seed(&live, "s1").await;
        let person = subscribe(&live, "s1", json!({})).await.unwrap();
        let text = "x".repeat(300_000);
        for _ in 0..20 {
            act(&live, person.subscriber.binding(), &text).await.unwrap();
        }
        let (mut after, mut pages, mut seen) = (2, 0, Vec::new());
        loop {
            let query = EventsQuery { since: after, limit: 100 };
            let page = live.events(&app("shop"), &session_id("s1"), query).await.unwrap();
            assert!(page.rows.len() < 20, "one page has them all");
            seen.extend(page.rows.iter().map(|row| row.seq));
            (after, pages) = (*seen.last().unwrap(), pages + 1);
            if !page.has_more {
                break;
            }
        }
        assert!(pages > 1 && seen.into_iter().eq(3..=22));
        let again = json!({"sinceSequence": 0});
        let mut again = subscribe(&live, "s1", again).await.unwrap();
        assert!(next(&mut again.subscriber).await.len() < 20);
    }
}
