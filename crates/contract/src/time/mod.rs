//! Dates and points in time, as every protocol of Accord reads and writes them.
//!
//! Every text is in UTC with a year from 0 to 9999, so that it has four digits. The arithmetic is
//! that of `jiff`'s civil types, which read no clock and no time zones. (`jiff::Timestamp` ends
//! before the year 9999 does; a civil date and time does not.)

mod date;
mod parse;
mod timestamp;

use std::fmt;

use jiff::SignedDuration;
use jiff::civil::DateTime;

pub use date::{Date, DateError};
pub use timestamp::{TimeError, Timestamp};

const EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);
const NANOS: u32 = 1_000_000_000;

/// A point in time from year 0 to year 9999, in UTC.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Time(DateTime);

impl Time {
    /// The first time that has a text.
    pub const MIN: Self = Self(DateTime::constant(0, 1, 1, 0, 0, 0, 0));
    /// The last time that has a text.
    pub const MAX: Self = Self(DateTime::constant(9999, 12, 31, 23, 59, 59, 999_999_999));

    /// The time this many milliseconds after the start of 1970, clamped to the years with a text.
    pub fn from_unix_millis(millis: i64) -> Self {
        Self(EPOCH.saturating_add(SignedDuration::from_millis(millis))).max(Self::MIN)
    }

    /// The time this many seconds and nanoseconds after the start of 1970.
    pub fn from_unix(seconds: i64, nanos: u32) -> Option<Self> {
        let nanos = i32::try_from(nanos).ok().filter(|_| nanos < NANOS)?;
        let time = EPOCH.checked_add(SignedDuration::new(seconds, nanos)).ok()?;
        // jiff's years begin at -9999; ours begin at 0, because the text has no sign.
        (time >= Self::MIN.0).then_some(Self(time))
    }

    /// Reads a time as [`Timestamp::parse`] does, or a date, which is the start of its day.
    pub fn parse_or_date(text: &str) -> Result<Self, TimeError> {
        if text.len() == 10 {
            return Ok(Date::parse(text)?.start());
        }
        Timestamp::parse(text).map(|timestamp| timestamp.time())
    }

    /// Reads an RFC 3339 time with any offset, and as many digits as the text has.
    pub fn parse_rfc3339(text: &str) -> Option<Self> {
        parse::rfc3339(text).map(|(time, _)| time)
    }

    /// As [`Time::parse_rfc3339`], for texts with `Z` or `+00:00`. Clauses: AGENTIC-R-008.
    pub fn parse_rfc3339_utc(text: &str) -> Option<Self> {
        parse::rfc3339(text).and_then(|(time, is_utc)| is_utc.then_some(time))
    }

    /// Reads a time of a governed record, to the millisecond; without an offset it is in UTC.
    pub fn parse_iso(text: &str) -> Option<Self> {
        parse::iso(text)
    }

    /// Whole seconds since the start of 1970.
    pub fn unix_seconds(self) -> i64 {
        // `div_euclid` rounds down also before 1970, where `/` would round towards it.
        self.unix_nanos().div_euclid(NANOS.into()) as i64
    }

    /// Milliseconds since the start of 1970.
    pub fn unix_millis(self) -> i64 {
        self.unix_nanos().div_euclid(1_000_000) as i64
    }

    /// Nanoseconds after the whole second.
    pub fn subsec_nanos(self) -> u32 {
        self.0.subsec_nanosecond() as u32
    }

    /// The day in UTC.
    pub fn date(self) -> Date {
        Date(self.0.date())
    }

    /// The time this many days earlier, or [`Time::MIN`].
    #[must_use]
    pub fn days_before(self, days: u32) -> Self {
        self.add_seconds(-86_400 * i64::from(days))
    }

    /// The time this many minutes later, or [`Time::MAX`].
    #[must_use]
    pub fn minutes_later(self, minutes: u64) -> Self {
        self.add_seconds(i64::try_from(minutes.saturating_mul(60)).unwrap_or(i64::MAX))
    }

    /// The time this many seconds later (or earlier), clamped to the years with a text.
    #[must_use]
    pub fn add_seconds(self, seconds: i64) -> Self {
        Self(self.0.saturating_add(SignedDuration::from_secs(seconds))).max(Self::MIN)
    }

    /// Milliseconds from an earlier time to this one; 0 when the other is not earlier.
    pub fn millis_since(self, earlier: Self) -> u64 {
        u64::try_from(self.unix_millis() - earlier.unix_millis()).unwrap_or(0)
    }

    /// The time as RFC 3339 text of 30 characters. These texts sort as the times do.
    pub fn sort_key(self) -> String {
        // Always nine digits: texts of different lengths would not sort as the times do.
        format!("{}.{:09}Z", self.spell_seconds(), self.subsec_nanos())
    }

    /// The time as RFC 3339 text without a fraction.
    pub fn to_seconds_text(self) -> String {
        self.spell_seconds() + "Z"
    }

    fn spell_seconds(self) -> String {
        let mut text = [0; LONGEST];
        spelled(&mut text, self.0, None).to_owned()
    }

    fn unix_nanos(self) -> i128 {
        self.0.duration_since(EPOCH).as_nanos()
    }
}

impl fmt::Display for Time {
    /// RFC 3339 in UTC, with milliseconds, or with nanoseconds where it has more digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = self.subsec_nanos();
        // Nothing is cut off: reading the text again gives the same time.
        let fraction = match nanos.is_multiple_of(1_000_000) {
            true => (nanos / 1_000_000, 3),
            false => (nanos, 9),
        };
        let mut text = [0; LONGEST];
        f.write_str(spelled(&mut text, self.0, Some(fraction)))
    }
}

/// The length of the longest text of a time.
const LONGEST: usize = 30;

/// The text of a time, with a fraction of so many digits. Format strings would be too slow.
fn spelled(text: &mut [u8; LONGEST], at: DateTime, fraction: Option<(u32, usize)>) -> &str {
    let small = |number: i8| u32::from(number.unsigned_abs());
    let parts = [
        (u32::from(at.year().unsigned_abs()), 4, b'-'),
        (small(at.month()), 2, b'-'),
        (small(at.day()), 2, b'T'),
        (small(at.hour()), 2, b':'),
        (small(at.minute()), 2, b':'),
        (small(at.second()), 2, b'.'),
    ];
    let mut length = 0;
    let ended = fraction.map(|(number, count)| (number, count, b'Z'));
    for (number, count, end) in parts.into_iter().chain(ended) {
        let mut rest = number;
        for place in (length..length + count).rev() {
            text[place] = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        text[length + count] = end;
        length += count + 1;
    }
    // Without a fraction, the point before it is one too many. Only ASCII is written.
    let length = if fraction.is_some() { length } else { length - 1 };
    std::str::from_utf8(&text[..length]).unwrap_or_default()
}
