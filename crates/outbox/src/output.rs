//! What the agent of a turn prints while it works, as pieces.
//!
//! A piece has whole lines, without credentials. Too much at once, or in all, is left out, and that
//! is said. The hub keeps the end of what it received.

use accord_contract::{Object, Time, Timestamp, Value};

use crate::redact::{NEAR, redact_after};

/// The most bytes of a piece.
pub const MOST_OF_PIECE: u64 = 64 * 1024;
/// The most bytes of all pieces of a worker.
pub const MOST_OF_WORKER: u64 = 1024 * 1024;
/// How many bytes before a piece are searched for the beginning of a credential.
pub const SEARCHED_BEFORE: u64 = 16 * 1024;
/// How long an edge leaves between two pieces of a turn, in milliseconds. Each is an event of the
/// project.
const PACE_MS: u64 = 4_000;
/// How long a log is quiet until its last lines are sent, too. A line that makes a credential of
/// the ones before it may follow.
const QUIET_MS: u64 = 3_000;
/// How many bytes of an output a hub keeps.
const KEPT: usize = 256 * 1024;

/// How far the output of a turn is sent.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputPlace {
    /// Which worker of the turn it is: when it started.
    pub worker: String,
    /// The place in the output after the last piece.
    pub to: u64,
    /// The bytes of all pieces.
    pub sent: u64,
    /// When the last piece was made.
    pub at: Timestamp,
    /// Nothing more of it is sent.
    pub is_over: bool,
}

/// The output of a worker as it is now.
#[derive(Clone, Copy, Debug)]
pub struct OutputNow<'a> {
    pub worker: &'a str,
    /// Its length in bytes.
    pub length: u64,
    /// When it last grew.
    pub modified: Time,
    pub has_ended: bool,
}

/// Where the next piece begins, and how much before it is left out; `None` if it is too early.
pub fn begin(place: Option<&OutputPlace>, output: &OutputNow<'_>, now: Time) -> Option<(u64, u64)> {
    let place = place.filter(|place| place.worker == output.worker);
    let to = place.map_or(0, |place| place.to);
    let is_early = place.is_some_and(|place| now.millis_since(place.at.time()) < PACE_MS);
    if place.is_some_and(|place| place.is_over) || output.length <= to || is_early {
        return None;
    }
    let from = to.max(output.length.saturating_sub(MOST_OF_PIECE));
    Some((from, from - to))
}

/// The next piece of an output: `before` is what precedes it, `own` what follows. `None` if no
/// line of it is complete.
pub fn piece(
    place: Option<&OutputPlace>,
    output: &OutputNow<'_>,
    (from, mut left_out): (u64, u64),
    (before, own): (&[u8], &[u8]),
    now: Time,
) -> Option<Object> {
    let place = place.filter(|place| place.worker == output.worker);
    let (mut before, mut own) = (before.to_vec(), own);
    if left_out > 0 {
        // It begins inside of a line.
        let begins = own.iter().position(|byte| *byte == b'\n')? + 1;
        before.extend_from_slice(&own[..begins]);
        left_out += begins as u64;
        own = &own[begins..];
    }
    let is_quiet = output.has_ended || now.millis_since(output.modified) >= QUIET_MS;
    let held = if is_quiet { 0 } else { NEAR };
    let most = own.len().saturating_sub(held);
    let end = match own[..most].iter().rposition(|byte| *byte == b'\n') {
        Some(end) => end + 1,
        // A line without an end is complete once nothing follows.
        None if output.has_ended => own.len(),
        None => return None,
    };
    let begins = output.length - own.len() as u64;
    let to = begins + end as u64;
    let text = String::from_utf8_lossy(&own[..end]).into_owned();
    let text = redact_after(&String::from_utf8_lossy(&before), text.trim_end_matches('\n'));
    let sent = place.map_or(0, |place| place.sent) + text.len() as u64;
    let is_over = sent >= MOST_OF_WORKER;
    let mut body = Object::new();
    body.insert("worker".into(), output.worker.into());
    body.insert("from".into(), from.into());
    body.insert("to".into(), to.into());
    body.insert("sent".into(), sent.into());
    body.insert("left_out".into(), left_out.into());
    body.insert("over".into(), is_over.into());
    body.insert("text".into(), text.into());
    Some(body)
}

/// How far the output of a turn is sent after a piece.
pub(crate) fn place_after(piece: &Object, at: &Timestamp) -> Option<OutputPlace> {
    let number = |name: &str| piece.get(name).and_then(Value::as_u64);
    Some(OutputPlace {
        worker: piece.get("worker")?.as_str()?.to_owned(),
        to: number("to")?,
        sent: number("sent")?,
        at: at.clone(),
        is_over: piece.get("over").and_then(Value::as_bool) == Some(true),
    })
}

/// What a hub has of an output after a piece: its end, and how much of it there was. What is
/// missing is said in its place.
pub fn received(known: Option<&Object>, piece: &Object) -> Object {
    let text = |of: &Object, name: &str| {
        of.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let number = |of: &Object, name: &str| of.get(name).and_then(Value::as_u64).unwrap_or(0);
    let mut added = String::new();
    if known.is_some_and(|known| text(known, "worker") != text(piece, "worker")) {
        added += "[the agent was started again]\n";
    }
    let left_out = number(piece, "left_out");
    if left_out > 0 {
        added += &format!("[{left_out} bytes are not sent]\n");
    }
    let lines = text(piece, "text");
    if !lines.is_empty() {
        added += &(lines + "\n");
    }
    if piece.get("over").and_then(Value::as_bool) == Some(true) {
        added += "[the rest is not sent until the turn is accepted]\n";
    }
    let bytes = known.map_or(0, |known| number(known, "bytes")) + added.len() as u64;
    let whole = known.map(|known| text(known, "text")).unwrap_or_default() + &added;
    let cut = whole.len().saturating_sub(KEPT);
    // At the beginning of a line.
    let cut = match cut {
        0 => 0,
        cut => whole.as_bytes()[cut..]
            .iter()
            .position(|byte| *byte == b'\n')
            .map_or(cut, |it| cut + it + 1),
    };
    let mut body = piece.clone();
    for name in ["from", "to", "sent", "left_out", "over"] {
        body.remove(name);
    }
    body.insert("bytes".into(), bytes.into());
    body.insert("text".into(), whole.get(cut..).unwrap_or_default().into());
    body
}

/// What a hub has of an output from a place on, and the place after it.
pub fn from_place(body: &Object, from: u64) -> (String, u64) {
    let text = body.get("text").and_then(Value::as_str).unwrap_or_default();
    let bytes = body.get("bytes").and_then(Value::as_u64).unwrap_or(0);
    let first = bytes.saturating_sub(text.len() as u64);
    let skipped = usize::try_from(from.saturating_sub(first)).unwrap_or(usize::MAX);
    // A place that is not one of this output: all of it.
    (text.get(skipped.min(text.len())..).unwrap_or(text).to_owned(), bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now(seconds: i64) -> Time {
        Time::from_unix(1_800_000_000, 0).unwrap().add_seconds(seconds)
    }

    /// Sends a log as it grows, and returns what the hub has.
    struct Sent {
        place: Option<OutputPlace>,
        hub: Option<Object>,
    }

    impl Sent {
        fn new() -> Self {
            Self { place: None, hub: None }
        }

        fn pass(&mut self, log: &[u8], worker: &str, at: i64, has_ended: bool) -> bool {
            let (length, modified) = (log.len() as u64, now(0));
            let output = OutputNow { worker, length, modified, has_ended };
            let Some((from, left_out)) = begin(self.place.as_ref(), &output, now(at)) else {
                return false;
            };
            let (before, own) = log.split_at(usize::try_from(from).unwrap());
            let made =
                piece(self.place.as_ref(), &output, (from, left_out), (before, own), now(at));
            let Some(made) = made else { return false };
            self.place = place_after(&made, &Timestamp::emit(now(at)));
            self.hub = Some(received(self.hub.as_ref(), &made));
            true
        }

        fn text(&self) -> String {
            self.hub.as_ref().map(|hub| from_place(hub, 0).0).unwrap_or_default()
        }
    }

    #[test]
    fn each_line_is_sent_once_and_whole() {
        let mut sent = Sent::new();
        assert!(sent.pass(b"one\ntw", "w", 10, false));
        assert_eq!(sent.text(), "one\n");
        assert!(!sent.pass(b"one\ntwo\n", "w", 11, false), "two pieces are not that near");
        assert!(sent.pass(b"one\ntwo\nthree", "w", 15, false));
        assert!(!sent.pass(b"one\ntwo\nthree", "w", 20, false));
        assert!(sent.pass(b"one\ntwo\nthree", "w", 30, true));
        assert_eq!(sent.text(), "one\ntwo\nthree\n");
        let (more, next) = from_place(sent.hub.as_ref().unwrap(), 4);
        assert_eq!((more.as_str(), next), ("two\nthree\n", 14));
        assert!(sent.pass(b"again\n", "other", 40, false));
        assert_eq!(sent.text(), "one\ntwo\nthree\n[the agent was started again]\nagain\n");
    }

    #[test]
    fn the_last_lines_of_a_log_that_grows_wait_for_what_follows() {
        let mut sent = Sent::new();
        let log = format!("first\n{}\nlast\n", "x".repeat(400));
        assert!(sent.pass(log.as_bytes(), "w", 1, false));
        assert_eq!(sent.text(), "first\n");
        assert!(sent.pass(log.as_bytes(), "w", 6, false));
        assert!(sent.text().ends_with("\nlast\n"));
    }

    #[test]
    fn the_middle_of_too_much_is_left_out_and_the_end_of_all_is_said() {
        let mut sent = Sent::new();
        let mut log = b"0123456789\n".repeat(10_000);
        assert!(sent.pass(&log, "w", 10, false));
        let text = sent.text();
        assert!(text.starts_with("[44") && text.contains(" bytes are not sent]\n"), "{text:.50}");
        assert!(text.ends_with("\n0123456789\n") && text.len() < 70_000);
        for at in 1..100 {
            log.extend(b"9876543210\n".repeat(3_000));
            sent.pass(&log, "w", 10 + at * 5, false);
        }
        assert!(sent.text().ends_with("[the rest is not sent until the turn is accepted]\n"));
        assert!(sent.text().len() <= KEPT);
        assert!(sent.place.unwrap().sent < MOST_OF_WORKER + MOST_OF_PIECE);
    }

    #[test]
    fn a_credential_is_in_no_piece() {
        let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
        let begin = format!("x\n-----BEGIN PRIVATE KEY-----\n{body}\n");
        let whole = format!("{begin}{body}\n-----END PRIVATE KEY-----\ny\n");
        let mut sent = Sent::new();
        assert!(sent.pass(begin.as_bytes(), "w", 10, false));
        assert!(sent.pass(whole.as_bytes(), "w", 20, false));
        assert_eq!(sent.text(), "x\n[removed: a private key]\ny\n");
    }
}
