//! Points in time, and the texts that name them.
//!
//! Invariants:
//! - an [`Instant`] compares as time, to the nanosecond, whatever its spelling;
//! - a [`Timestamp`] keeps the spelling that came in;
//! - what an instant is written as, read again, is the same instant.

use std::fmt;

use accord_contract::calendar::{Day, DayError};
use accord_contract::codes::{Code, Failure};
use accord_contract::wire::{DecodeError, Form, Pointer, Shape, Value, Wire};

const DAY: i64 = 86_400;
const NANOS: u32 = 1_000_000_000;

/// A point in time from year 0 to year 9999, in UTC.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Instant {
    seconds: i64,
    nanos: u32,
}

/// A point in time and the RFC 3339 text that named it.
///
/// Two timestamps are equal when their texts are; to compare times, compare
/// [`Timestamp::instant`].
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Timestamp {
    text: String,
    instant: Instant,
}

/// A text that is no point in time.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InstantError {
    /// It does not have the form.
    #[error("expected an RFC 3339 time in UTC such as 2026-04-18T20:00:00Z")]
    Form,
    /// Its offset is not that of UTC.
    #[error("the time must be in UTC: end it with Z, or with +00:00")]
    Offset,
    /// It has the form, and there is no such day or time.
    #[error("there is no such date or time")]
    Impossible,
    /// It has more than nine digits behind the point.
    #[error("a time has at most nine digits behind the decimal point")]
    Fraction,
}

impl From<DayError> for InstantError {
    fn from(error: DayError) -> Self {
        match error {
            DayError::Impossible => Self::Impossible,
            _ => Self::Form,
        }
    }
}

impl From<InstantError> for Failure {
    fn from(error: InstantError) -> Self {
        Self::new(Code::AgenticInvalidSchema, error.to_string())
    }
}

impl Instant {
    /// The first instant that has a text.
    pub const MIN: Self = Self {
        seconds: -62_167_219_200,
        nanos: 0,
    };
    /// The last instant that has a text.
    pub const MAX: Self = Self {
        seconds: 253_402_300_799,
        nanos: NANOS - 1,
    };

    /// The instant so many milliseconds after the start of 1970; what lies outside
    /// the years that have a text becomes the nearest that has one.
    pub fn from_unix_millis(millis: i64) -> Self {
        let nanos = millis.rem_euclid(1000) as u32 * 1_000_000;
        let seconds = millis.div_euclid(1000);
        Self { seconds, nanos }.clamp(Self::MIN, Self::MAX)
    }

    /// The instant so many seconds and nanoseconds after the start of 1970, as an
    /// engine stored it.
    pub fn from_parts(seconds: i64, nanos: u32) -> Option<Self> {
        let instant = Self { seconds, nanos };
        (nanos < NANOS && (Self::MIN..=Self::MAX).contains(&instant)).then_some(instant)
    }

    /// Reads what `as_of` may be: a time, or a day, which is its first instant.
    ///
    /// # Errors
    /// When the text is neither.
    pub fn parse_or_day(text: &str) -> Result<Self, InstantError> {
        if text.len() == 10 {
            let seconds = Day::parse(text)?.number() * DAY;
            return Ok(Self { seconds, nanos: 0 });
        }
        Timestamp::parse(text).map(|timestamp| timestamp.instant)
    }

    /// Whole seconds since the start of 1970.
    pub fn seconds(self) -> i64 {
        self.seconds
    }

    /// Nanoseconds behind the whole seconds.
    pub fn nanos(self) -> u32 {
        self.nanos
    }

    /// The instant so many days earlier, or [`Instant::MIN`].
    #[must_use]
    pub fn days_before(self, days: u32) -> Self {
        let seconds = self.seconds - i64::from(days) * DAY;
        let nanos = self.nanos;
        Self { seconds, nanos }.max(Self::MIN)
    }

    /// The instant as a text of 30 characters; those texts sort as the instants do.
    pub fn sort_key(self) -> String {
        let day = Day::from_number(self.seconds.div_euclid(DAY));
        let second = self.seconds.rem_euclid(DAY);
        let (hour, minute) = (second / 3600, second / 60 % 60);
        let (second, nanos) = (second % 60, self.nanos);
        format!("{day}T{hour:02}:{minute:02}:{second:02}.{nanos:09}Z")
    }
}

impl fmt::Display for Instant {
    /// RFC 3339 in UTC, with milliseconds; with more digits only where they say something.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.sort_key();
        if self.nanos.is_multiple_of(1_000_000) {
            write!(formatter, "{}Z", &text[..23])
        } else {
            formatter.write_str(&text)
        }
    }
}

impl Timestamp {
    /// Reads an RFC 3339 time in UTC.
    ///
    /// # Errors
    /// When the text has another form, another offset, or names no instant.
    pub fn parse(text: &str) -> Result<Self, InstantError> {
        let bytes = text.as_bytes();
        if bytes.len() < 20 || bytes[10] != b'T' || bytes[13] != b':' || bytes[16] != b':' {
            return Err(InstantError::Form);
        }
        let day = Day::parse(text.get(..10).ok_or(InstantError::Form)?)?;
        let (hour, minute) = (number(&bytes[11..13])?, number(&bytes[14..16])?);
        let second = number(&bytes[17..19])?;
        let (nanos, offset) = fraction(&bytes[19..])?;
        match offset {
            b"Z" | b"+00:00" => {}
            [b'+' | b'-', h1, h2, b':', m1, m2]
                if [h1, h2, m1, m2].iter().all(|digit| digit.is_ascii_digit()) =>
            {
                return Err(InstantError::Offset);
            }
            _ => return Err(InstantError::Form),
        }
        // Unix time has no leap seconds: one is the first second of the next day.
        let leap = second == 60 && (hour, minute) == (23, 59) && ends_half_year(day);
        if hour > 23 || minute > 59 || (second > 59 && !leap) {
            return Err(InstantError::Impossible);
        }
        let seconds = day.number() * DAY + hour * 3600 + minute * 60 + second;
        let instant = Instant { seconds, nanos };
        if instant > Instant::MAX {
            return Err(InstantError::Impossible);
        }
        let text = text.to_owned();
        Ok(Self { text, instant })
    }

    /// The timestamp that we write for an instant.
    pub fn emit(instant: Instant) -> Self {
        let text = instant.to_string();
        Self { text, instant }
    }

    /// The point in time.
    pub fn instant(&self) -> Instant {
        self.instant
    }

    /// The text as it came in.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl Wire for Timestamp {
    fn shape() -> Shape {
        Shape::Text
    }

    fn decode(value: Value, at: &Pointer<'_>) -> Result<Self, DecodeError> {
        let text = String::decode(value, at)?;
        Self::parse(&text).map_err(|error| {
            let mut refused = DecodeError::wrong_value(at, &Shape::Text, &text.into());
            refused.expected = error.to_string();
            refused
        })
    }

    fn write(&self, _: Form) -> Value {
        self.text.as_str().into()
    }
}

/// Whether leap seconds are put at the end of this day.
fn ends_half_year(day: Day) -> bool {
    matches!((day.month(), day.day()), (6, 30) | (12, 31))
}

fn number(digits: &[u8]) -> Result<i64, InstantError> {
    digits.iter().try_fold(0, |number, digit| {
        let digit = digit.is_ascii_digit().then(|| i64::from(digit - b'0'));
        Ok(number * 10 + digit.ok_or(InstantError::Form)?)
    })
}

/// The nanoseconds behind a decimal point, where there is one, and what follows.
fn fraction(rest: &[u8]) -> Result<(u32, &[u8]), InstantError> {
    let Some(rest) = rest.strip_prefix(b".") else {
        return Ok((0, rest));
    };
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    match digits {
        0 => Err(InstantError::Form),
        1..=9 => {
            let scale = 10_u32.pow(9 - digits as u32);
            Ok((number(&rest[..digits])? as u32 * scale, &rest[digits..]))
        }
        _ => Err(InstantError::Fraction),
    }
}
