//! Frames that nobody would send, from a seed.

use serde_json::json;

/// A seeded source of numbers (xorshift).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(crate) fn below(&mut self, most: usize) -> usize {
        usize::try_from(self.next() % most as u64).expect("a small number")
    }

    fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }
}

/// Pieces of frames, right and wrong.
const PIECES: [&str; 30] = [
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "\"",
    "null",
    "true",
    "-0",
    "1e400",
    "9007199254740993",
    r#""type""#,
    r#""payload""#,
    r#""requestId""#,
    r#""subscribe""#,
    r#""action""#,
    r#""ping""#,
    r#""channel_subscribe""#,
    r#""channel_unsubscribe""#,
    r#""host_context_observed""#,
    r#""sessionId""#,
    r#""s1""#,
    r#""appId""#,
    r#""shop""#,
    r#""sinceSequence""#,
    r#""\ud800""#,
    r#""data:submit""#,
    "\u{0}",
    "\u{202e}",
];

/// A frame that is nearly right, or nothing at all.
pub(crate) fn frame(random: &mut Random) -> Vec<u8> {
    let mut bytes = match random.below(4) {
        0 => (0..random.below(40)).map(|_| random.pick(&PIECES)).collect::<String>().into_bytes(),
        1 => (0..random.below(200)).map(|_| random.next().to_le_bytes()[0]).collect(),
        _ => valid(random).into_bytes(),
    };
    // Some of them are damaged.
    for _ in 0..random.below(3) {
        if bytes.is_empty() {
            break;
        }
        let place = random.below(bytes.len());
        match random.below(4) {
            0 => bytes[place] = random.next().to_le_bytes()[0],
            1 => bytes.truncate(place),
            2 => drop(bytes.splice(place..place, random.pick(&PIECES).bytes())),
            _ => bytes.reverse(),
        }
    }
    bytes
}

fn valid(random: &mut Random) -> String {
    let session = random.pick(&["s1", "s1", "s2", ""]);
    let number = random.next();
    let deep = "[".repeat(random.below(600));
    let kind = random.pick(&[
        "ping",
        "action",
        "subscribe",
        "host_context_observed",
        "channel_subscribe",
        "channel_unsubscribe",
        "render",
    ]);
    let payload = match random.below(6) {
        0 => json!(deep),
        1 => json!(null),
        2 => json!({"sessionId": session, "type": "data:submit",
            "payload": {"action": "answer", "data": {"text": "x"}}}),
        3 => json!({"sessionId": session, "appId": "shop", "channelName": "log", "args": {},
            "pollIntervalMs": number}),
        4 => json!({"sessionId": session, "hostContext": {"platform": "web", "locale": deep}}),
        _ => json!({"sessionId": session, "appId": "shop", "fromSeq": number % 5,
            "sinceSequence": number, "clientId": deep, "wsToken": "x.y",
            "supportedVersions": ["draft-2026-08-19"]}),
    };
    json!({"type": kind, "payload": payload, "requestId": number.to_string()}).to_string()
}

/// The seed of this run; `ACCORD_SEED` repeats one.
pub(crate) fn seed() -> u64 {
    let named = std::env::var("ACCORD_SEED").ok().and_then(|seed| seed.parse().ok());
    named.unwrap_or(0x9e37_79b9_7f4a_7c15)
}
